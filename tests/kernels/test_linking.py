"""What is compiled with passes of our own, and what with numba's."""

from __future__ import annotations

import gc
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


@pytest.mark.parametrize("collecting", [True, False])
def test_somebodys_own_kernel_may_raise_and_garbage_is_collected_as_before(
    collecting: bool,
) -> None:
    own: Any = type("Own", (), {"twice": staticmethod(_twice), "__module__": __name__})()
    compiled = entry_of(own, "twice")
    if not collecting:
        gc.disable()
    try:
        assert compiled(1.5) == 3
        assert gc.isenabled() == collecting
    finally:
        gc.enable()
    with pytest.raises(ValueError, match="below zero"):
        compiled(-1.0)
