"""Machine code that was compiled before, loaded and called: all that running a kernel takes.

LLVM's library loads it, through llvmlite. Numba, which takes longer to import than many a search
to run, is only needed to compile.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_int32, c_void_p
from functools import cache
from typing import TYPE_CHECKING

import llvmlite.binding as llvm

if TYPE_CHECKING:
    from array import array

_TYPE = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)
"""How Numba calls a function of one pointer: with places for the result and for an error, which are
words 1 and 2 of the block. It returns 0, or else there was an error."""


class Loaded:
    """A function in the memory of this process, for as long as this object lives.

    Parameters
    ----------
    name
        The name of the function in the object file.
    code
        An object file, as bytes. Whoever gives it trusts it.
    """

    def __init__(self, name: str, code: bytes) -> None:
        _begin()
        # An engine for each: names in the code of several processes may be the same. It owns its
        # target machine.
        target = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address(name)
        if not self.address:
            raise ValueError(f"no function {name}")
        self._function = _TYPE(self.address)

    def __call__(self, block: array[int]) -> None:
        """Call it, without holding Python's lock."""
        start, _ = block.buffer_info()
        if self._function(start + 8, start + 16, start):
            raise RuntimeError("compiled code has failed: this is a bug")


@cache
def _begin() -> None:
    """Make LLVM ready for this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
