"""The solutions of a board as one object: count, k-th solution, slices, samples, shares.

Two orders are fixed by the board alone. *Ascending* (lexicographic) compares solutions digit by
digit, cell by cell: that of iterating, indexing, slices and ``rank``. The *contraction order* is
that of ``blocks``, ``lines`` and ``sample``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from math import inf, prod
from operator import index as as_index
from typing import Any, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpusudoku.board.arrays import HOST, NUMPY, Destination, writable
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import write_lines
from gpusudoku.engines.engine import Engine
from gpusudoku.enumeration.index import SolutionIndex
from gpusudoku.enumeration.sampling import SEED_BITS, Uniform
from gpusudoku.enumeration.solution_set import SolutionSet
from gpusudoku.errors import InputError, Interrupted, TooExpensive, described
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, cancelling, check_cancelled, made_in
from gpusudoku.jobs.job import part_of
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import MAX_NUMBER, OptionFields, Options, is_integer, takes_options
from gpusudoku.results import numbers_of

T = TypeVar("T")

TOO_MANY = "solutions may be more than len() can tell: use .count"
LENGTH_SECONDS = 2.0
"""``len`` counts all solutions of a board unless that should take longer on one core."""
MAX_SKIPPED = 64
"""Slices with longer steps look up each solution; others pass over those in between."""
LOOKED_UP_ROWS = 1 << 12
"""Solutions that such a slice looks up at a time."""
MAX_BYTES = 1 << 40
"""The size of the largest array, whatever memory there is."""


class Slice:
    """Some solutions of a board, in ascending order: what a slice of ``Solutions`` is.

    It behaves like a list of boards. Nothing is computed before it is needed, and iterating takes
    constant memory. Python limits ``len``: for many solutions use ``count``.
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
        """The token that stops all work on these solutions; it may be replaced, also by None."""

    def __repr__(self) -> str:
        slices = ""
        for part in self._slices:
            start, stop = ("" if bound is None else bound for bound in (part.start, part.stop))
            slices += f"[{start}:{stop}]" if part.step is None else f"[{start}:{stop}:{part.step}]"
        return f"<Solutions of {self.board.describe()}{slices and ', ' + slices}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "cancel": None, "_progress": None, "_destination": NUMPY}

    @property
    def board(self) -> Board:
        """The board whose solutions these are."""
        return self._set.board

    @property
    def count(self) -> int:
        """The number of solutions, exact at any size; may take as long as ``gpusudoku.count``."""
        numbers = self._counted()
        return max(0, -((numbers.start - numbers.stop) // numbers.step))

    def __len__(self) -> int:
        """Return the count, if Python can and it does not take long.

        Raises
        ------
        OverflowError
            If there are more.
        TypeError
            If they have to be counted and that should take long; ``list`` ignores this error.
        """
        try:
            return len(self._counted(LENGTH_SECONDS))
        except TooExpensive:
            raise TypeError("to count the solutions should take long: use .count") from None
        except OverflowError:
            raise OverflowError(TOO_MANY) from None

    def __bool__(self) -> bool:
        """Tell whether there are any; a slice of the first solutions needs no count for that."""
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
        """Return solution k, from 0, or from the end if k is negative; or a slice, a ``Slice``.

        Raises
        ------
        IndexError
            If there is no solution with this number.
        TooExpensive
            If it should take too long to find. For 9x9 boards of clues it never does.
        """
        if isinstance(k, slice):
            range(0)[k]  # raises what a list raises for a wrong slice
            slices = (*self._slices, k)
            return Slice(self._set, slices, self.cancel, self._progress, self._destination)
        with self._working():
            k = as_index(k)
            first_rows = None if self._slices or k < 0 else self._set.first(k + 1)
            if first_rows is not None and k < len(first_rows):
                return Board(first_rows[k], self.board.geometry)
            try:
                number = self._numbers[k]
            except IndexError:
                last = self.count - 1
                numbers = f"numbers run from 0 to {last}" if last >= 0 else "there are none"
                raise IndexError(f"no solution {k}: {numbers}") from None
            [cells] = self._set.ascending.at(np.array([number], object))
        return Board(cells, self.board.geometry)

    def __contains__(self, grid: object) -> bool:
        """Tell whether a grid is one of them; without slices this needs no count."""
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
            A ValueError, if the grid is no solution of the board, or not in the slice.
        TooExpensive
            If it should take too long to find. For 9x9 boards of clues it never does.
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
        """Yield the solutions as text, in pieces of whole lines with newlines: for files."""
        return map(write_lines, self._stoppable(self._ascending()))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return all of them in one array, uint8 (count, cells), in ascending order."""
        if copy is False:
            raise ValueError("solutions are no array: one has to be made")
        blocks = self._stoppable(self._ascending())
        return self._joined(blocks, self.count).astype(dtype or np.uint8, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        """Export the same array, in main memory: for ``torch.from_dlpack``, for example."""
        return np.asarray(self).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return HOST[0], 0

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Let the token and Ctrl-C stop the work in this block, and report its progress."""
        try:
            with cancelling(self.cancel), reporting(self._progress):
                yield
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    def _stoppable(self, items: Iterator[T]) -> Generator[T, None, None]:
        """Yield items, none of them None; the token, and Ctrl-C, stop the work on each."""
        return made_in(self._working, items)

    def _ascending(self) -> Iterator[NDArray[np.uint8]]:
        bounds = self._bounds()
        if bounds is None:
            numbers = self._numbers
            bounds = numbers.start, numbers.stop, numbers.step
        start, stop, step = bounds
        index = self._set.ascending_list if start == 0 < step else self._set.ascending
        if 0 < step <= MAX_SKIPPED:
            offset = 0
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
        """The numbers of these solutions among all; all have to be counted for that."""
        with self._working():
            numbers = range(self._set.count)
        for part in self._slices:
            numbers = numbers[part]
        return numbers

    def _counted(self, max_seconds: float = inf) -> range:
        """Return the same; TooExpensive if a count is needed that should take longer."""
        numbers = self._uncounted()
        if numbers is None:
            with self._working():
                self._set.counted(max_seconds)
            numbers = self._numbers
        return numbers

    def _uncounted(self) -> range | None:
        """Return the same without counting all, if the slice ends early enough; else None."""
        start, stop, step = self._bounds() or (0, None, 1)
        if stop is None:
            return None
        with self._working():
            rows = self._set.first(stop)
        return None if rows is None else range(start, min(stop, len(rows)), step)

    def _bounds(self) -> tuple[int, int | None, int] | None:
        """Return start, stop and step, as far as slices tell; None if they count from the end."""
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

    def _joined(
        self, blocks: Iterator[NDArray[np.uint8]], number: int, out: Any = None
    ) -> NDArray[np.uint8]:
        """Join blocks to uint8 (number, cells); MemoryError, if too large, before any is found."""
        shape = int(number), self.board.geometry.cells
        if prod(shape) > MAX_BYTES:
            raise MemoryError(f"{number} solutions do not fit in memory: take them in blocks")
        array = out if out is not None else np.empty(shape, np.uint8)
        target = writable(array, shape, np.uint8)
        destination = Destination.of(target)
        start = 0
        for block in blocks:
            destination.put(target, start, block)
            start += len(block)
        return array


class Solutions(Slice):
    """All solutions of a board: count, k-th solution, samples, shares, all as arrays.

    They have all that a ``Slice`` has: the count, indexing, slices, ``rank`` and ``in``, arrays.
    Nothing is computed before it is needed, and results are kept. They depend on the board alone,
    never on threads, device or machine. The object pickles as the board and its options, and
    several threads may use it at a time.

    Iterating gives the solutions in *ascending* order, as boards, and so do ``solutions[k]`` and
    slices: digits compare as numbers, cell by cell, row by row. Numbers are from 0 and of any size.
    The *contraction order* of ``blocks``, ``lines`` and ``sample`` is the same on every machine,
    too; it is ascending where there are at most 2^16 solutions. Boards with given candidates, and
    those of other shapes than 9x9 that are too expensive to contract, have the ascending order
    alone. What needs counts of solutions raises an error where these should take too long, and the
    first solution of a large board with few clues may be out of reach: ``solve`` finds one sooner.

    Parameters
    ----------
    board
        Any board.
    options
        How to search and count; results do not depend on them.
    engine
        The device that does it; by default made as the options say.
    progress
        Called as for ``count`` while all solutions are counted.
    cancel
        Stops any work on the solutions, by ``Cancelled``. Results computed before are kept, and the
        attribute ``cancel`` takes another token, or None, to go on.

    Raises
    ------
    InputError
        If the options have a limit: a slice is what limits solutions.
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
        raise TypeError(TOO_MANY)  # list() asks for the length first, and ignores this error alone

    def __bool__(self) -> bool:
        """Tell whether there are any, without counting them."""
        with self._working():
            return self._set.any

    def shares(self, out: Any = None) -> NDArray[Any]:
        """Count for every cell and digit the solutions that have the digit in the cell.

        Parameters
        ----------
        out
            An array to fill and return: int64 (cells, n); as for ``sample``.

        Returns
        -------
        An array (cells, n) of Python's integers, of any size; read-only. ``shares()[c, d - 1]`` is
        that of digit d in cell c, row by row. Each row of it adds up to the count. If the board was
        an array of PyTorch, JAX or CuPy, one of int64 of that library, unless a number exceeds it.

        Raises
        ------
        InputError
            If ``out`` cannot be filled, because of its shape or type, or because a number exceeds
            int64.
        TooExpensive
            If it should take too long. For 9x9 boards of clues it never does.
        """
        with self._working():
            shares = self._set.shares
        if out is not None or self._destination != NUMPY:
            numbers = numbers_of(shares.ravel().tolist()).reshape(shares.shape)
            shares = self._destination.give(numbers, out)
        return shares

    def unique_placements(self) -> NDArray[np.int64]:
        """Return the placements, of a digit in an empty cell, that leave exactly one solution.

        Returns
        -------
        int64 (k, 2): the cell and the digit of each, in ascending order; those with a share of 1.

        Raises
        ------
        TooExpensive
            As ``shares`` does.
        """
        from gpusudoku.enumeration.share_queries import unique_placements  # lazily: it is slow

        with self._working():
            return unique_placements(self.board, self._set.shares)

    def unique_pairs(self) -> NDArray[np.int64]:
        """Return the pairs of placements that leave exactly one solution, where neither does alone.

        Returns
        -------
        int64 (k, 4): cell, digit, a later cell, its digit; in ascending order, each pair once.

        Raises
        ------
        TooExpensive
            As ``shares`` does. For 9x9 boards of clues it never does, but may take minutes.
        """
        from gpusudoku.enumeration.share_queries import unique_pairs  # lazily: it is slow

        with self._working():
            return unique_pairs(self._set)

    def sample(
        self, n: int, seed: int | None = None, *, distinct: bool = False, out: Any = None
    ) -> NDArray[np.uint8]:
        """Draw random solutions, each with the same chance, independent of each other.

        Solution i of a sample depends on the board, the seed and i alone: a longer sample begins
        with the solutions of a shorter one.

        Parameters
        ----------
        n
            The number of solutions.
        seed
            From 0 to below 2^128; by default a new one every time.
        distinct
            True for solutions that are all different: those drawn before are passed over. All
            numbers drawn are kept in memory then.
        out
            An array to fill and return: uint8 (n, cells), of NumPy, PyTorch, CuPy or any other
            library whose arrays in main memory can be written by DLPack.

        Returns
        -------
        uint8 (n, cells), each row a solution, row by row; of PyTorch, JAX or CuPy, on its device,
        if the board was such an array.

        Raises
        ------
        InputError
            A ValueError, if n or the seed is out of range, there are no solutions, or fewer than n
            if they are to be distinct; if ``out`` is no such array.
        TooExpensive
            If it should take too long. For 9x9 boards of clues it never does.
        """
        sample = self._joined(self._stoppable(self._samples(n, seed, distinct, 0)), n, out)
        return self._destination.array(sample) if out is None else sample

    def sample_blocks(
        self, n: int, seed: int | None = None, *, distinct: bool = False, first: int = 0
    ) -> Generator[NDArray[np.uint8], None, None]:
        """Yield the rows of ``sample`` in blocks, uint8 (k, cells), in constant memory for any n.

        With ``first`` only those from that number on: a part of a sample.
        """
        blocks = self._samples(n, seed, distinct, first)
        return self._stoppable(map(self._destination.array, blocks))

    def _samples(
        self, n: int, seed: int | None, distinct: bool, first: int
    ) -> Iterator[NDArray[np.uint8]]:
        """Yield the same in arrays of NumPy."""
        if not is_integer(n) or not 0 <= n <= MAX_NUMBER:
            raise InputError(
                f"a sample of {described(n)}: expected an integer from 0 to {MAX_NUMBER}"
            )
        seed = secrets.randbits(SEED_BITS) if seed is None else seed
        if not is_integer(first) or not 0 <= first <= n:
            raise InputError(f"a sample from number {described(first)}: expected one from 0 to {n}")
        with self._working():
            count = self._set.contraction_order.count if n else 1
        uniform = Uniform(seed, count)
        if distinct and n > count:
            raise InputError(f"a sample of {n} distinct solutions: there are only {count}")
        numbers = uniform.distinct(int(n), first) if distinct else uniform.first(int(n), first)
        return map(self._set.contraction_order.at, numbers) if n else iter(())

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """Yield arrays of solutions, uint8 (k, cells), in contraction order and constant memory.

        With bounds only those from number ``first`` to before ``last`` in that order: parts of a
        list that many machines make.

        Raises
        ------
        InputError
            If the bounds are not in this order, or beyond the count.
        """
        index, start, stop = self._part_bounds(first, last)
        return self._stoppable(map(self._destination.array, index.rows(start, stop)))

    def lines(self, first: int = 0, last: int | None = None) -> Iterator[bytes | memoryview]:
        """Yield ``blocks`` as text, in pieces of whole lines with newlines: for files."""
        index, start, stop = self._part_bounds(first, last)
        return self._stoppable(index.texts(start, stop))

    def part(self, number: int, parts: int) -> tuple[int, int]:
        """Return the bounds of one of several parts of the contraction order, for ``blocks``.

        The sizes of parts differ by one at most.

        Parameters
        ----------
        number
            The number of the part, from 1 to ``parts``.
        parts
            The number of parts.

        Returns
        -------
        The number of its first solution, and of the one after its last.

        Raises
        ------
        InputError
            If there is no such part.
        TooExpensive
            If it should take too long to count. For 9x9 boards of clues it never does.
        """
        if not (is_integer(number) and is_integer(parts) and 1 <= number <= parts):
            raise InputError(
                f"part {described(number)} of {described(parts)}: expected one from 1 to the second"
            )
        number, parts = int(number), int(parts)  # NumPy's integers would overflow
        with self._working():
            part = part_of(self._set.contraction_order.count, number, parts)
        return part.start, part.stop

    def _part_bounds(self, first: int, last: int | None) -> tuple[SolutionIndex, int, int]:
        """Return the contraction order, and the bounds of a part of it, checked."""
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
        ``sample_blocks`` and ``shares`` give such arrays, on the same device.
    box, engine, progress
        As for ``count``.
    cancel
        Stops any work on the solutions, whichever thread cancels it.
    **options
        The fields of ``Options`` but the limit: take a slice instead.

    Raises
    ------
    InputError, DeviceError
        As ``count`` does.
    """
    if isinstance(board, Slice):
        raise InputError("expected a board, found its solutions: use them as they are, or .board")
    result = Solutions(
        board_of(board, box), Options(**options), engine=engine, progress=progress, cancel=cancel
    )
    result._destination = Destination.of(board)
    return result
