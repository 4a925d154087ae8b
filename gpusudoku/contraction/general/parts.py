"""Boards too expensive to contract as a whole: divided by clues into parts, which are contracted.

A part must differ from the others by clues. The search also splits a board by removing a candidate,
which a contraction would not notice: its lists know which rows and which columns a digit may take,
not which cells. So a cell is chosen, and every candidate becomes the clue of one part.
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
"""A part whose contraction takes no longer than this is cheap."""
PART_MAPS = 1 << 16
"""Maps of a stack or band of a part; more are not worth listing."""
PART_BYTES = 128 << 20
"""Bytes that the contraction of a part may take."""
WALKERS = 8
"""Parts that the estimate follows at a time."""
MAX_SECONDS = 1e5
"""A sum that would take longer than this on one core, about a day, is refused."""
LISTING_SECONDS = 0.02
"""The time to list the maps of a part, or to find that they are too many, up to LISTING_DIGITS
digits. With more digits it grows as their cube."""
LISTING_DIGITS = 25
"""See LISTING_SECONDS."""
MAX_TASKS = 256
"""A board is divided until there are this many parts, or a few more: a task each."""
TASK_LISTINGS = 8
"""A task takes at least this many times as long as listing the maps of a part, on the average.
Parts that are already cheap would only take longer if they were divided further."""
SEED = 1
"""The estimate is random, but always the same for the same board."""


class BoardPart(NamedTuple):
    """A board with more clues than the whole, simplified by singles."""

    candidates: NDArray[np.uint64]
    """uint64 (cells): the mask of digits that are possible in every cell."""
    geometry: Geometry
    """The shape of the board."""

    @property
    def solved(self) -> bool:
        """True if every cell has one candidate."""
        return bool((np.bitwise_count(self.candidates) == 1).all())

    def children(self) -> list[Board]:
        """Return a board for each candidate of a cell with the fewest; of a solved part itself."""
        candidates = self.candidates
        counts = np.bitwise_count(candidates)
        cells = single_digits(candidates)
        cell = int(np.argmin(np.where(counts == 1, self.geometry.n + 1, counts)))
        boards = []
        for digit in range(1, self.geometry.n + 1):
            if int(candidates[cell]) >> (digit - 1) & 1:
                cells[cell] = digit
                boards.append(Board(cells, self.geometry))
        return boards


def simplify(boards: Sequence[Board]) -> list[BoardPart]:
    """Return the boards in which singles find no contradiction, in order."""
    if not boards:
        return []
    left = Frontier.of(boards).simplified(SearchSettings())
    return [BoardPart(candidates, boards[0].geometry) for candidates in left.candidates]


def divide(parts: Sequence[BoardPart]) -> list[BoardPart]:
    """Return the children of all parts, in order, without those with a contradiction."""
    return simplify([child for part in parts for child in part.children()])


class Parts:
    """The sum over the parts of a board whose candidates follow from its clues.

    Every board is simplified once, as it becomes a part. A task is a part, which is contracted if
    that is cheap, and divided further if it is not. ``seconds`` and ``listing_seconds`` are those
    of a ``Contraction``. TooExpensive is raised if the sum would take more than ``worth`` seconds
    on one core, or MAX_SECONDS, or the estimate more than the effort. Its text begins with that of
    ``whole``, the error of the contraction of the whole board.
    """

    def __init__(
        self,
        board: Board,
        memory: int,
        whole: TooExpensive,
        worth: float = inf,
        effort: Effort = UNBOUNDED,
    ) -> None:
        start = time.perf_counter()
        self.geometry = board.geometry
        self._part_bytes = min(memory, PART_BYTES)
        self._listing = LISTING_SECONDS * max(1.0, board.n / LISTING_DIGITS) ** 3
        self._least = TASK_LISTINGS * self._listing
        self._parts = simplify([board])
        self.seconds = self._estimate(whole, min(worth, MAX_SECONDS), effort)
        self.listing_seconds = time.perf_counter() - start

    def _estimate(self, whole: TooExpensive, most: float, effort: Effort) -> float:
        """Estimate the seconds of the sum by a random sample, as ``estimate_search`` does."""
        # Tasks depend on the estimate, so it must not depend on the version of a library. Python
        # promises that of this method.
        random = Random(SEED).random
        todo = self._parts
        weight = 1.0
        seconds = 0.0
        cheap = False
        while todo:
            expensive = []
            for part in todo:
                seconds += weight * self._listing
                join = self._contracted(part, effort)
                if join is None:
                    expensive.append(part)
                else:
                    seconds += weight * join.seconds
                    cheap = True
            todo = divide(expensive)
            if len(todo) > WALKERS:
                weight *= len(todo) / WALKERS
                todo = sorted(todo, key=lambda _: random())[:WALKERS]
            least = seconds + weight * len(todo) * self._listing
            if least > most:
                raise TooExpensive(
                    f"{whole}; in parts it would take more than {least:.1e} s on one core"
                )
        if weight > 1 and not cheap:
            raise TooExpensive(f"{whole}; how long it would take in parts could not be estimated")
        return seconds

    def most_threads(self, memory: int) -> int:
        """Return the number of threads, each with one part, that fit into ``memory`` bytes."""
        return max(1, memory // self._part_bytes)

    @cached_property
    def tasks(self) -> list[BoardPart]:
        """The numbered parts: the board, divided breadth first until there are enough."""
        parts = self._parts
        enough = min(MAX_TASKS, int(self.seconds / self._least))
        while len(parts) < enough and not all(part.solved for part in parts):
            parts = divide(parts)
        return parts

    def sum_one(self, todo: list[BoardPart], stop: NDArray[np.int64]) -> tuple[int, int]:
        """Sum the last of some parts, as ``Contraction.sum``, or put its children there."""
        part = todo.pop()
        join = self._contracted(part)
        if join is None:
            todo += divide([part])[::-1]
            return 0, 0
        if not join.tasks:
            return 0, 0
        value, products = join.sum(range(join.tasks), join.scratch(), stop)
        return join.factor * value, products

    def joins(self) -> Iterator[tuple[BoardPart, Join]]:
        """Contract all parts, always in the same order; yield those with maps of all lines."""
        todo = self.tasks[::-1]
        while todo:
            part = todo.pop()
            join = self._contracted(part)
            if join is None:
                todo += divide([part])[::-1]
            elif join.tasks:
                yield part, join

    def join_of(self, part: BoardPart) -> Join:
        """Contract a part that ``joins`` gave."""
        join = self._contracted(part)
        assert join is not None
        return join

    def _contracted(self, part: BoardPart, effort: Effort = UNBOUNDED) -> Join | None:
        """Contract a part; None if that is not cheap."""
        own = Effort()
        try:
            join = Join(*part, most_maps=PART_MAPS, memory=self._part_bytes, effort=own)
        except TooExpensive:
            return None
        finally:
            effort.spend(own.spent, 1)
        return join if join.seconds <= PART_SECONDS else None
