"""Counting and solving one board and many: limits, candidates, the order of batches, progress."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku import (
    Board,
    Geometry,
    InputError,
    count,
    count_many,
    cross_check,
    simplify,
    solve,
    solve_many,
)
from gpusudoku.board.batch import Batch
from gpusudoku.jobs import job
from gpusudoku.jobs.watch import Progress
from gpusudoku.search import frontier
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, with_wrong_clue

BOARD = puzzle("2x3", 8, 1)
TOTAL = naive.count(BOARD)
FULL = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))
EMPTY = Board.empty(Geometry(3, 3))


@pytest.mark.parametrize("limit", [1, 2, TOTAL - 1, TOTAL, TOTAL + 1, 2**64, 2**70])
def test_a_limit_ends_a_count(limit: int) -> None:
    for jobs, strategy in ((1, "min"), (2, "first")):
        result = count(BOARD, device="cpu", jobs=jobs, strategy=strategy, limit=limit)
        assert (result.count, result.exact) == (min(limit, TOTAL), limit > TOTAL)


def test_a_limit_ends_an_endless_search() -> None:
    result = count(Board.empty(Geometry(4, 4)), device="cpu", jobs=2, limit=1000)
    assert str(result) == "1000+"


def test_a_limit_in_a_batch_is_each_boards() -> None:
    boards = [puzzle("2x3", 9, seed) for seed in range(30)]
    totals = [naive.count(board) for board in boards]
    results = list(count_many(boards, device="cpu", jobs=2, limit=10))
    assert [result.count for result in results] == [min(total, 10) for total in totals]
    assert [result.exact for result in results] == [total < 10 for total in totals]


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_boards_of_any_shapes_in_their_order(jobs: int) -> None:
    shapes = ["2x2", "2x2", "2x3", "3x2", "2x3", "2x3", "2x2", "3x3", "1x4", *["2x3"] * 40]
    boards = [puzzle(shape, CLUES[shape] + seed // 9, seed) for seed, shape in enumerate(shapes)]
    boards.insert(4, with_wrong_clue(Board(full_grid(Geometry(3, 2), 0), Geometry(3, 2)), 0))
    results = list(count_many(iter(boards), device="cpu", jobs=jobs))
    assert [result.board for result in results] == boards
    assert [result.count for result in results] == [naive.count(board) for board in boards]
    assert all(result.exact for result in results)
    assert list(count_many([], device="cpu")) == []


@pytest.mark.parametrize(("check_unique", "jobs"), [(True, 1), (True, 2), (False, 2)])
def test_many_are_solved_in_their_order(check_unique: bool, jobs: int) -> None:
    boards = [puzzle("2x3", 8 + seed % 12, seed) for seed in range(40)]
    boards[7:9] = [FULL, with_wrong_clue(FULL, 1), puzzle("2x2", 5, 1)]
    options = {"check_unique": check_unique, "device": "cpu", "jobs": jobs}
    solved_boards = list(solve_many(iter(boards), **options))
    assert [solution.puzzle for solution in solved_boards] == boards
    for solution in solved_boards:
        expected = list(naive.solutions(solution.puzzle))
        assert solution.unique is (len(expected) == 1 if check_unique or not expected else None)
        assert (solution.board is None) == (not expected)
        if solution.board is not None:
            assert tuple(solution.board.cells.tolist()) in expected
            assert solution.board.geometry == solution.puzzle.geometry
    [boxed] = solve_many([str(BOARD)], box="2x3", **options)
    assert boxed.puzzle == BOARD


def test_wrong_options_are_seen_at_once() -> None:
    with pytest.raises(InputError, match=r"^jobs 0: "):
        solve_many([BOARD], jobs=0)
    with pytest.raises(InputError, match=r"^limit 0: "):
        count_many([BOARD], limit=0)
    wrong = r"^solve_many\(\) .* 'check_uniqe'; did you mean 'check_u"
    with pytest.raises(TypeError, match=wrong):
        solve_many([BOARD], check_uniqe=False)


def test_one_is_solved() -> None:
    board = puzzle("3x3", 40, 5)
    solution = solve(board, device="cpu", jobs=2)
    assert [tuple(solution.board.cells.tolist())] == list(naive.solutions(board))
    assert solution.stats.boards_explored >= 1
    huge = solve(Board.empty(Geometry(4, 4)), device="cpu", jobs=2)
    assert (huge.unique, huge.board.is_full, huge.board.conflicts) == (False, True, ())


def with_candidates(*masks: int) -> Board:
    """Return an empty 4x4 board whose first cells have these candidates masks."""
    return Board([0] * 16, candidates=[*masks, *[15] * (16 - len(masks))])


def test_batches_keep_candidates() -> None:
    """Only some boards have candidates, and a batch may be cut."""
    plain = [puzzle("2x2", CLUES["2x2"], seed) for seed in range(4)]
    boards = [*plain[:2], with_candidates(1), *plain[2:], with_candidates(1, 2, 4, 0b11)]
    counts = [result.count for result in count_many(boards, device="cpu")]
    plain_counts = [naive.count(board) for board in plain]
    assert counts == [*plain_counts[:2], 72, *plain_counts[2:], 0]
    batch = Batch.joined([Batch.of(boards[:3]), Batch.of(boards[3:])])
    assert list(batch) == boards
    assert list(batch.part(1, 4)) == boards[1:4]
    assert list(batch.select(np.array(counts) > 0)) == boards[:5]


def test_a_contraction_of_candidates_is_refused() -> None:
    board = with_candidates(1)
    options = {"device": "cpu", "method": "contraction"}
    for call in (count, lambda board, **of: count_many([board], **of).numbers()):
        with pytest.raises(InputError, match=r"^a contraction counts boards of clues"):
            call(board, **options)
    assert cross_check(count(board, device="cpu"), device="cpu") not in (
        None,
        "method contraction",
    )


def test_simplifying_starts_from_candidates() -> None:
    simplified = simplify(with_candidates(4))
    assert simplified.board.cells.tolist() == [3] + [0] * 15
    assert simplified.candidates[1] == 0b1011
    board = with_candidates(15, 0)
    assert simplify(board).contradictory
    assert count(board, device="cpu").count == 0


def test_one_board_with_candidates_does_not_slow_down_its_neighbours() -> None:
    """Only that board is searched: the empty one would take for ever."""
    cells = puzzle("3x3", 33, 1).cells
    board_with_candidates = Board(
        cells, candidates=[511 if not cell else 1 << int(cell) - 1 for cell in cells]
    )
    results = list(count_many([EMPTY, board_with_candidates], device="cpu"))
    assert [result.method for result in results] == ["contraction", "search"]
    assert results[0].count == 6670903752021072936960


def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "POLL_SECONDS", 0.01)  # however quick the machine
    monkeypatch.setattr(frontier, "FIRST_SAMPLE_SECONDS", 0.0)
    reports: list[Progress] = []
    board = Board([1] + [0] * 35, Geometry(2, 3))
    result = count(board, jobs=2, progress=reports.append, device="cpu", method="search")
    assert len(reports) > 3
    assert [state.count for state in reports] == sorted(state.count for state in reports)
    assert any(0 < state.done < 0.999 for state in reports)
    assert all(0 <= state.done <= 1 for state in reports)
    assert reports[-1].done == pytest.approx(1)
    assert reports[-1].count == result.count == 28200960 // 6
