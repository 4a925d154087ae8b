"""Shares of many boards, shares of one board in parts, and placements with a unique solution."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import in_blocks
from gpusudoku.board.board import Board, digit_masks
from gpusudoku.board.geometry import FEWEST_CLUES, is_nine
from gpusudoku.contraction.nine.shares import count_many_nine_shares
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.engines.make import engine_for
from gpusudoku.enumeration.in_memory import check_shares, shares_in
from gpusudoku.enumeration.shares import COUNTED_SECONDS, SHARES_PER_SUM, VISITED_PER_SECOND
from gpusudoku.enumeration.solution_set import SolutionSet
from gpusudoku.enumeration.true_candidates import find_true_candidates
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.watch import watching
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.count import find_solutions
from gpusudoku.planning.search import search_stats
from gpusudoku.results import ResultBlock, numbers_of
from gpusudoku.search.frontier import Frontier

LISTED_TOGETHER = 64
"""Boards of a block with fewer solutions are searched together, and their solutions listed."""
BLOCK_BOARDS = 1 << 10
"""Boards whose shares are in memory at a time."""
BOARDS_PER_PART = 4
"""Boards for each part into which one board is divided. Several, because some take longer."""
MAX_BOARDS = 1 << 14
"""Boards into which one board is divided. All are in memory."""
LISTED = 1 << 16
"""If a board has at most this many solutions, its pairs come from a list of them, in about 1 s."""


def share_batches(
    batches: Iterable[Batch], options: Options, engine: Engine | None = None
) -> Generator[ResultBlock, None, None]:
    """Compute the shares of every board in blocks, in their order and in constant memory.

    With a limit of 1, a share is 1 for a true candidate and 0 for other digits. A board that is too
    expensive has an error instead; none is with that limit. An InputError of reading the batches is
    raised after the results of all boards before it.
    """
    device = engine_for(options, engine)

    def compute(block: Batch, alone: bool) -> Generator[ResultBlock, None, None]:
        with nullcontext() if len(block) == 1 else watching(None):
            results = share_block(block, options, device)
        yield results

    return in_blocks(batches, BLOCK_BOARDS, compute)


def share_block(block: Batch, options: Options, engine: Engine) -> ResultBlock:
    """Compute the shares of boards of one geometry; see ``share_batches``."""
    geometry = block.geometry
    errors = np.full(len(block), None, object)
    if options.limit == 1:
        is_true = find_true_candidates(block, options, CpuEngine(engine.threads))
        numbers = is_true[:, 0].max(axis=1).astype(np.int64)  # 0 without a solution
        stats = search_stats(options, WorkCounters(), 0.0, ())
        board_shares = is_true.astype(np.uint8)
        return ResultBlock(
            block, numbers, 1, "cpu", engine.threads, stats, shares=board_shares, errors=errors
        )
    shares = np.zeros((len(block), geometry.cells, geometry.n), object)
    limited_options = replace(options, limit=LISTED_TOGETHER)
    rows, roots, outcome = find_solutions(block, limited_options, CpuEngine(engine.threads))
    counts = np.bincount(roots, minlength=len(block))
    ordered = rows[np.argsort(roots, kind="stable")]
    ends = np.cumsum(counts)
    for index in np.flatnonzero(counts < LISTED_TOGETHER).tolist():
        solutions = ordered[ends[index] - counts[index] : ends[index]]
        shares[index] = shares_in(solutions, geometry.n)
    other_boards = np.flatnonzero(counts >= LISTED_TOGETHER)
    if is_nine(geometry, block.candidates) and len(block) > 1:
        simplified = Frontier.of(block.select(counts >= LISTED_TOGETHER)).simplified(
            SearchSettings()
        )
        shares[other_boards] = count_many_nine_shares(simplified.candidates, engine.threads)
    else:
        for index in other_boards.tolist():
            try:
                shares[index] = SolutionSet(block[index], options, engine).shares
            except TooExpensive as error:
                errors[index] = error
    numbers = numbers_of([int(board_shares[0].sum()) for board_shares in shares])
    for board_shares, count in zip(shares, numbers.tolist(), strict=True):
        check_shares(board_shares, geometry, count)
    return ResultBlock(
        block, numbers, None, "cpu", engine.threads, outcome.stats, shares=shares, errors=errors
    )


def divide_board(board: Board, parts: int) -> list[Board]:
    """Divide a board into boards with more clues. Each solution belongs to exactly one of them.

    The boards depend only on ``board`` and on ``parts``, the number of parts to which they will be
    assigned. There are BOARDS_PER_PART for each part, or fewer if the board has hardly any empty
    cells or solutions.
    """
    min_boards = min(BOARDS_PER_PART * parts, MAX_BOARDS)
    # A board with conflicts has no solutions, so no boards are needed.
    boards = [] if board.conflicts else [board]
    while 0 < len(boards) < min_boards and not all(child.is_full for child in boards):
        boards = [child for parent in boards for child in _fill_cell(parent)]
    return boards


def add_shares(
    boards: Iterable[Board], board: Board, options: Options, engine: Engine
) -> NDArray[Any]:
    """Add up the shares of boards into which ``board`` was divided: object (cells, n)."""
    shares = np.zeros((board.geometry.cells, board.n), object)
    with watching(None):
        for child in boards:
            shares += SolutionSet(child, options, engine).shares
    return shares


def _fill_cell(board: Board) -> list[Board]:
    """Return a board for every candidate of a cell with the fewest. A full board stays as it is."""
    if board.is_full:
        return [board]
    counts = np.bitwise_count(board.candidates)
    # Cells with clues get a count above all others.
    cell = int(np.argmin(np.where(board.cells == 0, counts, board.n + 1)))
    cells = board.cells.copy()
    candidates = board.given_candidates
    children = []
    for digit in range(1, board.n + 1):
        if int(board.candidates[cell]) >> digit - 1 & 1:
            cells[cell] = digit
            if candidates is not None:
                candidates = candidates.copy()
                candidates[cell] = 1 << digit - 1
            children.append(Board(cells, board.geometry, candidates=candidates))
    return children


def unique_placements(board: Board, shares: NDArray[Any]) -> NDArray[np.int64]:
    """Return the placements with a share of 1, which leave the board exactly one solution.

    ``shares`` is object (cells, n). The result is int64 (k, 2), cell and digit, in ascending order.
    """
    placements = np.argwhere((shares == 1) & (board.cells == 0)[:, None])
    placements[:, 1] += 1
    return placements


def unique_pairs(solution_set: SolutionSet) -> NDArray[np.int64]:
    """Return the pairs of placements that only together leave exactly one solution.

    The result is int64 (k, 4): a cell, its digit, a later cell and its digit, in ascending order.

    Raises
    ------
    TooExpensive
        If it is expected to take too long; never for 9x9 boards of clues.
    """
    board = solution_set.board
    shares = solution_set.shares
    # A placement in all solutions excludes none, so a pair with it is no better than the other one.
    can_pair = (shares > 1) & (shares < solution_set.count)
    cells = np.flatnonzero(can_pair.any(axis=1))
    can_pair = can_pair[cells]
    placements = np.argwhere(can_pair)
    pairs = [np.empty((0, 4), np.int64)]
    # No 9x9 puzzle with fewer clues has a unique solution.
    if is_nine(board.geometry, board.given_candidates) and board.clues + 2 < FEWEST_CLUES:
        return pairs[0]
    all_shares = _shares_with_each(solution_set, cells, placements)
    with watching(None), closing(all_shares):
        for (index, digit), later_shares in zip(placements.tolist(), all_shares, strict=True):
            partners = np.argwhere((later_shares == 1) & can_pair[index:])
            block = np.empty((len(partners), 4), np.int64)
            block[:, :2] = cells[index], digit + 1
            block[:, 2] = cells[index + partners[:, 0]]
            block[:, 3] = partners[:, 1] + 1
            pairs.append(block)
    return np.concatenate(pairs)


def _shares_with_each(
    solution_set: SolutionSet, cells: NDArray[np.int64], placements: NDArray[np.int64]
) -> Generator[NDArray[Any], None, None]:
    """Yield, for each placement, the shares of the board with it, in its cell and later ones.

    A row of ``placements`` is an index into ``cells``, and the digit minus 1.
    """
    board = solution_set.board
    if solution_set.count <= LISTED:
        blocks = solution_set.contraction_order.rows(0)
        rows = np.concatenate([np.empty((0, len(board.cells)), np.uint8), *blocks])
        rows = rows[:, cells]
        for index, digit in placements.tolist():
            check_cancelled()
            yield shares_in(rows[rows[:, index] == digit + 1, index:], board.n)
        return
    if not is_nine(board.geometry, board.given_candidates):
        _check_cost(solution_set, len(cells), len(placements))
    grids = np.tile(board.cells, (len(placements), 1))
    grids[np.arange(len(placements)), cells[placements[:, 0]]] = placements[:, 1] + 1
    candidates = board.given_candidates
    if candidates is not None:
        candidates = np.where(grids == 0, candidates, digit_masks(grids))
    batch = Batch(board.geometry, grids, candidates)
    indices = iter(placements[:, 0].tolist())
    with closing(share_batches([batch], solution_set.options, solution_set.engine)) as results:
        for block in results:
            assert block.shares is not None
            assert block.errors is not None
            for shares, error in zip(block.shares, block.errors, strict=True):
                if error is not None:
                    raise error
                yield shares[cells[next(indices) :]]


def _check_cost(solution_set: SolutionSet, cells: int, placements: int) -> None:
    """Raise TooExpensive if computing the shares of this many boards takes too long."""
    if solution_set.count * cells <= COUNTED_SECONDS * VISITED_PER_SECOND:
        return
    contraction = solution_set.contraction
    if contraction is None or SHARES_PER_SUM * contraction.seconds * placements > COUNTED_SECONDS:
        raise TooExpensive(
            f"too expensive: this needs the shares of {placements} boards, each with one more clue"
        )
