"""The base of all steps of ``gpu.py``, and the steps that check counts."""

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

from generated import without_clues
from script import Run, check_count, count_checked

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
"""The devices that count, as they are recorded and as they are shown; "cuda" is all GPUs."""
SCARCE: dict[str, dict[str, Any]] = {
    "as usual": {"FIRST_ROUNDS": search.FIRST_ROUNDS},
    "one round a launch": {"FIRST_ROUNDS": 1, "LAUNCH_SECONDS": 1e-9},
    "hardly any memory": {"MEMORY_SHARE": 1e-5},
    "little room": {"ROOM_BYTES": 1000},
}
"""Values of variables of the module ``search`` that make time or memory scarce."""
GPU_FIELDS = ("driver_version", "memory.total", "clocks.max.sm", "power.limit", "mig.mode.current")
"""Fields of nvidia-smi that describe a GPU."""
REPEATS = 3
LONG_SECONDS = 2.0
"""A count that takes longer is timed once, others REPEATS times."""


@dataclass(frozen=True)
class Sizes:
    """The boards that are checked and measured. Tests have smaller sizes.

    Boards are named as in the collection. If a number follows the name, the board lacks that many
    of its last clues, so that it has more solutions.
    """

    first: tuple[str, ...] = ("search of @1c", "search of @16x16-many", "contraction of @1f")
    """Names of the checks that come before the measurements. Each compiles a kernel."""
    searched: tuple[str, ...] = (
        *("1b", "1c", "2d", "no-place", "needs-search", "box2x2-empty", "box2x3-many"),
        *("box3x4-many", "16x16-many", "16x16-needs-search", "25x25-few", "64x64-few", "1e"),
    )
    searched_last: tuple[str, ...] = (  # because each of them compiles a kernel
        *("box1x5-empty", "box5x1-many", "box3x2-many", "box2x4-many", "box4x2-many"),
        *("box4x3-many", "box2x5-many", "box4x8-few", "36x36-few", "16x16-solutions"),
    )
    varied: tuple[str, ...] = ("2c", "box2x3-many")
    """Boards to search and list with all settings; the first is a 9x9 board."""
    techniques: tuple[str, ...] = ("none", "naked-single", "locked", "all")
    contracted: tuple[str, ...] = ("1f", "2f", "top-band-cyclic", "top-band-twisted", "empty")
    kernel: tuple[tuple[str, int], ...] = (("1f", 5), ("2f", 3), ("16x16-solutions", 4))
    """Boards, without some clues, that keep all threads of a GPU busy for ``kernel_seconds``."""
    kernel_seconds: float = 3.0
    timed: tuple[tuple[str, int, int], ...] = (
        *(("1f", 0, 4), ("2f", 0, 4), ("16x16-solutions", 1, 4), ("16x16-solutions", 2, 3)),
        *(("1f", 2, 3), ("1f", 3, 1)),
    )
    """Boards, without some clues, and on how many of the DEVICES each search is timed."""
    batch: int = 1_000_000
    """The number of puzzles of a batch."""
    expensive: tuple[int, ...] = (2,)
    """Indices of boards that are expensive to contract."""
    started: str = "1c"
    """The board that new processes count."""
    swept: tuple[tuple[str, int, str], ...] = (
        *(("2f", 3, "1b"), ("16x16-solutions", 4, "16x16-few")),
        *(("box3x4-many", 4, "box3x4-many"), ("25x25-few", 20, "25x25-few")),
    )
    """Boards of a sweep, without some clues, each with a board to check the kernel with."""
    blocks: tuple[int, ...] = (128, 64, 256, 32)
    registers: tuple[int | None, ...] = (None, 96, 80, 72, 128, 64, 168)
    """Threads per block and limits of registers that a sweep tries, the most promising first."""
    sweep_seconds: float = 0.8


class OutOfTime(GpusudokuError):  # noqa: N818 - as Interrupted
    """A step has no time left, or it needs results of a step that was left out."""


class Step(NamedTuple):
    """A check or a measurement."""

    part: str
    name: str
    runs: Callable[[], Iterator[Run]]
    """Does the step; yields the runs to record."""


class Bench:
    """The engines, the sizes, and the deadline of the current step."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.deadline = 0.0
        """The end of the step's time, by ``time.perf_counter``."""
        all_gpus = CudaEngine()
        self.gpus = all_gpus.gpus
        all_cores = CpuEngine()
        half = CpuEngine(max(1, all_cores.threads // 2))
        one_core = CpuEngine(1)
        self.engines: dict[str, Any] = {
            "cuda": all_gpus,
            "cpu": all_cores,
            "half": half,
            "core": one_core,
        }
        self._references: dict[Board, int] = {}

    def check_deadline(self, _: Any = None) -> None:
        """Raise OutOfTime after the deadline of the step; counts call this often."""
        if time.perf_counter() > self.deadline:
            raise OutOfTime

    def count(self, board: Board, device: str, method: str) -> Count:
        """Count the solutions of a board."""
        engine = self.engines[device]
        return gpusudoku.count(board, engine=engine, method=method, progress=self.check_deadline)

    def reference(self, board: Board) -> int:
        """Return the count of a board by the CPU, which is computed once for all steps.

        Its time does not belong to the step, so the deadline moves.
        """
        if board not in self._references:
            method = "contraction" if board.geometry == NINE else "search"
            start = time.perf_counter()
            self._references[board] = self.count(board, "cpu", method).count
            self.deadline += time.perf_counter() - start
        return self._references[board]

    def quickest(self, board: Board, device: str, method: str) -> Count:
        """Count a board several times, check all counts, and return the quickest one."""
        expected = self.reference(board)
        counts: list[Count] = []
        for _ in range(REPEATS):
            count = self.count(board, device, method)
            check_count(f"{board}, {method} on {device}", count.count, expected)
            counts.append(count)
            if count.stats.seconds >= LONG_SECONDS:
                break
        return min(counts, key=lambda count: count.stats.seconds)


def board_without(name: str, clues: int) -> tuple[Board, str]:
    """Return a board of the collection without its last clues, and a name for it."""
    title = f"@{name} without {clues} clues" if clues else f"@{name}"
    return without_clues(name, clues), title


def query(gpu: Gpu, fields: Sequence[str]) -> dict[str, str]:
    """Return fields of nvidia-smi for a GPU; none if it fails, as for a simulated GPU."""
    try:
        bus_id = gpu.xp.cuda.Device(gpu.number).pci_bus_id
        query_option = f"--query-gpu={','.join(fields)}"
        command = ["nvidia-smi", "-i", bus_id, query_option, "--format=csv,noheader"]
        process = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        [values] = csv.reader(process.stdout.splitlines(), skipinitialspace=True)
    except Exception:  # any error of CuPy or nvidia-smi: the measurements do not need the fields
        return {}
    return dict(zip(fields, values, strict=False))


def describe(gpu: Gpu) -> dict[str, Any]:
    """Return the name of a GPU, its size, and what its driver reports of it."""
    with gpu.current():
        return {**gpu.card._asdict(), "free bytes": gpu.free_bytes(), **query(gpu, GPU_FIELDS)}


def checks(bench: Bench) -> list[Step]:
    """Return all checks; those that compile most are the last."""
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
    # Limits below, at and above the number of solutions; equal ones occur once.
    for limit in dict.fromkeys([1, max(1, count - 1), count, count + 1]):
        add(f"@{nine}, limit {limit}", count_known, nine, limit=limit)
    for name, scarce in product(sizes.varied, SCARCE):
        add(f"solutions of @{name}, {scarce}", list_solutions, name, scarce)
    add(f"solutions of @{nine}, limit 2", list_solutions, nine, "as usual", 2)

    gpu_numbers: list[tuple[int, ...]] = []
    if len(bench.gpus) > 1:
        gpu_numbers += [(gpu.number,) for gpu in bench.gpus]
    if not bench.gpus[0].simulated:
        # One GPU takes the place of two, and gives boards to itself through the host.
        gpu_numbers.append((0, 0))
    for numbers, method in product(gpu_numbers, ("search", "contraction")):
        add(f"{method} of @{nine} by GPUs {numbers}", count_by_gpus, nine, method, numbers)

    for techniques, strategy, name in product(sizes.techniques, STRATEGIES, sizes.varied):
        options = {"propagate": techniques, "strategy": strategy}
        add(f"search of @{name}, {techniques}, {strategy}", count_known, name, **options)
    for name in sizes.searched_last:
        add(f"search of @{name}", count_known, name)
    return steps


def count_known(bench: Bench, name: str, **options: Any) -> int:
    """Count a board of the collection on GPUs; raise a MismatchError if the count is wrong."""
    defaults = {
        "engine": bench.engines["cuda"],
        "progress": bench.check_deadline,
        "method": "search",
    }
    return count_checked(name, **(defaults | options)).count


def list_solutions(bench: Bench, name: str, scarce: str, limit: int | None = None) -> int:
    """List the solutions of a board on GPUs, and compare them with those that the CPU lists.

    Returns the number of solutions. Raises a MismatchError if a solution is missing, listed twice,
    or wrong.
    """
    board = collection.load(name)

    def solutions(device: str, limit: int | None) -> list[bytes]:
        stream = Stream(board, Options(limit=limit), engine=bench.engines[device])
        with closing(stream) as blocks:
            return [bytes(row) for block in blocks for row in block]

    with patch.multiple(search, **SCARCE[scarce]):
        # With a limit, the GPU may list any of the solutions, so the CPU lists all of them.
        listed = solutions("cuda", limit)
        expected = set(solutions("cpu", None))
    distinct = set(listed)
    count = collection.entry(name).count
    expected_count = min(limit or count, count)
    check_count(f"@{name}, different solutions listed", len(distinct), len(listed))
    check_count(f"@{name}, wrong solutions listed", len(distinct - expected), 0)
    check_count(f"@{name}, solutions listed", len(distinct), expected_count)
    return len(distinct)


def count_by_gpus(bench: Bench, name: str, method: str, numbers: Sequence[int]) -> int:
    """Count a board on some GPUs, in launches so short that GPUs become idle and get boards."""
    engine = CudaEngine([0])
    engine.gpus = [bench.gpus[number] for number in numbers]
    with patch.multiple(search, **SCARCE["one round a launch"]):
        return count_known(bench, name, engine=engine, method=method)
