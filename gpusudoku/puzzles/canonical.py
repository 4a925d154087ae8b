"""Canonical forms: two boards have the same one if one can be rearranged to the other.

The rearrangements are those that keep the rules: relabelling digits, permuting the rows of a band,
the bands, the columns of a stack, and the stacks, and transposing if boxes are square. The form is
the least of all boards that a board can be rearranged to, read row by row, with empty cells below
all digits. So it depends on the class of the board alone, and not on its solutions.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from hashlib import blake2b
from itertools import permutations, product
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import in_blocks
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError
from gpusudoku.formats.coerce import BoardLike, batches_of, board_of
from gpusudoku.iterating import rows_of, with_bad_boards
from gpusudoku.jobs.cancel import CancelToken, check_cancelled, interruptible, made_in
from gpusudoku.jobs.job import called, pieces
from gpusudoku.kernels.canonical.grids import (
    CLASS_BITS,
    DIGIT_BITS,
    FACTOR,
    Grid,
    PairTable,
    canonical_grids,
)
from gpusudoku.kernels.canonical.puzzles import NONE, Forms, Layout, Search, canonical_puzzles
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.options import Options
from gpusudoku.results import BadBoard

MOST_BOARDS = 1 << 14
"""Boards whose forms are found together."""
CALL_BOARDS = 1 << 12
"""Boards of a call of a kernel, as an interrupt waits for it."""
FIRST_STATES, MOST_STATES = 1 << 8, 1 << 20
"""States that there is memory for at first, and at most: about 100 MB for 9x9 boards, of which
those with the most, nearly full ones, have some ten thousand."""
TOO_MANY = "too many rearrangements begin with the least rows"
MOST_DIGITS, MOST_ORDERS = 9, 50_000
"""Digits, and orders of columns, of grids with a table of pairs of rows; 9x9 ones have 1,296. The
others are taken for puzzles."""


@dataclass(frozen=True)
class Transformation:
    """A rearrangement of boards.

    The digit in row i and column j of the result comes from row ``rows[i]`` and column
    ``columns[j]`` of the board, or of the board transposed.
    """

    transposed: bool
    """True if the board is transposed before."""
    rows: tuple[int, ...]
    """The row of the board, from 0, that each row of the result is."""
    columns: tuple[int, ...]
    """The column of the board, from 0, that each column of the result is."""
    digits: tuple[int, ...]
    """What digits 1, 2, ... become."""

    def apply(self, board: BoardLike, *, box: Geometry | str | None = None) -> Board:
        """Rearrange a board, as ``count`` takes it.

        Raises
        ------
        InputError
            If the board cannot be read, or is of another size.
        """
        board = board_of(board, box)
        if len(self.rows) != board.n:
            raise InputError(f"a board of {board.n} rows, expected {len(self.rows)}")
        grid = board.grid.T if self.transposed else board.grid
        labels = np.array([0, *self.digits], np.uint8)
        cells = labels[grid[np.ix_(self.rows, self.columns)]]
        return Board(cells.ravel(), board.geometry)

    @property
    def inverse(self) -> Transformation:
        """The transformation that undoes it."""
        rows, columns, digits = map(_inverse, (self.rows, self.columns, self.digits))
        if self.transposed:
            rows, columns = columns, rows
        return Transformation(self.transposed, rows, columns, tuple(d + 1 for d in digits))

    def then(self, after: Transformation) -> Transformation:
        """Return the transformation that does this one and then another.

        Raises
        ------
        InputError
            If they are for boards of different sizes.
        """
        if len(self.rows) != len(after.rows):
            raise InputError(f"transformations of {len(self.rows)} and {len(after.rows)} rows")
        rows, columns = self.rows, self.columns
        if after.transposed:
            rows, columns = columns, rows
        return Transformation(
            self.transposed != after.transposed,
            tuple(rows[i] for i in after.rows),
            tuple(columns[i] for i in after.columns),
            tuple(after.digits[d - 1] for d in self.digits),
        )


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """Return where each number of an order stands, from 0."""
    return tuple(np.argsort(order).tolist())


@dataclass(frozen=True, repr=False)
class Canonical:
    """The result of ``canonical``."""

    puzzle: Board
    """The board that was given."""
    board: Board
    """The canonical form."""
    transformation: Transformation
    """A transformation that makes it of the board."""
    automorphisms: int
    """The number of transformations that leave the board as it is. Those that differ only by digits
    that the board has not got are different ones, too."""

    def to(self, other: Canonical) -> Transformation | None:
        """Return a transformation that makes this puzzle the other one; None if there is none."""
        if self.board != other.board:
            return None
        return self.transformation.then(other.transformation.inverse)

    def __str__(self) -> str:
        return str(self.board)

    def __repr__(self) -> str:
        return f"<Canonical: {self.board}>"

    def _repr_html_(self) -> str:
        caption = f"canonical form, {self.automorphisms} automorphisms"
        return draw(self.board.geometry, self.board.cells, caption=caption)


@dataclass(frozen=True)
class CanonicalBlock:
    """Canonical forms of boards of one geometry, in columns of B rows."""

    boards: Batch
    forms: NDArray[np.uint8]
    """uint8 (B, n * n): the canonical forms."""
    errors: dict[int, InputError]
    """Why boards have no canonical form, by their indices; their rows are 0."""
    ties: NDArray[np.int64]
    maps: NDArray[np.uint8]
    """int64 (B) and uint8 (B, 1 + 3 n): as of ``Forms``."""

    def __len__(self) -> int:
        return len(self.boards)

    def part(self, start: int, end: int) -> CanonicalBlock:
        """Return those of the boards from start to before end."""
        return self.chosen(np.arange(start, end))

    def chosen(self, which: NDArray[np.int64]) -> CanonicalBlock:
        """Return those of the boards with some indices, int64 (k), ascending."""
        errors = {i: self.errors[j] for i, j in enumerate(which.tolist()) if j in self.errors}
        boards, forms = self.boards.chosen(which), self.forms[which]
        return CanonicalBlock(boards, forms, errors, self.ties[which], self.maps[which])

    def transformations(self) -> list[Transformation]:
        """Return a transformation for each board: columns and digits without clues come anywhere.

        Columns without clues come first in their stack, and stacks without clues before others.
        """
        geometry, n = self.boards.geometry, self.boards.geometry.n
        places, labels = self.maps[:, 1 + n : 1 + 2 * n].astype(int), self.maps[:, 1 + 2 * n :]
        stacks = places.reshape(len(self), geometry.box_rows, geometry.box_columns)
        first = stacks.min(axis=2, keepdims=True)
        starts = np.where(first == NONE, -1, first // geometry.box_columns * geometry.box_columns)
        keys = np.where(stacks == NONE, starts, stacks).reshape(places.shape)
        columns = np.argsort(keys, axis=1, kind="stable").tolist()
        order = np.argsort(labels, axis=1, kind="stable")
        digits = (np.argsort(order, axis=1) + 1).tolist()
        rows, transposed = self.maps[:, 1 : 1 + n].tolist(), self.maps[:, 0].tolist()
        return [
            Transformation(bool(turn), *map(tuple, lists))
            for turn, *lists in zip(transposed, rows, columns, digits, strict=True)
        ]

    def automorphisms(self) -> list[int]:
        """Return the number of automorphisms of each board.

        A state that leads to the form stands for all orders of empty rows of a band, of empty
        bands, of empty columns and stacks alike, and of the digits that the board has not got.
        """
        geometry, n = self.boards.geometry, self.boards.geometry.n
        rows, columns = geometry.box_rows, geometry.box_columns
        orders = np.array([factorial(k) for k in range(n + 1)], object)
        filled = (self.forms > 0).reshape(-1, n, n)
        found = self.ties.astype(object) * orders[n - self.forms.max(axis=1, initial=0)]
        for axis, lines in ((2, (columns, rows)), (1, (rows, columns))):
            empty = ~filled.any(axis=axis).reshape(-1, *lines)
            within = empty.sum(axis=2)
            found *= orders[within].prod(axis=1) * orders[(within == lines[1]).sum(axis=1)]
        return list(found)

    def __iter__(self) -> Iterator[Canonical | InputError]:
        transformations, numbers = self.transformations(), self.automorphisms()
        for index, board in enumerate(self.boards):
            if index in self.errors:
                yield self.errors[index]
                continue
            form = Board.of_digits(self.forms[index].copy(), board.geometry)
            yield Canonical(board, form, transformations[index], numbers[index])


def canonical(
    board: BoardLike, *, box: Geometry | str | None = None, cancel: CancelToken | None = None
) -> Canonical:
    """Find the canonical form of a board: the least of all boards that it can be rearranged to.

    Boards are compared row by row, with empty cells below all digits. Two boards have the same form
    exactly if they are equivalent: relabelling digits, permuting the rows of a band, the bands, the
    columns of a stack, and the stacks, and transposing if boxes are square, make one of the other.
    The board may have any number of solutions, or none.

    Parameters
    ----------
    board, box
        As for ``count``.
    cancel
        Stops it, whichever thread cancels it: see ``CancelToken``.

    Raises
    ------
    InputError
        If the board cannot be read, if clues contradict each other, if candidates are given, or if
        too many rearrangements begin with the least rows, as of full boards of 16x16 cells.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    puzzle = board_of(board, box)
    with interruptible(cancel):
        [result] = canonical_block(Batch.of([puzzle]))
    if isinstance(result, InputError):
        raise result
    return result


def canonical_many(
    boards: Iterable[BoardLike] | os.PathLike[str],
    *,
    box: Geometry | str | None = None,
    on_error: str = "raise",
    jobs: int | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[Canonical | BadBoard]:
    """Find the canonical form of each of many boards, as ``canonical`` does, in their order.

    Parameters
    ----------
    boards, box, on_error
        As for ``count_many``. A board without a canonical form is a bad board, too.
    jobs
        Threads; by default as many as there are usable cores.
    cancel
        Stops it, whichever thread cancels it: see ``CancelToken``.

    Raises
    ------
    InputError
        At once if a value is out of range, or in the place of the first bad board.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    threads = CpuEngine(Options(jobs=jobs).jobs).threads
    work = partial(canonical_batches, threads=threads)
    blocks = with_bad_boards(batches_of(boards, box), work, on_error)
    return made_in(lambda: interruptible(cancel), rows_of(blocks, on_error))


def isomorphic(
    board: BoardLike, other: BoardLike, *, box: Geometry | str | None = None
) -> Transformation | None:
    """Find a transformation that makes one board the other; None if there is none.

    Parameters
    ----------
    board, other, box
        As for ``canonical``. Boards with boxes of different shapes are never isomorphic.

    Raises
    ------
    InputError
        If one of them has no canonical form: see ``canonical``.
    """
    return canonical(board, box=box).to(canonical(other, box=box))


def canonical_batches(
    batches: Iterable[Batch], threads: int
) -> Generator[CanonicalBlock, None, None]:
    """Find the canonical forms of boards in blocks, in their order."""

    def work(block: Batch, alone: bool) -> Generator[CanonicalBlock, None, None]:
        yield canonical_block(block, 1 if alone else threads)

    return in_blocks(batches, MOST_BOARDS, work, threads)


def class_key(form: bytes) -> bytes:
    """Return a hash of 128 bits of a canonical form: of a billion no two have the same one.

    (The chance of that is 2^-69.)
    """
    return blake2b(form, digest_size=16).digest()


class Classes:
    """Classes of boards, each remembered by its key, in about 130 bytes."""

    def __init__(self) -> None:
        self._seen = set[bytes]()

    def __len__(self) -> int:
        return len(self._seen)

    def new(self, block: CanonicalBlock) -> NDArray[np.int64]:
        """Add the classes of boards; return the indices of the first boards of new ones, int64 (k).

        Boards without a canonical form have no class.
        """
        found = list[int]()
        for index, form in enumerate(block.forms):
            before = len(self._seen)
            if index not in block.errors:
                self._seen.add(class_key(form.tobytes()))
            if len(self._seen) > before:
                found.append(index)
        return np.array(found, np.int64)


def canonical_block(boards: Batch, threads: int = 1) -> CanonicalBlock:
    """Find the canonical forms of boards of one geometry, by so many threads.

    Cancelled by the tokens of this thread.
    """
    geometry, errors = boards.geometry, dict[int, InputError]()
    forms = Forms.empty(geometry.n, len(boards))
    kernels = canonical_kernels(geometry)
    cells = np.ascontiguousarray(boards.cells)
    full = np.array((cells > 0).all(axis=1) & (len(kernels) > 1))
    wanted = not full.all(), full.any()
    ready([kernel for kernel, needed in zip(kernels, wanted, strict=False) if needed])
    some = pieces(range(len(boards)), max(threads, -(-len(boards) // CALL_BOARDS)))

    def find(piece: range) -> None:
        check_cancelled()
        start, end = piece.start, piece.stop
        for which, write in ((full[start:end], _write_grids), (~full[start:end], _write_puzzles)):
            if which.all():  # where they are
                write(geometry, cells[start:end], forms.part(start, end))
            elif which.any():
                these = start + np.flatnonzero(which)
                found = Forms.empty(geometry.n, len(these))
                write(geometry, cells[these], found)
                forms.put(these, found)

    if threads == 1:  # a thread and a job for each block would take longer than its Python
        for piece in some:
            find(piece)
    else:
        called([partial(find, piece) for piece in some], threads)
    if boards.candidates is not None:
        given = (boards.candidates != geometry.all_digits).any(axis=1)
        error = InputError("a board with given candidates has no canonical form")
        errors |= dict.fromkeys(np.flatnonzero(given).tolist(), error)
        forms.cells[given], forms.ties[given] = 0, 0
    for index in np.flatnonzero(forms.ties <= 0).tolist():
        if index in errors:
            continue
        if forms.ties[index]:
            errors[index] = InputError(f"the canonical form was not found: {TOO_MANY}")
        else:
            first = boards[index].conflicts[0].describe(geometry)
            errors[index] = InputError(f"clues contradict each other: {first}")
    return CanonicalBlock(boards, forms.cells, errors, forms.ties, forms.maps)


def _write_grids(geometry: Geometry, grids: NDArray[np.uint8], forms: Forms) -> None:
    """Write the canonical forms of full boards, uint8 (B, n * n)."""
    kernel = canonical_grids(geometry.box_rows, geometry.box_columns)
    kernel(grids, pair_table(geometry), Grid.empty(geometry.n), forms)


def _write_puzzles(geometry: Geometry, boards: NDArray[np.uint8], forms: Forms) -> None:
    """Write the canonical forms of boards, uint8 (B, n * n): ties are -1 of those without."""
    layout = Layout(geometry.box_rows, geometry.box_columns)
    kernel = canonical_puzzles(geometry.box_rows, geometry.box_columns)
    done, states = 0, FIRST_STATES
    search = Search.empty(layout, states)
    while (done := kernel(boards, done, search, forms)) < len(boards):
        check_cancelled()
        if states < MOST_STATES:
            states *= 8
            search = Search.empty(layout, states)
        else:
            forms.cells[done], forms.ties[done] = 0, -1
            done += 1


def canonical_kernels(geometry: Geometry) -> list[Kernel]:
    """Return the loops that find canonical forms of boards of a geometry, and of full ones.

    The first one alone if a table of pairs of rows would be too large. An InputError if a row of a
    box does not fit into a word.
    """
    shape = geometry.box_rows, geometry.box_columns
    if not Layout(*shape).together:
        raise InputError(f"no canonical forms with boxes of {geometry}: too many columns")
    orders = factorial(geometry.box_columns) ** geometry.box_rows * factorial(geometry.box_rows)
    has_table = 1 < geometry.n <= MOST_DIGITS and orders <= MOST_ORDERS
    return [canonical_puzzles(*shape), *([canonical_grids(*shape)] if has_table else [])]


@cache
def pair_table(geometry: Geometry) -> PairTable:
    """Find the class of every permutation between two rows, and the orders of columns to it.

    An order of columns makes of a permutation the text of the second row. The classes are those of
    permutations with the same texts; the least text of each is the first of its permutations, as
    these are in ascending order. This takes a tenth of a second for 9x9 boards.
    """
    n, width, height = geometry.n, geometry.box_columns, geometry.box_rows
    found = np.zeros((1, 0), np.uint8)
    for column in range(n):  # no digit comes twice in a row, column or box
        new = np.tile(np.arange(n, dtype=np.uint8), len(found))
        found = np.repeat(found, n, axis=0)
        good = (found != new[:, None]).all(axis=1)
        good &= (new // width != column // width) if height > 1 else (new != column)
        found = np.concatenate([found, new[:, None]], axis=1)[good]
    keys = _keys(found)
    index = {key: i for i, key in enumerate(keys.tolist())}
    stacks = [[*permutations(range(start, start + width))] for start in range(0, n, width)]
    orders = np.array([
        [column for stack in each for column in stack]
        for some in permutations(stacks) for each in product(*some)
    ], np.uint8)  # fmt: skip
    kinds, reached = np.full(len(found), -1), list[list[int]]()
    for i, least in enumerate(found):
        if kinds[i] < 0:
            images = np.empty_like(orders)
            np.put_along_axis(images, orders.astype(np.intp), orders[:, least], axis=1)
            reached.append([index[key] for key in _keys(images).tolist()])
            kinds[reached[-1]] = len(reached) - 1
    assert len(reached) <= 1 << CLASS_BITS
    owners = np.concatenate(reached)
    ends = np.cumsum(np.bincount(owners, minlength=len(found)))
    sorted_orders = np.tile(orders, (len(reached), 1))[np.argsort(owners, kind="stable")]
    inverses = [index[key] for key in _keys(np.argsort(found, axis=1)).tolist()]
    bits = np.uint64(CLASS_BITS)
    values = (keys << bits | kinds[inverses].astype(np.uint64)) << bits | kinds.astype(np.uint64)
    slots = 1 << (2 * len(found)).bit_length()
    entries, ranges = np.zeros(slots, np.uint64), np.zeros((slots, 2), np.int64)
    homes = (keys * np.uint64(FACTOR) >> np.uint64(32)).astype(np.int64) & (slots - 1)
    for i, slot in enumerate(homes.tolist()):
        while entries[slot]:
            slot = (slot + 1) % slots
        entries[slot], ranges[slot] = values[i], (ends[i - 1] if i else 0, ends[i])
    places = np.argsort(sorted_orders, axis=1).astype(np.uint8)
    return PairTable(entries, ranges, np.stack([sorted_orders, places], axis=1))


def _keys(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the keys of permutations, (k, n), as the kernel makes them."""
    shifts = np.arange(rows.shape[1], dtype=np.uint64) * np.uint64(DIGIT_BITS)
    keys: NDArray[np.uint64] = (rows.astype(np.uint64) << shifts).sum(axis=1)
    return keys
