"""Functions that are compiled for the type of their first argument, a named tuple.

Only what a simulation uses is compiled, and unlike functions passed as arguments the choice is part
of the signature that compiled code is cached under.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from ldprl.simulation.kernels.options import INLINED


def by_type(choices: dict[type, Callable[..., Any]]) -> Callable[..., Any]:
    """Return a function for kernels to call: the one of ``choices`` for its first argument."""

    def chosen(*arguments: Any) -> Any:
        raise NotImplementedError

    @overload(chosen, strict=False, jit_options=INLINED)  # type: ignore[arg-type, unused-ignore]
    def pick(first: Any, *rest: Any) -> Any:
        return choices[first.instance_class]

    return chosen
