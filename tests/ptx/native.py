"""LLVM IR -> native code."""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm

RUN_BLOCK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def target() -> Any:
    """The machine that this is; whoever compiles for it keeps it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    native = llvm.Target.from_default_triple()
    return native.create_target_machine(cpu=llvm.get_host_cpu_name(), opt=1, jit=True)


class Code:
    """The native code of a module: addresses of its functions, while this object lives."""

    def __init__(self, text: str) -> None:
        machine = target()
        module = llvm.parse_assembly(f'target triple = "{machine.triple}"\n{text}')
        module.data_layout = str(machine.target_data)
        module.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=1)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.run_block = RUN_BLOCK(self.address("run_block"))

    def address(self, name: str) -> int:
        found: int = self._engine.get_function_address(name)
        return found
