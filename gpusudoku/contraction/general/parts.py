"""Boards too expensive to contract as a whole: taken apart by clues, and their parts contracted.

A part must differ from the others by clues. The search also splits a board by striking a candidate
out, which a contraction would not notice: its lists know which rows and which columns a digit may
take, not which cells. So a cell is chosen, and every candidate becomes the clue of one part.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
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
"""What takes longer than this on one core, by the estimate, is not begun: a day."""
LISTING_SECONDS = 0.02
"""What it takes to list the maps of a part, or to find that they are too many, up to
LISTING_DIGITS digits; with more it grows as their cube."""
LISTING_DIGITS = 25
PARTS = 256
"""A board is taken apart into so many parts, or a few more, before any is contracted."""
SEED = 1


class Hybrid:
    """The sum over the parts of a board; see ``Contraction``.

    The price is estimated as that of a search is (``estimating``): a few parts are taken apart
    at random until they are cheap.

    Raises
    ------
    TooExpensive
        If the estimate exceeds MOST_SECONDS; ``whole`` is why the board was not contracted as it
        is, for the message.
    """

    factor = 1
    device_sum = None

    def __init__(self, board: Board, memory: int, whole: TooExpensive) -> None:
        self._board, self._memory = board, min(memory, PART_BYTES)
        self._parts: list[Board] = [board]
        start = time.perf_counter()
        rng = np.random.default_rng(SEED)
        listing = LISTING_SECONDS * max(1.0, board.n / LISTING_DIGITS) ** 3
        todo, weight, self.seconds, cheap = _live([board]), 1.0, 0.0, 0
        while todo:
            children: list[Board] = []
            for part, candidates in todo:
                join = self._contracted(part, candidates)
                self.seconds += weight * listing
                if join is None:
                    children += _split(part, candidates)
                else:
                    self.seconds += weight * join.seconds
                    cheap += 1
            todo = _live(children)
            if len(todo) > WALKERS:
                weight *= len(todo) / WALKERS
                chosen = rng.choice(len(todo), WALKERS, replace=False)
                todo = [todo[i] for i in chosen]
            least = self.seconds + weight * len(todo) * listing
            if least > MOST_SECONDS:
                raise TooExpensive(
                    f"{whole}; in parts it would take more than {least:.1e} s on one core"
                )
        if weight > 1 and not cheap:
            raise TooExpensive(f"{whole}; how long it would take in parts could not be estimated")
        self.listing_seconds = time.perf_counter() - start

    def most_threads(self, memory: int) -> int:
        """Every thread contracts a part of its own."""
        return max(1, memory // self._memory)

    def prepare(self, threads: int) -> None:
        """Take the board apart, breadth first, until there are PARTS."""
        parts = [self._board]
        while len(parts) < PARTS:
            longer = [child for live in _live(parts) for child in _split(*live)]
            if longer == parts:  # all are solved
                break
            parts = longer
        self._parts = parts

    @property
    def tasks(self) -> int:
        """One for each of the parts."""
        return len(self._parts)

    def scratch(self) -> None:
        """None is needed."""

    def sum(self, tasks: range, scratch: None, stop: NDArray[np.int64]) -> tuple[int, int]:
        """The solutions of some parts, taken apart further where they are not cheap."""
        todo, total, products = _live([self._parts[task] for task in tasks]), 0, 0
        while todo and not stop[0]:
            part, candidates = todo.pop()
            join = self._contracted(part, candidates)
            if join is None:
                todo += _live(_split(part, candidates))
                continue
            if join.tasks:
                value, done = join.sum(range(join.tasks), join.scratch(), stop)
                total += join.factor * value
                products += done
        return total, products

    def _contracted(self, part: Board, candidates: NDArray[np.uint64]) -> Join | None:
        """The contraction of a part; None if it is not cheap."""
        try:
            join = Join(candidates, part.geometry, most_maps=PART_MAPS, memory=self._memory)
        except TooExpensive:
            return None
        return join if join.seconds <= PART_SECONDS else None


def _live(parts: list[Board]) -> list[tuple[Board, NDArray[np.uint64]]]:
    """The parts in which singles find no contradiction, each with its uint64 (cells) candidates."""
    if not parts:
        return []
    simplified = Frontier.of(parts).simplified(SearchSettings())
    return [
        (parts[owner], candidates)
        for owner, candidates in zip(simplified.roots.tolist(), simplified.candidates, strict=True)
    ]


def _split(board: Board, candidates: NDArray[np.uint64]) -> list[Board]:
    """One board for each candidate of a cell that has the fewest, all singles being clues."""
    counts = np.bitwise_count(candidates)
    single = counts == 1
    digits = np.where(single, np.log2(np.where(single, candidates, 1).astype(float)) + 1, 0)
    cells = digits.astype(np.uint8)
    if single.all():
        return [Board(cells, board.geometry)]
    cell = int(np.argmin(np.where(single, 99, counts)))
    parts = []
    for digit in range(board.n):
        if int(candidates[cell]) >> digit & 1:
            cells[cell] = digit + 1
            parts.append(Board(cells, board.geometry))
    return parts
