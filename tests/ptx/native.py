"""LLVM IR -> native code."""

from __future__ import annotations

import ctypes
from functools import partial
from hashlib import sha256
from typing import Any

import llvmlite.binding as llvm

from tests import shared

LARGE = 1 << 16
"""Characters of code that takes a second or more to compile."""
RUN_BLOCK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def target() -> Any:
    """Return a new LLVM target for this machine; a compiler takes possession of it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    native = llvm.Target.from_default_triple()
    return native.create_target_machine(cpu=llvm.get_host_cpu_name(), opt=1, jit=True)


def compile_module(text: str) -> bytes:
    """Compile a module; return the object file."""
    machine = target()
    module = llvm.parse_assembly(f'target triple = "{machine.triple}"\n{text}')
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    object_file: bytes = machine.emit_object(module)
    return object_file


class Code:
    """The native code of a module: addresses of its functions, while this object lives.

    A large module is compiled once for all test processes.
    """

    def __init__(self, text: str) -> None:
        if len(text) > LARGE:
            name = f"{sha256(text.encode()).hexdigest()}.o"
            object_file = shared.once(name, partial(compile_module, text))
        else:
            object_file = compile_module(text)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
        self._engine.finalize_object()
        self.run_block = RUN_BLOCK(self.address("run_block"))

    def address(self, name: str) -> int:
        function_address: int = self._engine.get_function_address(name)
        return function_address
