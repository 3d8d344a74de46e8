"""Named tuples that compiled code reads from memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from ldprl.kernels.compiling import address_of, call_at, distant_entry, entry
from ldprl.kernels.packing import pack, value_at


class Inner(NamedTuple):
    size: int
    on: bool


class Outer(NamedTuple):
    row: Any
    first: bool
    inner: Inner
    second: bool
    scale: float
    table: Any
    flags: Any


@distant_entry
def _sum(packed: Any, extra: float) -> Any:
    value = value_at(packed)
    total = extra + value.row[1] + 10 * value.inner.size + 100 * value.scale + value.table[1, 2]
    for truth in (value.first, value.inner.on, value.second, value.flags[1]):
        total = 2 * total + (1 if truth else 0)
    return total


@entry
def _call(code: int, data: int, extra: float) -> Any:
    return call_at(code, 0.0, (data, extra))


@pytest.mark.parametrize("truths", [(True, False, True, False), (False, True, False, True)])
def test_every_field_is_read_back(truths: tuple[bool, bool, bool, bool]) -> None:
    value = Outer(
        np.array([3.0, 5.0])[:],
        truths[0],
        Inner(7, truths[1]),
        truths[2],
        0.25,
        np.arange(6.0).reshape(2, 3),
        np.array([False, truths[3]]),
    )
    packed = pack(value)
    code = address_of(_sum, value, (0.5,))
    expected = 0.5 + 5 + 70 + 25 + 5
    for truth in truths:
        expected = 2 * expected + truth
    assert _call(code, packed.ctypes.data, 0.5) == expected


def test_what_stands_otherwise_in_memory_is_refused() -> None:
    with pytest.raises(TypeError, match="takes 2 bytes"):
        pack((True, False))
