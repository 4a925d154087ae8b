"""The solutions of a board as one object: how many, which is the k-th, samples, shares.

Two orders are fixed by the board alone. *Ascending* compares solutions digit by digit, cell by
cell: that of iterating, indexing, slices and ``rank``. The *quick* order is that of ``blocks``,
``lines`` and ``sample``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Iterator
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.errors import InputError, described
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.pieces import part_of
from gpusudoku.jobs.watch import Progress
from gpusudoku.options import OptionFields, Options, is_integer, takes_options
from gpusudoku.orders.choose import Orders
from gpusudoku.orders.protocol import Ordered, joined
from gpusudoku.orders.sampling import SEED_BITS, Uniform
from gpusudoku.slicing import TOO_MANY, Slice


class Solutions(Slice):
    """All solutions of a board: how many, which is the k-th, samples, shares, all as arrays.

    They have all that a ``Slice`` has: the count, indexing, slices, ``rank`` and ``in``, arrays.
    Nothing is worked out before it is asked for, and what was is kept. Results depend on the board
    alone, never on threads, device or machine. It pickles as the board and its options. What is
    asked for by several threads at a time is worked out by one of them.

    Iterating gives the solutions in *ascending* order, as boards, and so do ``solutions[k]`` and
    slices: digits compare as numbers, cell by cell, row by row. Numbers are from 0 and of any size.
    The *quick* order of ``blocks``, ``lines`` and ``sample`` is the same on every machine, too; it
    is ascending where there are at most 2^16 solutions. Boards with given candidates, and those of
    other shapes than 9x9 that are too expensive to contract, have the ascending order alone. What
    takes counts of their solutions is an error where these should take too long, and the first
    solution of a large board with few clues may be out of reach: ``solve`` finds one sooner.

    Parameters
    ----------
    board
        Any board.
    options
        How to search and count; results do not depend on them.
    engine
        What does it; by default made as the options ask.
    progress
        Called as for ``count`` while all solutions are counted.
    cancel
        Stops whatever is asked for, by ``Cancelled``. What was worked out before is kept, nothing
        is kept by halves, and the attribute ``cancel`` takes another token, or None, to go on.

    Raises
    ------
    InputError
        If the options have a limit: a slice is what limits solutions.
    DeviceError
        If CUDA is asked for and cannot be used.
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
        orders = Orders(board, options, engine_for(options, engine))
        super().__init__(orders, (), cancel)
        self._progress = progress

    def __len__(self) -> int:
        # A TypeError, because list() asks for the length first, and passes over this error alone.
        raise TypeError(TOO_MANY)

    def __bool__(self) -> bool:
        """Whether there are any, which is known without counting them."""
        with self._asked():
            return self._orders.any

    def shares(self) -> NDArray[Any]:
        """For every cell and digit the number of solutions that have it there.

        Returns
        -------
        An array (cells, n) of Python's integers, of any size; read-only. ``shares()[c, d - 1]`` is
        that of digit d in cell c, row by row. Each row of it adds up to the count.

        Raises
        ------
        TooExpensive
            If that should take too long. For 9x9 boards of clues it never does.
        """
        with self._asked():
            return self._orders.shares

    def sample(
        self, n: int, seed: int | None = None, *, distinct: bool = False
    ) -> NDArray[np.uint8]:
        """Random solutions, each with the same chance, independent of each other.

        Solution i of a sample depends on the board, the seed and i alone: a longer sample begins as
        a shorter one does.

        Parameters
        ----------
        n
            How many.
        seed
            From 0 to below 2^128; by default a new one every time.
        distinct
            Whether no solution may come twice: those that came before are passed over. Then all
            numbers that came are kept in memory.

        Returns
        -------
        uint8 (n, cells), each row a solution, row by row.

        Raises
        ------
        InputError
            A ValueError, if n or the seed is out of range, there are no solutions, or fewer than n
            if they are to be distinct.
        TooExpensive
            If that should take too long. For 9x9 boards of clues it never does.
        """
        return joined(self.sample_blocks(n, seed, distinct=distinct), self.board, n)

    def sample_blocks(
        self, n: int, seed: int | None = None, *, distinct: bool = False, first: int = 0
    ) -> Generator[NDArray[np.uint8], None, None]:
        """The rows of ``sample`` in blocks, uint8 (k, cells), in constant memory for any n.

        Only those from number ``first`` on, if they need not be distinct: a part of a sample.
        """
        if not is_integer(n) or n < 0:
            raise InputError(f"a sample of {described(n)}: expected an integer from 0 up")
        seed = secrets.randbits(SEED_BITS) if seed is None else seed
        with self._asked():
            count = self._orders.quick.count if n else 1
        uniform = Uniform(seed, count)
        if distinct and n > count:
            raise InputError(f"a sample of {n} distinct solutions: there are only {count}")
        if first and distinct:
            raise InputError(f"distinct solutions of a sample from number {first} on: only from 0")
        numbers = uniform.distinct(int(n)) if distinct else uniform.first(int(n), first)
        return self._given(map(self._orders.quick.at, numbers) if n else iter(()))

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[NDArray[np.uint8]]:
        """The solutions in arrays, uint8 (k, cells), in the quick order and constant memory.

        Only those from number ``first`` to before ``last`` in that order, if these are given: parts
        of a whole that are listed on many machines.

        Raises
        ------
        InputError
            If the bounds are not in this order, or beyond the count.
        """
        order, begin, end = self._quick(first, last)
        return self._given(order.rows(begin, end))

    def lines(self, first: int = 0, last: int | None = None) -> Iterator[bytes | memoryview]:
        """What ``blocks`` gives as text, in pieces of whole lines with newlines: for files."""
        order, begin, end = self._quick(first, last)
        return self._given(order.texts(begin, end))

    def part(self, number: int, parts: int) -> tuple[int, int]:
        """Where one of several parts of the quick order begins and ends, for ``blocks``.

        Their sizes differ by one at most.

        Parameters
        ----------
        number
            That of the part, from 1 to ``parts``.
        parts
            How many there are.

        Returns
        -------
        The number of its first solution, and of the one after its last.

        Raises
        ------
        InputError
            If there is no such part.
        TooExpensive
            If to count the solutions should take too long. For 9x9 boards of clues it never does.
        """
        if not (is_integer(number) and is_integer(parts) and 1 <= number <= parts):
            raise InputError(
                f"part {described(number)} of {described(parts)}: expected one from 1 to the second"
            )
        number, parts = int(number), int(parts)  # NumPy's integers would overflow
        with self._asked():
            count = self._orders.quick.count
        part = part_of(count, number, parts)
        return part.start, part.stop

    def _quick(self, first: int, last: int | None) -> tuple[Ordered, int, int]:
        """The quick order, and the bounds of a part of it, which are checked."""
        with self._asked():
            order = self._orders.quick
        end = order.count if last is None else last
        if not (is_integer(first) and is_integer(end) and 0 <= first <= end <= order.count):
            raise InputError(
                f"solutions from {described(first)} to {described(end)}: expected two numbers"
                f" from 0 to {order.count}"
            )
        return order, int(first), int(end)


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
    board, box, engine, progress
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
    found, chosen = board_of(board, box), Options(**options)
    return Solutions(found, chosen, engine=engine, progress=progress, cancel=cancel)
