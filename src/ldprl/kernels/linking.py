"""Kernels that only kernels call: optimized where they end up, once.

Numba optimizes every compiled function together with all that it calls, and translates the result
to machine code, before the function is linked into its callers, which are then optimized with the
same code in them again: a function is optimized as often as calls are nested above it, and most of
the machine code is never run. Here such a function is only lowered; the entry that it is linked
into is optimized and translated as a whole.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder

_Library: Any = JITCodeLibrary
_Compiler: Any = CompilerBase


class _Part(_Library):  # type: ignore[misc]
    """The code of a function that Python never calls: it has no address."""

    @property
    def codegen(self) -> Any:
        """Return what would be given the function's environment, which Python's calls need."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        return 0

    def _optimize_final_module(self) -> None:
        """Do nothing."""

    def _finalize_final_module(self) -> None:
        """Leave the code as it is."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _Twice(_Library):  # type: ignore[misc]
    """The code of a loop in which every nanosecond counts."""

    def _optimize_final_module(self) -> None:
        """Optimize again what is left once everything has been inlined: a sixth less time."""
        super()._optimize_final_module()
        super()._optimize_final_module()


class PartCompiler(_Compiler):  # type: ignore[misc]
    """Numba's compiler for functions that are linked into entries."""

    _library: Any = _Part

    def define_pipelines(self) -> list[Any]:
        """Return the usual passes, with a library of our own for their result."""
        state: Any = self.state
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        builder: Any = DefaultPassBuilder
        return [builder.define_nopython_pipeline(state)]


class LoopCompiler(PartCompiler):
    """Numba's compiler for an entry that is optimized twice."""

    _library = _Twice
