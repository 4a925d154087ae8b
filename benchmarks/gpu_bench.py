"""What the parts of ``gpu.py`` share: engines, sizes, steps, and a clock that no count outlasts."""

from __future__ import annotations

import csv
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from generated import random_boards, thinned
from numpy.typing import NDArray
from script import Run, check, counted

import gpusudoku
from gpusudoku import Board, collection
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import GpusudokuError
from gpusudoku.jobs.watch import Progress
from gpusudoku.results import Count

DEVICES = ["cuda", "cpu"]


class Step(NamedTuple):
    """Something that is checked or measured; what it gives is recorded as soon as it is there."""

    part: str
    name: str
    run: Callable[[], Iterable[Run]]


class OutOfTime(GpusudokuError):  # noqa: N818 - as Interrupted
    """There is no time left for a step."""


class Clock:
    """The time that all steps have together, and the end of the step that runs now."""

    def __init__(self, seconds: float) -> None:
        self._end = self._step_end = time.perf_counter() + seconds

    @contextmanager
    def step(self, most: float) -> Iterator[None]:
        """A step that should be over after so many seconds.

        Raises
        ------
        OutOfTime
            If no time is left for it.
        """
        self._step_end = min(self._end, time.perf_counter() + most)
        self.look()
        yield

    @property
    def left(self) -> float:
        """The seconds that the step has left."""
        return self._step_end - time.perf_counter()

    def look(self, _: Progress | None = None) -> None:
        """End the step if its time is over; a count calls this twenty times a second.

        Raises
        ------
        OutOfTime
            If it is.
        """
        if self.left <= 0:
            raise OutOfTime("no time left")


@dataclass(frozen=True)
class Sizes:
    """How much is checked and measured."""

    first: tuple[str, ...] = (
        *("1b", "1c", "2d", "no-place", "needs-search", "b5", "box2x2-empty"),
        *("box2x3-many", "box3x4-many", "16x16-many", "16x16-needs-search", "25x25-few"),
    )
    """Boards of the collection that are searched before all else."""
    last: tuple[str, ...] = (
        *("box1x5-empty", "box5x1-many", "box1x7-many", "box3x2-many", "box2x4-many"),
        *("box4x2-many", "box2x5-many", "box5x2-many", "box4x3-many", "16x16-solutions"),
        *("1e", "2e", "box2x3-empty", "box4x8-few", "36x36-few", "64x64-few"),
    )
    """Those that are searched at the end of the checks."""
    nine: str = "2c"
    """The board of 9x9 cells that is searched, and listed, in all ways."""
    small: str = "box2x3-many"
    """That of another shape."""
    techniques: tuple[str, ...] = ("none", "naked-single", "locked", "all")
    contracted: tuple[str, ...] = ("1f", "2f", "top-band-cyclic", "top-band-twisted", "empty")
    """Boards of the collection that are contracted."""
    clues: tuple[int, ...] = (4, 7, 10, 14, 20, 24, 30)
    """Clues of the random boards that are contracted."""
    many: int = 2000
    """Puzzles that are counted together as a check."""
    long: tuple[tuple[str, int, int], ...] = (
        *(("1f", 0, 0), ("2f", 0, 0), ("1f", 3, 0), ("2f", 3, 0), ("16x16-solutions", 2, 2)),
    )
    """Boards of long searches, and the last clues that they lack, on a GPU and on the CPU."""
    steady: tuple[tuple[str, int], ...] = (("1f", 5), ("2f", 3), ("16x16-solutions", 4))
    """Boards in which all threads of a GPU are busy, and the last clues that they lack."""
    batch: int = 8_000_000
    """Puzzles of a batch."""
    start: str = "1c"
    """The board that new processes count."""
    tuned: tuple[str, int] = ("2f", 2)
    """The board that is searched with other settings, and the last clues that it lacks."""
    rehearsal: bool = False


REHEARSAL = Sizes(
    first=("box2x2-empty", "no-place"),
    last=("box1x5-few",),
    nine="1a",
    small="box2x2-many",
    techniques=("none", "all"),
    contracted=("1a",),
    clues=(40,),
    many=3,
    long=(("box2x2-few", 0, 0),),
    steady=(("box2x2-empty", 0),),
    batch=10,
    start="box2x2-few",
    tuned=("box2x2-many", 0),
    rehearsal=True,
)
"""Sizes at which everything runs once, where there is only the simulator, too."""


class Bench:
    """What every step needs.

    Parameters
    ----------
    clock
        The time that there is.
    sizes
        How much is done in it.
    puzzles
        uint8 (puzzles, 81): those that batches are made from, and what they are called.
    """

    def __init__(self, clock: Clock, sizes: Sizes, puzzles: tuple[str, NDArray[np.uint8]]) -> None:
        self.clock, self.sizes, self.puzzles = clock, sizes, puzzles
        self._right: dict[Board, int] = {}
        self.engines: dict[str, Engine] = {"cuda": CudaEngine(), "cpu": CpuEngine()}

    @property
    def gpus(self) -> list[Gpu]:
        """All GPUs."""
        engine = self.engines["cuda"]
        assert isinstance(engine, CudaEngine)
        return engine.gpus

    @cached_property
    def one(self) -> CudaEngine:
        """The first GPU alone."""
        return CudaEngine([0])

    def count(self, board: Board, device: str = "cuda", **options: Any) -> Count:
        """Count a board on a device; by default on all its GPUs."""
        return gpusudoku.count(board, **self.options(device, **options))

    def options(self, device: str = "cuda", **options: Any) -> dict[str, Any]:
        """Options that let a count be made on a device, and end with the clock."""
        return {"engine": self.engines[device], "progress": self.clock.look, **options}

    def known(self, name: str, **options: Any) -> Run:
        """Count a board of the collection on the GPUs; a wrong count is an error."""
        return {"count": str(counted(name, **self.options(**options)).count)}

    def right(self, board: Board) -> int:
        """The count of a board by the CPU, which contracts it if it has 9x9 cells."""
        if board not in self._right:
            method = "contraction" if str(board.geometry) == "3x3" else "search"
            self._right[board] = self.count(board, "cpu", method=method).count
        return self._right[board]

    def agreed(self, board: Board) -> Run:
        """Count a board on both devices by both methods; they must agree."""
        ways = [(device, method) for device in DEVICES for method in ("search", "contraction")]
        counts = {way: self.count(board, way[0], method=way[1]).count for way in ways}
        for (device, method), found in counts.items():
            check(f"{board}, {method} on {device}", found, counts["cpu", "contraction"])
        return {"count": str(counts["cpu", "contraction"])}


def board_without(name: str, clues: int) -> tuple[Board, str]:
    """A board of the collection without its last clues, and what it is called."""
    return thinned(name, clues), f"@{name} without {clues} clues" if clues else f"@{name}"


def nine_puzzles(number: int, clues: int) -> list[Board]:
    """Random boards of 9x9 cells of so many clues; of every ten one has a clue changed."""
    boards = random_boards(clues, number)
    for index in range(9, number, 10):
        cells = boards[index].cells.copy()
        first = np.flatnonzero(cells)[0]
        cells[first] = cells[first] % 9 + 1
        boards[index] = Board(cells)
    return boards


def own_puzzles() -> tuple[str, NDArray[np.uint8]]:
    """The 9x9 puzzles with one solution that come with the program, and what they are called."""
    found = [each for each in collection.entries() if str(each.box) == "3x3" and each.count == 1]
    boards = [collection.load(each.name) for each in found]
    cells = np.stack([board.cells for board in boards if board.empty_cells])
    return "the program's own", cells


FACTS = ("driver_version", "memory.total", "clocks.max.sm", "power.limit", "mig.mode.current")
UNDER_LOAD = ("clocks.sm", "power.draw", "temperature.gpu")


def asked(gpu: Gpu, fields: Iterable[str]) -> dict[str, str]:
    """What the driver's own program says of a GPU; nothing where there is none, as in a simulator.

    It is only told of beside the figures, so whatever goes wrong here stops nothing.
    """
    names = list(fields)
    try:
        place = gpu.xp.cuda.Device(gpu.number).pci_bus_id
        command = ["nvidia-smi", "-i", place, f"--query-gpu={','.join(names)}"]
        done = subprocess.run(
            [*command, "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
        [values] = csv.reader(done.stdout.splitlines(), skipinitialspace=True)
    except Exception:  # of CuPy's, or of a program that is not ours
        return {}
    return dict(zip(names, values, strict=False))


def described(gpu: Gpu) -> dict[str, Any]:
    """A GPU: its name, its size, and what else is known of it."""
    with gpu.current():
        free = gpu.free_bytes()
    facts = {"name": gpu.name, "multiprocessors": gpu.multiprocessors, "free bytes": free}
    return {**facts, **asked(gpu, FACTS)}
