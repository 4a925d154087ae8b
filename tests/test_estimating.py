"""Estimates of the number of solutions: right within their errors, and the same everywhere."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gpusudoku import (
    Board,
    Cancelled,
    CancelToken,
    Geometry,
    InputError,
    TooExpensive,
    collection,
    estimate,
)
from gpusudoku.kernels.kernel import inlined
from gpusudoku.kernels.search import shape as shapes
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from gpusudoku.kernels.search.walks import build_walk
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import CLUES, SHAPES, puzzle

EMPTY_BOARDS = {
    "2x3": 28_200_960,
    "2x4": 29_136_487_207_403_520,
    "3x3": 6_670_903_752_021_072_936_960,
}
"""The numbers of grids: Felgenhauer and Jarvis 2005, and the sequence A107739."""
FEW_CLUES = "..2..........3......6..............1....8.....5.....7..4.......9......1.........8"
"""A 9x9 board with few clues."""
HOPELESS = Board(
    np.zeros(256, np.uint8),
    Geometry(4, 4),
    # Eight cells of the last row have seven digits, so there is no solution.
    candidates=[(1 << 16) - 1] * 240 + [(1 << 7) - 1] * 8 + [(1 << 16) - 1] * 8,
)


def empty(shape: str) -> Board:
    return Board.empty(Geometry.parse(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_small_trees_are_counted(shape: str) -> None:
    for seed in range(5):
        board = puzzle(shape, CLUES[shape], seed)
        number = naive.count(board)
        result = estimate(board)
        assert (result.estimate, result.low, result.high) == (number, number, number)
        assert (result.samples, result.relative_error) == (0, 0.0)
        assert str(result) == f"{number} (exact)"


def test_short_searches_find_all_solutions() -> None:
    result = estimate(collection.load("16x16-many"))
    assert (result.estimate, result.samples) == (110_463, 0)


@pytest.mark.parametrize(
    ("board", "number"), [("1", 1), (".", 1), ("11..............", 0), ("1" * 81, 0)]
)
def test_edges(board: str, number: int) -> None:
    assert estimate(board).estimate == number


@pytest.mark.parametrize("shape", EMPTY_BOARDS)
def test_empty_boards(shape: str) -> None:
    result = estimate(empty(shape), samples=16, seed=1)
    assert abs(result.estimate / EMPTY_BOARDS[shape] - 1) < 3 * result.relative_error
    assert result.low < result.estimate < result.high
    assert result.relative_error < 0.05
    assert result.samples == 16


def test_large_boards() -> None:
    """The value is an estimate of the literature, see docs/estimates.md."""
    result = estimate(empty("4x4"), samples=16)
    assert 5.7e98 < result.estimate < 6.2e98
    assert result.is_reliable


@pytest.mark.slow
@pytest.mark.parametrize(
    "board", [empty("2x3"), empty("2x4"), FEW_CLUES], ids=["2x3", "2x4", "clues"]
)
def test_intervals_cover_the_number(board: Board | str) -> None:
    """With the probability 0.95, at least 88 of 100 intervals do in 99.8 % of all such tests."""
    numbers = {"2x3": EMPTY_BOARDS["2x3"], "2x4": EMPTY_BOARDS["2x4"]}
    if isinstance(board, str):
        from gpusudoku import count

        number = count(board).count
    else:
        number = numbers[str(board.geometry)]
    intervals = [estimate(board, samples=16, seed=seed) for seed in range(100)]
    assert sum(result.low <= number <= result.high for result in intervals) >= 88


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_seed_determines_the_estimate(jobs: int) -> None:
    first = estimate(empty("2x4"), relative_error=0.012, seed=5, jobs=1)
    assert estimate(empty("2x4"), relative_error=0.012, seed=5, jobs=jobs) == first
    assert estimate(empty("2x4"), samples=first.samples, seed=5, jobs=jobs) == first
    assert estimate(empty("2x4"), samples=first.samples, seed=6).estimate != first.estimate
    assert first.relative_error <= 0.012


def test_the_confidence_changes_the_interval_alone() -> None:
    usual = estimate(empty("2x3"), samples=16)
    narrow = estimate(empty("2x3"), samples=16, confidence=0.5)
    assert narrow.estimate == usual.estimate
    # The quantiles of Student's t-distribution with 15 degrees of freedom, from tables.
    assert usual.relative_error / narrow.relative_error == pytest.approx(2.1314 / 0.6912, rel=1e-3)


@pytest.mark.parametrize("box", ["2x2", "2x3"])
def test_lanes_do_not_affect_walks(box: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor with wider vectors has more lanes, and must draw the same samples."""
    geometry = Geometry.parse(box)
    root = Frontier.of([Board.empty(geometry)]).boards
    ends = []
    for has_avx512 in (False, True):
        monkeypatch.setattr(shapes, "has_avx512", lambda value=has_avx512: value)
        shape = Shape(geometry.box_rows, geometry.box_columns)
        walk = build_walk(shape, SearchSettings(), inlined)
        boards = np.repeat(root, 40, axis=0)
        weights = np.ones(40)
        states = np.arange(40, dtype=np.uint64)
        rows = np.empty(shape.lanes, np.int64)
        with np.errstate(over="ignore"):  # random states are meant to overflow
            for target in (geometry.cells // 2, 0):
                walk(boards, target, weights, states, rows, np.empty(6), shape.memory(shape.lanes))
        ends.append((boards.tolist(), weights.tolist(), states.tolist(), shape.lanes))
    assert ends[0][:3] == ends[1][:3]
    assert ends[0][3] < ends[1][3]


def test_no_walk_finds_a_solution() -> None:
    with pytest.raises(TooExpensive, match="none of 65,536 random walks found a solution"):
        estimate(HOPELESS, samples=16)


def test_progress_and_cancelling() -> None:
    reports = []
    token = CancelToken()
    estimate(empty("2x3"), samples=20, jobs=1, progress=reports.append)
    assert [report.count for report in reports] == list(range(1, 21))
    assert reports[-1].done == 1
    threading.Timer(0.2, token.cancel).start()
    with pytest.raises(Cancelled):
        estimate(empty("4x4"), seconds=1000, cancel=token)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0}, "seconds 0: expected a number above 0"),
        ({"relative_error": 0.0}, "relative error 0.0: expected a number between 0 and 1"),
        ({"relative_error": 1}, "relative error 1: expected a number between 0 and 1"),
        (
            {"confidence": 0.99999},
            "confidence 0.99999: .* at most 0.9999",
        ),
        ({"samples": 15}, "samples 15: expected an integer of at least 16"),
        ({"samples": 16.0}, "samples 16.0: expected an integer of at least 16"),
        ({"seed": -1}, "seed -1: expected an integer from 0 to"),
        ({"jobs": 0}, "jobs 0: expected from 1 to"),
    ],
)
def test_bad_options(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        estimate(empty("2x2"), **options)  # type: ignore[arg-type]
