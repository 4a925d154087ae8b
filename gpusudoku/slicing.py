"""Slices of all solutions of a board: numbered, in ascending order, worked out when asked for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cached_property
from operator import index
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpusudoku.board.board import Board
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.formats.coerce import BoardLike
from gpusudoku.jobs.cancel import CancelToken, cancelling, cancelling_of, check_cancelled
from gpusudoku.jobs.interrupts import telling_interrupts
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.orders.checking import solution_of
from gpusudoku.orders.choose import Orders
from gpusudoku.orders.protocol import as_texts, joined

T = TypeVar("T")

TOO_MANY = "solutions may be more than len() can tell: use .count"
LENGTH_SECONDS = 2.0
"""``len`` counts all solutions of a board, if that should not take longer on one core."""
EARLY = 1 << 10
"""A solution with a smaller number is listed, without counting all."""
TAKEN = 1 << 12
"""Solutions of a slice with steps that are looked up together."""
NEAR = 64
"""A slice with longer steps is looked up solution by solution."""


class Slice:
    """Some solutions of a board, in ascending order: what a slice of ``Solutions`` is.

    It behaves like a list of boards. Nothing is worked out before it is asked for, and going
    through the solutions takes constant memory. Python limits ``len``: of many use ``count``.
    """

    _progress: Callable[[Progress], None] | None = None

    def __init__(
        self, orders: Orders, slices: tuple[slice, ...], cancel: CancelToken | None = None
    ) -> None:
        self._orders, self._slices = orders, slices
        self.cancel = cancel
        """What stops all that is worked out here; another may take its place, or None."""
        self._beginning: tuple[list[NDArray[np.uint8]], bool] = [], False
        """The first solutions of the board, as far as they were asked for; whether they are all."""

    def __repr__(self) -> str:
        parts = "".join(f"[{_written(each)}]" for each in self._slices)
        return f"<Solutions of {self.board.describe()}{parts and ', ' + parts}>"

    @property
    def board(self) -> Board:
        """The board whose solutions these are."""
        return self._orders.board

    @property
    def count(self) -> int:
        """How many there are, exact at any size; it may take as long as ``gpusudoku.count``."""
        numbers = self._short()
        if numbers is None:
            with self._asked():
                self._orders.counted()
            numbers = self._numbers
        return max(0, -((numbers.start - numbers.stop) // numbers.step))

    def __len__(self) -> int:
        """The count, where Python can tell it, and it does not take long.

        Raises
        ------
        OverflowError
            If they are more.
        TypeError
            If they have to be counted, and that should take long: ``list`` passes over this.
        """
        numbers = self._short()
        if numbers is None:
            try:
                with self._asked():
                    self._orders.counted(LENGTH_SECONDS)
            except TooExpensive:
                raise TypeError("to count the solutions should take long: use .count") from None
            numbers = self._numbers
        try:
            return len(numbers)
        except OverflowError:
            raise OverflowError(TOO_MANY) from None

    def __bool__(self) -> bool:
        """Whether there are any; of the first of a board that is known without counting all."""
        numbers = self._short()
        return bool(self._numbers if numbers is None else numbers)

    def __iter__(self) -> Iterator[Board]:
        for block in self._ascending():
            for cells in block:
                check_cancelled(self.cancel)
                yield Board(cells, self.board.geometry)

    def __reversed__(self) -> Iterator[Board]:
        return iter(self[::-1])

    @overload
    def __getitem__(self, k: int) -> Board: ...

    @overload
    def __getitem__(self, k: slice) -> Slice: ...

    def __getitem__(self, k: int | slice) -> Board | Slice:
        """Solution k, from 0, or from the end if k is negative; or a slice, a ``Slice``.

        Raises
        ------
        IndexError
            If there is none with this number.
        TooExpensive
            If to find it should take too long. For 9x9 boards of clues that never is.
        """
        if isinstance(k, slice):
            range(0)[k]  # what is no slice of a list is none here
            part = Slice(self._orders, (*self._slices, k), self.cancel)
            part._progress = self._progress
            return part
        with self._asked():
            cells = self._early(index(k))
            if cells is None:
                number = self._number_of(index(k))
                [cells] = self._orders.ascending.at(np.array([number], object))
        return Board(cells, self.board.geometry)

    def __contains__(self, grid: object) -> bool:
        """Whether a grid is among them; of a whole board that is known without counting."""
        try:
            solution = solution_of(self.board, grid)  # type: ignore[arg-type]
            return not self._slices or self.rank(solution) >= 0
        except InputError:
            return False

    def rank(self, grid: BoardLike) -> int:
        """The number of a solution here: ``solutions[solutions.rank(grid)]`` is the grid again.

        Raises
        ------
        InputError
            A ValueError, if it is no grid, or is not here.
        TooExpensive
            If to find out should take too long. For 9x9 boards of clues that never is.
        """
        solution = solution_of(self.board, grid)
        with self._asked():
            number = self._orders.ascending.rank(solution.cells)
        try:
            return self._numbers.index(number)
        except ValueError:
            raise InputError("this solution is not in the slice") from None

    def blocks(self) -> Iterator[NDArray[np.uint8]]:
        """The solutions in arrays, uint8 (k, cells), in constant memory."""
        return self._ascending()

    def lines(self) -> Iterator[bytes | memoryview]:
        """The solutions as text in pieces of whole lines, each with a newline: for files."""
        return as_texts(self.blocks())

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """All of them in one array, uint8 (count, cells), in ascending order."""
        if copy is False:
            raise ValueError("solutions are no array: one has to be made")
        found = joined(self._ascending(), self.board, self.count)
        return found.astype(dtype or np.uint8, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._orders, self._slices)

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Let the token, and Ctrl-C, stop what is worked out in here, and progress be told."""
        with cancelling(self.cancel), reporting(self._progress), telling_interrupts():
            yield

    def _given(self, items: Iterator[T]) -> Generator[T, None, None]:
        """Give items, none of them None; the token, and Ctrl-C, stop the work on each."""

        def told() -> Generator[T, None, None]:
            while True:
                with reporting(self._progress), telling_interrupts():
                    item = next(items, None)
                if item is None:
                    return
                yield item

        return cancelling_of(self.cancel, told())

    def _ascending(self) -> Iterator[NDArray[np.uint8]]:
        return self._given(self._each_block())

    def _each_block(self) -> Iterator[NDArray[np.uint8]]:
        start, stop, step = self._bounds() or _bounds_of(self._numbers)
        if not 0 < step <= NEAR:
            yield from self._looked_up()
            return
        skipped = 0
        for block in self._orders.ascending.rows(start, stop):
            taken = block[skipped::step]
            skipped = (skipped - len(block)) % step
            if len(taken):
                yield taken

    @cached_property
    def _numbers(self) -> range:
        """The numbers in the whole of those that are here."""
        with self._asked():
            numbers = range(self._orders.count)
        for each in self._slices:
            numbers = numbers[each]
        return numbers

    def _short(self) -> range | None:
        """The numbers that are here, if they are less than EARLY: found without counting all."""
        bounds = None if self._orders.is_counted else self._bounds()
        if bounds is None:
            return None
        first, end, step = bounds
        if end is None or end > EARLY:
            return None
        with self._asked():
            found = sum(map(len, self._first(end)))
        return range(first, min(end, found), step)

    def _bounds(self) -> tuple[int, int | None, int] | None:
        """First, end and step, as far as the slices tell; None if they count from the end."""
        first, stride = 0, 1
        end: int | None = None
        for each in self._slices:
            start, stop, step = (part and index(part) for part in _parts(each))
            if (start or 0) < 0 or (stop or 0) < 0 or (step or 1) < 0:
                return None
            if stop is not None:
                last = first + stop * stride
                end = last if end is None else min(end, last)
            first, stride = first + (start or 0) * stride, stride * (step or 1)
        return first, end, stride

    def _looked_up(self) -> Iterator[NDArray[np.uint8]]:
        numbers, count = self._numbers, self.count
        for first in range(0, count, TAKEN):
            part = numbers[first : min(first + TAKEN, count)]
            yield self._orders.ascending.at(np.array(part, object))

    def _early(self, k: int) -> NDArray[np.uint8] | None:
        """One of the first solutions of the board, found without counting; None if it is not."""
        if self._slices or self._orders.is_counted or not 0 <= k < EARLY:
            return None
        for rows in self._first(k + 1):
            if k < len(rows):
                cells: NDArray[np.uint8] = rows[k]
                return cells
            k -= len(rows)
        return None

    def _first(self, number: int) -> list[NDArray[np.uint8]]:
        """The first solutions of the board in blocks, at least so many (EARLY at most), or all."""
        blocks, are_all = self._beginning
        if are_all or number <= sum(map(len, blocks)):
            return blocks
        blocks = []
        for rows in self._orders.ascending.rows(0, EARLY):
            blocks.append(rows)
            number -= len(rows)
            if number <= 0:
                break
        self._beginning = blocks, number > 0
        return blocks

    def _numbered(self) -> str:
        """Which numbers there are, in words."""
        return f"numbers run from 0 to {self.count - 1}" if self.count else "there are none"

    def _number_of(self, k: int) -> int:
        """The number in the whole of what has number k here."""
        try:
            return self._numbers[k]
        except IndexError:
            raise IndexError(f"no solution {k}: {self._numbered()}") from None


def _bounds_of(numbers: range) -> tuple[int, int, int]:
    return numbers.start, numbers.stop, numbers.step


def _restored(kind: type[Slice], orders: Orders, slices: tuple[slice, ...]) -> Slice:
    """What was pickled."""
    made = kind.__new__(kind)
    Slice.__init__(made, orders, slices)
    return made


def _written(part: slice) -> str:
    """A slice as it is written between brackets."""
    start, stop, step = ("" if each is None else str(each) for each in _parts(part))
    return f"{start}:{stop}" + (f":{step}" if step else "")


def _parts(part: slice) -> tuple[Any, Any, Any]:
    return part.start, part.stop, part.step
