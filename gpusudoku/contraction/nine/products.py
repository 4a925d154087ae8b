"""All solutions of a 9x9 board, or a part of them, written by several threads."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.nine.quick import Place, QuickOrder
from gpusudoku.contraction.nine.sum import stages
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.jobs.job import spread
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.nine.boxes import make_boxes
from gpusudoku.kernels.contraction.nine.products import SPARE
from gpusudoku.kernels.contraction.nine.strips import CELLS, Known, Strips, make_strips

BLOCK = 1 << 15
"""Solutions in a block: 2.7 MB of text. Larger ones do not stay in a cache until they are read."""
FIRST_PLACES, MOST_PLACES = 16, 1 << 10
"""Blocks whose beginnings are looked up at once, at first and at most: those of one pair take about
as long as one of them."""


class _Part(NamedTuple):
    """A block that is to be written."""

    cursor: NDArray[np.int64]
    """int64 (6): where its first solution is; see ``write_solutions``."""
    solutions: int


class Products:
    """Writes the solutions of a board, in the quick order.

    Parameters
    ----------
    order
        That of the board.
    """

    def __init__(self, order: QuickOrder) -> None:
        ready(stages().of_products())
        self._order, boxes = order, make_boxes()
        work = order.nine.workspace
        if order.count:
            stages().write_boxes(tables(), work.lists, work.roles, order.words, boxes)
        self._known = Known(
            lists=work.lists,
            roles=work.roles,
            tensors=work.tensors,
            operands=work.operands,
            orbits=work.orbits,
            words=order.words,
            fitting=order.fitting,
            relabelling=order.relabelling,
            boxes=boxes,
        )

    def rows(
        self,
        first: int = 0,
        last: int | None = None,
        *,
        text: bool = False,
        threads: int | None = None,
    ) -> Generator[NDArray[np.uint8], None, None]:
        """The solutions from number ``first`` to before ``last``, in blocks.

        No more than a few blocks for each thread are in memory, besides those that the caller
        keeps. Closing the generator stops the threads.

        Parameters
        ----------
        first, last
            Numbers from 0 to the count; by default all solutions are written.
        text
            Whether lines are written.
        threads
            How many write, that of the caller included; by default as many as the order has.

        Returns
        -------
        Blocks of uint8 (k, 81), digits from 1 on; or of lines, uint8 (k, 82): 81 characters, and
        the one that ends a line. Each block is an array of its own, contiguous, with BLOCK rows,
        but for the last.

        Raises
        ------
        IndexError
            If there are no such solutions.
        """
        end = self._order.count if last is None else last
        if not 0 <= first <= end <= self._order.count:
            raise IndexError(f"there are {self._order.count} solutions")
        return self._blocks(self._parts(first, end), text, threads or self._order.threads)

    def _blocks(
        self, parts: Iterator[_Part], text: bool, threads: int
    ) -> Generator[NDArray[np.uint8], None, None]:
        """Write parts, in their order."""
        width = CELLS + text
        scratch: SimpleQueue[Strips] = SimpleQueue()
        for _ in range(threads):
            scratch.put(make_strips(text))

        def write(part: _Part) -> NDArray[np.uint8]:
            out = np.empty(part.solutions * width + SPARE, np.uint8)
            strips = scratch.get()
            try:
                stages().write_solutions(part.cursor, part.solutions, self._known, strips, out)
            finally:
                scratch.put(strips)
            return out[: part.solutions * width].reshape(-1, width)

        with closing(ordered_map(parts, write, threads)) as blocks:
            for done in blocks:
                assert done.result is not None
                yield done.result

    def _parts(self, first: int, last: int) -> Iterator[_Part]:
        """Cut solutions into blocks."""
        starts, many = iter(range(first, last, BLOCK)), FIRST_PLACES
        while numbers := [*islice(starts, many)]:
            place = self._order.locate(numbers)
            [cells] = spread(self._cells, [place], [None])
            cursors = np.column_stack([cells, place.orbit, place.position])
            for number, cursor in zip(numbers, cursors, strict=True):
                yield _Part(cursor, min(BLOCK, last - number))
            many = min(2 * many, MOST_PLACES)

    def _cells(self, place: Place, _: None, stop: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._order.cells(place.orbit, place.number, stop)
