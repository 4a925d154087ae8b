"""Boards too expensive to contract as a whole: divided by clues into parts, which are contracted.

A part must differ from the others by clues. A search also splits a board by removing a candidate,
but a contraction would not notice that: its lists know the rows and the columns that a digit may
take, not the cells. So each candidate of one cell becomes the clue of one part.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from math import inf
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.protocol import UNBOUNDED, Effort
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.forks import cached_property
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.search.frontier import Frontier

PART_SECONDS = 1.0
"""A part is cheap if its contraction takes at most this long."""
PART_MAPS = 1 << 16
"""The largest number of maps of a stack or band of a part; more are not worth listing."""
PART_BYTES = 128 << 20
"""The largest number of bytes of the contraction of a part."""
SAMPLE_PARTS = 8
"""The number of parts that the estimate follows at a time."""
MAX_SECONDS = 1e5
"""A sum that would take longer than this on one core, about a day, is refused."""
LISTING_SECONDS = 0.02
"""The time to list the maps of a part, or to find that they are too many, with at most
LISTING_DIGITS digits. With more digits it grows as their cube."""
LISTING_DIGITS = 25
"""See LISTING_SECONDS."""
MAX_TASKS = 256
"""A board is divided until there are at least this many parts, each of which is a task."""
TASK_LISTINGS = 8
"""On average a task takes at least this many times as long as listing the maps of a part. Dividing
cheap parts further would only take longer."""
SEED = 1
"""The seed of the estimate, which is deterministic."""


class BoardPart(NamedTuple):
    """A board with more clues than the whole, simplified by singles."""

    candidates: NDArray[np.uint64]
    """uint64 (cells): the candidates mask of every cell."""
    geometry: Geometry
    """The shape of the board."""

    @property
    def is_solved(self) -> bool:
        """True if every cell has one candidate."""
        return bool((np.bitwise_count(self.candidates) == 1).all())

    def children(self) -> list[Board]:
        """Return a board for each candidate of a cell with the fewest; of a solved part itself."""
        counts = np.bitwise_count(self.candidates)
        cells = single_digits(self.candidates)
        # Cells with one candidate come last, so that a solved part has one child: itself.
        cell = int(np.argmin(np.where(counts == 1, self.geometry.n + 1, counts)))
        boards = []
        for digit in range(1, self.geometry.n + 1):
            if int(self.candidates[cell]) >> (digit - 1) & 1:
                cells[cell] = digit
                boards.append(Board(cells, self.geometry))
        return boards


def simplify(boards: Sequence[Board]) -> list[BoardPart]:
    """Return the boards in which singles find no contradiction, in order."""
    if not boards:
        return []
    simplified = Frontier.of(boards).simplified(SearchSettings())
    return [BoardPart(candidates, boards[0].geometry) for candidates in simplified.candidates]


def divide(parts: Sequence[BoardPart]) -> list[BoardPart]:
    """Return the children of all parts, in order, without those with a contradiction."""
    return simplify([child for part in parts for child in part.children()])


class Parts:
    """The sum over the parts of a board whose candidates follow from its clues.

    A task is a part, which is contracted if that is cheap, and divided further otherwise. Every
    part is simplified once, when it is made. ``seconds`` and ``listing_seconds`` are as in
    ``Contraction``.

    TooExpensive is raised if the sum would take more than ``worth`` seconds on one core, or
    MAX_SECONDS, or the estimate more than the effort. Its message begins with that of
    ``whole_board_error``, the error of the contraction of the whole board.
    """

    def __init__(
        self,
        board: Board,
        memory: int,
        whole_board_error: TooExpensive,
        worth: float = inf,
        effort: Effort = UNBOUNDED,
    ) -> None:
        start = time.perf_counter()
        self.geometry = board.geometry
        self._part_bytes = min(memory, PART_BYTES)
        self._part_listing_seconds = LISTING_SECONDS * max(1.0, board.n / LISTING_DIGITS) ** 3
        self._min_task_seconds = TASK_LISTINGS * self._part_listing_seconds
        self._roots = simplify([board])
        """The simplified board; empty if singles find a contradiction."""
        self.seconds = self._estimate(whole_board_error, min(worth, MAX_SECONDS), effort)
        self.listing_seconds = time.perf_counter() - start

    def _estimate(
        self, whole_board_error: TooExpensive, max_seconds: float, effort: Effort
    ) -> float:
        """Estimate the seconds of the sum by a random sample, as ``estimate_search`` does.

        The parts are divided level by level. Of each level SAMPLE_PARTS parts are followed, and
        each of these stands for ``weight`` parts.
        """
        # Tasks depend on the estimate, so it must not depend on the version of a library. Python
        # guarantees that this method yields the same numbers in all versions.
        random = Random(SEED).random
        pending_parts = self._roots
        weight = 1.0
        seconds = 0.0
        has_cheap_part = False
        # Level by level: cheap parts are summed up, expensive ones divided.
        while pending_parts:
            expensive_parts = []
            for part in pending_parts:
                seconds += weight * self._part_listing_seconds
                join = self._join_if_cheap(part, effort)
                if join is None:
                    expensive_parts.append(part)
                else:
                    seconds += weight * join.seconds
                    has_cheap_part = True
            pending_parts = divide(expensive_parts)
            if len(pending_parts) > SAMPLE_PARTS:
                weight *= len(pending_parts) / SAMPLE_PARTS
                pending_parts = sorted(pending_parts, key=lambda _: random())[:SAMPLE_PARTS]
            # Every pending part is listed at least.
            min_seconds = seconds + weight * len(pending_parts) * self._part_listing_seconds
            if min_seconds > max_seconds:
                raise TooExpensive(
                    f"{whole_board_error}; in parts it would take more than {min_seconds:.1e} s"
                    " on one core"
                )
        if weight > 1 and not has_cheap_part:
            # All parts of the sample end in contradictions, which says nothing about the others.
            raise TooExpensive(
                f"{whole_board_error}; how long it would take in parts could not be estimated"
            )
        return seconds

    def max_threads(self, memory: int) -> int:
        """Return the number of threads, each with one part, that fit into ``memory`` bytes."""
        return max(1, memory // self._part_bytes)

    @cached_property
    def tasks(self) -> list[BoardPart]:
        """The numbered parts: the board, divided breadth first until there are enough."""
        parts = self._roots
        min_parts = min(MAX_TASKS, int(self.seconds / self._min_task_seconds))
        # A board with few solutions ends in solved parts, which are not divided.
        while len(parts) < min_parts and not all(part.is_solved for part in parts):
            parts = divide(parts)
        return parts

    def sum_or_divide_last(
        self, pending_parts: list[BoardPart], stop: NDArray[np.int64]
    ) -> tuple[int, int]:
        """Remove the last part from a list and sum it, as ``Contraction.sum`` does.

        A part that is not cheap is divided instead: its children are appended to the list, and its
        sum is 0.
        """
        part = pending_parts.pop()
        join = self._join_if_cheap(part)
        if join is None:
            # In reverse, so that the last part of the list is the first child.
            pending_parts += divide([part])[::-1]
            return 0, 0
        if not join.tasks:
            return 0, 0
        total, products = join.sum(range(join.tasks), join.scratch(), stop)
        return join.factor * total, products

    def joins(self) -> Iterator[tuple[BoardPart, Join]]:
        """Contract all parts in a deterministic order; yield those with maps of all lines."""
        pending_parts = self.tasks[::-1]
        while pending_parts:
            part = pending_parts.pop()
            join = self._join_if_cheap(part)
            if join is None:
                pending_parts += divide([part])[::-1]
            elif join.tasks:
                yield part, join

    def join_of(self, part: BoardPart) -> Join:
        """Contract a part that ``joins`` yielded."""
        join = self._join_if_cheap(part)
        assert join is not None
        return join

    def _join_if_cheap(self, part: BoardPart, effort: Effort = UNBOUNDED) -> Join | None:
        """Contract a part; return None if that is not cheap."""
        # Without a bound: whether a part is cheap must not depend on the remaining budget.
        part_effort = Effort()
        try:
            join = Join(*part, max_maps=PART_MAPS, memory=self._part_bytes, effort=part_effort)
        except TooExpensive:
            return None
        finally:
            effort.spend(part_effort.spent, 1)
        return join if join.seconds <= PART_SECONDS else None
