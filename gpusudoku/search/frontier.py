"""The frontier: a wide list of partial boards that share no solution, packed in bitmask arrays.

Every search starts from one. A frontier board is whole in itself, so workers can take frontier
boards in any order, on any thread or GPU, and their counts add up to the count of the root.

The work of a search is estimated from a small sample of its tree. Knuth's estimator (Estimating the
efficiency of backtrack programs, Mathematics of Computation 29, 1975) walks down at random and
weighs every node by the choices that led to it. Here is its form for many walkers at once,
stochastic enumeration (Rubinstein; Vaisman and Kroese, 2013): all children of all walkers are made,
and some of them go on, with the weight of all. It is unbiased, varies less, and is exact where the
tree is no wider than the walkers are many. The walkers that go on are spread evenly over the sizes
of the boards (Chen's strata: Heuristic sampling, SIAM Journal on Computing 21, 1992).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import inf, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.errors import Cancelled
from gpusudoku.jobs.cancel import cancelling, check_cancelled
from gpusudoku.jobs.forks import delayed_forks
from gpusudoku.jobs.job import Job, Task
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.arguments import Children
from gpusudoku.kernels.search.shape import SearchSettings, Shape, shape_of

FRONTIER_BYTES = 1 << 28
"""A frontier is not expanded past this many bytes of packed boards. Making it takes four times as
much for a moment: parents, children, and the lists of both."""

CALL_BYTES = 1 << 19
"""Packed boards that are split in one call of the compiled code: an interrupt waits for no more."""

WALKERS = 256
WALKED_BYTES = 256 * 28 * 4
"""The most bytes of packed boards at a time: boards larger than 9x9 have fewer walkers."""
MIN_WALKERS = 4
"""The fewest walkers, whatever the size of the board."""
HOPELESS = 1e18
"""The nodes at which an estimate ends: thousands of years."""
SEED = 1

WORD_SECONDS, LARGE_WORD_SECONDS = 0.9e-9, 1.7e-9
"""The time of a node on the reference core for every 32 bits of a board; the second is that of
boards that do not fit into the fastest cache."""

FIRST_SAMPLE_SECONDS = 1.0
"""The time until the first sample: a shorter search needs no forecast."""
SAMPLING_SHARE = 0.005
"""The share of the time of all threads that may go into samples, which one of them makes."""
MIN_EFFORT = 4
MAX_EFFORT = 64
"""The effort of the first sample, and the most that is reached by doubling it."""
MAX_SAMPLED_BOARDS = 1 << 14
"""The number of boards from which a sample begins is less than twice this: a GPU has millions."""
SAMPLE_WEIGHT = 2 / 3
"""The weight of a new sample against the forecast before it, which had half the effort."""


@dataclass(frozen=True)
class Cutoff:
    """A bound on the size of the boards of a frontier."""

    size: float
    """The largest search space, or number of empty cells, that need not be split."""
    by_empty: bool
    """True if the size is a number of empty cells."""

    @property
    def threshold(self) -> float:
        """The size as kernels compare it: of a search space the logarithm, so that any will do."""
        return self.size if self.by_empty else log2(self.size)


@dataclass(frozen=True)
class Frontier:
    """Packed partial boards.

    ``boards`` is (B, shape.words), one board a row, packed as ``kernels.search.shape`` draws it.
    ``roots`` is int64 (B): the index of the root that each board descends from. The first ``ready``
    boards need no more splitting. To make it ``nodes`` boards were looked at and ``guesses`` of
    them split in two; ``capped`` is true if memory did not suffice for a cutoff.
    """

    shape: Shape
    boards: NDArray[Any]
    roots: NDArray[np.int64]
    ready: int = 0
    nodes: int = 0
    guesses: int = 0
    capped: bool = False

    def __len__(self) -> int:
        return len(self.boards)

    @classmethod
    def of(cls, roots: Batch | Sequence[Board]) -> Frontier:
        """Pack the roots, in order; all of one geometry.

        A root whose clues contradict each other has no candidates left and counts 0.
        """
        batch = Batch.of(roots)
        shape = shape_of(batch.geometry.box_rows, batch.geometry.box_columns)
        boards = np.empty((len(batch), shape.words), shape.word)
        pack = cpu.pack(shape).for_boards(len(boards))
        memory = shape.memory(shape.lanes)
        pack(batch.cells, *shape.places, boards, memory)
        if batch.candidates is not None:
            boards &= shape.rows_of(batch.candidates)
        return cls(shape, boards, np.arange(len(batch)))

    def expanded(
        self,
        settings: SearchSettings,
        width: int,
        cutoff: Cutoff | None = None,
        job: Job | None = None,
    ) -> Frontier:
        """Split boards breadth first, dropping dead ones.

        Without a cutoff until there are ``width`` boards or none can be split; with a cutoff
        until no board is larger. It stops in any case before FRONTIER_BYTES would be passed, and
        once the job is stopped.
        """
        if cutoff is None and (len(self) >= width or self.ready == len(self)):
            return self
        most, size = (each // self.shape.row_bytes for each in (FRONTIER_BYTES, CALL_BYTES))
        done = [self.part(0, self.ready)] if self.ready else []
        todo = self.part(self.ready, len(self))
        ready = self.ready
        nodes = self.nodes
        guesses = self.guesses
        while len(todo) and ready + 2 * len(todo) <= most:
            if cutoff is None and ready + len(todo) >= width:
                break
            parts: list[Frontier] = []
            for start in range(0, len(todo), size):
                if job is not None and job.ending:
                    return self
                part = todo.part(start, start + size)
                finished, split = part.split(settings, cutoff)
                guesses += split.guesses
                done.append(finished)
                parts.append(split)
                ready += len(finished)
            nodes += len(todo)
            todo = self._joined(parts)
        whole = self._joined([*done, todo])
        capped = cutoff is not None and len(todo) > 0
        return Frontier(self.shape, whole.boards, whole.roots, ready, nodes, guesses, capped)

    def part(self, start: int, end: int) -> Frontier:
        """Return the boards from start to before end, none of which counts as ready."""
        return Frontier(self.shape, self.boards[start:end], self.roots[start:end])

    def split(
        self, settings: SearchSettings, cutoff: Cutoff | None = None
    ) -> tuple[Frontier, Frontier]:
        """Simplify every board once, and split it in two.

        Returns the boards that need no splitting, and the others, halved. The former are solved,
        known to have two solutions, or no larger than the cutoff. Dead boards are in neither.
        """
        expand = cpu.expand(self.shape, settings)
        return self._split(expand, -1.0 if cutoff is None else cutoff.threshold, cutoff)

    def simplified(self, settings: SearchSettings) -> Frontier:
        """Return the boards that are not seen to be dead, simplified, not split."""
        expand = cpu.expand(self.shape, settings).for_boards(len(self))
        return self._split(expand, inf, None)[0]

    def _split(
        self, expand: Callable[..., int], threshold: float, cutoff: Cutoff | None
    ) -> tuple[Frontier, Frontier]:
        check_cancelled()
        by_empty = cutoff is not None and cutoff.by_empty
        children = Children.empty(len(self), self.shape)
        memory = self.shape.memory(self.shape.lanes)
        count = expand(self.boards, threshold, by_empty, children, memory)
        boards = children.boards[:count]
        ready = children.ready[:count]
        parents = children.parents[:count]
        roots = self.roots[parents]
        guesses = int(np.count_nonzero(np.diff(parents) == 0))  # two of a parent
        return (
            Frontier(self.shape, boards[ready], roots[ready]),
            Frontier(self.shape, boards[~ready], roots[~ready], guesses=guesses),
        )

    @property
    def candidates(self) -> NDArray[np.uint64]:
        """uint64 (B, cells): the digits possible in every cell, digit d as bit d - 1."""
        return self.shape.candidates_of(self.boards)

    @property
    def candidates_left(self) -> NDArray[np.int64]:
        """int64 (B): the number of candidates of all cells; as many as cells in a solved board."""
        counts = np.bitwise_count(self.boards[:, : self.shape.planes])
        left: NDArray[np.int64] = counts.sum(axis=1, dtype=np.int64)
        return left

    def _joined(self, parts: Sequence[Frontier]) -> Frontier:
        if len(parts) == 1:
            return parts[0]
        return Frontier(
            self.shape,
            np.concatenate([part.boards for part in parts]),
            np.concatenate([part.roots for part in parts]),
        )


@dataclass(frozen=True)
class SearchEstimate:
    """The estimated work of a search."""

    nodes: float
    """Boards that a count looks at; from HOPELESS on a lower bound."""
    solutions: float
    exact: bool
    """True if the whole tree was seen."""
    node_seconds: float
    """The time of a node."""

    @property
    def endless(self) -> bool:
        """True if it is HOPELESS, so that the estimate ended early."""
        return self.nodes >= HOPELESS

    def seconds(self, limit: int | None = None) -> float:
        """Return the time on the reference core, stopping at a limit of solutions."""
        share = 1.0 if limit is None or self.solutions <= limit else limit / self.solutions
        return self.nodes * share * self.node_seconds


def estimate_search(
    roots: Frontier, settings: SearchSettings, effort: int = 1, seed: int = 0
) -> SearchEstimate:
    """Estimate the search below some boards; deterministic for each ``seed``.

    ``effort`` multiplies the number of walkers. It ends where it becomes HOPELESS: nodes and
    solutions are then too low.
    """
    # A child that is forked during the import would wait for its lock forever.
    with delayed_forks():
        from numpy.random import default_rng  # imported lazily: it takes a moment
    rng = default_rng(SEED + seed)
    todo = roots
    weight = 1.0
    nodes = 0.0
    solutions = 0.0
    walkers = effort * max(MIN_WALKERS, min(WALKERS, WALKED_BYTES // roots.shape.row_bytes))
    while len(todo) and nodes < HOPELESS:
        nodes += weight * len(todo)
        known, todo = todo.split(settings)
        with_two = known.candidates_left > known.shape.n**2
        solutions += weight * (len(known) + int(np.count_nonzero(with_two)))
        if len(todo) > walkers:
            # Boards with many candidates have large trees: every size gets its share of walkers.
            by_size = np.argsort(todo.candidates_left, kind="stable")
            step = len(todo) / walkers
            chosen = by_size[((np.arange(walkers) + rng.random()) * step).astype(np.intp)]
            weight *= step
            todo = Frontier(todo.shape, todo.boards[chosen], todo.roots[chosen])
    return SearchEstimate(nodes, solutions, weight == 1.0, node_seconds(roots.shape))


@cache
def node_seconds(shape: Shape) -> float:
    """Return the approximate time of a node of a search on the reference core."""
    word = WORD_SECONDS if shape.unrolled else LARGE_WORD_SECONDS
    return shape.planes * shape.bits / 32 * word


class Forecast:
    """The forecast of the nodes that the tasks of a worker should still take, for a watched job.

    The tree of a search is so uneven that the share of its boards says nothing of the work. So a
    worker samples the tree below the boards that remain, as the estimate of the whole search does.
    The nodes of the work done are known, so the forecast improves as the search proceeds.
    """

    def __init__(self, settings: SearchSettings, job: Job, threads: int = 1) -> None:
        self._settings = settings
        self._threads = threads
        self._job = job
        self._samples = 0
        self._effort = MIN_EFFORT
        self._due = time.perf_counter() + FIRST_SAMPLE_SECONDS if job.is_watched else inf

    @property
    def is_due(self) -> bool:
        """True if it is time for another sample."""
        return time.perf_counter() >= self._due

    def revise(self, task: Task, remaining: Frontier) -> None:
        """Sample the boards that remain of a task, and change what it is expected to take.

        The new sample is independent of the forecast before, so their difference tells how good
        they are. A sample that gave up tells only that much remains.
        """
        start = time.perf_counter()
        step = max(1, len(remaining) // MAX_SAMPLED_BOARDS)
        boards = Frontier(remaining.shape, remaining.boards[::step], remaining.roots[::step])
        # If the search is to end, the worker notices by itself, and hands back what remains.
        with suppress(Cancelled), cancelling(self._job.deadline):
            self._samples += 1
            estimate = estimate_search(boards, self._settings, self._effort, self._samples)
            nodes = estimate.nodes * len(remaining) / len(boards)
            weight = task.weight + SAMPLE_WEIGHT * (nodes - task.weight)
            doubt = 0.0 if estimate.exact and step == 1 else abs(nodes - weight)
            if estimate.nodes >= HOPELESS:
                doubt = weight
            self._job.expect(task, weight, doubt)
        self._effort = min(2 * self._effort, MAX_EFFORT)
        seconds = time.perf_counter() - start
        self._due = start + seconds / (SAMPLING_SHARE * self._threads)
