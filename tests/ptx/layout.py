"""The addresses of a module's variables, and the context that a launch passes to the native code.

As on a card, local and shared memory have address spaces of their own:

    address    0 ...   GAP ...
               gap   | variable | gap | variable | gap | ...

An access beyond a variable falls into a gap, and is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.ptx.parse import Module, Variable

GAP = 64
"""Bytes before the first variable of a space and between any two."""

CONTEXT = (
    *("params", "regions", "region_count", "sites"),
    *("shared", "frames", "stride", "threads", "backwards", "poison"),
    *("votes", "ballot", "tid", "ntid", "ctaid", "nctaid"),
    *("fault_site", "fault_address"),
)
"""The names of the context's 64-bit words.

    params, regions, sites     addresses: parameters; (start, size) of each array that the kernel
                               may touch; (start, size - width) of the last array of each site
    shared, frames, stride     addresses of shared memory and of the threads' frames, and the bytes
                               from one frame to the next
    threads, backwards         threads of a block, and whether they run in descending order
    votes, ballot              the address of each thread's vote, and the votes of the warp as bits
    tid, ntid, ctaid, nctaid   the special registers: thread, block size, block, grid size
    fault_site, fault_address  where the first fault happened
"""
WORD = {name: index for index, name in enumerate(CONTEXT)}
"""The index of each word."""


def load_context() -> list[str]:
    """Return LLVM IR that loads every word; LLVM drops the loads that are not used."""
    lines = []
    for word, index in WORD.items():
        lines.append(f"  %context.{word}.at = getelementptr i64, ptr %context, i64 {index}")
        lines.append(f"  %context.{word} = load i64, ptr %context.{word}.at")
    return lines


@dataclass(frozen=True)
class Place:
    """A variable and its offset in its space."""

    variable: Variable
    offset: int


@dataclass(frozen=True)
class Site:
    """A place in the PTX where a fault can happen."""

    function: str
    line: int
    text: str
    kind: str
    """memory, division, barrier, vote or part (of a warp)."""
    space: str = ""
    width: int = 1


class Space:
    """The variables of one address space, by the names of their functions and their own."""

    def __init__(self, variables: Iterable[tuple[str, Variable]]) -> None:
        self.places: dict[tuple[str, str], Place] = {}
        self.size = GAP
        for function, variable in variables:
            self.size += -self.size % max(16, variable.align)
            self.places[function, variable.name] = Place(variable, self.size)
            self.size += variable.size + GAP


class Layout:
    """The spaces of a module, and the sites of its functions."""

    def __init__(self, module: Module) -> None:
        functions = module.functions.values()
        self.spaces = {
            "local": Space(
                (function.name, variable) for function in functions for variable in function.local
            ),
            "shared": Space(("", variable) for variable in module.shared),
        }
        self.saved_bytes = 0
        """Bytes for the registers that a thread saves at a barrier."""
        self.sites: list[Site] = []

    def find(self, function: str, name: str) -> Place | None:
        """Return the place of a variable of the function or the module; None if unknown."""
        local = self.spaces["local"].places
        shared = self.spaces["shared"].places
        return local.get((function, name)) or shared.get(("", name))

    def add(self, site: Site) -> int:
        """Add a site; return its number."""
        self.sites.append(site)
        return len(self.sites) - 1
