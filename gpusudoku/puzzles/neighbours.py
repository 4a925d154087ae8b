"""Neighbours of a puzzle, {-n+m}: the puzzles that lack n of its clues and have m new clues.

The boards of a chunk lack n clues and have up to m new ones. New clues are added in ascending order
of their cells, so that no neighbour is made twice. One search finds all candidates for a new clue
(``kernels.search.placements``): for the last new clue those that leave exactly one solution, for
earlier ones those that leave at least one.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, combinations, islice
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, RowBlock
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import MAX_DIGITS, Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError, described
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, check_cancelled, interruptible, iterate_in
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.placements import PlacementArrays, Searches
from gpusudoku.kernels.search.shape import LOCKED_CANDIDATES, SearchSettings, Shape, shape_of
from gpusudoku.options import Options, is_integer
from gpusudoku.planning.count import search_block
from gpusudoku.puzzles.remove_clues import CALL_SECONDS, order_seeds, remove_redundant_clues
from gpusudoku.search.frontier import Frontier, node_seconds
from gpusudoku.solving import only_solution, solve_block

MAX_BOARDS = 1 << 12
"""Boards that one thread searches together: several times as many as there are lanes."""
CHUNKS = 16
"""The boards of a single puzzle are divided into this many chunks, so that all threads work."""
MIN_BOARDS = 1 << 6
"""The minimum number of boards of such a chunk."""
MAX_PUZZLES = 1 << 12
"""Puzzles that are solved together before their neighbours are listed."""
SAMPLED_BOARDS = 1 << 8
"""The number of boards of which the time is measured to estimate that of all."""


@dataclass(frozen=True)
class Change:
    """The numbers of clues that are removed and added."""

    remove: int = 1
    add: int = 1
    minimal: bool = False
    """True if only neighbours without redundant clues count."""

    def __post_init__(self) -> None:
        max_clues = MAX_DIGITS**2
        for name, value in (("remove", self.remove), ("add", self.add)):
            if not (is_integer(value) and 0 <= value <= max_clues):
                expected = f"expected an integer from 0 to {max_clues}"
                raise InputError(f"{name} {described(value)}: {expected}")
        if self.remove == self.add == 0:
            raise InputError("remove 0 and add 0: at least one of them must be above 0")


@dataclass(frozen=True)
class NeighbourBlock(RowBlock):
    """A part of the neighbours of puzzles, in order."""

    _COLUMNS: ClassVar[tuple[str, ...]] = ("index", "cells")
    boards: Batch
    """The puzzles."""
    numbers: NDArray[np.int64]
    """int64 (B): the number of their solutions, 2 for two or more. Only puzzles with one have
    neighbours."""
    index: NDArray[np.int64]
    """int64 (k): the index of each neighbour's puzzle."""
    cells: NDArray[np.uint8]
    """uint8 (k, cells): the neighbours."""
    ended: bool = False
    """True for the empty block that follows the last neighbours of ``boards``."""

    @property
    def neighbours(self) -> Batch:
        """The neighbours as boards."""
        return self.boards.select(self.index).with_cells(self.cells)


@dataclass(frozen=True)
class _Chunk(NeighbourBlock):
    """Boards that lack clues, and to which new clues are still to be added."""

    _COLUMNS = ("index", "cells", "last_cell")
    last_cell: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """int64 (k): the cell of the latest new clue, or -1. The next new clue is in a later cell."""

    def with_new_clue(self, missing: int = 0) -> _Chunk:
        """Add a clue in all ways. Return the boards with exactly one solution.

        If ``missing`` more clues are to be added after it, return the boards with at least one
        solution, and with that many empty cells after the new clue.
        """
        rows, cells, digits = _placements(self.neighbours, self.last_cell, unique=not missing)
        # A removed clue is not added again.
        is_new = self.boards.cells[self.index[rows], cells] != digits
        # The number of empty cells from each cell to the last one, summed from the end.
        empty_from_cell = np.cumsum(self.cells[:, ::-1] == 0, axis=1)[:, ::-1]
        is_new &= empty_from_cell[rows, cells] > missing
        rows = rows[is_new]
        cells = cells[is_new]
        boards = self.cells[rows]
        boards[np.arange(len(rows)), cells] = digits[is_new]
        return replace(self, index=self.index[rows], cells=boards, last_cell=cells)

    def divided(self, size: int) -> Iterator[_Chunk]:
        """Divide it into chunks of ``size`` boards."""
        return (self.part(start, start + size) for start in range(0, len(self), size))


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

    They have exactly one solution, which may differ from that of the puzzle. A clue may be added
    anywhere, also where another one was removed, but a removed clue is not added again. So no
    neighbour is listed twice, and the puzzle itself is not listed. The order depends only on the
    board. There are ten to a thousand neighbours with one clue removed and one added, and a hundred
    times as many for each further pair.

    Parameters
    ----------
    board, box
        As for ``count``. Candidates that are given for empty cells stay as they are; a cell whose
        clue is removed may have any digit.
    remove, add
        The numbers of clues. One of them may be 0.
    minimal
        True to list only puzzles without redundant clues.
    jobs
        The number of threads; by default one per usable core.
    cancel
        A token that stops the work from any thread: see ``CancelToken``.

    Raises
    ------
    InputError
        If the board cannot be read, or does not have exactly one solution, or if a number is out of
        range.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    puzzle = board_of(board, box)
    change = Change(remove, add, minimal)
    threads = CpuEngine(Options(jobs=jobs).jobs).threads
    with interruptible(cancel):
        only_solution(puzzle, CpuEngine(threads))
    blocks = neighbour_blocks([Batch.of([puzzle])], change, threads)
    return iterate_in(lambda: interruptible(cancel), _boards(blocks))


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
    # A single puzzle whose limit is reached. No more of its chunks are made.
    finished_puzzle: Batch | None = None
    # The number of neighbours that were found so far of each puzzle of the current part, int64 (B).
    found_counts = np.zeros(0, np.int64)

    def chunks() -> Iterator[_Chunk]:
        for batch in batches:
            for start in range(0, len(batch), MAX_PUZZLES):
                puzzles = batch.part(start, start + MAX_PUZZLES)
                numbers = solve_block(puzzles, Options(limit=2), CpuEngine(threads)).numbers
                for part in _parts(puzzles.cells, change, has_limit=limit is not None):
                    boards = puzzles.select(part)
                    reduced_boards = _without_clues(boards, numbers[part], change)
                    for chunk in chain.from_iterable(
                        _with_clues(chunk, change.add - 1) for chunk in reduced_boards
                    ):
                        if finished_puzzle is boards:
                            break
                        yield chunk
                    # The empty block that marks the end of the part.
                    no_index = np.empty(0, np.int64)
                    yield _Chunk(boards, numbers[part], no_index, boards.cells[:0], ended=True)

    def work(chunk: _Chunk) -> NeighbourBlock:
        return _complete(chunk, change) if len(chunk) else chunk

    with closing(ordered_map(chunks(), work, threads)) as results:
        for finished in results:
            block = finished.result
            assert block is not None
            if limit is not None and len(block):
                # A new part starts with a single 0, which stands for all its puzzles.
                found_counts = np.resize(found_counts, len(block.boards))
                new_counts = np.bincount(block.index, minlength=len(found_counts))
                # The index of each neighbour among those of its puzzle in this block.
                positions = np.arange(len(block)) - np.searchsorted(block.index, block.index)
                block = block.select(positions + found_counts[block.index] < limit)
                found_counts = found_counts + new_counts
                if len(found_counts) == 1 and found_counts[0] >= limit:
                    finished_puzzle = block.boards
            if block.ended:
                found_counts = np.zeros(1, np.int64)
            if len(block) or block.ended:
                yield block


def estimate_seconds(puzzle: Board, change: Change) -> tuple[float, float]:
    """Estimate the number of boards that are searched for the neighbours of a puzzle, and the time.

    It removes random clues, and adds clues to a random sample of the boards, as the search does.

    Returns
    -------
    The number of boards, and the seconds on one core.
    """
    rng = default_rng(0)  # the estimate is deterministic, apart from the time
    clues = np.flatnonzero(puzzle.cells)
    board_count = float(comb(puzzle.clues, change.remove))
    if not board_count:
        return 0.0, 0.0
    cells = np.tile(puzzle.cells, (SAMPLED_BOARDS, 1))
    for row in cells:
        row[rng.permutation(clues)[: change.remove]] = 0
    index = np.zeros(SAMPLED_BOARDS, np.int64)
    chunk = _Chunk(Batch.of([puzzle]), np.ones(1, np.int64), index, cells, last_cell=index - 1)
    # Compile the kernels before the time is measured.
    _complete(next(chunk.divided(1)), change)
    for missing in range(change.add - 1, 0, -1):
        extended = chunk.with_new_clue(missing)
        # The sample shows by which factor each new clue multiplies the number of boards.
        board_count *= len(extended) / len(chunk)
        if not len(extended):
            return 0.0, 0.0
        chunk = extended.select(rng.integers(len(extended), size=SAMPLED_BOARDS))
    start = time.process_time()
    _complete(chunk, change)
    seconds_per_board = (time.process_time() - start) / len(chunk)
    return board_count, board_count * seconds_per_board


def placements_kernel(geometry: Geometry) -> Kernel:
    """Return the search for placements of boards of a geometry."""
    settings = SearchSettings()
    settings = settings._replace(techniques=settings.techniques | LOCKED_CANDIDATES)
    return cpu.placements(shape_of(geometry.box_rows, geometry.box_columns), settings)


def _parts(cells: NDArray[np.uint8], change: Change, *, has_limit: bool) -> Iterator[slice]:
    """Divide puzzles into parts with at most MAX_BOARDS ways to remove clues, or one puzzle each.

    If there is a limit, and more than one clue is added, a part has one puzzle: these clues are
    found by a search, which ends when the limit is reached. A single clue needs no such search.
    """
    is_single = has_limit and change.add > 1
    start = 0
    ways = 0
    for index, clues in enumerate(np.count_nonzero(cells, axis=1).tolist()):
        ways_of_puzzle = comb(clues, change.remove)
        if index > start and (is_single or ways + ways_of_puzzle > MAX_BOARDS):
            yield slice(start, index)
            start = index
            ways = 0
        ways += ways_of_puzzle
    yield slice(start, len(cells))


def _without_clues(boards: Batch, numbers: NDArray[np.int64], change: Change) -> Iterator[_Chunk]:
    """Remove clues from puzzles in all ways."""
    size = MAX_BOARDS
    if len(boards) == 1:  # divided further, for all threads
        ways_of_puzzle = comb(int(np.count_nonzero(boards.cells)), change.remove)
        size = min(size, max(MIN_BOARDS, ways_of_puzzle // CHUNKS))
    # Enough cells for all new clues are empty after the removal.
    has_room = (boards.cells == 0).sum(axis=1) + change.remove >= change.add
    ways = (
        (puzzle, removed_cells)
        for puzzle in np.flatnonzero((numbers == 1) & has_room).tolist()
        for removed_cells in combinations(
            np.flatnonzero(boards.cells[puzzle]).tolist(), change.remove
        )
    )
    while ways_of_chunk := list(islice(ways, size)):
        puzzles, removed = zip(*ways_of_chunk, strict=True)
        index = np.array(puzzles)
        cells = boards.cells[index]
        cells[np.arange(len(index))[:, None], np.array(removed, np.int64)] = 0
        yield _Chunk(boards, numbers, index, cells, last_cell=np.full(len(index), -1))


def _with_clues(chunk: _Chunk, number: int) -> Iterator[_Chunk]:
    """Add ``number`` clues in all ways that leave a solution."""
    if number < 1:
        yield chunk
        return
    check_cancelled()
    # Adding a clue makes up to about as many boards of each as it has cells.
    for part in chunk.divided(max(1, MAX_BOARDS // chunk.boards.geometry.cells)):
        for extended in part.with_new_clue(number).divided(MAX_BOARDS):
            yield from _with_clues(extended, number - 1)


def _complete(chunk: _Chunk, change: Change) -> NeighbourBlock:
    """Add the last clue to all boards in all ways. Return those that are neighbours."""
    if change.add:
        chunk = chunk.with_new_clue()
    else:
        counts = search_block(chunk.neighbours, Options(limit=2), CpuEngine(1)).numbers
        chunk = chunk.select(counts == 1)
    if change.minimal and len(chunk):
        boards = chunk.neighbours
        solutions = solve_block(boards, Options(limit=1), CpuEngine(1)).solutions
        assert solutions is not None
        # A board from which no clue can be removed is minimal. The order does not matter.
        minimal_boards = remove_redundant_clues(boards, solutions, order_seeds(boards.cells, 0))
        chunk = chunk.select((minimal_boards == chunk.cells).all(axis=1))
    return chunk


@cache
def _tables(shape: Shape) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return two tables of placements. A placement is a digit in a cell.

    Row k of the first, (n * n + 1, words), is a packed board with all placements in the first k
    cells. The second, int64 (n ** 3), contains the index of the bit of each placement in a packed
    board, in the order of cells and digits.
    """
    cells = shape.n**2
    all_digits = np.uint64((1 << shape.n) - 1)
    # Row k of the triangle is 1 in the first k cells.
    first_cells = shape.rows_of(np.tri(cells + 1, cells, -1, np.uint64) * all_digits)
    word, mask = shape.cell_positions
    # The mask has a single bit: the bits below it are counted to get its index.
    bits = word * shape.bits + np.bitwise_count(mask - mask.dtype.type(1))
    planes = np.arange(shape.n) * shape.plane_words * shape.bits
    return first_cells, (bits[:, None] + planes).ravel()


def _placements(
    boards: Batch, last_cell: NDArray[np.int64], unique: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Find the placements after a cell that leave boards a solution, or exactly one.

    ``last_cell``, int64 (B), is that cell of each board, or -1 for all placements. Returns the
    index of the board, the cell and the digit of each placement, in ascending order.
    """
    shape = shape_of(boards.geometry.box_rows, boards.geometry.box_columns)
    kernel = placements_kernel(boards.geometry)
    first_cells, bit_of_placement = _tables(shape)
    packed_boards = Frontier.of(boards).boards
    excluded = first_cells[last_cell + 1]
    # A solution adds its placements to ``in_solution``; those that it has already become settled.
    # If it has all placements from the start, a single solution makes its placements settled.
    in_solution = np.zeros_like(packed_boards)
    if not unique:
        in_solution = ~in_solution
    arrays = PlacementArrays(packed_boards, in_solution, excluded.copy())
    searches = Searches.empty(shape)
    rounds = max(1, int(CALL_SECONDS / (node_seconds(shape) * shape.lanes)))
    check_cancelled()
    while not kernel(arrays, searches, rounds):
        check_cancelled()
    placements = arrays.in_solution & ~arrays.settled if unique else arrays.settled & ~excluded

    # Unpack the boards with placements. A column of ``is_placement`` is a cell and a digit.
    board_indices = np.flatnonzero(placements.any(axis=1))
    bits = np.unpackbits(placements[board_indices].view(np.uint8), axis=1, bitorder="little")
    is_placement = bits.take(bit_of_placement, axis=1).view(np.bool_)
    rows, columns = np.divmod(np.flatnonzero(is_placement), len(bit_of_placement))
    cells, digits = np.divmod(columns, shape.n)
    return board_indices[rows], cells, digits + 1
