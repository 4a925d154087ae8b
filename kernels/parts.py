"""Functions that kernels call, compiled as parts of these and not by themselves.

Numba makes a whole program of every function that is called: it links in what that calls, optimises
it, translates it to machine code, and wraps it for callers from C. A function that is called
through four others is optimised five times, and only the last of the results is ever run. Here a
part is only tidied up, and waits for a kernel that needs it to be optimised as a whole.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import register_jitable

from gpusudoku.kernels.jit import Jit


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part and of what it calls, to be linked into others.

    It is not optimised, except every function for itself, without which the optimiser gives up on
    parts of a large kernel: searches with pairs took 40 % longer.
    Whatever of this a version of Numba should not ask for, it does as always, which takes longer.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


def _nothing_to_run(library: Any, descriptor: Any, environment: Any) -> Any:
    """What Numba knows a compiled function by. This one is never called from Python."""
    module, name = descriptor.lookup_module(), descriptor.qualname
    return _dynfunc.make_function(module, name, "", 0, environment, (library,))


class _PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, but what it makes is a part."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.targetctx.get_executable = _nothing_to_run
        return super().define_pipelines()


PART: dict[str, Any] = {
    "_nrt": False,  # nothing is allocated
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": _PartCompiler,
}
"""Numba's options for a part."""
INLINED: dict[str, Any] = {**PART, "forceinline": True}
"""Those for a part that is too short to be worth a call."""

jitable: Jit = register_jitable(**PART)
"""Decorates the functions that kernels call. They run as plain Python, too."""
inlined: Jit = register_jitable(**INLINED)
"""Does the same for functions that are too short to be worth a call."""
