"""Functions that compiled code calls."""
from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba import _dynfunc
from numba.extending import register_jitable


class _Part(JITCodeLibrary):
    def _optimize_functions(self, module):
        pass

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalized = True


def _no_executable(library, descriptor, environment):
    name = descriptor.qualname
    return _dynfunc.make_function(descriptor.lookup_module(), name, "", 0, environment, (library,))


class PartCompiler(Compiler):
    def define_pipelines(self):
        state = self.state
        name = state.func_id.func_qualname
        state.library = _Part(state.targetctx.codegen(), name)
        state.targetctx.get_executable = _no_executable
        return super().define_pipelines()


OPTIONS = dict(_nrt=False, no_cfunc_wrapper=True, no_cpython_wrapper=True, forceinline=True, pipeline_class=PartCompiler)

def part(**options: Any):
    return register_jitable(
        _nrt=False, no_cfunc_wrapper=True, pipeline_class=PartCompiler, **options
    )
