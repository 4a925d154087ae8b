"""All solutions of a board as one object, and slices of it: like a list of boards of any length."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpusudoku import Board, Geometry, InputError, Slice, Solutions, solutions
from gpusudoku.errors import DeviceError, Interrupted
from tests import naive
from tests.boards import LINE_4X4, full_grid, puzzle, with_wrong_clue
from tests.enumeration.short import short_lists

EMPTY_9X9 = Board.empty(Geometry(3, 3))
BOARD = puzzle("2x3", 8, 0)
SOLUTIONS = list(naive.solutions(BOARD))
NUMBER = len(SOLUTIONS)
FULL = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))
MANY = "1" + "." * 80


def grids(boards: Any) -> list[tuple[int, ...]]:
    return [tuple(board.cells.tolist()) for board in boards]


@pytest.fixture(params=["few", "prefixes"])
def whole(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Solutions:
    """Return the solutions of BOARD, in memory or in many short lists."""
    if request.param == "prefixes":
        short_lists(monkeypatch)
    return solutions(BOARD, device="cpu", jobs=1)


class TestAsAList:
    """Solutions behave like a list."""

    def test_iterating(self, whole: Solutions) -> None:
        assert grids(whole) == SOLUTIONS
        assert grids(islice(whole, 3)) == SOLUTIONS[:3]
        assert grids(reversed(whole)) == SOLUTIONS[::-1]

    def test_indices(self, whole: Solutions) -> None:
        for k in (0, 7):  # without a count
            assert tuple(whole[k].cells.tolist()) == SOLUTIONS[k]
        assert (whole.count, bool(whole)) == (NUMBER, True)
        assert grids(whole[k] for k in range(-NUMBER, NUMBER)) == 2 * SOLUTIONS
        assert whole[np.int64(3)] == whole[3]
        for k in (NUMBER, -NUMBER - 1, 10**30, -(10**30)):
            with pytest.raises(IndexError) as caught:
                whole[k]
            assert str(caught.value) == f"no solution {k}: numbers run from 0 to {NUMBER - 1}"
        for k in (1.0, None, (1, 2), slice("a", None)):
            with pytest.raises(TypeError):
                whole[k]
        with pytest.raises(ValueError, match="slice step cannot be zero"):
            whole[::0]

    @given(st.data())
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
    def test_slices(self, whole: Solutions, data: st.DataObject) -> None:
        ends = st.sampled_from([None, 0, 3, 7, 40, NUMBER - 3, NUMBER, 10**30, -5, -170, -(10**30)])
        steps = st.sampled_from([None, 1, 2, 7, 100, 10**30, -1, -3])
        chosen_slice = slice(data.draw(ends), data.draw(ends), data.draw(steps))
        part = whole[chosen_slice]
        expected = SOLUTIONS[chosen_slice]
        assert grids(part) == expected
        assert (part.count, len(part), bool(part)) == (len(expected), len(expected), bool(expected))
        assert np.asarray(part).tolist() == [list(cells) for cells in expected]
        assert grids(part[::-2]) == expected[::-2]
        assert grids(part[1:3]) == expected[1:3]
        if expected:
            assert tuple(part[-1].cells.tolist()) == expected[-1]
        with pytest.raises(IndexError):
            part[len(expected)]

    def test_ranks(self, whole: Solutions) -> None:
        part = whole[100:5:-3]
        inside = range(NUMBER)[100:5:-3]
        for number in range(0, NUMBER, 7):
            grid = Board(SOLUTIONS[number], BOARD.geometry)
            assert whole.rank(grid) == whole.rank(SOLUTIONS[number]) == number
            assert grid in whole
            assert (grid in part) == (number in inside)
            if number in inside:
                assert part.rank(grid) == inside.index(number)
            else:
                with pytest.raises(ValueError, match="this solution is not in the slice"):
                    part.rank(grid)

    def test_arrays_and_texts(self, whole: Solutions) -> None:
        assert np.asarray(whole).dtype == np.uint8
        assert np.array(whole[:3], np.int64).tolist() == [list(cells) for cells in SOLUTIONS[:3]]
        with pytest.raises(ValueError, match="converting them makes a copy"):
            np.array(whole, copy=False)
        blocks = list(whole[10:90].blocks())
        assert np.concatenate(blocks).tolist() == [list(cells) for cells in SOLUTIONS[10:90]]
        lines = ["".join(map(str, cells)) + "\n" for cells in SOLUTIONS]
        assert b"".join(whole[3:30].lines()).decode() == "".join(lines[3:30])
        quick = b"".join(whole.lines()).decode().splitlines(keepends=True)
        assert sorted(quick) == sorted(lines)

    def test_pickles_are_small(self, whole: Solutions) -> None:
        for part in (slice(None), slice(5, 90, 4), slice(None, None, -1)):
            assert whole[part].count > 0
            data = pickle.dumps(whole[part])
            assert len(data) < 1000
            copy = pickle.loads(data)
            assert (type(copy), grids(copy)) == (Slice, SOLUTIONS[part])
        copy = pickle.loads(pickle.dumps(whole))
        assert (type(copy), copy.board) == (Solutions, BOARD)
        assert (copy.sample(9, seed=4) == whole.sample(9, seed=4)).all()


def test_queries_that_need_no_count(whole: Solutions) -> None:
    assert (whole[:3].count, whole[2:9:3].count, whole[:3][5:].count) == (3, 3, 0)
    assert (len(whole[2:9]), bool(whole[:1]), bool(whole[3:3])) == (7, True, False)
    assert Board(full_grid(Geometry(3, 3), 5)) in solutions(EMPTY_9X9, device="cpu")


class TestLength:
    def test_queries_of_boards_that_take_long_to_count(
        self, whole: Solutions, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gpusudoku.enumeration.solution_set.UNCOUNTED", 10)
        monkeypatch.setattr("gpusudoku.enumeration.solutions.LENGTH_SECONDS", 0.0)
        monkeypatch.setattr("gpusudoku.planning.count.quick_search", lambda *_, **__: None)
        short_lists(monkeypatch)
        with pytest.raises(TypeError, match=r"may take long: use \.count$"):
            len(whole[:11])
        assert grids(list(whole[:11])) == SOLUTIONS[:11]
        assert whole.count == len(whole[:]) == NUMBER

    def test_lengths_above_the_limit_of_python(self) -> None:
        all_solutions = solutions(MANY, device="cpu")
        assert len(all_solutions[10**20 : 10**20 + 5]) == len(all_solutions[-5:]) == 5
        for part in (all_solutions[:], all_solutions[10:]):
            for ask in (len, list):
                with pytest.raises(OverflowError, match=r"use \.count$"):
                    ask(part)


@pytest.mark.usefixtures("uncompiled")
def test_grids_that_are_no_solutions() -> None:
    solutions_2x3 = solutions(BOARD, device="cpu")
    solutions_2x2 = solutions("." * 16, device="cpu")
    limited = solutions(Board([0] * 16, candidates=[1, *[15] * 15]), device="cpu")
    solution = list(SOLUTIONS[4])
    grid = list(next(naive.solutions(solutions_2x2.board)))
    assert grid in limited
    for all_solutions, cells, message in (
        (solutions_2x3, [0, *solution[1:]], "r1c1 is empty"),
        (solutions_2x3, solution[1:] + solution[:1], "and the board has"),
        (solutions_2x3, solution[:35], "35 cells"),
        (solutions_2x3, [7, *solution[1:]], "digits run from 1 to 6"),
        (solutions_2x2, [1] * 16, "not a solution: r1c1 and r1c2 both hold 1"),
        (limited, [3 - d if d < 3 else d for d in grid], "solution: 2 is not a candidate of r1c1"),
    ):
        assert cells not in all_solutions
        with pytest.raises(ValueError, match=message):
            all_solutions.rank(cells)
    for value in (None, 5, "x", [1], object()):
        assert value not in solutions_2x2


@pytest.mark.usefixtures("uncompiled")
class TestEdges:
    @pytest.mark.parametrize("board", [with_wrong_clue(FULL, 1), Board([1, 1, *[0] * 14])])
    def test_no_solution(self, board: Board) -> None:
        all_solutions = solutions(board, device="cpu")
        assert (
            all_solutions.count,
            bool(all_solutions),
            list(all_solutions),
            list(all_solutions[3:]),
        ) == (0, False, [], [])
        assert FULL not in all_solutions
        assert (all_solutions.shares() == 0).all()
        assert all_solutions.sample(0).shape == (0, board.cells.size)
        assert list(all_solutions.blocks()) == list(all_solutions.lines()) == []
        with pytest.raises(IndexError, match="no solution 0: there are none"):
            all_solutions[0]
        with pytest.raises(ValueError, match="there are no solutions to take samples of"):
            all_solutions.sample(1)

    @pytest.mark.parametrize("board", [FULL, Board([1]), Board([0])])
    def test_one_solution(self, board: Board) -> None:
        all_solutions = solutions(board, device="cpu")
        assert all_solutions.count == 1
        assert all_solutions[0] == all_solutions[-1] == next(iter(all_solutions))
        assert all_solutions.rank(all_solutions[0]) == 0
        assert all_solutions.shares().sum() == board.cells.size
        with pytest.raises(ValueError, match="read-only"):
            all_solutions.shares()[0, 0] = 5
        assert (all_solutions.sample(5) == all_solutions[0].cells).all()

    def test_sixty_four_digits(self) -> None:
        grid = full_grid(Geometry(8, 8), 3)
        all_solutions = solutions(
            Board(np.where(grid >= 64, 0, grid), Geometry(8, 8)), device="cpu"
        )
        assert all_solutions.count == 1
        assert (all_solutions[0].grid == grid).all()
        assert all_solutions.shares()[5].sum() == 1
        assert (
            bytes(next(all_solutions.lines())).decode() == ",".join(map(str, grid.ravel())) + "\n"
        )


@pytest.mark.usefixtures("uncompiled")
def test_parts_make_up_the_whole() -> None:
    all_solutions = solutions("." * 16, device="cpu")
    bounds = [all_solutions.part(number, 7) for number in range(1, 8)]
    assert (bounds[0][0], bounds[-1][1]) == (0, 288)
    assert all(current[1] == following[0] for current, following in pairwise(bounds))
    assert {end - start for start, end in bounds} == {41, 42}
    assert all_solutions.part(np.int64(3), np.int32(7)) == bounds[2]
    for part in ((0, 3), (4, 3), (1.0, 2), (1, None)):
        with pytest.raises(ValueError, match="expected a number from 1 to the number of parts"):
            all_solutions.part(*part)


@pytest.mark.usefixtures("without_cuda", "uncompiled")
def test_wrong_arguments_are_refused() -> None:
    for options, message in (
        ({"limit": 7}, r"^limit 7: take a slice instead, as in .*\[:7\]$"),
        ({"device": "gpu"}, "device 'gpu'"),
    ):
        with pytest.raises(InputError, match=message):
            solutions(BOARD, **options)
    with pytest.raises(DeviceError):
        solutions(BOARD, device="cuda")
    all_solutions = solutions(LINE_4X4, device="cpu")
    for wrong in (all_solutions, all_solutions[:3]):
        with pytest.raises(InputError, match="found its solutions: use them directly"):
            solutions(wrong)


def test_arrays_that_do_not_fit_in_memory() -> None:
    all_solutions = solutions(MANY, device="cpu")
    for array in (lambda: np.asarray(all_solutions), lambda: all_solutions.sample(10**12)):
        with pytest.raises(MemoryError, match="take them in blocks"):
            array()
    [block] = all_solutions.blocks(np.int64(5), np.int64(8))
    assert (block == next(all_solutions.blocks(5, 8))).all()


def test_repr_counts_nothing() -> None:
    all_solutions = solutions(EMPTY_9X9, device="cpu")
    assert repr(all_solutions[5:][::-2]) == "<Solutions of a 9x9 board with 0 clues, [5:][::-2]>"
    assert all_solutions.board == EMPTY_9X9


@pytest.mark.usefixtures("uncompiled")
def test_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """It raises Interrupted, and the query can be repeated."""
    all_solutions = solutions(BOARD, device="cpu")
    calls: list[Callable[[], Any]] = [
        lambda: all_solutions[100],
        lambda: all_solutions.rank(SOLUTIONS[3]),
        all_solutions.shares,
        lambda: all_solutions.sample(3),
        lambda: all_solutions[::-1][0],
        lambda: all_solutions.count,
        lambda: bool(all_solutions),
    ]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("gpusudoku.enumeration.solution_set.find_sorted", interrupt)
        for call in calls:
            with pytest.raises(Interrupted):
                call()
    for call in calls:
        call()


@pytest.mark.usefixtures("uncompiled")
def test_threads_may_query_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    short_lists(monkeypatch)
    all_solutions = solutions(BOARD, device="cpu", jobs=1)

    def ask(seed: int) -> bool:
        numbers = np.random.default_rng(seed).integers(0, NUMBER, 20).tolist()
        return all(
            tuple(all_solutions[k].cells.tolist()) == SOLUTIONS[k]
            and all_solutions.rank(SOLUTIONS[k]) == k
            for k in numbers
        )

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(ask, range(4)))
