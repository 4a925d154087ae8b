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
    """The machine that this is; whoever compiles for it keeps it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    native = llvm.Target.from_default_triple()
    return native.create_target_machine(cpu=llvm.get_host_cpu_name(), opt=1, jit=True)


def compiled(text: str) -> bytes:
    """The object file of a module."""
    machine = target()
    module = llvm.parse_assembly(f'target triple = "{machine.triple}"\n{text}')
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    found: bytes = machine.emit_object(module)
    return found


class Code:
    """The native code of a module: addresses of its functions, while this object lives.

    What is large is compiled once for all processes of the tests.
    """

    def __init__(self, text: str) -> None:
        name = f"{sha256(text.encode()).hexdigest()}.o"
        found = shared.once(name, partial(compiled, text)) if len(text) > LARGE else compiled(text)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(found))
        self._engine.finalize_object()
        self.run_block = RUN_BLOCK(self.address("run_block"))

    def address(self, name: str) -> int:
        found: int = self._engine.get_function_address(name)
        return found
