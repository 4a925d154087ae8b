"""Loaded modules: machine code for a card, and the PTX from which it was generated."""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator
from ctypes import string_at
from functools import cache
from types import FrameType

from tests.ptx.launch import Kernel, load

SECTION = struct.Struct("<IIQQQQIIQQ")
"""An entry of the table of sections of an ELF file."""
CUDA_INFO = 0x70000000
"""The type of the sections with attributes of functions."""
REGISTER_COUNT = re.compile(rb"\x04\x2f\x08\x00.{4}(.{4})", re.DOTALL)
"""The attribute with the number of registers of a function: head, symbol, number."""


class Module:
    """The machine code at an address, as NVIDIA's linker generated it.

    The CPU cannot run it. Instead it runs the PTX that was the input of the linker. The program's
    ``Code`` has that PTX, whether this process compiled it or loaded it from the store.
    """

    def __init__(self, address: int) -> None:
        self.registers = max(registers(address))
        self.ptx = linked_ptx()


class Function:
    """A kernel of a module."""

    def __init__(self, module: Module, name: str) -> None:
        self.registers = module.registers
        self._ptx = module.ptx
        self._name = name

    @property
    def shared(self) -> int:
        """Bytes of the static shared memory of a block."""
        return self.kernel().layout.spaces["shared"].size

    def kernel(self) -> Kernel:
        return build(self._ptx)[self._name]


@cache
def build(ptx: str) -> dict[str, Kernel]:
    """Build the kernels of a module; the first launch calls this."""
    return load(ptx)


def linked_ptx() -> str:
    """Return the PTX of the code that is being loaded: a local variable of a calling function."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        # The program's function has the variable `code`, Numba's is a method of its code library.
        for code in (frame.f_locals.get("code"), frame.f_locals.get("self")):
            if type(code).__name__ == "Code":
                return str(code.ptx)
            if type(code).__name__ == "CUDACodeLibrary":
                return str(code.get_asm_str())
        frame = frame.f_back
    raise AssertionError("a module that is not the program's, nor Numba's")


def registers(address: int) -> Iterator[int]:
    """Yield the number of registers of each function of machine code, which is an ELF file."""
    header = string_at(address, 64)
    assert header[:4] == b"\x7fELF", "not machine code"
    [section_table] = struct.unpack_from("<Q", header, 40)
    entry_size, section_count = struct.unpack_from("<HH", header, 58)
    for i in range(section_count):
        section = string_at(address + section_table + i * entry_size, SECTION.size)
        _, section_type, _, _, offset, length, *_ = SECTION.unpack(section)
        if section_type == CUDA_INFO:
            for number in REGISTER_COUNT.findall(string_at(address + offset, length)):
                yield int.from_bytes(number, "little")
