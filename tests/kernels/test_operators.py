"""Operators that remember, against numba's own answers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from numba import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from ldprl.kernels.operators import remembering

INT, FLOAT, WORD = types.int64, types.float64, types.uint64
_types: Any = types
ROW: Any = types.Array(types.float64, 1, "C")
OPERANDS = [(INT, INT), (INT, FLOAT), (FLOAT, FLOAT), (WORD, WORD), (_types.literal(2), INT)]
CALLS = [(one, pair) for one in (operator.add, operator.truediv, operator.lt) for pair in OPERANDS]


@pytest.fixture
def context() -> Any:
    target: Any = cpu_target
    target.typing_context.refresh()
    return target.typing_context


@pytest.mark.parametrize(("function", "operands"), [*CALLS, (operator.getitem, (ROW, INT))])
def test_remembered_signature_is_numbas(
    context: Any, function: Callable[..., Any], operands: tuple[Any, ...]
) -> None:
    plain = context.resolve_function_type(context.resolve_value_type(function), operands, {})
    memory = remembering(context)
    for _ in range(2):
        assert memory.resolve_function_type(function, operands, {}) == plain


def test_assignment_to_an_item_is_numbas(context: Any) -> None:
    for given in ((ROW, INT, FLOAT), (ROW, INT, INT)):
        assert remembering(context).resolve_setitem(*given) == context.resolve_setitem(*given)


def test_operands_that_do_not_fit_are_refused_each_time(context: Any) -> None:
    for _ in range(2):
        with pytest.raises(TypingError):
            remembering(context).resolve_function_type(operator.add, (ROW, types.none), {})


def test_a_call_that_is_no_operator_is_passed_on(context: Any) -> None:
    memory = remembering(context)
    assert memory.resolve_value_type(len) is context.resolve_value_type(len)
    assert memory.resolve_value_type(2.5) == FLOAT
