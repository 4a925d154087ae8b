"""Difficulty of puzzles: the techniques that solve them, and a fixed number of guesses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Board, Geometry, InputError, rate
from gpusudoku.board.batch import Batch
from gpusudoku.puzzles import difficulty
from gpusudoku.puzzles.difficulty import EXPERT_GUESSES, LEVELS, rate_batch
from tests.boards import LINE_4X4, PUZZLE, UNIQUE, full_grid
from tests.techniques import Contradiction, given_clues, reference

HARDEST = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."
"""By Arto Inkala, who called it the hardest Sudoku."""
ALL = "naked-single,hidden-single,locked-candidates,naked-pair,hidden-pair"


def minimal(shape: str, number: int) -> Batch:
    """Return minimal puzzles of different grids."""
    geometry = Geometry.parse(shape)
    boards = [Board(full_grid(geometry, seed), geometry) for seed in range(number)]
    return Batch.of([result.board for result in gpusudoku.minimise_many(boards, seed=9, jobs=1)])


def solved_by(board: Board, group: str) -> bool:
    return gpusudoku.simplify(board, group).board.is_full


def guesses_of(cells: list[set[int]], geometry: Geometry) -> int:
    """Count the split nodes of the tree, by the reference implementation of the techniques."""
    try:
        cells = reference(cells, geometry, ALL)
    except Contradiction:
        return 0
    sizes = [len(cell) if len(cell) > 1 else 99 for cell in cells]
    if min(sizes) == 99:
        return 0
    # As the search does: of the cells with the fewest candidates the first, in the order of packed
    # boards, where row k of every band comes before row k + 1 of any.
    order = sorted(range(geometry.cells), key=lambda cell: cell // geometry.n % geometry.box_rows)
    cell = min(order, key=lambda cell: sizes[cell])
    lowest = min(cells[cell])
    halves = [list(cells), list(cells)]
    halves[0][cell] = {lowest}
    halves[1][cell] = cells[cell] - {lowest}
    return 1 + sum(guesses_of(half, geometry) for half in halves)


def test_a_level_says_which_techniques_suffice() -> None:
    batch = minimal("3x3", 60)
    levels, guesses = rate_batch(batch)
    assert {*levels.tolist()} >= {0, 1, 2, 3}
    for board, level, number in zip(batch, levels.tolist(), guesses.tolist(), strict=True):
        suffices = [solved_by(board, group) for group in ("singles", "locked", "all")]
        assert [*suffices, True].index(True) == min(level, 3)
        assert (number > 0) == (level >= 3)
        assert (number > EXPERT_GUESSES) == (level == 4)


def test_guesses_are_those_of_a_plain_search() -> None:
    batch = minimal("3x3", 25)
    levels, guesses = rate_batch(batch)
    indices = np.flatnonzero(levels >= 3)[:6].tolist()
    assert len({*guesses[indices].tolist()}) > 1
    for index in indices:
        board = batch[index]
        assert guesses_of(given_clues(board), board.geometry) == guesses[index]


def test_blocks_and_neighbours_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds even if a call takes only a few boards."""
    batch = Batch.joined([minimal("3x3", 30), Batch.of([gpusudoku.parse(HARDEST)])])
    expected = rate_batch(batch)
    assert expected.guesses[-1] > EXPERT_GUESSES
    for boards in (1, 7, 40):
        monkeypatch.setattr(difficulty, "CALL_BYTES", boards * 112)
        for ratings in (rate_batch(batch), rate_batch(batch)):
            assert ratings.levels.tolist() == expected.levels.tolist()
            assert ratings.guesses.tolist() == expected.guesses.tolist()
    turned = rate_batch(Batch(batch.geometry, batch.cells[::-1].copy()))
    assert turned.guesses[::-1].tolist() == expected.guesses.tolist()


def test_a_puzzle_is_rated() -> None:
    assert rate(UNIQUE) == ("easy", 0)
    assert rate(HARDEST).level == "extreme"
    [level], [guesses] = rate_batch(Batch.of([gpusudoku.parse(PUZZLE)]))
    assert rate(PUZZLE) == (LEVELS[level], guesses)


@pytest.mark.usefixtures("uncompiled")
def test_other_boards_and_given_candidates() -> None:
    batch = minimal("2x3", 6)
    levels = rate_batch(batch).levels.tolist()
    for board, level in zip(batch, levels, strict=True):
        suffices = [solved_by(board, group) for group in ("singles", "locked", "all")]
        assert [*suffices, True].index(True) == min(level, 3)
    masks = np.full(16, 15)
    masks[[3, 12]] = 0b1000
    cells = [1, 2, 3, 0, 3, 4, 1, 2, 2, 1, 4, 3, 0, 3, 2, 1]
    assert rate(Board(cells, candidates=masks)) == ("easy", 0)
    nothing = rate_batch(Batch(batch.geometry, batch.cells[:0]))
    assert (len(nothing.levels), len(nothing.guesses)) == (0, 0)


@pytest.mark.usefixtures("uncompiled")
def test_a_board_that_is_no_puzzle_is_refused() -> None:
    board: Any
    for board, message in (
        (LINE_4X4, "the board has several solutions, expected exactly one"),
        ("11" + "." * 14, "the board has no solution, expected exactly one"),
        ([1, 2], "2 cells do not make a square board"),
    ):
        with pytest.raises(InputError) as caught:
            rate(board)
        assert str(caught.value) == message
