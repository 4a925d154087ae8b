"""Where the variables of a module lie, and what a launch tells the native code.

Local and shared memory have addresses of their own, as on a card, which begin at ``GAP``; there is
a gap after every variable, so that running out of one is seen.
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
"""The 64-bit words of the context that native code gets."""
WORD = {name: index for index, name in enumerate(CONTEXT)}


def loaded_context() -> list[str]:
    """LLVM IR that loads every word: LLVM leaves out those that are not used."""
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
    """A place in the PTX where something can go wrong."""

    function: str
    line: int
    text: str
    what: str
    """memory, division, barrier, vote or part (of a warp)."""
    space: str = ""
    width: int = 1


class Space:
    """The variables of one space, one after the other; with the names of their functions."""

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
            "local": Space((each.name, one) for each in functions for one in each.local),
            "shared": Space(("", variable) for variable in module.shared),
        }
        self.kept = 0
        """Bytes for the registers that a thread keeps at a barrier."""
        self.sites: list[Site] = []

    def find(self, function: str, name: str) -> Place | None:
        """The place of a variable, of the function or the module; None if unknown."""
        local = self.spaces["local"].places
        shared = self.spaces["shared"].places
        return local.get((function, name)) or shared.get(("", name))

    def add(self, site: Site) -> int:
        self.sites.append(site)
        return len(self.sites) - 1
