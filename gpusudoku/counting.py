"""From a board to an exact count: choose the engine, widen, explore, and say what was done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import Any

from gpusudoku.board import Board
from gpusudoku.chunks import Interrupted, Job, Progress
from gpusudoku.engines import Engine, driver
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.logic import DEFAULT, parse_techniques, technique_names

DEVICES = ("auto", "cpu", "cuda")
STRATEGIES = ("first", "min")

BLOCK_SECONDS = 0.25
"""Boards of a batch are counted in blocks that grow until one takes about this long."""
BLOCK_BOARDS = 1 << 14
"""Boards in a block at most."""


@dataclass(frozen=True)
class Options:
    """How to search.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    device: str = "auto"
    """``auto`` (CUDA if it can be used), ``cpu`` or ``cuda``."""
    jobs: int | None = None
    """CPU threads; None for all usable cores."""
    gpus: tuple[int, ...] | None = None
    """Numbers of the GPUs to use; None for all."""
    limit: int | None = None
    """Stop once this many solutions are found; None for never."""
    cutoff: float | None = None
    """Widen the frontier until no board's search space is larger; None: until it is wide enough."""
    strategy: str = "min"
    """Which cell to guess: the ``first`` empty one or one with the fewest candidates, ``min``."""
    propagate: str = DEFAULT
    """Techniques applied at every node, as for ``logic.parse_techniques``."""

    def __post_init__(self) -> None:
        if self.device not in DEVICES:
            raise InputError(f"device {self.device!r}: expected {', '.join(DEVICES)}")
        if self.strategy not in STRATEGIES:
            raise InputError(f"strategy {self.strategy!r}: expected {', '.join(STRATEGIES)}")
        if self.jobs is not None and self.jobs < 1:
            raise InputError(f"jobs {self.jobs}: at least 1 is needed")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit {self.limit}: at least 1 is needed")
        if self.cutoff is not None and not 1 <= self.cutoff < inf:
            raise InputError(f"cutoff {self.cutoff}: a finite number from 1 up is needed")
        parse_techniques(self.propagate)


@dataclass
class Stats:
    """What a search did. Times are in seconds, without start-up and compiling."""

    empty_cells: int = 0
    filling_factor: float = 0.0
    """Filled cells as a share of all cells."""
    search_space: int = 0
    """Product of the candidate counts of all empty cells."""
    strategy: str = ""
    propagate: str = ""
    cutoff: float | None = None
    """Search space that frontier boards may have; None if only their number mattered."""
    cutoff_reached: bool = True
    """False if the frontier reached its memory cap before."""
    frontier_width: int = 0
    """Frontier boards that the device wants, by default."""
    frontier_boards: int = 0
    boards_explored: int = 0
    """Partial boards made: the root, and one more for every guess."""
    nodes: int = 0
    """Boards looked at, those of the widening included."""
    deepest: int = 0
    """Boards waiting on one stack, at most."""
    seconds: float = 0.0
    widening_seconds: float = 0.0
    utilisation: list[float] = field(default_factory=list)
    """Share of the exploring time that every worker was at work."""

    def describe(self, board: Board) -> None:
        """Fill in the size of the board that was searched."""
        self.empty_cells = board.empty_cells
        self.filling_factor = board.filling_factor
        self.search_space = board.search_space


@dataclass(frozen=True)
class Count:
    """The number of solutions of a board.

    ``count`` is exact if ``exact``; if not, a limit was given and the count is that or more.
    """

    board: Board
    count: int
    exact: bool
    method: str
    device: str
    jobs: int
    stats: Stats

    def __str__(self) -> str:
        return f"{self.count}" if self.exact else f"{self.count}+"

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON types; integers that may exceed 2^53 are strings."""
        stats = asdict(self.stats)
        stats["search_space"] = str(self.stats.search_space)
        return {
            "board": str(self.board),
            "box": str(self.board.geometry),
            "count": str(self.count),
            "exact": self.exact,
            "method": self.method,
            "device": self.device,
            "jobs": self.jobs,
            **stats,
        }


def make_engine(options: Options) -> Engine:
    """The engine for the device that the options ask for.

    Raises
    ------
    DeviceError
        If CUDA is asked for and cannot be used.
    """
    if options.device == "cuda" or (options.device == "auto" and driver.unusable_because() is None):
        from gpusudoku.engines.cuda import CudaEngine

        return CudaEngine(options.gpus)
    from gpusudoku.engines.cpu import CpuEngine

    return CpuEngine(options.jobs)


def count(
    board: Board,
    *,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Count:
    """Count all solutions of a board, exactly.

    Parameters
    ----------
    board
        Any board; one with contradicting clues has 0 solutions.
    engine
        Made by ``make_engine`` before, to count several boards; by default made for this call.
    progress
        Called about twenty times a second.
    **options
        The fields of ``Options``.

    Raises
    ------
    InputError
        If an option's value is out of range.
    DeviceError
        If CUDA is asked for and cannot be used.
    Interrupted
        After Ctrl-C; its ``count`` is a lower bound.
    """
    settings = Options(**options)
    engine = engine or make_engine(settings)
    counts, stats = explore([board], engine, settings, progress=progress)
    stats.describe(board)
    return _result(board, counts[0], engine, settings, stats)


def count_many(
    boards: Iterable[Board], *, engine: Engine | None = None, **options: Any
) -> Iterator[Count]:
    """Count the solutions of many boards, in their order; options as for ``count``.

    Boards are counted in blocks, as one frontier, and the ``stats`` of a result are those of its
    block. Memory is bounded by a block, however many boards there are.
    """
    settings = Options(**options)
    engine = engine or make_engine(settings)
    size = 16
    block: list[Board] = []

    def flush() -> Iterator[Count]:
        nonlocal size
        counts, stats = explore(block, engine, settings)
        for board, found in zip(block, counts, strict=True):
            yield _result(board, found, engine, settings, stats)
        if stats.seconds < BLOCK_SECONDS:
            size = min(2 * size, BLOCK_BOARDS)
        elif stats.seconds > 4 * BLOCK_SECONDS:
            size = max(1, size // 2)
        block.clear()

    for board in boards:
        if block and (board.geometry != block[0].geometry or len(block) >= size):
            yield from flush()
        block.append(board)
    if block:
        yield from flush()


def cross_check(result: Count, **options: Any) -> str:
    """Count again another way, on the other device or else by the other strategy; say which.

    Raises
    ------
    MismatchError
        If the two counts differ.
    """
    settings = Options(**options)
    other = "cpu" if result.device == "cuda" else "cuda"
    if other == "cpu" or driver.unusable_because() is None:
        settings = replace(settings, device=other)
        way = f"device {other}"
    else:
        strategy = "first" if settings.strategy == "min" else "min"
        settings = replace(settings, strategy=strategy)
        way = f"strategy {strategy}"
    again = count(result.board, **vars(settings))
    if (again.count, again.exact) != (result.count, result.exact):
        raise MismatchError(f"cross-check failed: {result} solutions, but {again} by {way}")
    return way


def explore(
    boards: Sequence[Board],
    engine: Engine,
    options: Options,
    *,
    sink: Callable[[Any], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
    on_start: Callable[[Job], None] = lambda job: None,
) -> tuple[list[int], Stats]:
    """Search the boards, all of one geometry, as one frontier; returns their counts and the stats.

    ``sink`` is given the solutions as uint8 (k, cells) arrays, and ``on_start`` the job, for
    whoever wants to stop it. Counts may exceed the limit.

    Raises
    ------
    Interrupted
        After Ctrl-C; its ``count`` is a lower bound of the sum of the counts.
    """
    from gpusudoku.frontier import Frontier
    from gpusudoku.kernels.rules import FIRST, MIN, Rules

    techniques = parse_techniques(options.propagate)
    rules = Rules(techniques, FIRST if options.strategy == "first" else MIN)
    job = Job(len(boards), options.limit, sink)
    try:
        roots = Frontier.of(boards, rules)
        engine.prepare(roots, rules)
        start = time.perf_counter()
        frontier = roots.widened(rules, engine.width, options.cutoff)
        widened = time.perf_counter()
        on_start(job)
        tally = engine.explore(frontier, rules, job, progress)
        end = time.perf_counter()
    except (Interrupted, KeyboardInterrupt):
        found = sum(job.counts)
        bound = f": at least {found} solutions" if len(boards) == 1 else ""
        raise Interrupted(f"interrupted{bound}", found) from None
    return job.counts, Stats(
        strategy=options.strategy,
        propagate=technique_names(techniques),
        cutoff=options.cutoff,
        cutoff_reached=not frontier.capped,
        frontier_width=engine.width,
        frontier_boards=len(frontier),
        boards_explored=len(boards) + frontier.guesses + tally.guesses,
        nodes=frontier.nodes + tally.nodes,
        deepest=tally.deepest,
        seconds=end - start,
        widening_seconds=widened - start,
        utilisation=[busy / job.seconds for busy in job.busy],
    )


def _result(board: Board, found: int, engine: Engine, options: Options, stats: Stats) -> Count:
    exact = options.limit is None or found < options.limit
    shown = found if exact or options.limit is None else options.limit
    return Count(board, shown, exact, "search", engine.name, engine.workers, stats)
