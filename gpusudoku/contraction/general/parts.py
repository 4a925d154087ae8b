"""Boards too expensive to contract as a whole: divided by clues into parts, which are contracted.

A part must differ from the others by clues. The search also splits a board by removing a candidate,
which a contraction would not notice: its lists know which rows and which columns a digit may take,
not which cells. So a cell is chosen, and every candidate becomes the clue of one part.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, single_digits
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.effort import UNBOUNDED, Effort
from gpusudoku.contraction.general.join import Join
from gpusudoku.errors import TooExpensive
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

PART_SECONDS = 1.0
"""A part is cheap if its contraction takes no longer than this."""
PART_MAPS = 1 << 16
"""Maps of a stack or band of a part; more are not worth listing."""
PART_BYTES = 128 << 20
"""Bytes that the contraction of a part may take."""
WALKERS = 8
"""Parts that the estimate follows at a time."""
MOST_SECONDS = 1e5
"""A sum that would take longer than this on one core, about a day, is refused."""
LISTING_SECONDS = 0.02
"""The time to list the maps of a part, or to find that they are too many, up to LISTING_DIGITS
digits. With more digits it grows as their cube."""
LISTING_DIGITS = 25
"""See LISTING_SECONDS."""
MOST_TASKS = 256
"""A board is divided until there are this many parts, or a few more: a task each."""
TASK_LISTINGS = 8
"""A task takes at least this many times as long as listing the maps of a part, on the average.
Parts that are already cheap would only take longer if they were divided further."""
SEED = 1
"""The estimate is random, but always the same for the same board."""


class Part(NamedTuple):
    """A board with more clues than the whole, simplified by singles."""

    candidates: NDArray[np.uint64]
    """uint64 (cells): the mask of digits that are possible in every cell."""
    geometry: Geometry
    """The shape of the board."""

    @property
    def solved(self) -> bool:
        """Whether every cell has one candidate."""
        return bool((np.bitwise_count(self.candidates) == 1).all())

    @property
    def board(self) -> Board:
        """The part as a board of clues: all cells with one candidate."""
        return Board(single_digits(self.candidates), self.geometry)

    def children(self) -> list[Board]:
        """One board for each candidate of a cell that has the fewest, all singles being clues.

        A solved part has itself as its only child.
        """
        candidates = self.candidates
        counts = np.bitwise_count(candidates)
        cells = single_digits(candidates)
        if self.solved:
            return [Board(cells, self.geometry)]
        cell = int(np.argmin(np.where(counts == 1, self.geometry.n + 1, counts)))
        boards = []
        for digit in range(1, self.geometry.n + 1):
            if int(candidates[cell]) >> (digit - 1) & 1:
                cells[cell] = digit
                boards.append(Board(cells, self.geometry))
        return boards


def simplified(boards: Sequence[Board]) -> list[Part]:
    """The boards in which singles find no contradiction, in order."""
    if not boards:
        return []
    left = Frontier.of(boards).simplified(SearchSettings())
    return [Part(candidates, boards[0].geometry) for candidates in left.candidates]


def divided(parts: Sequence[Part]) -> list[Part]:
    """The children of all parts, those with a contradiction left out; in order."""
    return simplified([child for part in parts for child in part.children()])


class Parts:
    """The sum over the parts of a board.

    Every board is simplified once, as it becomes a part. A task is a part, which is contracted if
    that is cheap, and divided further if it is not. ``seconds`` and ``listing_seconds`` are what
    they are of a ``Contraction``.

    Parameters
    ----------
    board
        Any board whose candidates follow from its clues.
    memory
        Bytes that may be taken.
    whole
        Why the board was not contracted as it is, for the message.
    worth
        Seconds on one core that the sum may take, or MOST_SECONDS if that is less.
    effort
        What may be spent on the estimate.

    Raises
    ------
    TooExpensive
        If the estimate exceeds them, or the effort.
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
        self._parts = simplified([board])
        self.seconds = self._estimate(whole, min(worth, MOST_SECONDS), effort)
        self.listing_seconds = time.perf_counter() - start

    def _estimate(self, whole: TooExpensive, most: float, effort: Effort) -> float:
        """The seconds that the sum takes, estimated as those of a search are (``search.estimate``).

        A few parts are divided, some of their children chosen at random, and so on until all are
        cheap.
        """
        # Tasks depend on the estimate, so it must not depend on the version of a library. Python
        # promises that of this method.
        random = Random(SEED).random
        todo, weight, seconds, cheap = self._parts, 1.0, 0.0, False
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
            todo = divided(expensive)
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
        """How many threads can sum in so many bytes, at least 1: each contracts one at a time."""
        return max(1, memory // self._part_bytes)

    @cached_property
    def tasks(self) -> list[Part]:
        """The parts that are numbered: the board, divided breadth first until there are enough."""
        parts, enough = self._parts, min(MOST_TASKS, int(self.seconds / self._least))
        while len(parts) < enough and not all(part.solved for part in parts):
            parts = divided(parts)
        return parts

    def sum_one(self, todo: list[Part], stop: NDArray[np.int64]) -> tuple[int, int]:
        """Take the last of some parts, and sum it if it is cheap, or divide it if it is not.

        Its children come back to the list.

        Parameters
        ----------
        todo
            At least one.
        stop
            int64 (1). Once it is not 0 the result does not matter any more, and is wanted soon.

        Returns
        -------
        The solutions that were counted, and how many products were added up.
        """
        part = todo.pop()
        join = self._contracted(part)
        if join is None:
            todo += divided([part])[::-1]
            return 0, 0
        if not join.tasks:
            return 0, 0
        value, products = join.sum(range(join.tasks), join.scratch(), stop)
        return join.factor * value, products

    def joins(self) -> Iterator[tuple[Part, Join]]:
        """All parts that are contracted; those with maps of all lines.

        They share no solution, and come in an order that depends on the board alone.
        """
        todo = self.tasks[::-1]
        while todo:
            part = todo.pop()
            join = self._contracted(part)
            if join is None:
                todo += divided([part])[::-1]
            elif join.tasks:
                yield part, join

    def join_of(self, part: Part) -> Join:
        """The contraction of a part that ``joins`` gave."""
        join = self._contracted(part)
        assert join is not None
        return join

    def _contracted(self, part: Part, effort: Effort = UNBOUNDED) -> Join | None:
        """The contraction of a part; None if it is not cheap."""
        own, memory = Effort(), self._part_bytes
        try:
            join = Join(
                part.candidates, part.geometry, most_maps=PART_MAPS, memory=memory, effort=own
            )
        except TooExpensive:
            return None
        finally:
            effort.spend(own.spent, 1)
        return join if join.seconds <= PART_SECONDS else None
