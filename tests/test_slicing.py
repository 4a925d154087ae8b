"""Slices of the solutions of a board: like slices of a list of boards."""

from __future__ import annotations

import pickle
from itertools import islice
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Board, Options, Slice, Solutions, slicing
from gpusudoku.listing import solutions
from gpusudoku.orders import choose
from tests import naive
from tests.boards import puzzle
from tests.orders.short import short_lists

BOARD = puzzle("2x3", 8, 0)
SOLUTIONS = list(naive.solutions(BOARD))


def grids(boards: Any) -> list[tuple[int, ...]]:
    return [tuple(board.cells.tolist()) for board in boards]


@pytest.fixture(params=["few", "prefixes"])
def whole(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Solutions:
    """The solutions of BOARD, in memory or in many short lists."""
    if request.param == "prefixes":
        short_lists(monkeypatch)
    return solutions(BOARD, device="cpu", jobs=1)


class TestLists:
    """What holds of a list holds of solutions."""

    def test_iterating(self, whole: Solutions) -> None:
        assert grids(whole) == SOLUTIONS
        assert grids(islice(whole, 3)) == SOLUTIONS[:3]
        assert grids(reversed(whole)) == SOLUTIONS[::-1]
        found = next(iter(whole))
        assert found.geometry == BOARD.geometry
        assert found.is_full

    def test_count(self, whole: Solutions) -> None:
        assert whole.count == len(SOLUTIONS)
        assert bool(whole) is True

    def test_indices(self, whole: Solutions) -> None:
        for k in (0, 7):  # without a count
            assert tuple(whole[k].cells.tolist()) == SOLUTIONS[k]
        assert whole.count
        for k in range(-len(SOLUTIONS), len(SOLUTIONS)):
            assert tuple(whole[k].cells.tolist()) == SOLUTIONS[k]
        assert whole[np.int64(3)] == whole[3]

    @pytest.mark.parametrize("k", [len(SOLUTIONS), -len(SOLUTIONS) - 1, 10**30, -(10**30)])
    def test_indices_out_of_range(self, whole: Solutions, k: int) -> None:
        with pytest.raises(IndexError) as caught:
            whole[k]
        assert str(caught.value) == f"no solution {k}: numbers run from 0 to {len(SOLUTIONS) - 1}"

    @pytest.mark.parametrize("k", ["1", 1.0, None, (1, 2)])
    def test_indices_of_other_types(self, whole: Solutions, k: Any) -> None:
        with pytest.raises(TypeError):
            whole[k]
        with pytest.raises(TypeError):
            whole["a":]  # type: ignore[misc]
        with pytest.raises(ValueError, match="slice step cannot be zero"):
            whole[::0]

    @pytest.mark.parametrize("step", [None, 2, 7, 100, 10**30, -1, -3])
    @pytest.mark.parametrize(
        ("start", "stop"),
        [(None, None), (3, 40), (0, 10**30), (-5, None), (None, -170), (183, 0), (7, 8)],
    )
    def test_slices(
        self, whole: Solutions, start: int | None, stop: int | None, step: int | None
    ) -> None:
        part, wanted = whole[start:stop:step], SOLUTIONS[start:stop:step]
        assert grids(part) == wanted
        assert part.count == len(wanted)
        assert bool(part) == bool(wanted)
        assert np.asarray(part).tolist() == [list(cells) for cells in wanted]
        assert grids(part[::-2]) == wanted[::-2]
        assert grids(part[1:3]) == wanted[1:3]
        if wanted:
            assert tuple(part[-1].cells.tolist()) == wanted[-1]
        with pytest.raises(IndexError):
            part[len(wanted)]

    def test_ranks(self, whole: Solutions) -> None:
        part = whole[100:5:-3]
        inside = range(len(SOLUTIONS))[100:5:-3]
        for number in range(0, len(SOLUTIONS), 7):
            grid = Board(SOLUTIONS[number], BOARD.geometry)
            assert whole.rank(grid) == number
            assert whole.rank(SOLUTIONS[number]) == number  # type: ignore[arg-type]
            assert grid in whole
            assert (grid in part) == (number in inside)
            if number in inside:
                assert part.rank(grid) == inside.index(number)
            else:
                with pytest.raises(ValueError, match="this solution is not in the slice"):
                    part.rank(grid)

    def test_len_tells_what_to_use(self, whole: Solutions) -> None:
        with pytest.raises(TypeError, match=r"use \.count$"):
            len(whole)
        assert list(map(tuple, grids(list(whole)))) == SOLUTIONS

    @pytest.mark.parametrize(
        "part",
        [slice(3), slice(7, 40, 3), slice(40, 7), slice(180, 9999), slice(-3, None), slice(200, 3),
         slice(None, None, -1), slice(0, 0)],
    )  # fmt: skip
    def test_len_of_slices(self, whole: Solutions, part: slice) -> None:
        wanted = len(SOLUTIONS[part])
        assert (len(whole[part]), bool(whole[part])) == (wanted, wanted > 0)
        assert len(whole[part][1::2]) == len(SOLUTIONS[part][1::2])
        assert len(list(whole[part])) == wanted

    def test_the_first_ones_are_counted_without_the_others(
        self, whole: Solutions, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(choose, "count_one", lambda *_: pytest.fail("counted"))
        monkeypatch.setattr(choose, "contracted", lambda _: pytest.fail("counted"))
        assert (whole[:3].count, whole[2:9:3].count, whole[:3][5:].count) == (3, 3, 0)
        assert np.asarray(whole[:3]).tolist() == [list(cells) for cells in SOLUTIONS[:3]]

    def test_arrays(self, whole: Solutions) -> None:
        assert np.asarray(whole).dtype == np.uint8
        assert np.array(whole[:3], np.int64).tolist() == [list(cells) for cells in SOLUTIONS[:3]]
        with pytest.raises(ValueError, match="one has to be made"):
            np.array(whole, copy=False)
        blocks = list(whole[10:90].blocks())
        assert np.concatenate(blocks).tolist() == [list(cells) for cells in SOLUTIONS[10:90]]

    def test_texts(self, whole: Solutions) -> None:
        lines = ["".join(map(str, cells)) + "\n" for cells in SOLUTIONS]
        for part in (slice(None), slice(3, 30)):
            assert b"".join(whole[part].lines()).decode() == "".join(lines[part])
        quick = b"".join(whole.lines()).decode().splitlines(keepends=True)
        assert sorted(quick) == sorted(lines)


class TestCopies:
    @pytest.mark.parametrize("part", [slice(None), slice(5, 90, 4), slice(None, None, -1)])
    def test_pickles_are_small(self, whole: Solutions, part: slice) -> None:
        assert whole[part].count > 0
        whole.sample(3)
        data = pickle.dumps(whole[part])
        assert len(data) < 1000
        again = pickle.loads(data)
        assert type(again) is gpusudoku.Slice
        assert grids(again) == SOLUTIONS[part]

    def test_the_whole_stays_the_whole(self, whole: Solutions) -> None:
        again = pickle.loads(pickle.dumps(whole))
        assert type(again) is Solutions
        assert again.board == BOARD
        assert (again.sample(9, seed=4) == whole.sample(9, seed=4)).all()

    def test_options_are_kept(self) -> None:
        made = pickle.loads(pickle.dumps(solutions(BOARD, device="cpu", jobs=1, strategy="first")))
        assert made._orders.options == Options(device="cpu", jobs=1, strategy="first")


def test_len_of_what_is_not_counted_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ones need no count. Others have a length if that is soon known; list() has them."""
    short_lists(monkeypatch)
    monkeypatch.setattr(slicing, "EARLY", 10)
    monkeypatch.setattr(slicing, "LENGTH_SECONDS", 0.0)
    found = solutions(BOARD, device="cpu", jobs=1)
    assert (len(found[2:9]), bool(found[:1]), bool(found[3:3])) == (7, True, False)
    with pytest.raises(TypeError, match=r"should take long: use \.count$"):
        len(found[:11])
    assert grids(list(found[:11])) == SOLUTIONS[:11]
    assert found.count == len(found[:]) == len(SOLUTIONS)


def test_the_first_ones_are_searched_for_once(
    whole: Solutions, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def rows(self: Any, first: int, last: int | None = None) -> Any:
        asked.append(first)
        return original(self, first, last)

    monkeypatch.setattr(Slice, "_number_of", None)
    kind = type(whole._orders.ascending)
    whole._orders._count = None
    original = kind.rows
    monkeypatch.setattr(kind, "rows", rows)
    part = whole[2:9]
    for _ in range(3):
        assert (len(part), bool(part)) == (7, True)
    assert asked == [0]
    for k in (0, 3, 1):
        assert tuple(whole[k].cells.tolist()) == SOLUTIONS[k]
    assert len(asked) <= 3
    end = whole[3:1000]
    for _ in range(3):
        assert len(end) == len(SOLUTIONS) - 3
    assert len(asked) <= 4


def test_len_beyond_what_python_can_tell() -> None:
    found = solutions("1" + "." * 80, device="cpu")
    assert len(found[10**20 : 10**20 + 5]) == len(found[-5:]) == 5
    for part in (found[:], found[10:]):
        with pytest.raises(OverflowError, match=r"use \.count$"):
            len(part)
        with pytest.raises(OverflowError, match=r"use \.count$"):
            list(part)


def test_slices_of_slices_need_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "count_one", None)
    found = solutions("1" + "." * 80, device="cpu")
    assert list(found[:40][::2][:3]) == list(found[:5:2])
