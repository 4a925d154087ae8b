"""All solutions of a board as one object, and slices of it: like a list of boards of any length."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Board, Geometry, InputError, Solutions
from gpusudoku.errors import DeviceError, Interrupted, TooExpensive
from gpusudoku.listing import solutions
from gpusudoku.orders import choose, few
from tests import naive
from tests.boards import LINE_4X4, full_grid, puzzle, spoilt
from tests.orders.short import short_lists

EMPTY_4X4 = Board.empty(Geometry(2, 2))
EMPTY_9X9 = Board.empty(Geometry(3, 3))
BOARD = puzzle("2x3", 8, 0)
SOLUTIONS = list(naive.solutions(BOARD))
FULL = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))


class TestLooks:
    def test_nothing_is_counted_for_them(self) -> None:
        made = solutions(EMPTY_9X9, device="cpu")
        assert repr(made) == "<Solutions of a 9x9 board with 0 clues>"
        assert repr(made[5:][::-2]) == "<Solutions of a 9x9 board with 0 clues, [5:][::-2]>"
        assert made.board == EMPTY_9X9

    def test_its_functions_are_told_in_the_help(self) -> None:
        for name in ("count", "rank", "blocks", "lines", "shares", "sample", "sample_blocks"):
            assert getattr(Solutions, name).__doc__


class TestWhatIsASolution:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda cells: [0, *cells[1:]], "r1c1 is empty"),
            (lambda cells: cells[1:] + cells[:1], "and the board has"),
            (lambda cells: [cells[0]] * 36, "and the board has"),
            (lambda cells: cells[:35], "35 cells"),
            (lambda cells: [7, *cells[1:]], "digits run from 1 to 6"),
        ],
    )
    def test_of_the_board(self, change: Callable[..., Any], message: str) -> None:
        whole, grid = solutions(BOARD, device="cpu"), change(list(SOLUTIONS[4]))
        assert grid not in whole
        with pytest.raises(ValueError, match=message):
            whole.rank(grid)

    @pytest.mark.usefixtures("uncompiled")
    def test_of_no_board(self) -> None:
        found = solutions(EMPTY_4X4, device="cpu")
        with pytest.raises(ValueError, match="not a solution: r1c1 and r1c2 both hold 1"):
            found.rank([1] * 16)
        for other in (None, 5, "x", [1], object()):
            assert other not in found

    @pytest.mark.usefixtures("uncompiled")
    def test_candidates(self) -> None:
        board = Board(EMPTY_4X4.cells, candidates=[1, *[15] * 15])
        found = solutions(board, device="cpu")
        grid = list(next(naive.solutions(EMPTY_4X4)))
        assert found.count == 72
        assert grid in found
        swapped = [3 - d if d < 3 else d for d in grid]
        with pytest.raises(ValueError, match="not a solution: 2 is no candidate of r1c1"):
            found.rank(swapped)

    def test_no_count_is_needed(self) -> None:
        found = solutions(EMPTY_9X9, device="cpu")
        assert Board(full_grid(Geometry(3, 3), 5)) in found
        assert found._orders._count is None


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
        assert (found.sample(5) == found[0].cells).all()

    def test_sixty_four_digits(self) -> None:
        grid = full_grid(Geometry(8, 8), 3)
        board = Board(np.where(grid >= 64, 0, grid), Geometry(8, 8))
        found = solutions(board, device="cpu")
        assert found.count == 1
        assert (found[0].grid == grid).all()
        assert found.shares()[5].sum() == 1
        assert bytes(next(found.lines())).decode() == ",".join(map(str, grid.ravel())) + "\n"


@pytest.mark.usefixtures("uncompiled")
class TestShares:
    @pytest.mark.parametrize("short", [False, True])
    @pytest.mark.parametrize("shape", ["2x2", "1x4", "2x3"])
    def test_against_all_solutions(
        self, shape: str, short: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if short:
            short_lists(monkeypatch)
        board = puzzle(shape, 8 if shape == "2x3" else 2, 2)
        rows = np.array(list(naive.solutions(board)))
        shares = solutions(board, device="cpu").shares()
        for digit in range(1, board.n + 1):
            assert shares[:, digit - 1].tolist() == (rows == digit).sum(axis=0).tolist()

    def test_they_are_checked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(few.Few, "shares", lambda self: np.full((36, 6), 1, object))
        with pytest.raises(gpusudoku.MismatchError, match="do not add up"):
            solutions(BOARD, device="cpu").shares()

    def test_they_do_not_change(self) -> None:
        found = solutions(BOARD, device="cpu")
        with pytest.raises(ValueError, match="read-only"):
            found.shares()[0, 0] = 5


class TestOptions:
    def test_a_limit_is_a_slice(self) -> None:
        with pytest.raises(InputError, match=r"^limit 7: take a slice instead, as in .*\[:7\]$"):
            solutions(BOARD, limit=7)

    def test_wrong_options(self) -> None:
        with pytest.raises(InputError, match="device 'gpu'"):
            solutions(BOARD, device="gpu")
        with pytest.raises(InputError, match="engine 5"):
            solutions(BOARD, engine=5)  # type: ignore[arg-type]

    @pytest.mark.usefixtures("without_cuda")
    def test_no_gpu(self) -> None:
        with pytest.raises(DeviceError):
            solutions(BOARD, device="cuda")

    @pytest.mark.usefixtures("uncompiled")
    def test_solutions_are_no_board(self) -> None:
        found = solutions(LINE_4X4, device="cpu")
        for wrong in (found, found[:3]):
            with pytest.raises(InputError, match="found its solutions: use them as they are"):
                solutions(wrong)  # type: ignore[arg-type]
        assert solutions(found.board, device="cpu").count == found.count

    def test_text_is_a_board(self) -> None:
        assert solutions(LINE_4X4, box="1x4", device="cpu").board.geometry == Geometry(1, 4)


@pytest.mark.usefixtures("uncompiled")
def test_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told as elsewhere, and what was asked for can be asked for again."""
    found = solutions(BOARD, device="cpu")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    calls: list[Callable[[], Any]] = [
        lambda: found.count, lambda: bool(found), lambda: found[9],
        lambda: found.rank(SOLUTIONS[3]), found.shares, lambda: found.sample(3),
        lambda: list(found.blocks()),
    ]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(choose, "find", interrupt)
        for call in calls:
            with pytest.raises(Interrupted):
                call()
    for call in calls:
        call()


@pytest.mark.usefixtures("uncompiled")
def test_threads_may_ask_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    short_lists(monkeypatch)
    found = solutions(BOARD, device="cpu", jobs=1)
    wrong: list[int] = []

    def ask(seed: int) -> None:
        for k in np.random.default_rng(seed).integers(0, len(SOLUTIONS), 40).tolist():
            if tuple(found[k].cells.tolist()) != SOLUTIONS[k] or found.rank(SOLUTIONS[k]) != k:
                wrong.append(k)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.usefixtures("uncompiled")
def test_what_begins_with_a_count_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error, but for those who ask for the count alone; nothing else needs one."""
    short_lists(monkeypatch)
    monkeypatch.setattr(choose, "MOST_SECONDS", 0.0)
    monkeypatch.setattr(choose, "contracted", lambda _: None)
    found = solutions(BOARD, device="cpu", jobs=1)
    calls: list[Callable[[], Any]] = [
        lambda: found[5000], lambda: found[-1], lambda: found.rank(SOLUTIONS[3]), found.shares,
        lambda: found.sample(3), found.blocks, lambda: found[::-1][0],
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(TooExpensive, match="one of these should take about"):
            call()
    assert SOLUTIONS[3] in found
    assert [tuple(board.cells.tolist()) for board in found] == SOLUTIONS
    assert tuple(found[3].cells.tolist()) == SOLUTIONS[3]
    assert found.count == len(SOLUTIONS)
    assert tuple(found[-1].cells.tolist()) == SOLUTIONS[-1]


class TestParts:
    def test_they_make_up_the_whole(self) -> None:
        found = gpusudoku.solutions("." * 16, device="cpu")
        bounds = [found.part(number, 7) for number in range(1, 8)]
        assert (bounds[0][0], bounds[-1][1]) == (0, 288)
        assert all(one[1] == two[0] for one, two in pairwise(bounds))
        assert {end - start for start, end in bounds} == {41, 42}

    @pytest.mark.parametrize(("number", "parts"), [(0, 3), (4, 3), (1, 0), (1.0, 2), (1, None)])
    def test_parts_that_there_are_not(self, number: Any, parts: Any) -> None:
        with pytest.raises(ValueError, match="expected one from 1 to the second"):
            gpusudoku.solutions("." * 16, device="cpu").part(number, parts)


def test_numbers_of_numpy_are_as_good_as_others() -> None:
    found = gpusudoku.solutions("1" + "." * 80, device="cpu")
    whole = found.part(3, 4)
    assert whole == (found.count // 2, 3 * found.count // 4)
    assert found.part(np.int64(3), np.int32(4)) == whole
    [block] = found.blocks(np.int64(5), np.int64(8))
    assert (block == next(found.blocks(5, 8))).all()


def test_what_fits_in_no_memory_is_refused_at_once() -> None:
    found = gpusudoku.solutions("1" + "." * 80, device="cpu")
    for array in (lambda: np.asarray(found), lambda: found.sample(10**12)):
        with pytest.raises(MemoryError, match="take them in blocks"):
            array()
