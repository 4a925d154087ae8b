"""Weighted draws: estimates without bias, determined by the seed, in parts and after a resume."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import gpusudoku
from gpusudoku import collection, estimating, solutions, weighted_samples, weighted_solutions
from gpusudoku.enumeration.splitting import Splitting

LARGE = "16x16-many"
"""A board whose solutions can be counted, but whose walks find some of them far more often."""
BOARD = "@1c"


@pytest.fixture(autouse=True)
def only_small_trees_are_searched(monkeypatch):
    """Draw weighted solutions of boards whose solutions could be searched, too."""
    monkeypatch.setattr(estimating, "EXACT_SECONDS", 0.0)


def test_weighted_means_are_those_of_all_solutions():
    """The frequencies of all digits in all cells; without the weights they are wrong."""
    board = collection.load(LARGE)
    found = solutions(board, device="cpu")
    frequencies = found.shares().astype(float) / found.count
    cells, digits = np.nonzero((frequencies > 0.01) & (frequencies < 0.99))
    expected = frequencies[cells, digits]
    grids, weights, exponent = weighted_solutions(board, 800, seed=1)
    assert exponent == 0
    assert all(grid in found for grid in grids[weights > 0][:20])
    has_digit = grids[:, cells] == digits + 1

    def deviation(weights):
        """Return the root mean square of the errors, in standard deviations."""
        means = np.average(has_digit, axis=0, weights=weights)
        squares = (weights[:, None] * (has_digit - means)) ** 2
        errors = np.sqrt(squares.sum(axis=0)) / weights.sum()
        return np.sqrt(np.mean(((means - expected) / errors) ** 2))

    assert deviation(weights) < 1.3
    assert deviation(np.ones_like(weights)) > 1.5


@pytest.mark.parametrize(("name", "box"), [("." * 36, "2x3"), ("." * 81, None)])
def test_the_mean_weight_is_the_number_of_solutions(name, box):
    grids, weights, _ = weighted_solutions(name, 300, seed=2, box=box)
    assert weights.mean() == pytest.approx(int(gpusudoku.count(name, box=box)), rel=0.03)
    assert 280 < weights.sum() ** 2 / (weights**2).sum() < 300
    # Any digit in the first cell has the same frequency, here within four standard deviations.
    frequencies = np.bincount(grids[:, 0], weights)[1:] / weights.sum()
    p = 1 / len(frequencies)
    assert frequencies == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 280))


def test_draws_without_a_solution_stay_in_the_mean(run, monkeypatch):
    """Few walks often find no solution. Such a draw has no line."""
    monkeypatch.setattr(weighted_samples, "WALKS", 16)
    board = collection.load(LARGE)
    grids, weights, _ = weighted_solutions(board, 1000, seed=3)
    is_empty = weights == 0
    assert 300 < is_empty.sum() < 500
    assert not grids[is_empty].any()
    assert grids[~is_empty].all()
    assert weights.mean() == pytest.approx(110_463, rel=0.3)
    command = ["sample", f"@{LARGE}", "--nearly", "-n", 20, "--seed", 3, "--format", "csv"]
    _, out, err = run(*command)
    rows = list(csv.DictReader(out.splitlines()))
    draws = [int(row["draw"]) for row in rows]
    assert draws == np.flatnonzero(~is_empty[:20]).tolist()
    assert [float(row["weight"]) for row in rows] == weights[draws].tolist()
    assert f"of 20 draws; {20 - len(draws)} found no solution\n" in err


def test_a_board_may_have_no_draw_with_a_solution(run, monkeypatch):
    monkeypatch.setattr(weighted_samples, "WALKS", 16)
    command = ["sample", f"@{LARGE}", "--nearly", "-n", 1, "--seed"]
    seed = next(
        seed
        for seed in range(99)
        if not weighted_solutions(collection.load(LARGE), 1, seed).weights
    )
    status, out, err = run(*command, seed, "-q")
    assert (status, out) == (1, "")
    assert err == f"gpusudoku: @{LARGE}: none of 1 draw found a solution\n"


@pytest.mark.slow
def test_large_weights_have_a_unit(run):
    """An empty 25x25 board has about 4.4e308 solutions, more than the largest float."""
    grids, weights, exponent = weighted_solutions("." * 625, 8, seed=6)
    assert 2 < weights.mean() * 2.0 ** (exponent - 1023) < 10
    assert all(gpusudoku.Board(grid).is_full for grid in grids)
    command = ["sample", "." * 625, "--nearly", "-n", 8, "--seed", 6, "--format", "csv"]
    _, out, err = run(*command)
    assert f"gpusudoku: <argument>:1: the unit of the weights is 2^{exponent}\n" in err
    assert [float(row["weight"]) for row in csv.DictReader(out.splitlines())] == weights.tolist()


def test_larger_boards_are_refused(run):
    message = "weighted draws are for boards of up to 25x25 cells"
    with pytest.raises(gpusudoku.InputError, match=message):
        weighted_solutions("." * 676, 1, box="2x13")
    status, out, err = run("sample", "@36x36-few", "--nearly", "-q")
    assert (status, out, err) == (1, "", f"gpusudoku: @36x36-few: {message}\n")


def test_a_small_board_has_uniform_draws():
    board = collection.load("2b")
    assert estimating.exact_count(board, 1) == 276
    sample = weighted_solutions(board, 50, seed=7)
    assert (sample.grids == solutions(board).sample(50, seed=7)).all()
    assert (sample.weights == 276).all()


def test_the_seed_decides(run):
    board = collection.load(BOARD[1:])
    sample = weighted_solutions(board, 12, seed=8, jobs=1)
    repeated = weighted_solutions(board, 20, seed=8, jobs=3)
    assert (repeated.grids[:12] == sample.grids).all()
    assert (repeated.weights[:12] == sample.weights).all()
    other_seed = weighted_solutions(board, 12, seed=9)
    assert (other_seed.weights != sample.weights).all()
    assert weighted_solutions(board, 0).grids.shape == (0, 81)
    out = run("sample", BOARD, "--nearly", "-n", 12, "--seed", 8)[1]
    assert out == "".join("".join(map(str, grid)) + "\n" for grid in sample.grids)


def test_parts_and_resumed_runs_are_the_whole(run, tmp_path, monkeypatch):
    command = ["sample", BOARD, "--nearly", "-n", "30", "--seed", "10", "--format", "csv"]
    _, expected, err = run(*command)
    paths = [tmp_path / f"part{number}.csv" for number in (1, 2, 3)]
    for number, path in enumerate(paths, 1):
        assert run(*command, "--part", f"{number}/3", "-o", path, "-j", number)[0] == 0
    assert run("merge", *paths)[1] == expected

    draw = Splitting.sample

    def interrupted(splitting, number):
        if number == 17:
            raise KeyboardInterrupt
        return draw(splitting, number)

    run_file = tmp_path / "a.run"
    out_file = tmp_path / "all.csv"
    with monkeypatch.context() as patch:
        patch.setattr(Splitting, "sample", interrupted)
        assert run(*command, "-o", out_file, "--checkpoint", run_file, "-j", 1)[0] == 130
    assert 5 < len(out_file.read_text().splitlines()) < 20
    status, _, resumed_err = run("resume", run_file)
    assert status == 0
    assert out_file.read_text() == expected
    # The effective sample size is that of all draws.
    assert resumed_err.splitlines()[-1] == err.splitlines()[-1]
    assert "effective sample size" in err.splitlines()[-1]
