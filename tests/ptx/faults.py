"""What a kernel did that a card would not forgive, as a Python exception."""

from __future__ import annotations

from collections.abc import Sequence

from tests.ptx.arguments import Region
from tests.ptx.layout import Site

Triple = tuple[int, int, int]


class Fault(Exception):  # noqa: N818
    """A kernel touched what it may not, divided by zero, or went apart at a barrier."""

    def __init__(
        self, site: Site, address: int, block: Triple, thread: Triple, regions: Sequence[Region]
    ) -> None:
        self.kernel, self.line, self.space = site.function, site.line, site.space
        self.address, self.block, self.thread = address, block, thread
        self.reason = reason(site, address, regions)
        where = f"block {block}, thread {thread}, line {site.line} ({site.text})"
        super().__init__(f"{self.reason}: {where}, in {site.function}")


def reason(site: Site, address: int, regions: Sequence[Region]) -> str:
    """What happened, in a few words."""
    if site.what == "division":
        return "division by zero"
    if site.what == "trap":
        return "trap"
    if site.what in ("barrier", "vote"):
        return "threads of a warp wait at different places"
    if site.what == "part":
        return "a vote of a part of a warp"
    what = f"{site.width} bytes at {address:#x} of {site.space} memory"
    if address % site.width:
        return f"{what}: misaligned"
    near = min(regions, key=lambda region: distance(region, address), default=None)
    if near is None or site.space in ("local", "shared"):
        return f"{what}: out of bounds"
    return f"{what}: out of bounds, {address - near.start} bytes from {near.name} of {near.size}"


def distance(region: Region, address: int) -> int:
    return max(region.start - address, address - region.start - region.size, 0)
