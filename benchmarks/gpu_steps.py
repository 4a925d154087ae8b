"""What all steps of ``gpu.py`` need, and its checks."""

from __future__ import annotations

import csv
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple
from unittest.mock import patch

from generated import thinned
from script import Run, check, counted

import gpusudoku
from gpusudoku import Board, collection
from gpusudoku.board.geometry import NINE
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda import search
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.enumeration.stream import Stream
from gpusudoku.errors import GpusudokuError
from gpusudoku.options import STRATEGIES, Options
from gpusudoku.results import Count

CHECKS = "correctness"
DEVICES = {"cuda": "GPU", "cpu": "all cores", "half": "half of the cores", "core": "one core"}
"""What counts, as it is recorded and as it is shown; "cuda" means all GPUs."""
SCARCE: dict[str, dict[str, Any]] = {
    "as usual": {"FIRST_ROUNDS": search.FIRST_ROUNDS},
    "one round a launch": {"FIRST_ROUNDS": 1, "LAUNCH_SECONDS": 1e-9},
    "hardly any memory": {"MEMORY_SHARE": 1e-5},
    "little room": {"ROOM_BYTES": 1000},
}
"""Values of the module ``search`` that make something scarce."""
FACTS = ("driver_version", "memory.total", "clocks.max.sm", "power.limit", "mig.mode.current")
"""What nvidia-smi is asked about a GPU."""
REPEATS = 3
LONG_SECONDS = 2.0
"""A count is timed REPEATS times, but once if it takes longer than this."""


@dataclass(frozen=True)
class Sizes:
    """What is checked and measured; the tests have smaller sizes.

    Boards are named as in the collection. A number after a name is how many of its last clues the
    board lacks, so that it has more solutions.
    """

    first: tuple[str, ...] = ("search of @1c", "search of @16x16-many", "contraction of @1f")
    """The checks that come before the figures. Each of them compiles a kernel."""
    searched: tuple[str, ...] = (
        *("1b", "1c", "2d", "no-place", "needs-search", "box2x2-empty", "box2x3-many"),
        *("box3x4-many", "16x16-many", "16x16-needs-search", "25x25-few", "64x64-few", "1e"),
    )
    searched_last: tuple[str, ...] = (  # as each of them compiles a kernel
        *("box1x5-empty", "box5x1-many", "box3x2-many", "box2x4-many", "box4x2-many"),
        *("box4x3-many", "box2x5-many", "box4x8-few", "36x36-few", "16x16-solutions"),
    )
    varied: tuple[str, ...] = ("2c", "box2x3-many")
    """Boards to search and list in all ways; the first has 9x9 cells."""
    techniques: tuple[str, ...] = ("none", "naked-single", "locked", "all")
    contracted: tuple[str, ...] = ("1f", "2f", "top-band-cyclic", "top-band-twisted", "empty")
    kernel: tuple[tuple[str, int], ...] = (("1f", 5), ("2f", 3), ("16x16-solutions", 4))
    """Boards that keep all threads of a GPU busy for ``kernel_seconds``."""
    kernel_seconds: float = 3.0
    timed: tuple[tuple[str, int, int], ...] = (
        *(("1f", 0, 4), ("2f", 0, 4), ("16x16-solutions", 1, 4), ("16x16-solutions", 2, 3)),
        *(("1f", 2, 3), ("1f", 3, 1)),
    )
    """Boards that are searched from board to count, each on so many of the DEVICES."""
    batch: int = 1_000_000
    expensive: tuple[int, ...] = (2,)
    """Numbers of boards that are expensive to contract."""
    started: str = "1c"
    """The board that new processes count."""
    swept: tuple[tuple[str, int, str], ...] = (
        *(("2f", 3, "1b"), ("16x16-solutions", 4, "16x16-few")),
        *(("box3x4-many", 4, "box3x4-many"), ("25x25-few", 20, "25x25-few")),
    )
    """Boards of a sweep that keep all threads busy, each with a board to check the kernel by."""
    blocks: tuple[int, ...] = (128, 64, 256, 32)
    registers: tuple[int | None, ...] = (None, 96, 80, 72, 128, 64, 168)
    """What a sweep tries, the most promising values first."""
    sweep_seconds: float = 0.8


class OutOfTime(GpusudokuError):  # noqa: N818 - as Interrupted
    """There is no time left for a step, or for one that it needs."""


class Step(NamedTuple):
    """Something to check or to measure."""

    part: str
    name: str
    runs: Callable[[], Iterator[Run]]
    """Does it; gives what is recorded, one run after the other."""


class Bench:
    """The engines, the sizes, and the time of the current step."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.end = 0.0
        """The end of the step, by ``time.perf_counter``."""
        all_gpus = CudaEngine()
        self.gpus = all_gpus.gpus
        cpu = CpuEngine()
        half = CpuEngine(max(1, cpu.threads // 2))
        engines = (all_gpus, cpu, half, CpuEngine(1))
        self.engines: dict[str, Any] = dict(zip(DEVICES, engines, strict=True))
        self._references: dict[Board, int] = {}

    def look(self, _: Any = None) -> None:
        """Raise OutOfTime once the time of the step is over; counts call this often."""
        if time.perf_counter() > self.end:
            raise OutOfTime

    def count(self, board: Board, device: str, method: str) -> Count:
        """Count a board."""
        engine = self.engines[device]
        return gpusudoku.count(board, engine=engine, method=method, progress=self.look)

    def reference(self, board: Board) -> int:
        """Count a board on the CPU, once for all steps; this takes nothing of the step's time."""
        if board not in self._references:
            method = "contraction" if board.geometry == NINE else "search"
            start = time.perf_counter()
            self._references[board] = self.count(board, "cpu", method).count
            self.end += time.perf_counter() - start
        return self._references[board]

    def quickest(self, board: Board, device: str, method: str) -> Count:
        """Count a board several times, and return the quickest count; check them all."""
        expected = self.reference(board)
        counts: list[Count] = []
        while len(counts) < REPEATS and all(each.stats.seconds < LONG_SECONDS for each in counts):
            counts.append(self.count(board, device, method))
            check(f"{board}, {method} on {device}", counts[-1].count, expected)
        return min(counts, key=lambda count: count.stats.seconds)


def board_without(name: str, clues: int) -> tuple[Board, str]:
    """Return a board without its last clues, and a name for it."""
    return thinned(name, clues), f"@{name} without {clues} clues" if clues else f"@{name}"


def query(gpu: Gpu, names: Sequence[str]) -> dict[str, str]:
    """Ask nvidia-smi about a GPU; return nothing if it cannot tell, as in a simulator."""
    try:
        place = gpu.xp.cuda.Device(gpu.number).pci_bus_id
        fields = f"--query-gpu={','.join(names)}"
        command = ["nvidia-smi", "-i", place, fields, "--format=csv,noheader"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        [values] = csv.reader(done.stdout.splitlines(), skipinitialspace=True)
    except Exception:  # of CuPy or nvidia-smi: figures do without
        return {}
    return dict(zip(names, values, strict=False))


def describe(gpu: Gpu) -> dict[str, Any]:
    """Describe a GPU: its name, its size, and what its driver says of it."""
    with gpu.current():
        return {**gpu.card._asdict(), "free bytes": gpu.free_bytes(), **query(gpu, FACTS)}


def checks(bench: Bench) -> list[Step]:
    """List all checks; those that compile most come last."""
    sizes = bench.sizes
    nine = sizes.varied[0]
    steps: list[Step] = []

    def add(name: str, function: Callable[..., int], *arguments: Any, **options: Any) -> None:
        def runs() -> Iterator[Run]:
            yield {"check": name, "count": str(function(bench, *arguments, **options))}

        steps.append(Step(CHECKS, name, runs))

    for name in sizes.searched:
        add(f"search of @{name}", count_known, name)
    for name in sizes.contracted:
        add(f"contraction of @{name}", count_known, name, method="contraction")
    count = collection.entry(nine).count
    for limit in dict.fromkeys([1, max(1, count - 1), count, count + 1]):
        add(f"@{nine}, limit {limit}", count_known, nine, limit=limit)
    for name, scarce in product(sizes.varied, SCARCE):
        add(f"solutions of @{name}, {scarce}", list_solutions, name, scarce)
    add(f"solutions of @{nine}, limit 2", list_solutions, nine, "as usual", 2)
    numbers: list[tuple[int, ...]]
    numbers = [(gpu.number,) for gpu in bench.gpus] if len(bench.gpus) > 1 else []
    if not bench.gpus[0].simulated:
        numbers.append((0, 0))  # for two: boards go from one to the other by way of the host
    for some, method in product(numbers, ("search", "contraction")):
        add(f"{method} of @{nine} by GPUs {some}", count_by_gpus, nine, method, some)
    for techniques, strategy, name in product(sizes.techniques, STRATEGIES, sizes.varied):
        options = {"propagate": techniques, "strategy": strategy}
        add(f"search of @{name}, {techniques}, {strategy}", count_known, name, **options)
    for name in sizes.searched_last:
        add(f"search of @{name}", count_known, name)
    return steps


def count_known(bench: Bench, name: str, **options: Any) -> int:
    """Count a board of the collection on GPUs; MismatchError if the count is wrong."""
    defaults = {"engine": bench.engines["cuda"], "progress": bench.look, "method": "search"}
    return counted(name, **(defaults | options)).count


def list_solutions(bench: Bench, name: str, scarce: str, limit: int | None = None) -> int:
    """List the solutions of a board on GPUs: each once, and none but those of the CPU."""
    board = collection.load(name)

    def solutions(device: str, limit: int | None) -> list[bytes]:
        stream = Stream(board, Options(limit=limit), engine=bench.engines[device])
        with closing(stream) as blocks:
            return [bytes(row) for block in blocks for row in block]

    with patch.multiple(search, **SCARCE[scarce]):
        listed = solutions("cuda", limit)
        expected = set(solutions("cpu", None))
    different = set(listed)
    count = collection.entry(name).count
    check(f"@{name}, different solutions listed", len(different), len(listed))
    check(f"@{name}, solutions listed that are none", len(different - expected), 0)
    check(f"@{name}, solutions listed", len(different), min(limit or count, count))
    return len(different)


def count_by_gpus(bench: Bench, name: str, method: str, numbers: Sequence[int]) -> int:
    """Count a board on some GPUs, in launches so short that one may be idle before the others."""
    engine = CudaEngine([0])
    engine.gpus = [bench.gpus[number] for number in numbers]
    with patch.multiple(search, **SCARCE["one round a launch"]):
        return count_known(bench, name, engine=engine, method=method)
