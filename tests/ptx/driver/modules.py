"""Modules that are loaded: machine code for a card, and the PTX from which it was made."""

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
FACTS = 0x70000000
"""The type of the sections that have facts about functions."""
HAS_REGISTERS = re.compile(rb"\x04\x2f\x08\x00.{4}(.{4})", re.DOTALL)
"""The fact that a function, which is a symbol, has so many registers."""


class Module:
    """Machine code as NVIDIA's linker made it, at an address.

    Nothing of it can run here. What runs is the PTX that the linker was given: the program's
    ``Code`` has it, whether this process compiled it or the store had it.
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
        """Bytes of shared memory that a block takes, without what the launch adds."""
        return self.kernel().layout.spaces["shared"].size

    def kernel(self) -> Kernel:
        return built(self._ptx)[self._name]


@cache
def built(ptx: str) -> dict[str, Kernel]:
    """The kernels of a module, built when the first is launched."""
    return load(ptx)


def linked_ptx() -> str:
    """The PTX of the code that is being loaded, by the program or Numba: it is up the stack."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        loading = frame.f_locals.get("code"), frame.f_locals.get("self")
        for code in loading:
            if type(code).__name__ == "Code":
                return str(code.ptx)
            if type(code).__name__ == "CUDACodeLibrary":
                return str(code.get_asm_str())
        frame = frame.f_back
    raise AssertionError("a module that is not the program's, nor Numba's")


def registers(address: int) -> Iterator[int]:
    """How many registers a thread needs for each function of machine code, an ELF file."""
    head = string_at(address, 64)
    assert head[:4] == b"\x7fELF", "not machine code"
    [sections] = struct.unpack_from("<Q", head, 40)
    size, number = struct.unpack_from("<HH", head, 58)
    for i in range(number):
        section = string_at(address + sections + i * size, SECTION.size)
        _, kind, _, _, offset, length, *_ = SECTION.unpack(section)
        if kind == FACTS:
            for found in HAS_REGISTERS.findall(string_at(address + offset, length)):
                yield int.from_bytes(found, "little")
