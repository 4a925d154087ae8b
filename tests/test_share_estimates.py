"""Estimates of shares: right within their errors, and the same for any number of threads."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku import (
    Cancelled,
    CancelToken,
    Geometry,
    InputError,
    TooExpensive,
    estimate_shares,
    estimating,
    parse,
    solutions,
)
from tests.boards import LINE_4X4
from tests.test_estimating import HOPELESS, empty

CLUES_8 = "...6..9........................61............7.............7.......1...........7."
CLUES_20 = "5........6......48..83.2.678.........2..5........2......1...28.......6.5.4.2....."
"""A board with candidates that are in no solution, and with cells that only a search fills."""


def exact_shares(board: str) -> NDArray[np.float64]:
    solution_set = solutions(board)
    return (solution_set.shares() / solution_set.count).astype(float)


@pytest.fixture(autouse=True)
def only_small_trees_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimate the shares of boards whose solutions could be searched, too."""
    monkeypatch.setattr(estimating, "EXACT_SECONDS", 0.0)


@pytest.mark.parametrize("board", [CLUES_8, CLUES_20])
def test_shares_are_right_within_their_errors(board: str) -> None:
    expected = exact_shares(board)
    estimate = estimate_shares(board, samples=16)
    shares = estimate.shares
    errors = estimate.errors
    is_estimated = errors > 0
    differences = abs(shares - expected)
    assert (differences <= 3 * errors).all()
    # Of 95 % of the intervals: shares of a board depend on each other.
    assert (differences <= errors)[is_estimated].mean() > 0.85
    assert errors.max() < 0.03
    # What is known before the search has no error; nor have the clues.
    assert (shares[~is_estimated] == expected[~is_estimated]).all()
    assert is_estimated[(expected > 0) & (expected < 1)].all()
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.allclose(shares[parse(board).geometry.units].sum(axis=1), 1)


def test_a_digit_that_no_sample_has_is_not_excluded() -> None:
    expected = exact_shares(CLUES_20)
    estimate = estimate_shares(CLUES_20, samples=16)
    unseen = (estimate.shares == 0) & (estimate.errors > 0)
    assert unseen.any()
    assert (expected[unseen] <= estimate.errors[unseen]).all()
    assert estimate.errors[unseen].max() < 0.01


@pytest.mark.parametrize(
    "shape", ["2x3", "2x4", "3x3", pytest.param("4x4", marks=pytest.mark.slow)]
)
def test_all_shares_of_an_empty_board_are_equal(shape: str) -> None:
    n = Geometry.parse(shape).n
    estimate = estimate_shares(empty(shape), samples=16, seed=1)
    differences = abs(estimate.shares - 1 / n)
    assert (differences <= 4 * estimate.errors).all()
    assert (differences <= estimate.errors).mean() > 0.85
    assert estimate.errors.max() < 0.02
    assert (estimate.samples, estimate.seed, estimate.confidence) == (16, 1, 0.95)


@pytest.mark.slow
def test_intervals_cover_the_shares() -> None:
    expected = exact_shares(CLUES_20)
    estimates = [estimate_shares(CLUES_20, samples=16, seed=seed) for seed in range(40)]
    is_open = (expected > 0) & (expected < 1)
    covered = [(abs(it.shares - expected) <= it.errors)[is_open].mean() for it in estimates]
    assert 0.92 < np.mean(covered) < 0.98


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_seed_determines_the_estimate(jobs: int) -> None:
    one_thread = estimate_shares(empty("2x4"), max_error=0.006, seed=5, jobs=1)
    assert one_thread.errors.max() <= 0.006
    assert one_thread.samples > 16
    for limits in ({"max_error": 0.006}, {"samples": one_thread.samples}):
        estimate = estimate_shares(empty("2x4"), seed=5, jobs=jobs, **limits)  # type: ignore[arg-type]
        assert all(map(np.array_equal, estimate, one_thread))
    other_seed = estimate_shares(empty("2x4"), samples=one_thread.samples, seed=6)
    assert (other_seed.shares != one_thread.shares).all()


@pytest.mark.parametrize("board", ["1", ".", "." * 16, LINE_4X4, "1.3.3..2.1....21"])
def test_small_trees_have_exact_shares(board: str) -> None:
    estimate = estimate_shares(board)
    assert np.array_equal(estimate.shares, exact_shares(board))
    assert (estimate.errors.max(), estimate.samples) == (0, 0)


@pytest.mark.parametrize("board", ["11..............", "1" * 81])
def test_boards_without_solutions(board: str) -> None:
    estimate = estimate_shares(board)
    assert (estimate.shares.max(), estimate.errors.max(), estimate.samples) == (0, 0, 0)


@pytest.mark.slow
def test_no_walk_finds_a_solution() -> None:
    with pytest.raises(TooExpensive, match="none of 65,536 random walks found a solution"):
        estimate_shares(HOPELESS, samples=16)


def test_progress_and_cancelling() -> None:
    reports = []
    token = CancelToken()
    estimate_shares(empty("2x3"), samples=20, jobs=1, progress=reports.append)
    assert [report.count for report in reports] == list(range(1, 21))
    threading.Timer(0.2, token.cancel).start()
    with pytest.raises(Cancelled):
        estimate_shares(empty("4x4"), seconds=1000, cancel=token)


def test_bad_options() -> None:
    with pytest.raises(InputError, match=r"^max error 1: expected a number between 0 and 1"):
        estimate_shares(LINE_4X4, max_error=1)
    with pytest.raises(InputError, match="jobs 0: expected from 1 to"):
        estimate_shares(LINE_4X4, jobs=0)


def test_every_form_has_shares_and_errors(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    board = "." * 36
    estimate = estimate_shares(board, samples=17, seed=3)
    arguments = ["shares", board, "--estimate", "--samples", 17, "--seed", 3]
    record = json.loads(run(*arguments, "--json")[1])
    assert np.array_equal([record["shares"], record["errors"]], estimate[:2])
    assert (record["samples"], record["seed"], record["confidence"]) == (17, "3", 0.95)
    assert "count" not in record

    lines = run(*arguments, "--format", "csv")[1].splitlines()
    digits = [f"{letter}{digit}" for letter in "de" for digit in range(1, 7)]
    assert lines[0].split(",") == ["source", "line", "row", "column", "clue", "count", *digits]
    rows = np.array([line.split(",")[6:] for line in lines[1:]], float)
    assert np.array_equal([rows[:, :6], rows[:, 6:]], estimate[:2])

    pytest.importorskip("matplotlib")
    figure = tmp_path / "shares.svg"
    status, out, _ = run(*arguments, "--plot", figure)
    text = figure.read_text()
    assert status == 0
    assert out.splitlines()[0] in text
    assert "in a circle: in all sampled solutions" in text
