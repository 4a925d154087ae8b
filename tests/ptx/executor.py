"""PTX run on the CPU: parsed, turned into LLVM IR, and compiled.

It is a witness of what NVIDIA's compiler made of a kernel. Every access is checked for bounds and
alignment, memory and registers begin as garbage, atomic operations are atomic. It does not show
what a card does with caches, warps and time.
"""

from __future__ import annotations

import numpy as np

from tests.ptx.function import write_function
from tests.ptx.launch import Kernel, memory
from tests.ptx.layout import Layout
from tests.ptx.model import PtxError
from tests.ptx.native import Code
from tests.ptx.parse import parse
from tests.ptx.runtime import runtime


def load(ptx: str, checked: bool = True) -> dict[str, Kernel]:
    """Build the kernels of a module, by name; ``checked`` looks at every access to memory.

    Raises
    ------
    PtxError
        If something in the module is not known; the message names the line and the opcode.
    """
    module = parse(ptx)
    layout = Layout(module)
    texts, calls = [], {}
    for name, function in module.functions.items():
        text, calls[name] = write_function(layout, function, checked)
        texts.append(text)
    refuse_recursion(calls)
    code = Code("\n".join([runtime(layout), *texts]))
    globals_ = memory(layout.spaces["global"].size)
    for place in layout.spaces["global"].places.values():
        initial = np.frombuffer(place.variable.initial, np.uint8)
        globals_[place.offset : place.offset + len(initial)] = initial
    kernels = [function for function in module.functions.values() if function.entry]
    return {each.name: Kernel(each, layout, code, globals_) for each in kernels}


def refuse_recursion(calls: dict[str, set[str]]) -> None:
    """Local variables have one place each, so no function may run twice at a time."""
    left = {name: set(others) for name, others in calls.items()}
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    if left:
        raise PtxError(f"recursion: {', '.join(sorted(left))}")
