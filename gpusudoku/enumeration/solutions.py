"""The solutions of a board as one object: count, k-th solution, slices, samples, shares.

A board determines two orders of its solutions. The *ascending* (lexicographic) order compares
solutions cell by cell; iterating, indexing, slices and ``rank`` use it. ``blocks``, ``lines`` and
``sample`` use the *contraction order*.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from math import inf
from operator import index as as_index
from typing import Any, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpusudoku.board.arrays import HOST, NUMPY, Destination, join_rows
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import write_lines
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.index import SolutionIndex
from gpusudoku.enumeration.sampling import Uniform
from gpusudoku.enumeration.solution_set import SolutionSet
from gpusudoku.errors import InputError, Interrupted, TooExpensive, described
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, cancelling, check_cancelled, iterate_in
from gpusudoku.jobs.job import part_of
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import MAX_NUMBER, OptionFields, Options, is_integer, takes_options
from gpusudoku.results import numbers_of

T = TypeVar("T")

TOO_MANY = "there may be more solutions than len() can return: use .count"
LENGTH_SECONDS = 2.0
"""``len`` counts all solutions of a board if that is expected to take at most this time."""
MAX_SKIPPED = 64
"""Slices with longer steps look up each solution. Others skip the solutions in between."""
LOOKED_UP_ROWS = 1 << 12
"""Solutions that a slice with long steps looks up at a time."""


class Slice:
    """A slice of ``Solutions``: solutions of a board, in ascending order.

    It behaves like a list of boards. Nothing is computed before it is needed. Iterating takes
    constant memory. Python limits ``len``, so ``count`` is the number of solutions.
    """

    def __init__(
        self,
        solution_set: SolutionSet,
        slices: tuple[slice, ...],
        cancel: CancelToken | None = None,
        progress: Callable[[Progress], None] | None = None,
        destination: Destination = NUMPY,
    ) -> None:
        self._set = solution_set
        self._slices = slices
        self._progress = progress
        self._destination = destination
        self.cancel = cancel
        """The token that stops all work on these solutions. You may replace it, also by None."""

    def __repr__(self) -> str:
        slices = ""
        for part in self._slices:
            start = "" if part.start is None else part.start
            stop = "" if part.stop is None else part.stop
            step = "" if part.step is None else f":{part.step}"
            slices += f"[{start}:{stop}{step}]"
        return f"<Solutions of {self.board.describe()}{slices and ', ' + slices}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "cancel": None, "_progress": None, "_destination": NUMPY}

    @property
    def board(self) -> Board:
        """The board whose solutions these are."""
        return self._set.board

    @property
    def count(self) -> int:
        """The number of solutions, exact at any size. Counting takes as long as ``count`` does."""
        numbers = self._counted()
        return max(0, -((numbers.start - numbers.stop) // numbers.step))

    def __len__(self) -> int:
        """Return the count, if it does not take long and ``len`` can return it.

        Raises
        ------
        OverflowError
            If the count exceeds ``sys.maxsize``.
        TypeError
            If counting is expected to take long. ``list`` ignores this error.
        """
        try:
            return len(self._counted(LENGTH_SECONDS))
        except TooExpensive:
            raise TypeError("counting the solutions may take long: use .count") from None
        except OverflowError:
            raise OverflowError(TOO_MANY) from None

    def __bool__(self) -> bool:
        """Return whether there are solutions. A slice from the start needs no count for that."""
        numbers = self._uncounted()
        return bool(self._numbers if numbers is None else numbers)

    def __iter__(self) -> Iterator[Board]:
        for block in self._stoppable(self._ascending()):
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
        """Return solution k, from 0, or from the end if k is negative; for a slice, a ``Slice``.

        Raises
        ------
        IndexError
            If there is no solution with this number.
        TooExpensive
            If finding it is expected to take too long; never for 9x9 boards of clues.
        """
        if isinstance(k, slice):
            range(0)[k]  # raises the error of a list for a wrong slice
            slices = (*self._slices, k)
            return Slice(self._set, slices, self.cancel, self._progress, self._destination)
        with self._working():
            k = as_index(k)
            # The first solutions are listed without counting all of them.
            first_rows = None if self._slices or k < 0 else self._set.first(k + 1)
            if first_rows is not None and k < len(first_rows):
                return Board(first_rows[k], self.board.geometry)
            try:
                number = self._numbers[k]
            except IndexError:
                count = self.count
                numbers = f"numbers run from 0 to {count - 1}" if count else "there are none"
                raise IndexError(f"no solution {k}: {numbers}") from None
            [cells] = self._set.ascending.at(np.array([number], object))
        return Board(cells, self.board.geometry)

    def __contains__(self, grid: object) -> bool:
        """Return whether a grid is one of these solutions. Without slices, no count is needed."""
        try:
            solution = self._set.solution(grid)  # type: ignore[arg-type]
            return not self._slices or self.rank(solution) >= 0
        except InputError:
            return False

    def rank(self, grid: BoardLike) -> int:
        """Return the number of a solution: ``solutions[solutions.rank(grid)]`` is the grid again.

        Raises
        ------
        InputError
            A ValueError, if the grid is not a solution of the board, or not in the slice.
        TooExpensive
            As ``solutions[k]`` does.
        """
        solution = self._set.solution(grid)
        with self._working():
            number = self._set.ascending.rank(solution.cells)
        try:
            return self._numbers.index(number)
        except ValueError:
            raise InputError("this solution is not in the slice") from None

    def blocks(self) -> Iterator[NDArray[np.uint8]]:
        """Yield the solutions in arrays, uint8 (k, cells), in constant memory."""
        return self._stoppable(map(self._destination.array, self._ascending()))

    def lines(self) -> Iterator[bytes | memoryview]:
        """Yield the solutions as text, in chunks of whole lines with newlines, for files."""
        return map(write_lines, self._stoppable(self._ascending()))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return all solutions in one array, uint8 (count, cells), in ascending order."""
        if copy is False:
            raise ValueError("solutions are not an array: converting them makes a copy")
        blocks = self._stoppable(self._ascending())
        rows = join_rows(blocks, self.count, self.board.geometry.cells)
        return rows.astype(dtype or np.uint8, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        """Export that array, in main memory, for example to ``torch.from_dlpack``."""
        return np.asarray(self).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return HOST[0], 0

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Make the token and Ctrl-C stop the work in the block, and report its progress."""
        try:
            with cancelling(self.cancel), reporting(self._progress):
                yield
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    def _stoppable(self, items: Iterator[T]) -> Generator[T, None, None]:
        """Yield items. The token and Ctrl-C stop the work on each. No item may be None."""
        return iterate_in(self._working, items)

    def _ascending(self) -> Iterator[NDArray[np.uint8]]:
        """Yield the solutions in blocks, in ascending order."""
        bounds = self._bounds()
        if bounds is None:
            numbers = self._numbers
            bounds = numbers.start, numbers.stop, numbers.step
        start, stop, step = bounds
        index = self._set.ascending_list if start == 0 < step else self._set.ascending
        if 0 < step <= MAX_SKIPPED:
            offset = 0  # of the next solution of the slice, in the next block
            for block in index.rows(start, stop):
                rows = block[offset::step]
                offset = (offset - len(block)) % step
                if len(rows):
                    yield rows
            return
        numbers = self._numbers
        for start in range(0, self.count, LOOKED_UP_ROWS):
            yield index.at(np.array(numbers[start : start + LOOKED_UP_ROWS], object))

    @property
    def _numbers(self) -> range:
        """The numbers of these solutions among all solutions, which must be counted for that."""
        with self._working():
            numbers = range(self._set.count)
        for part in self._slices:
            numbers = numbers[part]
        return numbers

    def _counted(self, max_seconds: float = inf) -> range:
        """Return the numbers. Raise TooExpensive if that needs a count of more than the seconds."""
        numbers = self._uncounted()
        if numbers is None:
            with self._working():
                self._set.counted(max_seconds)
            numbers = self._numbers
        return numbers

    def _uncounted(self) -> range | None:
        """Return the numbers if that needs no count, because the slice ends early; else None."""
        start, stop, step = self._bounds() or (0, None, 1)
        if stop is None:
            return None
        with self._working():
            rows = self._set.first(stop)
        return None if rows is None else range(start, min(stop, len(rows)), step)

    def _bounds(self) -> tuple[int, int | None, int] | None:
        """Return start, stop and step of all slices together; None if one counts from the end."""
        start = 0
        stop: int | None = None
        step = 1
        for part in self._slices:
            part_start = as_index(part.start or 0)
            part_stop = None if part.stop is None else as_index(part.stop)
            part_step = as_index(part.step or 1)
            if part_start < 0 or (part_stop or 0) < 0 or part_step < 0:
                return None
            if part_stop is not None:
                end = start + part_stop * step
                stop = end if stop is None else min(stop, end)
            start += part_start * step
            step *= part_step
        return start, stop, step


class Solutions(Slice):
    """All solutions of a board: count, k-th solution, samples, shares, all as arrays.

    The object has everything that a ``Slice`` has. Nothing is computed before it is needed, and
    results are kept. They depend on the board only, never on threads, device or machine. Pickling
    stores the board and the options. Several threads may use the object at once.

    Iterating, ``solutions[k]`` and slices use the *ascending* order: digits are compared cell by
    cell, row by row. Solutions are numbered from 0. ``blocks``, ``lines`` and ``sample`` use the
    *contraction order*, which is also the same on every machine. It is the ascending order if there
    are at most 2^16 solutions, if the board has given candidates, or if it is not 9x9 and too
    expensive to contract.

    Results that need counts of solutions raise ``TooExpensive`` if counting is expected to take too
    long. On a large board with few clues, finding even the first solution in ascending order can
    take too long; ``solve`` finds some solution sooner.

    Parameters
    ----------
    board
        Any board.
    options
        The options of searching and counting. Results do not depend on them.
    engine
        The engine to use; by default it is made from the options.
    progress
        A function that is called as for ``count`` while all solutions are counted.
    cancel
        A token that stops all work on the solutions, by ``Cancelled``. Earlier results are kept. To
        continue, set the attribute ``cancel`` to another token, or to None.

    Raises
    ------
    InputError
        If the options have a limit: take a slice instead.
    DeviceError
        If the options require CUDA and it cannot be used.
    """

    def __init__(
        self,
        board: Board,
        options: Options | None = None,
        *,
        engine: Engine | None = None,
        progress: Callable[[Progress], None] | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        options = options or Options()
        if options.limit is not None:
            raise InputError(
                f"limit {options.limit}: take a slice instead, as in"
                f" solutions(board)[:{options.limit}]"
            )
        options.refuse_seconds("a list of solutions")
        super().__init__(SolutionSet(board, options, engine), (), cancel, progress)

    def __len__(self) -> int:
        # list() asks for the length first, and ignores only a TypeError.
        raise TypeError(TOO_MANY)

    def __bool__(self) -> bool:
        """Return whether there are solutions, without counting them."""
        with self._working():
            return self._set.any

    def shares(self, out: Any = None) -> NDArray[Any]:
        """Return the number of solutions with each digit in each cell.

        Parameters
        ----------
        out
            An array to fill and return: int64 (cells, n); as for ``sample``.

        Returns
        -------
        A read-only array (cells, n) of Python integers of any size. ``shares()[c, d - 1]`` is the
        number of solutions with digit d in cell c. Each row adds up to the count. If the board was
        an array of PyTorch, JAX or CuPy, the result is an int64 array of that library, unless a
        number exceeds int64.

        Raises
        ------
        InputError
            If ``out`` has the wrong shape or type, or if a number exceeds int64.
        TooExpensive
            If it is expected to take too long; never for 9x9 boards of clues.
        """
        with self._working():
            shares = self._set.shares
        if out is not None or self._destination != NUMPY:
            numbers = numbers_of(shares.ravel().tolist()).reshape(shares.shape)
            shares = self._destination.give(numbers, out)
        return shares

    def true_candidates(self) -> NDArray[np.uint64]:
        """Return the digits that at least one solution has in each cell, without counting.

        Most boards up to 25x25 take seconds. Boards of this size with about 300 clues, and larger
        boards, may take very long.

        Returns
        -------
        A read-only array uint64 (cells) of candidates masks: bit d - 1 is digit d. All masks are 0
        if there is no solution.
        """
        with self._working():
            return self._set.true_candidates

    def unique_placements(self) -> NDArray[np.int64]:
        """Return the placements (a digit in an empty cell) that leave exactly one solution.

        Returns
        -------
        int64 (k, 2): the cell and the digit of each placement, in ascending order.

        Raises
        ------
        TooExpensive
            As ``shares`` does.
        """
        from gpusudoku.enumeration.share_queries import unique_placements  # imported lazily: slow

        with self._working():
            return unique_placements(self.board, self._set.shares)

    def unique_pairs(self) -> NDArray[np.int64]:
        """Return the pairs of placements that only together leave exactly one solution.

        Returns
        -------
        int64 (k, 4): a cell, its digit, a later cell and its digit, in ascending order.

        Raises
        ------
        TooExpensive
            As ``shares`` does. Pairs of a 9x9 board may take minutes.
        """
        from gpusudoku.enumeration.share_queries import unique_pairs  # imported lazily: slow

        with self._working():
            return unique_pairs(self._set)

    def sample(
        self, n: int, seed: int | None = None, *, distinct: bool = False, out: Any = None
    ) -> NDArray[np.uint8]:
        """Draw random solutions, independent and uniformly distributed.

        Solution i of a sample depends only on the board, the seed and i, so a longer sample starts
        with the solutions of a shorter one.

        Parameters
        ----------
        n
            The number of solutions.
        seed
            An integer from 0 to below 2^128; by default a new random one.
        distinct
            True to draw different solutions: repeated ones are skipped. The numbers of all drawn
            solutions are then kept in memory.
        out
            An array to fill and return: uint8 (n, cells), of NumPy, PyTorch, CuPy or any other
            library whose arrays in main memory can be written by DLPack.

        Returns
        -------
        uint8 (n, cells), a solution per row. If the board was an array of PyTorch, JAX or CuPy, the
        result is an array of that library, on its device.

        Raises
        ------
        InputError
            A ValueError, if n or the seed is out of range, if there are no solutions, or fewer than
            n distinct ones, or if ``out`` cannot be filled.
        TooExpensive
            If it is expected to take too long; never for 9x9 boards of clues.
        """
        try:
            blocks = self._stoppable(self._samples(n, seed, distinct, 0))
            sample = join_rows(blocks, n, self.board.geometry.cells, out)
        except TooExpensive as error:
            raise TooExpensive(f"{error}; try weighted_solutions()", error.seconds) from None
        return self._destination.array(sample) if out is None else sample

    def sample_blocks(
        self, n: int, seed: int | None = None, *, distinct: bool = False, first: int = 0
    ) -> Generator[NDArray[np.uint8], None, None]:
        """Yield the rows of ``sample`` in blocks, uint8 (k, cells), in constant memory.

        (With ``distinct``, all drawn numbers are in memory.) ``first`` is the first row to yield.
        """
        blocks = self._samples(n, seed, distinct, first)
        return self._stoppable(map(self._destination.array, blocks))

    def _samples(
        self, n: int, seed: int | None, distinct: bool, first: int
    ) -> Iterator[NDArray[np.uint8]]:
        """Yield the blocks of ``sample_blocks`` as NumPy arrays."""
        if not is_integer(n) or not 0 <= n <= MAX_NUMBER:
            raise InputError(
                f"a sample of {described(n)}: expected an integer from 0 to {MAX_NUMBER}"
            )
        if not is_integer(first) or not 0 <= first <= n:
            raise InputError(f"a sample from number {described(first)}: expected one from 0 to {n}")
        # An empty sample needs no count, and is possible for a board without solutions.
        with self._working():
            count = self._set.contraction_order.count if n else 1
        uniform = Uniform(seed, count)
        if distinct and n > count:
            raise InputError(f"a sample of {n} distinct solutions: there are only {count}")
        numbers = uniform.distinct(int(n), first) if distinct else uniform.first(int(n), first)
        return map(self._set.contraction_order.at, numbers) if n else iter(())

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """Yield solutions in contraction order, in arrays uint8 (k, cells) and constant memory.

        ``first`` and ``last`` bound the numbers of the solutions in that order, without ``last``,
        so that several machines can list parts of them.

        Raises
        ------
        InputError
            Unless 0 <= ``first`` <= ``last`` <= count.
        """
        index, start, stop = self._part_bounds(first, last)
        return self._stoppable(map(self._destination.array, index.rows(start, stop)))

    def lines(self, first: int = 0, last: int | None = None) -> Iterator[bytes | memoryview]:
        """Yield ``blocks`` as text, in chunks of whole lines with newlines, for files."""
        index, start, stop = self._part_bounds(first, last)
        return self._stoppable(index.texts(start, stop))

    def part(self, number: int, parts: int) -> tuple[int, int]:
        """Return the bounds of part ``number`` (from 1) of ``parts`` parts, for ``blocks``.

        The contraction order is divided into parts whose sizes differ by at most one.

        Returns
        -------
        The number of the part's first solution, and of the one after its last.

        Raises
        ------
        InputError
            Unless 1 <= ``number`` <= ``parts``.
        TooExpensive
            If counting is expected to take too long; never for 9x9 boards of clues.
        """
        if not (is_integer(number) and is_integer(parts) and 1 <= number <= parts):
            raise InputError(
                f"part {described(number)} of {described(parts)}: expected a number from 1 to the"
                " number of parts"
            )
        with self._working():
            # Converted, because NumPy's integers would overflow.
            part = part_of(self._set.contraction_order.count, int(number), int(parts))
        return part.start, part.stop

    def _part_bounds(self, first: int, last: int | None) -> tuple[SolutionIndex, int, int]:
        """Return the index of the contraction order, and checked bounds of a part of it."""
        with self._working():
            index = self._set.contraction_order
        stop = index.count if last is None else last
        if not (is_integer(first) and is_integer(stop) and 0 <= first <= stop <= index.count):
            raise InputError(
                f"solutions from {described(first)} to {described(stop)}: expected two numbers"
                f" from 0 to {index.count}"
            )
        return index, int(first), int(stop)


@takes_options
def solutions(
    board: BoardLike,
    *,
    box: Geometry | str | None = None,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
    **options: Unpack[OptionFields],
) -> Solutions:
    """Return the solutions of a board as one object: see ``Solutions``. Nothing is searched yet.

    Parameters
    ----------
    board
        As for ``count``. If it is an array of PyTorch, JAX or CuPy, ``blocks``, ``sample``,
        ``sample_blocks`` and ``shares`` return arrays of that library, on the same device.
    box, engine, progress
        As for ``count``.
    cancel
        A token that stops all work on the solutions, from any thread.
    **options
        The fields of ``Options``, except the limit: take a slice instead.

    Raises
    ------
    InputError, DeviceError
        As ``count`` does.
    """
    if isinstance(board, Slice):
        raise InputError("expected a board, found its solutions: use them directly, or .board")
    all_solutions = Solutions(
        board_of(board, box), Options(**options), engine=engine, progress=progress, cancel=cancel
    )
    all_solutions._destination = Destination.of(board)
    return all_solutions
