"""The frontier: many partial boards that share no solution, packed in arrays of bit masks.

Every search starts from a frontier. Each of its boards is complete in itself. So workers can search
them in any order, on any thread or GPU, and their counts add up to the count of the root.

The work of a search is estimated from a small sample of its tree. Knuth's estimator (Estimating the
efficiency of backtrack programs, Mathematics of Computation 29, 1975) walks down the tree at random
and weights every node by the number of choices that led to it. This module uses its form for many
walkers, stochastic enumeration (Rubinstein; Vaisman and Kroese, 2013). All children of all walkers
are made. A subset of them continues, and each of these is weighted by the children that it
represents. The estimate is unbiased and varies less than Knuth's. It is exact if no level of the
tree has more nodes than there are walkers. The walkers that continue are spread evenly over the
sizes of the boards (Chen's strata: Heuristic sampling, SIAM Journal on Computing 21, 1992).
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

MAX_FRONTIER_BYTES = 1 << 28
"""A frontier is not expanded beyond this many bytes of packed boards. Expanding needs four times as
much memory for a short time: parents, children, and the lists of both."""

CALL_BYTES = 1 << 19
"""Bytes of packed boards that one call of compiled code splits. An interrupt waits for the call."""

MAX_WALKERS = 256
MAX_WALKER_BYTES = 256 * 28 * 4
"""Maximum size of the packed boards of all walkers. Boards larger than 9x9 have fewer walkers."""
MIN_WALKERS = 4
"""Minimum number of walkers, whatever the size of the board."""
MAX_ESTIMATED_NODES = 1e18
"""An estimate ends at this number of nodes: they take thousands of years."""
SEED = 1

WORD_SECONDS = 0.9e-9
"""Time of a node on the reference core for every 32 bits of a board."""
LARGE_WORD_SECONDS = 1.7e-9
"""The same for boards that do not fit into the fastest cache."""

FIRST_SAMPLE_SECONDS = 1.0
"""Time until the first sample. A shorter search needs no forecast."""
SAMPLING_SHARE = 0.005
"""Maximum share of the time of all threads that goes into samples. One thread makes them."""
MIN_EFFORT = 4
"""Effort of the first sample. It is doubled from sample to sample, up to the maximum."""
MAX_EFFORT = 64
MAX_SAMPLED_BOARDS = 1 << 14
"""A sample starts from fewer than twice this number of boards, because a GPU has millions."""
SAMPLE_WEIGHT = 2 / 3
"""Weight of a new sample; the previous forecast, which had half the effort, has the rest."""


@dataclass(frozen=True)
class Cutoff:
    """The size up to which boards of a frontier are not split any more."""

    size: float
    """Maximum size of a board that is not split."""
    by_empty: bool
    """True if the size of a board is its number of empty cells, False if it is its search space:
    the product of the numbers of candidates of all cells."""

    @property
    def threshold(self) -> float:
        """The size as kernels compare it: log2 of a search space, which always fits in a float."""
        return self.size if self.by_empty else log2(self.size)


@dataclass(frozen=True)
class Frontier:
    """Packed partial boards."""

    shape: Shape
    boards: NDArray[Any]
    """(B, shape.words): a board in each row, packed as ``kernels.search.shape`` draws it."""
    roots: NDArray[np.int64]
    """int64 (B): the index of the root that each board descends from."""
    ready: int = 0
    """Number of boards, the first ones, that need no more splitting."""
    nodes: int = 0
    """Number of boards that were visited to make this frontier."""
    guesses: int = 0
    """Number of these boards that were split in two."""
    capped: bool = False
    """True if a cutoff was not reached, because of MAX_FRONTIER_BYTES."""

    def __len__(self) -> int:
        return len(self.boards)

    @classmethod
    def of(cls, roots: Batch | Sequence[Board]) -> Frontier:
        """Pack boards of one geometry, the roots, in their order.

        A root whose clues contradict each other gets no candidates at all, so its count is 0.
        """
        batch = Batch.of(roots)
        shape = shape_of(batch.geometry.box_rows, batch.geometry.box_columns)
        boards = np.empty((len(batch), shape.words), shape.word)
        pack = cpu.pack(shape).for_boards(len(boards))
        memory = shape.memory(shape.lanes)
        pack(batch.cells, *shape.cell_positions, boards, memory)
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

        Without a cutoff it stops when there are at least ``width`` boards, or none can be split.
        With a cutoff it stops when no board is larger. In any case it stops before the boards take
        more than MAX_FRONTIER_BYTES. If the job is to end, it returns this frontier.
        """
        if cutoff is None and (len(self) >= width or self.ready == len(self)):
            return self
        max_boards = MAX_FRONTIER_BYTES // self.shape.row_bytes
        call_boards = CALL_BYTES // self.shape.row_bytes
        ready_parts = [self.part(0, self.ready)] if self.ready else []
        unfinished = self.part(self.ready, len(self))
        ready = self.ready
        nodes = self.nodes
        guesses = self.guesses
        # A round may double the boards that are split.
        while len(unfinished) and ready + 2 * len(unfinished) <= max_boards:
            if cutoff is None and ready + len(unfinished) >= width:
                break
            half_parts: list[Frontier] = []
            for start in range(0, len(unfinished), call_boards):
                if job is not None and job.ending:
                    return self
                part = unfinished.part(start, start + call_boards)
                ready_part, halves = part.split(settings, cutoff)
                guesses += halves.guesses
                ready_parts.append(ready_part)
                half_parts.append(halves)
                ready += len(ready_part)
            nodes += len(unfinished)
            unfinished = self._join(half_parts)
        whole = self._join([*ready_parts, unfinished])
        capped = cutoff is not None and len(unfinished) > 0
        return Frontier(self.shape, whole.boards, whole.roots, ready, nodes, guesses, capped)

    def part(self, start: int, end: int) -> Frontier:
        """Return the boards from ``start`` to before ``end``, with ``ready`` 0."""
        return Frontier(self.shape, self.boards[start:end], self.roots[start:end])

    def split(
        self, settings: SearchSettings, cutoff: Cutoff | None = None
    ) -> tuple[Frontier, Frontier]:
        """Simplify every board, and split it in two if necessary.

        Returns the boards that need no splitting, and the halves of the others. A board needs no
        splitting if it is solved, is known to have two solutions, or is no larger than the cutoff.
        Dead boards are dropped.
        """
        expand = cpu.expand(self.shape, settings)
        threshold = -1.0 if cutoff is None else cutoff.threshold  # no board is as small as -1
        return self._split(expand, threshold, cutoff)

    def simplified(self, settings: SearchSettings) -> Frontier:
        """Simplify every board, without a split; drop the boards found to be dead."""
        expand = cpu.expand(self.shape, settings).for_boards(len(self))
        simplified, _ = self._split(expand, inf, None)
        return simplified

    def _split(
        self, expand: Callable[..., int], threshold: float, cutoff: Cutoff | None
    ) -> tuple[Frontier, Frontier]:
        """Return the children that are ready, and the others. Cancelled may be raised."""
        check_cancelled()
        by_empty = cutoff is not None and cutoff.by_empty
        children = Children.empty(len(self), self.shape)
        memory = self.shape.memory(self.shape.lanes)
        count = expand(self.boards, threshold, by_empty, children, memory)
        boards = children.boards[:count]
        ready = children.ready[:count]
        parents = children.parents[:count]
        roots = self.roots[parents]
        guesses = int(np.count_nonzero(np.diff(parents) == 0))  # parents with two children
        return (
            Frontier(self.shape, boards[ready], roots[ready]),
            Frontier(self.shape, boards[~ready], roots[~ready], guesses=guesses),
        )

    @property
    def candidates(self) -> NDArray[np.uint64]:
        """The candidates masks of all cells, uint64 (B, cells): bit d - 1 for digit d."""
        return self.shape.candidates_of(self.boards)

    @property
    def candidates_left(self) -> NDArray[np.int64]:
        """The number of candidates in all cells of each board, int64 (B).

        For a solved board it is the number of cells.
        """
        counts_of_words = np.bitwise_count(self.boards[:, : self.shape.planes])
        candidate_counts: NDArray[np.int64] = counts_of_words.sum(axis=1, dtype=np.int64)
        return candidate_counts

    def _join(self, parts: Sequence[Frontier]) -> Frontier:
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
    """Number of boards that a count visits; a lower bound if ``is_endless``."""
    solutions: float
    """Number of solutions; a lower bound if ``is_endless``."""
    exact: bool
    """True if the whole tree was visited."""
    node_seconds: float
    """Time of a node on the reference core."""

    @property
    def is_endless(self) -> bool:
        """True if the estimate ended early, at MAX_ESTIMATED_NODES."""
        return self.nodes >= MAX_ESTIMATED_NODES

    def seconds(self, limit: int | None = None) -> float:
        """Return the time on the reference core of a search that stops at a limit of solutions."""
        share = 1.0
        if limit is not None and self.solutions > limit:
            share = limit / self.solutions
        return self.nodes * share * self.node_seconds


def estimate_search(
    roots: Frontier, settings: SearchSettings, effort: int = 1, seed: int = 0
) -> SearchEstimate:
    """Estimate the search of some boards. The estimate is deterministic for each ``seed``.

    ``effort`` multiplies the number of walkers. The estimate ends at MAX_ESTIMATED_NODES; its nodes
    and solutions are then too low.
    """
    # A child process that is forked during this import would wait for its lock forever.
    with delayed_forks():
        from numpy.random import default_rng  # imported lazily: it takes a while
    rng = default_rng(SEED + seed)
    level = roots  # the boards of one level of the tree that are visited
    weight = 1.0  # the boards of the level that each of them represents
    nodes = 0.0
    solutions = 0.0
    walkers_in_bytes = MAX_WALKER_BYTES // roots.shape.row_bytes
    max_walkers = effort * max(MIN_WALKERS, min(MAX_WALKERS, walkers_in_bytes))
    while len(level) and nodes < MAX_ESTIMATED_NODES:
        nodes += weight * len(level)
        solved, level = level.split(settings)
        # Boards known to have two solutions are not split either.
        with_two = solved.candidates_left > solved.shape.n**2
        solutions += weight * (len(solved) + int(np.count_nonzero(with_two)))
        if len(level) > max_walkers:
            # Boards with many candidates have large trees. So take boards at equal distances from
            # the list sorted by this number: each size gets its share of walkers.
            by_size = np.argsort(level.candidates_left, kind="stable")
            step = len(level) / max_walkers
            positions = ((np.arange(max_walkers) + rng.random()) * step).astype(np.intp)
            sample = by_size[positions]
            weight *= step
            level = Frontier(level.shape, level.boards[sample], level.roots[sample])
    return SearchEstimate(nodes, solutions, weight == 1.0, node_seconds(roots.shape))


@cache
def node_seconds(shape: Shape) -> float:
    """Return the approximate time of a node of a search on the reference core."""
    word_seconds = WORD_SECONDS if shape.unrolled else LARGE_WORD_SECONDS
    return shape.planes * shape.bits / 32 * word_seconds


class Forecast:
    """A forecast of the remaining nodes of a worker's tasks, for a job whose progress is watched.

    The tree of a search is so uneven that the share of finished boards says nothing about the
    share of finished work. So a worker samples the tree below the remaining boards, as the estimate
    of the whole search does. The nodes of the finished work are known, so the forecast improves as
    the search proceeds.
    """

    def __init__(self, settings: SearchSettings, job: Job, threads: int = 1) -> None:
        self._settings = settings
        self._threads = threads
        self._job = job
        self._samples = 0  # so that each sample has another seed
        self._effort = MIN_EFFORT
        # When the next sample is due, on the clock of ``perf_counter``.
        self._next_sample = inf
        if job.is_watched:
            self._next_sample = time.perf_counter() + FIRST_SAMPLE_SECONDS

    @property
    def is_due(self) -> bool:
        """True if it is time for another sample."""
        return time.perf_counter() >= self._next_sample

    def revise(self, task: Task, remaining: Frontier) -> None:
        """Sample the remaining boards of a task, and correct the job's forecast for it.

        The new sample is independent of the previous forecast, so their difference measures the
        uncertainty of both. If the estimate ended early, only a lower bound is known.
        """
        start = time.perf_counter()
        step = max(1, len(remaining) // MAX_SAMPLED_BOARDS)
        boards = Frontier(remaining.shape, remaining.boards[::step], remaining.roots[::step])
        # At the deadline the sample is given up. The worker then ends by itself, and returns its
        # remaining boards.
        with suppress(Cancelled), cancelling(self._job.deadline):
            self._samples += 1
            estimate = estimate_search(boards, self._settings, self._effort, self._samples)
            nodes = estimate.nodes * len(remaining) / len(boards)
            weight = task.weight + SAMPLE_WEIGHT * (nodes - task.weight)
            uncertainty = abs(nodes - weight)
            if estimate.exact and step == 1:
                uncertainty = 0.0
            if estimate.is_endless:
                uncertainty = weight
            self._job.expect(task, weight, uncertainty)
        self._effort = min(2 * self._effort, MAX_EFFORT)
        seconds = time.perf_counter() - start
        self._next_sample = start + seconds / (SAMPLING_SHARE * self._threads)
