"""Where the variables of a module lie, and what a launch tells the native code.

The windows of local and shared memory have addresses of their own, as on a card, which begin at
``GAP``; there is a gap after every variable, so that running out of one is seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.ptx.model import Module, PtxError, Variable

GAP = 64
"""Bytes before the first variable of a space and between any two."""

CONTEXT = (
    *("params", "globals", "regions", "region_count", "sites"),
    *("shared", "shared_size", "frames", "stride", "threads", "backwards", "poison"),
    *("votes", "ballot", "voters"),
    *("fault_site", "fault_address", "fault_thread"),
    *(f"{register}.{axis}" for register in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
)
"""The 64-bit words of the context that native code gets."""
WORD = {name: index for index, name in enumerate(CONTEXT)}


@dataclass(frozen=True)
class Place:
    """A variable and its offset in its space; its size is None if the launch says it."""

    variable: Variable
    offset: int


@dataclass(frozen=True)
class Site:
    """A place in the PTX where something can go wrong."""

    function: str
    line: int
    text: str
    what: str
    """memory, division, trap, barrier, vote or part (of a warp)."""
    space: str = ""
    width: int = 1


class Space:
    """The variables of one space, one after the other; with the names of their functions."""

    def __init__(self, variables: Iterable[tuple[str, Variable]]) -> None:
        self.places: dict[tuple[str, str], Place] = {}
        self.size = GAP
        for function, variable in sorted(variables, key=lambda named: named[1].size is None):
            self.size += -self.size % max(16, variable.align)
            self.places[function, variable.name] = Place(variable, self.size)
            if variable.size is not None:  # what the launch sizes is last
                self.size += variable.size + GAP


class Layout:
    """The spaces of a module. No function runs twice in a thread at a time: no recursion."""

    def __init__(self, module: Module) -> None:
        every = [("", variable) for variable in module.variables]
        for function in module.functions.values():
            every += [(function.name, variable) for variable in function.variables]
        self.spaces = {
            name: Space(named for named in every if named[1].space in spaces)
            for name, spaces in {
                "local": ("local",),
                "shared": ("shared",),
                "global": ("global", "const"),
            }.items()
        }
        sized_by_launch = [v for _, v in every if v.space == "shared" and v.size is None]
        if len(sized_by_launch) > 1:
            raise PtxError("more than one variable of shared memory is sized by the launch")
        self.functions = module.functions
        self.kept = 0
        """Bytes for the registers that a thread keeps at a barrier."""
        self.sites: list[Site] = []

    def find(self, function: str, name: str) -> tuple[str, Place] | None:
        """The space and place of a variable, of the function or the module; None if unknown."""
        for owner in (function, ""):
            for space, variables in self.spaces.items():
                if (owner, name) in variables.places:
                    return space, variables.places[owner, name]
        return None

    def add(self, site: Site) -> int:
        self.sites.append(site)
        return len(self.sites) - 1
