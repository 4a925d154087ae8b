"""The speed of a GPU: measured for this GPU, or else estimated from its size.

The estimated time of a plan is in seconds on the reference core (``Plan.seconds``). A GPU does the
work of a number of these cores, plus a constant time. ``benchmarks/gpu.py`` measures that number
and saves it in the user's cache, as a JSON object with an object of ``Prices`` per name of a GPU.
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

SEARCH_SECONDS = 12e-3
"""The constant time of a search: about thirty launches, most of which make boards for all threads,
or distribute the last ones. An H200 took 20 ms for @1f, of which 7 ms are for its nodes."""
SUM_SECONDS = 4e-3
"""The constant time of a contraction: the CPU makes its tensors."""
START_SECONDS = 1.5
"""The time to import CuPy, start the GPU and load kernels: at most 1.5 s with an H200. The first
search for a box shape takes 4 to 6 s more, to compile its kernel."""


@dataclass(frozen=True)
class Prices:
    """The number of reference cores that do the work of a GPU."""

    nine: float = 118.0
    """For searches of 9x9 boards: an H200 visits 4.8e9 nodes per second."""
    larger: float = 70.0
    """For searches of other boards: an H200 visits 610e6 nodes of 16x16 boards per second. Other
    sizes were not measured."""
    sums: float = 3.0
    """For the sum of a contraction of a 9x9 board, measured on an H100."""

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        """Return the expected seconds. A contraction is always of a 9x9 board."""
        if method == "contraction":
            return SUM_SECONDS + core_seconds / self.sums
        return SEARCH_SECONDS + core_seconds / (self.nine if geometry == NINE else self.larger)


MEASURED = Card("NVIDIA H200", 132, 1.98e9, (9, 0))
"""The GPU on which searches were measured for ``Prices``: benchmarks/results/gpu.json."""


def prices_of(card: Card) -> Prices:
    """Return the recorded prices of a GPU, or else an estimate from its size.

    A record that cannot be read is ignored.
    """
    try:
        recorded = json.loads(_file().read_text(encoding="utf-8"))[card.name]
        values = [float(recorded[name]) for name in asdict(Prices())]
        if all(value > 0 for value in values):
            return Prices(*values)
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, OverflowError):
        pass
    default = Prices()
    size = card.multiprocessors * card.hertz / (MEASURED.multiprocessors * MEASURED.hertz)
    if size == 0:  # unknown to the driver
        return default
    return Prices(default.nine * size, default.larger * size, default.sums)


def prices_of_all(cards: Iterable[Card]) -> Prices:
    """Return the prices of several GPUs that work together."""
    all_prices = [prices_of(card) for card in cards]
    return Prices(
        nine=sum(prices.nine for prices in all_prices),
        larger=sum(prices.larger for prices in all_prices),
        # Not the sum, because the CPU's work stays the same.
        sums=max(prices.sums for prices in all_prices),
    )


def save_prices(card: Card, prices: Prices) -> Path:
    """Record the prices of a GPU, keeping those of others. Return the file.

    Raises
    ------
    OSError
        If the file cannot be written.
    RuntimeError
        If the user has no home directory.
    """
    path = _file()
    try:
        records: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        records = {}
    if not isinstance(records, dict):
        records = {}
    records[card.name] = asdict(prices)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    return path


def _file() -> Path:
    """Return the path of the records. Raises RuntimeError without a home directory."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "gpusudoku" / "gpus.json"
