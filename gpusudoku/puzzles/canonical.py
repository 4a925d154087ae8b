"""Canonical forms: two boards have the same form if one can be rearranged to the other.

The rearrangements are those that keep the rules: relabelling digits, permuting the rows of a band,
the bands, the columns of a stack, and the stacks, and transposing if boxes are square. The
canonical form of a board is the least of all its rearrangements, read row by row, where an empty
cell is less than any digit. So it depends only on the class of the board, not on its solutions.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from itertools import permutations, product
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, RowBlock
from gpusudoku.board.blocks import in_blocks
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import draw
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError
from gpusudoku.formats.coerce import BoardLike, batches_of, board_of
from gpusudoku.iterating import only_row, rows_of, with_bad_boards
from gpusudoku.jobs.cancel import CancelToken, check_cancelled, interruptible, iterate_in
from gpusudoku.jobs.job import call_on_threads, split_range
from gpusudoku.kernels.canonical.arrays import NO_POSITION, Forms, Layout, Search
from gpusudoku.kernels.canonical.grids import (
    CLASS_BITS,
    HASH_FACTOR,
    KEY_DIGIT_BITS,
    Grid,
    PairTable,
    canonical_grids,
)
from gpusudoku.kernels.canonical.puzzles import canonical_puzzles
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.options import Options
from gpusudoku.results import BadBoard

MAX_BOARDS = 1 << 14
"""Boards whose forms are found together."""
CALL_BOARDS = 1 << 12
"""Boards of one call of a kernel: an interrupt waits until the call returns."""
FIRST_STATES = 1 << 8
"""The number of states for which a search starts with memory."""
MAX_STATES = 1 << 20
"""The maximum number of states of a search: about 100 MB for 9x9 boards. The 9x9 boards with the
most states are nearly full, and have about ten thousand."""
TOO_MANY = "too many rearrangements begin with the least rows"
MAX_DIGITS = 9
MAX_ORDERS = 50_000
"""Grids with at most this many digits and orders of columns have a table of pairs of rows. 9x9
grids have 1,296 orders. Other full grids are treated like puzzles."""


@dataclass(frozen=True)
class Transformation:
    """A rearrangement of boards.

    The digit in row i and column j of the result comes from row ``rows[i]`` and column
    ``columns[j]`` of the board, or of the transposed board.
    """

    transposed: bool
    """True if the board is transposed first."""
    rows: tuple[int, ...]
    """For each row of the result, the row of the board that it comes from, counted from 0."""
    columns: tuple[int, ...]
    """For each column of the result, the column of the board that it comes from, from 0."""
    digits: tuple[int, ...]
    """The digits that 1, 2, ... become."""

    def apply(self, board: BoardLike, *, box: Geometry | str | None = None) -> Board:
        """Rearrange a board, which can be anything that ``count`` takes.

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
        rows = _inverse(self.rows)
        columns = _inverse(self.columns)
        digits = tuple(index + 1 for index in _inverse(self.digits))
        # To undo P * transpose(board) * Q, transpose last: that exchanges the roles of P and Q.
        if self.transposed:
            rows, columns = columns, rows
        return Transformation(self.transposed, rows, columns, digits)

    def then(self, after: Transformation) -> Transformation:
        """Return the transformation that does this one and then another.

        Raises
        ------
        InputError
            If they are for boards of different sizes.
        """
        if len(self.rows) != len(after.rows):
            raise InputError(f"transformations of {len(self.rows)} and {len(after.rows)} rows")
        rows = self.rows
        columns = self.columns
        if after.transposed:
            rows, columns = columns, rows
        return Transformation(
            self.transposed != after.transposed,
            tuple(rows[i] for i in after.rows),
            tuple(columns[i] for i in after.columns),
            tuple(after.digits[digit - 1] for digit in self.digits),
        )


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of each number in an order, ascending by number."""
    return tuple(np.argsort(order).tolist())


@dataclass(frozen=True, repr=False)
class Canonical:
    """The result of ``canonical``."""

    puzzle: Board
    """The board that was given."""
    board: Board
    """The canonical form."""
    transformation: Transformation
    """A transformation that turns the board into the canonical form."""
    automorphisms: int
    """The number of transformations that do not change the board. Transformations that differ only
    in digits that are missing from the board count separately."""

    def to(self, other: Canonical) -> Transformation | None:
        """Return a transformation that turns this puzzle into another; None if there is none."""
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
class CanonicalBlock(RowBlock):
    """Canonical forms of boards of one geometry, in columns of B rows."""

    _COLUMNS = ("boards", "forms", "ties", "maps")
    boards: Batch
    forms: NDArray[np.uint8]
    """uint8 (B, n * n): the canonical forms."""
    errors: dict[int, InputError]
    """The errors of boards without a canonical form, by their indices. Their rows are 0."""
    ties: NDArray[np.int64]
    """int64 (B): see ``Forms``."""
    maps: NDArray[np.uint8]
    """uint8 (B, 1 + 3 n): see ``Forms``."""

    def select(self, rows: Any, /) -> CanonicalBlock:
        """Return some rows, given as a slice, a mask, bool (B), or indices, int64 (k)."""
        indices = np.arange(len(self))[rows].tolist()
        errors = {i: self.errors[index] for i, index in enumerate(indices) if index in self.errors}
        return replace(super().select(rows), errors=errors)

    def transformations(self) -> list[Transformation]:
        """Return a transformation for each board.

        The form does not determine the order of columns and digits without clues. Here, columns
        without clues come first in their stack, and stacks without clues before other stacks.
        """
        geometry = self.boards.geometry
        n = geometry.n
        width = geometry.box_columns
        transposed = self.maps[:, 0].tolist()
        rows = self.maps[:, 1 : 1 + n].tolist()
        places = self.maps[:, 1 + n : 1 + 2 * n].astype(int)
        labels = self.maps[:, 1 + 2 * n :]

        # Sort the columns by their places in the form. A column without clues has the place
        # NO_POSITION: it gets that of the first column of its stack, or -1 if the whole stack has
        # no clues. The sort is stable, and NO_POSITION is larger than all places.
        stacks = places.reshape(len(self), geometry.box_rows, width)
        first_place = stacks.min(axis=2, keepdims=True)
        stack_start = np.where(first_place == NO_POSITION, -1, first_place // width * width)
        sort_keys = np.where(stacks == NO_POSITION, stack_start, stacks).reshape(places.shape)
        columns = np.argsort(sort_keys, axis=1, kind="stable").tolist()

        # Digits without a label, those that are missing from the board, get the last labels.
        order = np.argsort(labels, axis=1, kind="stable")
        digits = (np.argsort(order, axis=1) + 1).tolist()
        return [
            Transformation(bool(is_transposed), *map(tuple, lists))
            for is_transposed, *lists in zip(transposed, rows, columns, digits, strict=True)
        ]

    def automorphisms(self) -> list[int]:
        """Return the number of automorphisms of each board, meaningless for one without a form.

        ``ties`` is the number of states of the search that lead to the form. Each of them stands
        for all orders of things that the board does not distinguish: the digits that it lacks, its
        empty bands, the empty rows of each band, its empty stacks, and the empty columns of each
        stack.
        """
        geometry = self.boards.geometry
        n = geometry.n
        # Python integers: an empty board has far more automorphisms than int64 can hold.
        factorials = np.array([factorial(k) for k in range(n + 1)], object)
        is_filled = (self.forms > 0).reshape(-1, n, n)
        missing_digits = n - self.forms.max(axis=1, initial=0)
        numbers = self.ties.astype(object) * factorials[missing_digits]
        bands = (geometry.box_columns, geometry.box_rows)  # their number, and the rows of each
        stacks = (geometry.box_rows, geometry.box_columns)
        # A row is empty if no cell along axis 2 is filled, a column if none along axis 1 is.
        for axis, (chutes, chute_lines) in ((2, bands), (1, stacks)):
            is_empty = ~is_filled.any(axis=axis).reshape(-1, chutes, chute_lines)
            empty_lines = is_empty.sum(axis=2)
            empty_chutes = (empty_lines == chute_lines).sum(axis=1)
            numbers *= factorials[empty_lines].prod(axis=1) * factorials[empty_chutes]
        return list(numbers)

    def __iter__(self) -> Iterator[Canonical | InputError]:
        transformations = self.transformations()
        numbers = self.automorphisms()
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

    Boards are compared row by row, where an empty cell is less than any digit. Two boards have the
    same form exactly if they are equivalent, that is, if you can turn one into the other by
    relabelling digits, permuting the rows of a band, the bands, the columns of a stack and the
    stacks, and transposing if boxes are square. The board may have any number of solutions.

    Parameters
    ----------
    board, box
        As for ``count``.
    cancel
        A token that stops the work from any thread: see ``CancelToken``.

    Raises
    ------
    InputError
        If the board cannot be read, if clues contradict each other, if candidates are given, or if
        too many rearrangements begin with the least rows, as for full 16x16 boards.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    puzzle = board_of(board, box)
    with interruptible(cancel):
        return only_row(canonical_block(Batch.of([puzzle])))


def canonical_many(
    boards: Iterable[BoardLike] | os.PathLike[str],
    *,
    box: Geometry | str | None = None,
    on_error: str = "raise",
    jobs: int | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[Canonical | BadBoard]:
    """Find the canonical forms of many boards, in their order; see ``canonical``.

    Parameters
    ----------
    boards, box, on_error
        As for ``count_many``. A board without a canonical form is a bad board, too.
    jobs
        The number of threads; by default one per usable core.
    cancel
        A token that stops the work from any thread: see ``CancelToken``.

    Raises
    ------
    InputError
        Immediately if a value is out of range, or when the iterator reaches the first bad board.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    threads = CpuEngine(Options(jobs=jobs).jobs).threads
    work = partial(canonical_batches, threads=threads)
    blocks = with_bad_boards(batches_of(boards, box), work, on_error)
    return iterate_in(lambda: interruptible(cancel), rows_of(blocks, on_error))


def isomorphic(
    board: BoardLike, other: BoardLike, *, box: Geometry | str | None = None
) -> Transformation | None:
    """Find a transformation that turns one board into another; None if there is none.

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

    def work(block: Batch, by_one_thread: bool) -> Generator[CanonicalBlock, None, None]:
        yield canonical_block(block, 1 if by_one_thread else threads)

    return in_blocks(batches, MAX_BOARDS, work, threads)


def class_key(form: bytes) -> bytes:
    """Return a hash of 128 bits of a canonical form.

    The probability that two of a billion forms have the same hash is 2^-69.
    """
    return blake2b(form, digest_size=16).digest()


class Classes:
    """A set of classes of boards. Only their keys are stored, so a class takes about 130 bytes."""

    def __init__(self) -> None:
        self._keys = set[bytes]()

    def __len__(self) -> int:
        return len(self._keys)

    def new(self, block: CanonicalBlock) -> NDArray[np.int64]:
        """Add the classes of boards. Return the first board's index of each new class, int64 (k).

        Boards without a canonical form have no class.
        """
        indices = list[int]()
        for index, form in enumerate(block.forms):
            if index in block.errors:
                continue
            key = class_key(form.tobytes())
            if key not in self._keys:
                self._keys.add(key)
                indices.append(index)
        return np.array(indices, np.int64)


def canonical_block(boards: Batch, threads: int = 1) -> CanonicalBlock:
    """Find the canonical forms of boards of one geometry.

    The cancel tokens of this thread stop it.
    """
    geometry = boards.geometry
    forms = Forms.empty(geometry.n, len(boards))
    kernels = canonical_kernels(geometry)
    cells = np.ascontiguousarray(boards.cells)
    # Full grids have a kernel of their own, if there is a table for their shape.
    is_full = np.array((cells > 0).all(axis=1) & (len(kernels) > 1))
    needed_kernels = []
    if not is_full.all():
        needed_kernels.append(kernels[0])
    if is_full.any():
        needed_kernels.append(kernels[1])
    load_kernels(needed_kernels)
    chunks = split_range(range(len(boards)), max(threads, -(-len(boards) // CALL_BOARDS)))

    def find(chunk: range) -> None:
        check_cancelled()
        start = chunk.start
        end = chunk.stop
        full_chunk = is_full[start:end]
        for mask, write in ((full_chunk, _write_grids), (~full_chunk, _write_puzzles)):
            if mask.all():  # the usual case: written in place, without copies
                write(geometry, cells[start:end], forms.part(start, end))
            elif mask.any():
                indices = start + np.flatnonzero(mask)
                forms_of_kind = Forms.empty(geometry.n, len(indices))
                write(geometry, cells[indices], forms_of_kind)
                forms.put(indices, forms_of_kind)

    if threads == 1:  # without the overhead of starting a thread and a job for each block
        for chunk in chunks:
            find(chunk)
    else:
        call_on_threads([partial(find, chunk) for chunk in chunks], threads)
    errors = _collect_errors(boards, forms)
    return CanonicalBlock(boards, forms.cells, errors, forms.ties, forms.maps)


def _collect_errors(boards: Batch, forms: Forms) -> dict[int, InputError]:
    """Return the errors of boards without a canonical form, by their indices.

    Clears the forms of boards with given candidates, which the kernels ignore.
    """
    geometry = boards.geometry
    errors = dict[int, InputError]()
    if boards.candidates is not None:
        has_candidates = (boards.candidates != geometry.all_digits).any(axis=1)
        error = InputError("a board with given candidates has no canonical form")
        errors |= dict.fromkeys(np.flatnonzero(has_candidates).tolist(), error)
        forms.cells[has_candidates] = 0
        forms.ties[has_candidates] = 0
    for index in np.flatnonzero(forms.ties <= 0).tolist():
        if index in errors:
            continue
        if forms.ties[index]:  # -1: see ``_write_puzzles``
            errors[index] = InputError(f"the canonical form was not found: {TOO_MANY}")
        else:
            conflict = boards[index].conflicts[0].describe(geometry)
            errors[index] = InputError(f"clues contradict each other: {conflict}")
    return errors


def _write_grids(geometry: Geometry, grids: NDArray[np.uint8], forms: Forms) -> None:
    """Write the canonical forms of full boards, uint8 (B, n * n)."""
    kernel = canonical_grids(geometry.box_rows, geometry.box_columns)
    kernel(grids, pair_table(geometry), Grid.empty(geometry.n), forms)


def _write_puzzles(geometry: Geometry, boards: NDArray[np.uint8], forms: Forms) -> None:
    """Write the canonical forms of boards, uint8 (B, n * n).

    A board whose search needs more than MAX_STATES states gets no form, and -1 as its ties.
    """
    layout = Layout.of(geometry.box_rows, geometry.box_columns)
    kernel = canonical_puzzles(geometry.box_rows, geometry.box_columns)
    states = FIRST_STATES
    search = Search.empty(layout, states)
    index = 0
    # The kernel stops at the first board that needs more states than there is memory for.
    while (index := kernel(boards, index, search, forms)) < len(boards):
        check_cancelled()
        if states < MAX_STATES:  # try the same board again with more memory
            states *= 8
            search = Search.empty(layout, states)
        else:
            forms.cells[index] = 0
            forms.ties[index] = -1
            index += 1


def canonical_kernels(geometry: Geometry) -> list[Kernel]:
    """Return the kernel for canonical forms of any boards, and the faster one for full boards.

    There is no kernel for full boards if their table of pairs of rows would be too large.

    Raises
    ------
    InputError
        If a row of a box does not fit into a word.
    """
    shape = (geometry.box_rows, geometry.box_columns)
    if not Layout.of(*shape).entries_per_word:
        raise InputError(f"no canonical forms with boxes of {geometry}: too many columns")
    kernels = [canonical_puzzles(*shape)]
    # The orders of the columns in each stack, and of the stacks.
    orders = factorial(geometry.box_columns) ** geometry.box_rows * factorial(geometry.box_rows)
    has_table = 1 < geometry.n <= MAX_DIGITS and orders <= MAX_ORDERS
    if has_table:
        kernels.append(canonical_grids(*shape))
    return kernels


@cache
def pair_table(geometry: Geometry) -> PairTable:
    """Make a table of the permutations between two rows of a band.

    The permutation of two rows maps each digit of the first row to the digit below it. It changes
    when columns are permuted. All permutations that it can become are its class, and the least of
    them represents the class. For each permutation, the table has its class, and the orders of
    columns that turn it into the least one. Making the table takes a tenth of a second for 9x9
    boards.
    """
    n = geometry.n
    width = geometry.box_columns
    rows = _second_rows(geometry)
    keys = _keys(rows)
    index_of_key = {key: index for index, key in enumerate(keys.tolist())}
    orders = _column_orders(n, width)

    # Permutations are in ascending order, so the first one without a class is the least of a new
    # class.
    classes = np.full(len(rows), -1)
    # For each class and order of columns, the permutation that the order turns into the least one.
    images_of_classes = list[list[int]]()
    for index, least_row in enumerate(rows):
        if classes[index] < 0:
            images = np.empty_like(orders)
            np.put_along_axis(images, orders.astype(np.intp), orders[:, least_row], axis=1)
            indices = [index_of_key[key] for key in _keys(images).tolist()]
            classes[indices] = len(images_of_classes)
            images_of_classes.append(indices)
    assert len(images_of_classes) <= 1 << CLASS_BITS

    # The orders sorted by permutation, and the end of the orders of each permutation.
    owners = np.concatenate(images_of_classes)
    ends = np.cumsum(np.bincount(owners, minlength=len(rows)))
    by_owner = np.argsort(owners, kind="stable")
    sorted_orders = np.tile(orders, (len(images_of_classes), 1))[by_owner]

    # An entry packs three numbers:  | key | class of the inverse permutation | class |
    inverses = [index_of_key[key] for key in _keys(np.argsort(rows, axis=1)).tolist()]
    bits = np.uint64(CLASS_BITS)
    inverse_classes = classes[inverses].astype(np.uint64)
    values = (keys << bits | inverse_classes) << bits | classes.astype(np.uint64)

    # A hash table with open addressing, at most half full. An entry of 0 is free: no permutation
    # has the key 0.
    slots = 1 << (2 * len(rows)).bit_length()
    entries = np.zeros(slots, np.uint64)
    ranges = np.zeros((slots, 2), np.int64)
    first_slots = (keys * np.uint64(HASH_FACTOR) >> np.uint64(32)).astype(np.int64) & (slots - 1)
    for index, slot in enumerate(first_slots.tolist()):
        while entries[slot]:
            slot = (slot + 1) % slots
        entries[slot] = values[index]
        ranges[slot] = (ends[index - 1] if index else 0, ends[index])
    places = np.argsort(sorted_orders, axis=1).astype(np.uint8)
    return PairTable(entries, ranges, np.stack([sorted_orders, places], axis=1))


def _second_rows(geometry: Geometry) -> NDArray[np.uint8]:
    """Return all rows that can follow the row 0, 1, 2 ... in a band, uint8 (k, n), ascending.

    If boxes have one row, the two rows are in different boxes: only columns restrict the second.
    """
    n = geometry.n
    width = geometry.box_columns
    rows = np.zeros((1, 0), np.uint8)
    for column in range(n):
        digits = np.tile(np.arange(n, dtype=np.uint8), len(rows))
        rows = np.repeat(rows, n, axis=0)
        is_valid = (rows != digits[:, None]).all(axis=1)
        if geometry.box_rows > 1:
            is_valid &= digits // width != column // width  # not in the same box
        else:
            is_valid &= digits != column
        rows = np.concatenate([rows, digits[:, None]], axis=1)[is_valid]
    return rows


def _column_orders(n: int, width: int) -> NDArray[np.uint8]:
    """Return all orders of columns that keep stacks together, uint8 (k, n)."""
    stacks = [[*permutations(range(start, start + width))] for start in range(0, n, width)]
    orders = [
        [column for stack in columns_of_stacks for column in stack]
        for stack_order in permutations(stacks)
        for columns_of_stacks in product(*stack_order)
    ]
    return np.array(orders, np.uint8)


def _keys(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the keys of permutations, (k, n): KEY_DIGIT_BITS per digit, as in the kernel."""
    shifts = np.arange(rows.shape[1], dtype=np.uint64) * np.uint64(KEY_DIGIT_BITS)
    keys: NDArray[np.uint64] = (rows.astype(np.uint64) << shifts).sum(axis=1)
    return keys
