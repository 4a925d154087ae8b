"""Minimal puzzles with weights: weighted statistics equal those of all minimal puzzles."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Cancelled, InputError, generate
from tests.puzzles.reference import is_minimal
from tests.test_cancelling import Countdown

SHARES = {24: 2.28, 25: 13.42, 26: 31.94, 27: 32.74, 28: 15.48}
"""Percentages of minimal 9x9 puzzles by their clues (Berthier 2009)."""
MEAN = 26.577
"""Their clues on average."""
A_GRID, ERROR = 4.70e15, 0.06e15
"""Minimal puzzles of a 9x9 grid, on average: another implementation's estimate."""


def batches(number: int, **wishes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each batch, weights by number of clues, and weights by cell."""
    by_clues = []
    by_cells = []
    for block in generate(10**9, unbiased=True, **wishes).blocks():
        clues = block.puzzles > 0
        by_clues.append(np.bincount(clues.sum(axis=1), block.weights, minlength=40))
        by_cells.append(block.weights @ clues)
        if len(by_clues) == number:
            break
    return np.array(by_clues), np.array(by_cells)


def near(
    means: np.ndarray, expected: np.ndarray | float, errors: float, expected_error: float = 0
) -> None:
    """Assert that the mean over batches is within ``errors`` standard errors."""
    error = means.std(axis=0, ddof=1) / len(means) ** 0.5
    assert (np.abs(means.mean(axis=0) - expected) <= errors * (error + expected_error) + 1e-9).all()


def test_all_minimal_puzzles_of_4x4_cells_have_the_same_weight_on_average() -> None:
    """By numbers of clues, and by cells."""
    grids = gpusudoku.solutions("1234" + "." * 12, device="cpu")  # each stands for 24
    puzzles = [
        puzzle.cells > 0 for grid in grids for puzzle in gpusudoku.minimal_puzzles(grid, jobs=1)
    ]
    expected = np.bincount(np.sum(puzzles, axis=1), minlength=40) / 12
    assert (expected * 288)[[4, 5, 6]].tolist() == [25728, 58368, 1536]
    by_clues, by_cells = batches(40, box="2x2", seed=1)
    near(by_clues, expected, 4)
    near(by_cells, np.sum(puzzles, axis=0) / 12, 4)
    error = by_clues[:, 5].std() / 40**0.5
    assert error < expected[5] / 100


@pytest.mark.parametrize("number", [40, pytest.param(150, marks=pytest.mark.slow)])
def test_9x9_puzzles_have_the_statistics_that_are_known(number: int) -> None:
    """By the number that a grid has of each size: few of 29 clues are found, of great weight."""
    by_clues, _ = batches(number, seed=2)
    for clues, percents in SHARES.items():
        expected = percents / 100 * A_GRID
        near(by_clues[:, clues], expected, 4, expected * ERROR / A_GRID)
    assert by_clues.sum(axis=0) @ np.arange(40) / by_clues.sum() == pytest.approx(MEAN, abs=0.15)


def test_every_puzzle_is_minimal_and_no_two_are_equal() -> None:
    puzzles = [*generate(300, unbiased=True, seed=3)]
    assert is_minimal([puzzle.board for puzzle in puzzles])
    assert len({puzzle.board for puzzle in puzzles}) == 300
    assert min(puzzle.weight for puzzle in puzzles) > 0
    for number, puzzle in enumerate(puzzles):
        assert (puzzle.number, puzzle.seed) == (number, 3)
        board = puzzle.board.cells
        solution = puzzle.solution.cells
        assert (board == solution)[board > 0].all()
    assert {puzzle.weight for puzzle in generate(5, seed=3)} == {1.0}


def test_a_seed_gives_the_same_puzzles_however_many_and_by_any_threads() -> None:
    for wishes in ({}, {"box": "2x2"}, {"box": "2x3"}):
        number = 700 if wishes else 20
        expected = [*generate(number, unbiased=True, seed=4, jobs=1, **wishes)]
        assert [*generate(number, unbiased=True, seed=4, jobs=3, **wishes)] == expected
        assert [*generate(9, unbiased=True, seed=4, jobs=2, **wishes)] == expected[:9]
        puzzles_of_next_seed = [*islice(generate(10**9, unbiased=True, seed=5, **wishes), number)]
        assert puzzles_of_next_seed != expected
    assert [*generate(0, unbiased=True)] == []


@pytest.mark.parametrize("box", ["1x1", "1x2", "1x3", "2x1"])
def test_the_smallest_boards(box: str) -> None:
    puzzles = [*generate(5, unbiased=True, box=box, seed=6)]
    assert is_minimal([puzzle.board for puzzle in puzzles])


def test_blocks_are_batches() -> None:
    blocks = [*generate(3000, unbiased=True, box="2x2", seed=7).blocks()]
    assert [block.whole for block in blocks] == [True] * (len(blocks) - 1) + [False]
    assert np.concatenate([block.numbers for block in blocks]).tolist() == [*range(3000)]
    assert blocks[0].part(1, 3).weights.tolist() == blocks[0].weights[1:3].tolist()


def test_a_token_stops_it() -> None:
    for asks in (0, 30):
        with pytest.raises(Cancelled):
            [*generate(10**6, unbiased=True, seed=8, cancel=Countdown(asks))]


def test_errors() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"clues": 24}, "unbiased cannot be combined with clues,"),
        ({"pattern": "x" * 16}, "unbiased cannot be combined with clues"),
        ({"symmetry": "all"}, "unbiased cannot be combined with clues"),
        ({"difficulty": "easy"}, "unbiased cannot be combined with clues"),
        ({"box": "4x4"}, "no unbiased puzzles of 4x4: grids are not uniform"),
        ({"n": -1}, "-1 puzzles: expected an integer from 0 to 9223372036854775807"),
    ]
    for arguments, message in wrong:
        with pytest.raises(InputError) as caught:
            generate(unbiased=True, **arguments)
        assert str(caught.value).startswith(message)
