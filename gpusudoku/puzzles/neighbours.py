"""Neighbours of a puzzle, {-n+m}: the puzzles that lack n of its clues and have m others.

A *piece* has boards that lack the clues, and have all additions but the last. Those of a board are
in ascending order, so that none is made twice. The last one comes from a search that finds all
placements that leave exactly one solution (``kernels.search.placements``); one before it from the
same search for all placements that leave any.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError, described
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, check_cancelled, interruptible, made_in
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.placements import PlacementArrays, Searches
from gpusudoku.kernels.search.shape import LOCKED_CANDIDATES, SearchSettings, Shape, shape_of
from gpusudoku.options import Options, is_integer
from gpusudoku.planning.batch import search_block
from gpusudoku.puzzles.remove_clues import CALL_SECONDS, order_seeds, reduced
from gpusudoku.search.frontier import Frontier, node_seconds
from gpusudoku.solving import only_solution, solve_block

MOST_BOARDS = 1 << 12
"""Boards that one thread searches together: several times as many as there are lanes."""
FEWEST_BOARDS, PIECES = 1 << 6, 16
"""Boards of one puzzle are cut into so many pieces, but of no fewer boards."""
MOST_PUZZLES = 1 << 12
"""Puzzles that are solved together before that."""
SAMPLED = 1 << 8
"""Boards from which the time of all is estimated."""


@dataclass(frozen=True)
class Change:
    """The numbers of clues that go and of those that come."""

    remove: int = 1
    add: int = 1
    minimal: bool = False
    """True if neighbours with redundant clues do not count."""

    def __post_init__(self) -> None:
        wanted = f"an integer from 0 to {MAX_DIGITS**2}"
        for name, value in (("remove", self.remove), ("add", self.add)):
            if not (is_integer(value) and 0 <= value <= MAX_DIGITS**2):
                raise InputError(f"{name} {described(value)}: expected {wanted}")
        if self.remove == self.add == 0:
            raise InputError("remove 0 and add 0: expected some clues to go or to come")


@dataclass(frozen=True)
class NeighbourBlock:
    """Some neighbours of puzzles, each beside its own, in order."""

    boards: Batch
    """The puzzles."""
    numbers: NDArray[np.int64]
    """int64 (B): their solutions, 2 for more; without one only there are no neighbours."""
    index: NDArray[np.int64]
    """int64 (k): the puzzle of each neighbour."""
    cells: NDArray[np.uint8]
    """uint8 (k, cells): the neighbours."""
    ended: bool = False
    """True if these were all neighbours of the puzzles; then the block has none."""

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def neighbours(self) -> Batch:
        """The neighbours as boards."""
        return self.boards.chosen(self.index).with_cells(self.cells)

    def chosen(self, which: slice | NDArray[Any]) -> NeighbourBlock:
        """Return the neighbours of a slice, of a mask, bool (k), or of indices, int64."""
        return replace(self, index=self.index[which], cells=self.cells[which])


@dataclass(frozen=True)
class _Piece(NeighbourBlock):
    """Boards that are neighbours, but for additions that are still to come."""

    last: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """int64 (k): the cell of the last addition, or -1; later ones come behind it."""

    def with_each(self, more: int = 0) -> _Piece:
        """Return all boards with one placement more that have exactly one solution.

        If there are ``more`` to come, those that have any, and as many empty cells behind it.
        """
        which, cells, digits = _placements(self.neighbours, self.last, unique=not more)
        new = self.boards.cells[self.index[which], cells] != digits
        empty_behind = np.cumsum(self.cells[:, ::-1] == 0, axis=1)[:, ::-1]
        new &= empty_behind[which, cells] > more
        which, cells, digits = which[new], cells[new], digits[new]
        boards = self.cells[which]
        boards[np.arange(len(which)), cells] = digits
        return replace(self, index=self.index[which], cells=boards, last=cells)

    def cut(self, most: int) -> Iterator[_Piece]:
        """Cut it into pieces of so many boards."""
        return (self.chosen(slice(start, start + most)) for start in range(0, len(self), most))

    def chosen(self, which: slice | NDArray[Any]) -> _Piece:
        """Return some of the boards."""
        index, cells, last = self.index[which], self.cells[which], self.last[which]
        return replace(self, index=index, cells=cells, last=last)


def neighbours(
    board: BoardLike,
    remove: int = 1,
    add: int = 1,
    *,
    minimal: bool = False,
    box: Geometry | str | None = None,
    jobs: int | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[Board]:
    """List all puzzles that a puzzle becomes when some clues are removed and others added.

    They have exactly one solution, which may be another one than that of the puzzle. A clue is
    added anywhere, also where one was removed, but never the same again: so no neighbour comes
    twice, nor the puzzle itself. Their order depends on the board alone. There are ten to a
    thousand with one clue removed and one added, and a hundred times as many with each more.

    Parameters
    ----------
    board, box
        As for ``count``. Candidates that are given for empty cells stay as they are; a cell whose
        clue is removed may have any digit.
    remove, add
        The numbers of clues; one of them may be 0.
    minimal
        Only puzzles without redundant clues.
    jobs
        Threads; by default as many as there are usable cores.
    cancel
        Stops it, whichever thread cancels it: see ``CancelToken``.

    Raises
    ------
    InputError
        If the board cannot be read, or has no solution or several; if a number is out of range.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    puzzle, change = board_of(board, box), Change(remove, add, minimal)
    threads = CpuEngine(Options(jobs=jobs).jobs).threads
    with interruptible(cancel):
        only_solution(puzzle, CpuEngine(threads))
    blocks = neighbour_blocks([Batch.of([puzzle])], change, threads)
    return made_in(lambda: interruptible(cancel), _boards(blocks))


def _boards(blocks: Generator[NeighbourBlock, None, None]) -> Iterator[Board]:
    """Yield the neighbours one by one."""
    with closing(blocks):
        for block in blocks:
            yield from block.neighbours


def neighbour_blocks(
    batches: Iterable[Batch], change: Change, threads: int, limit: int | None = None
) -> Generator[NeighbourBlock, None, None]:
    """List the neighbours of many puzzles, in their order, at most ``limit`` of each.

    A puzzle without exactly one solution has none.
    """
    full: Batch | None = None  # a puzzle that has as many as the limit
    given = np.zeros(0, np.int64)  # of the puzzles of a block

    def pieces() -> Iterator[_Piece]:
        for batch in batches:
            for start in range(0, len(batch), MOST_PUZZLES):
                some = batch.part(start, start + MOST_PUZZLES)
                numbers = solve_block(some, Options(limit=2), CpuEngine(threads)).numbers
                for part in _parts(some.cells, change, alone=limit is not None):
                    boards, none = some.chosen(part), np.empty(0, np.int64)
                    without, more = _without_clues(boards, numbers[part], change), change.add - 1
                    for piece in chain.from_iterable(_with_clues(each, more) for each in without):
                        if full is boards:
                            break
                        yield piece
                    yield _Piece(boards, numbers[part], none, boards.cells[:0], ended=True)

    def work(piece: _Piece) -> NeighbourBlock:
        return _complete(piece, change) if len(piece) else piece

    with closing(ordered_map(pieces(), work, threads)) as results:
        for done in results:
            block = done.result
            assert block is not None
            if limit is not None and len(block):
                places = np.arange(len(block)) - np.searchsorted(block.index, block.index)
                given = np.resize(given, len(block.boards))
                numbers = np.bincount(block.index, minlength=len(given))
                block = block.chosen(places + given[block.index] < limit)
                given = given + numbers
                if len(given) == 1 and given[0] >= limit:
                    full = block.boards
            if block.ended:
                given = np.zeros(1, np.int64)
            if len(block) or block.ended:
                yield block


def estimate_seconds(puzzle: Board, change: Change) -> tuple[float, float]:
    """Estimate how many boards are searched for the neighbours of a puzzle, and the seconds.

    It follows a random sample of the removed clues, and of what is added to them.
    """
    rng, boards = default_rng(0), Batch.of([puzzle])
    number, clues = float(comb(puzzle.clues, change.remove)), np.flatnonzero(puzzle.cells)
    if not number:
        return 0.0, 0.0
    cells = np.tile(puzzle.cells, (SAMPLED, 1))
    for row in cells:
        row[rng.permutation(clues)[: change.remove]] = 0
    index = np.zeros(SAMPLED, np.int64)
    piece = _Piece(boards, np.ones(1, np.int64), index, cells, last=index - 1)
    _complete(next(piece.cut(1)), change)  # which compiles what is needed
    for left in range(change.add - 1, 0, -1):
        more = piece.with_each(left)
        number *= len(more) / len(piece)
        if not len(more):
            return 0.0, 0.0
        which = rng.integers(len(more), size=SAMPLED)
        piece = more.chosen(which)
    start = time.process_time()
    _complete(piece, change)
    return number, number / len(piece) * (time.process_time() - start)


def placements_kernel(geometry: Geometry) -> Kernel:
    """Return the search for placements of boards of a geometry."""
    settings = SearchSettings()
    settings = settings._replace(techniques=settings.techniques | LOCKED_CANDIDATES)
    return cpu.placements(shape_of(geometry.box_rows, geometry.box_columns), settings)


def _parts(cells: NDArray[np.uint8], change: Change, *, alone: bool) -> Iterator[slice]:
    """Cut puzzles into parts that lose their clues in at most MOST_BOARDS ways, or of one each.

    If more than one clue is added, those that have a limit are *alone*: it ends their search.
    """
    alone &= change.add > 1
    start, ways = 0, 0
    for index, clues in enumerate(np.count_nonzero(cells, axis=1).tolist()):
        more = comb(clues, change.remove)
        if index > start and (alone or ways + more > MOST_BOARDS):
            yield slice(start, index)
            start, ways = index, 0
        ways += more
    yield slice(start, len(cells))


def _without_clues(boards: Batch, numbers: NDArray[np.int64], change: Change) -> Iterator[_Piece]:
    """Remove clues of puzzles in all ways; gives pieces of boards."""
    most = MOST_BOARDS
    if len(boards) == 1:  # for all threads
        number = comb(int(np.count_nonzero(boards.cells)), change.remove)
        most = min(most, max(FEWEST_BOARDS, number // PIECES))
    room = (boards.cells == 0).sum(axis=1) + change.remove >= change.add
    ways = (
        (place, way)
        for place in np.flatnonzero((numbers == 1) & room).tolist()
        for way in combinations(np.flatnonzero(boards.cells[place]).tolist(), change.remove)
    )
    while some := list(islice(ways, most)):
        index, removed = zip(*some, strict=True)
        which, cells = np.array(index), boards.cells[[*index]]
        cells[np.arange(len(which))[:, None], np.array(removed, np.int64)] = 0
        yield _Piece(boards, numbers, which, cells, last=np.full(len(which), -1))


def _with_clues(piece: _Piece, more: int) -> Iterator[_Piece]:
    """Add so many clues in all ways that leave a solution; gives pieces of boards."""
    if more < 1:
        yield piece
        return
    check_cancelled()
    for some in piece.cut(max(1, MOST_BOARDS // piece.boards.geometry.cells)):
        for each in some.with_each(more).cut(MOST_BOARDS):
            yield from _with_clues(each, more - 1)


def _complete(piece: _Piece, change: Change) -> NeighbourBlock:
    """Add the last clue of all boards in all ways; return those that are neighbours."""
    if change.add:
        piece = piece.with_each()
    else:
        searched = search_block(piece.neighbours, Options(limit=2), CpuEngine(1))
        piece = piece.chosen(searched.numbers == 1)
    if change.minimal and len(piece):
        boards = piece.neighbours
        solutions = solve_block(boards, Options(limit=1), CpuEngine(1)).solutions
        assert solutions is not None
        left = reduced(boards, solutions, order_seeds(boards.cells, 0))
        piece = piece.chosen((left == piece.cells).all(axis=1))
    return piece


@cache
def _tables(shape: Shape) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the placements in the first cells, (n * n + 1, words), for each number of cells.

    And the bits of a row at which the placements stand, in ascending order, int64 (n ** 3).
    """
    cells, word_bits = shape.n**2, shape.bits
    every = np.uint64((1 << shape.n) - 1)
    first = shape.rows_of(np.tri(cells + 1, cells, -1, np.uint64) * every)
    word, bit = shape.places
    bits = word * word_bits + np.bitwise_count(bit - bit.dtype.type(1))
    digits = np.arange(shape.n) * shape.plane_words * word_bits
    return first, (bits[:, None] + digits).ravel()


def _placements(
    boards: Batch, last: NDArray[np.int64], unique: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Find the placements behind some cells that leave boards any solution, or exactly one.

    Returns for each the index of the board, the cell and the digit, in ascending order.
    """
    shape = shape_of(boards.geometry.box_rows, boards.geometry.box_columns)
    kernel, (first, places) = placements_kernel(boards.geometry), _tables(shape)
    rows = Frontier.of(boards).boards
    closed = first[last + 1]
    # If all placements seem to be in a solution, a first one adds them to ``two``.
    one = np.zeros_like(rows) if unique else ~np.zeros_like(rows)
    arrays, searches = PlacementArrays(rows, one, closed.copy()), Searches.empty(shape)
    rounds = max(1, int(CALL_SECONDS / (node_seconds(shape) * shape.lanes)))
    check_cancelled()
    while not kernel(arrays, searches, rounds):
        check_cancelled()
    found = arrays.one & ~arrays.two if unique else arrays.two & ~closed
    some = np.flatnonzero(found.any(axis=1))
    bits = np.unpackbits(found[some].view(np.uint8), axis=1, bitorder="little")
    which, codes = np.divmod(np.flatnonzero(bits.take(places, axis=1).view(np.bool_)), len(places))
    cells, digits = np.divmod(codes, shape.n)
    return some[which], cells, digits + 1
