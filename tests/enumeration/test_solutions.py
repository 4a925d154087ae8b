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
from tests.boards import LINE_4X4, full_grid, puzzle, spoilt
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
    """Give the solutions of BOARD, in memory or in many short lists."""
    if request.param == "prefixes":
        short_lists(monkeypatch)
    return solutions(BOARD, device="cpu", jobs=1)


class TestAsAList:
    """What holds of a list holds of solutions."""

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
        cut = slice(data.draw(ends), data.draw(ends), data.draw(steps))
        part = whole[cut]
        wanted = SOLUTIONS[cut]
        assert grids(part) == wanted
        assert (part.count, len(part), bool(part)) == (len(wanted), len(wanted), bool(wanted))
        assert np.asarray(part).tolist() == [list(cells) for cells in wanted]
        assert grids(part[::-2]) == wanted[::-2]
        assert grids(part[1:3]) == wanted[1:3]
        if wanted:
            assert tuple(part[-1].cells.tolist()) == wanted[-1]
        with pytest.raises(IndexError):
            part[len(wanted)]

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
            again = pickle.loads(data)
            assert (type(again), grids(again)) == (Slice, SOLUTIONS[part])
        again = pickle.loads(pickle.dumps(whole))
        assert (type(again), again.board) == (Solutions, BOARD)
        assert (again.sample(9, seed=4) == whole.sample(9, seed=4)).all()


def test_what_needs_no_count(whole: Solutions) -> None:
    assert (whole[:3].count, whole[2:9:3].count, whole[:3][5:].count) == (3, 3, 0)
    assert (len(whole[2:9]), bool(whole[:1]), bool(whole[3:3])) == (7, True, False)
    assert Board(full_grid(Geometry(3, 3), 5)) in solutions(EMPTY_9X9, device="cpu")


class TestLength:
    def test_of_what_is_not_counted_soon(
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

    def test_beyond_what_python_can_tell(self) -> None:
        found = solutions(MANY, device="cpu")
        assert len(found[10**20 : 10**20 + 5]) == len(found[-5:]) == 5
        for part in (found[:], found[10:]):
            for ask in (len, list):
                with pytest.raises(OverflowError, match=r"use \.count$"):
                    ask(part)


@pytest.mark.usefixtures("uncompiled")
def test_what_is_no_solution() -> None:
    some = solutions(BOARD, device="cpu")
    every = solutions("." * 16, device="cpu")
    limited = solutions(Board([0] * 16, candidates=[1, *[15] * 15]), device="cpu")
    one = list(SOLUTIONS[4])
    grid = list(next(naive.solutions(every.board)))
    assert grid in limited
    for found, cells, message in (
        (some, [0, *one[1:]], "r1c1 is empty"),
        (some, one[1:] + one[:1], "and the board has"),
        (some, one[:35], "35 cells"),
        (some, [7, *one[1:]], "digits run from 1 to 6"),
        (every, [1] * 16, "not a solution: r1c1 and r1c2 both hold 1"),
        (limited, [3 - d if d < 3 else d for d in grid], "solution: 2 is not a candidate of r1c1"),
    ):
        assert cells not in found
        with pytest.raises(ValueError, match=message):
            found.rank(cells)
    for other in (None, 5, "x", [1], object()):
        assert other not in every


@pytest.mark.usefixtures("uncompiled")
class TestEdges:
    @pytest.mark.parametrize("board", [spoilt(FULL, 1), Board([1, 1, *[0] * 14])])
    def test_no_solution(self, board: Board) -> None:
        found = solutions(board, device="cpu")
        assert (found.count, bool(found), list(found), list(found[3:])) == (0, False, [], [])
        assert FULL not in found
        assert (found.shares() == 0).all()
        assert found.sample(0).shape == (0, board.cells.size)
        assert list(found.blocks()) == list(found.lines()) == []
        with pytest.raises(IndexError, match="no solution 0: there are none"):
            found[0]
        with pytest.raises(ValueError, match="there are no solutions to take samples of"):
            found.sample(1)

    @pytest.mark.parametrize("board", [FULL, Board([1]), Board([0])])
    def test_one_solution(self, board: Board) -> None:
        found = solutions(board, device="cpu")
        assert found.count == 1
        assert found[0] == found[-1] == next(iter(found))
        assert found.rank(found[0]) == 0
        assert found.shares().sum() == board.cells.size
        with pytest.raises(ValueError, match="read-only"):
            found.shares()[0, 0] = 5
        assert (found.sample(5) == found[0].cells).all()

    def test_sixty_four_digits(self) -> None:
        grid = full_grid(Geometry(8, 8), 3)
        found = solutions(Board(np.where(grid >= 64, 0, grid), Geometry(8, 8)), device="cpu")
        assert found.count == 1
        assert (found[0].grid == grid).all()
        assert found.shares()[5].sum() == 1
        assert bytes(next(found.lines())).decode() == ",".join(map(str, grid.ravel())) + "\n"


@pytest.mark.usefixtures("uncompiled")
def test_parts_make_up_the_whole() -> None:
    found = solutions("." * 16, device="cpu")
    bounds = [found.part(number, 7) for number in range(1, 8)]
    assert (bounds[0][0], bounds[-1][1]) == (0, 288)
    assert all(one[1] == two[0] for one, two in pairwise(bounds))
    assert {end - start for start, end in bounds} == {41, 42}
    assert found.part(np.int64(3), np.int32(7)) == bounds[2]
    for part in ((0, 3), (4, 3), (1.0, 2), (1, None)):
        with pytest.raises(ValueError, match="expected one from 1 to the second"):
            found.part(*part)


@pytest.mark.usefixtures("without_cuda", "uncompiled")
def test_what_is_refused() -> None:
    for options, message in (
        ({"limit": 7}, r"^limit 7: take a slice instead, as in .*\[:7\]$"),
        ({"device": "gpu"}, "device 'gpu'"),
    ):
        with pytest.raises(InputError, match=message):
            solutions(BOARD, **options)
    with pytest.raises(DeviceError):
        solutions(BOARD, device="cuda")
    found = solutions(LINE_4X4, device="cpu")
    for wrong in (found, found[:3]):
        with pytest.raises(InputError, match="found its solutions: use them directly"):
            solutions(wrong)


def test_what_fits_in_no_memory() -> None:
    found = solutions(MANY, device="cpu")
    for array in (lambda: np.asarray(found), lambda: found.sample(10**12)):
        with pytest.raises(MemoryError, match="take them in blocks"):
            array()
    [block] = found.blocks(np.int64(5), np.int64(8))
    assert (block == next(found.blocks(5, 8))).all()


def test_nothing_is_counted_to_show_it() -> None:
    made = solutions(EMPTY_9X9, device="cpu")
    assert repr(made[5:][::-2]) == "<Solutions of a 9x9 board with 0 clues, [5:][::-2]>"
    assert made.board == EMPTY_9X9


@pytest.mark.usefixtures("uncompiled")
def test_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told as elsewhere, and what was asked for can be asked for again."""
    found = solutions(BOARD, device="cpu")
    calls: list[Callable[[], Any]] = [
        lambda: found[100], lambda: found.rank(SOLUTIONS[3]), found.shares,
        lambda: found.sample(3), lambda: found[::-1][0], lambda: found.count, lambda: bool(found),
    ]  # fmt: skip

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
def test_threads_may_ask_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    short_lists(monkeypatch)
    found = solutions(BOARD, device="cpu", jobs=1)

    def ask(seed: int) -> bool:
        some = np.random.default_rng(seed).integers(0, NUMBER, 20).tolist()
        return all(
            tuple(found[k].cells.tolist()) == SOLUTIONS[k] and found.rank(SOLUTIONS[k]) == k
            for k in some
        )

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(ask, range(4)))
