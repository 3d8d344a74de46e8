"""Operators that remember the types they were resolved for.

Numba tries dozens of candidates for each ``+`` in the code, most of them for lists, strings and
dates, and does so several times for each place where it stands.
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

from numba import types

_types: Any = types
_Function: Any = types.Function


class _Operator(_Function):  # type: ignore[misc]
    """An operator as numba knows it, with the signatures found so far."""

    def __init__(self, context: Any, plain: Any) -> None:
        super().__init__(plain.templates)
        self._context = context
        self._found: dict[Any, Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature for operands of these types."""
        found = self._found.get(args)
        if found is None:
            found = self._found[args] = super().get_call_type(self._context, args, kws)
        return found


class _Remembering:
    """Numba's typing context, whose operators remember."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._operators: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_value_type(self, value: Any) -> Any:
        """Return the type of a global."""
        if getattr(value, "__module__", None) != operator.add.__module__:
            return self._context.resolve_value_type(value)
        if value not in self._operators:
            plain = self._context.resolve_value_type(value)
            self._operators[value] = _Operator(self._context, plain)
        return self._operators[value]

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call."""
        if getattr(function, "__module__", None) == operator.add.__module__:
            function = self.resolve_value_type(function)
        if isinstance(function, _Operator):
            return function.get_call_type(self._context, args, kws)
        return self._context.resolve_function_type(function, args, kws)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        """Return the signature of ``target[index] = value``."""
        return self.resolve_function_type(operator.setitem, (target, index, value), {})


@cache
def remembering(context: Any) -> Any:
    """Return ``context`` with operators that remember."""
    return context if isinstance(context, _Remembering) else _Remembering(context)
