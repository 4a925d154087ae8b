"""The speed of a GPU for a search or a sum: measured for this GPU, or else estimated by its size.

The price of a plan is its seconds on the reference core (``Plan.seconds``). Once started, a GPU
does the work of a number of these cores. ``benchmarks/gpu.py`` measures that number, and saves it
in a file of the user's cache: a JSON object with an object of ``Prices`` for each GPU's name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.engines.cuda.availability import Card

SEARCH_SECONDS, SUM_SECONDS = 12e-3, 4e-3
"""What comes on top: of a search some thirty launches, most of which make boards for all threads
or share the last ones (an H200 took 20 ms for @1f, of which its nodes are 7); of a sum the CPU's
part, its tensors."""
START_SECONDS = 1.5
"""What it takes to import CuPy, start the GPU and load kernels: at most 1.5 s beside an H200.
The first search of a shape of boards takes 4 to 6 s more, to compile its kernel."""


@dataclass(frozen=True)
class Prices:
    """How many cores do the work of a GPU."""

    nine: float = 118.0
    """When 9x9 boards are searched: an H200 looks at 4.8e9 nodes a second."""
    larger: float = 70.0
    """When other boards are: an H200 looks at 610e6 nodes of a 16x16 board a second. Other sizes
    were not measured."""
    sums: float = 3.0
    """When a contraction of a 9x9 board is summed, measured on an H100."""

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        """Return the expected seconds; a contraction is one of a 9x9 board."""
        if method == "contraction":
            return SUM_SECONDS + core_seconds / self.sums
        return SEARCH_SECONDS + core_seconds / (self.nine if geometry == NINE else self.larger)


MEASURED = Card("NVIDIA H200", 132, 1.98e9, (9, 0))
"""The GPU on which searches were measured for ``Prices``: benchmarks/results/gpu.json."""


def prices_of(card: Card) -> Prices:
    """Return what was recorded for a GPU, or else what its size tells.

    A record that cannot be read is as good as none.
    """
    try:
        recorded = json.loads(_file().read_text(encoding="utf-8"))[card.name]
        values = [float(recorded[name]) for name in asdict(Prices())]
        if all(value > 0 for value in values):
            return Prices(*values)
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, OverflowError):
        pass
    usual = Prices()
    size = card.multiprocessors * card.hertz / (MEASURED.multiprocessors * MEASURED.hertz)
    if size == 0:  # the driver does not tell
        return usual
    return Prices(usual.nine * size, usual.larger * size, usual.sums)


def prices_of_all(cards: Iterable[Card]) -> Prices:
    """Return the prices of some GPUs that work together."""
    several = [prices_of(card) for card in cards]
    return Prices(
        sum(each.nine for each in several),
        sum(each.larger for each in several),
        max(each.sums for each in several),  # the CPU's part remains
    )


def save_prices(card: Card, prices: Prices) -> Path:
    """Record the prices of a GPU, and keep those of others; return the file.

    OSError if it cannot be written, RuntimeError if there is no home for it.
    """
    path = _file()
    try:
        known: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    known = (known if isinstance(known, dict) else {}) | {card.name: asdict(prices)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return path


def _file() -> Path:
    """Return where records are; RuntimeError if there is no home."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "gpusudoku" / "gpus.json"
