"""Kernels of one's own are compiled with the options of the package's."""

from __future__ import annotations

from typing import Any

import pytest

from ldprl.kernels.compiling import entry_of, kernel


@kernel
def _checked(value: float) -> float:
    if value < 0:
        raise ValueError("below zero")
    return value


def _twice(value: float) -> float:
    return 2 * _checked(value)


def test_somebodys_own_kernel_may_raise() -> None:
    own: Any = type("Own", (), {"twice": staticmethod(_twice), "__module__": __name__})()
    compiled = entry_of(own, "twice")
    assert compiled(1.5) == 3
    with pytest.raises(ValueError, match="below zero"):
        compiled(-1.0)
