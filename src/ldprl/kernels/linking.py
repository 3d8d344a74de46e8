"""Kernels that only kernels call: compiled with little, and optimized where they end up, once.

Numba optimizes every compiled function together with all that it calls, and translates the result
to machine code, before the function is linked into its callers, which are then optimized with the
same code in them again: a function is optimized as often as calls are nested above it, and most of
the machine code is never run. Here such a function is only lowered and simplified; the entry that
it is linked into is optimized and translated as a whole.

What remains is numba's own work in Python, about a tenth of a second for each function. A third of
it is avoided: passes that change nothing in a kernel are left out, operators are resolved once for
each kind of operands (:mod:`ldprl.kernels.operators`), and no garbage is collected meanwhile.
"""

from __future__ import annotations

import gc
from functools import cache
from typing import Any

from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager

from ldprl.kernels.operators import remembering

_Library: Any = JITCodeLibrary
_Compiler: Any = CompilerBase
_Manager: Any = PassManager
_untyped: Any = untyped_passes
_typed: Any = typed_passes


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

    def _optimize_functions(self, module: Any) -> None:
        """Simplify the code, which is optimized where it ends up; a twentieth less time in all."""
        module.data_layout = self._codegen._data_layout
        least = {"opt": 1, "loop_vectorize": False, "slp_vectorize": False}
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager(**least)
                passes.run(function, builder)

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


class EntryCompiler(_Compiler):  # type: ignore[misc]
    """Numba's compiler for entries."""

    _library: Any = _Library

    def define_pipelines(self) -> list[Any]:
        """Return the passes, with a library of our own for their result."""
        state: Any = self.state
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        # Somebody's own kernel may use what ours do without: closures, exceptions, lists.
        if not state.func_id.modname.startswith("ldprl."):
            builder: Any = DefaultPassBuilder
            return [builder.define_nopython_pipeline(state)]
        state.typingctx = state.targetctx.typing_context = remembering(state.typingctx)
        return [_passes()]

    def _compile_core(self) -> Any:
        """Compile without collecting garbage: there is little of it, and much to look through."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            return super()._compile_core()
        finally:
            if collecting:
                gc.enable()


@cache
def _passes() -> Any:
    """Return numba's passes that a kernel needs: the others find nothing to do."""
    manager = _Manager("kernel")
    for one in (
        _untyped.TranslateByteCode,
        _untyped.FixupArgs,
        _untyped.IRProcessing,
        _untyped.InlineInlinables,
        _untyped.ReconstructSSA,
        _typed.NopythonTypeInference,
        _typed.PreLowerStripPhis,
        _typed.AnnotateTypes,
        _typed.NativeLowering,
        _typed.NoPythonBackend,
    ):
        manager.add_pass(one, one.__name__)
    manager.finalize()
    return manager


class PartCompiler(EntryCompiler):
    """Numba's compiler for functions that are linked into entries."""

    _library = _Part


class LoopCompiler(EntryCompiler):
    """Numba's compiler for an entry that is optimized twice."""

    _library = _Twice
