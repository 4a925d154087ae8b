"""Boards that are given one after the other: what is taken at a time, and where an error comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count, count_many
from gpusudoku.errors import InputError
from gpusudoku.formats import parse
from gpusudoku.given import MOST_ITEMS, batches_of
from tests.boards import LINE_4X4
from tests.columns import Column, Scalar

BOARD = parse(LINE_4X4)


def read(given: Any) -> tuple[list[Board], str]:
    """The boards before an error, and the error."""
    found: list[Board] = []
    try:
        for batch in batches_of(given):
            if isinstance(batch, InputError):
                return found, str(batch)
            found += batch
    except InputError as error:  # of whoever makes the boards
        return found, str(error)
    raise AssertionError("no error")


class TestStreams:
    def test_few_are_taken_in_advance(self) -> None:
        taken: list[str] = []

        def endless() -> Iterator[str]:
            while True:
                taken.append(LINE_4X4)
                yield LINE_4X4

        next(batches_of(endless()))
        assert len(taken) == 16

    def test_memory_is_bounded(self) -> None:
        sizes = [len(batch) for batch in batches_of(LINE_4X4 for _ in range(10**5))]
        assert max(sizes) <= MOST_ITEMS
        assert sum(sizes) == 10**5

    @pytest.mark.parametrize("place", [0, 1, 15, 16, 17, 100])
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (None, "expected a board as text or as rows of cells, found None"),
            (np.nan, "expected a board as text or as rows of cells, found nan"),
            ("", "no board found"),
            ("w" * 16, "r1c1 holds 'w', which is digit 32, expected 1 to 4"),
            ("é" * 16, "unknown character 'é'"),
            ("漢" * 16, "unknown character '漢'"),
            ("\ud800" * 16, "unknown character '\ufffd'"),
            (f"{LINE_4X4}\n{LINE_4X4}", "2 boards where one was expected"),
            ([0] * 15, "15 cells do not make a square board"),
            (7, "expected a board as text or as rows of cells, found 7"),
            (Scalar(None), "expected a board as text or as rows of cells, found None"),
        ],
    )
    def test_an_error_comes_after_the_boards_before_it(
        self, wrong: Any, message: str, place: int
    ) -> None:
        boards, error = read([*[LINE_4X4] * place, wrong, LINE_4X4])
        assert boards == [BOARD] * place
        assert error.startswith(f"board {place}: {message}")

    @pytest.mark.parametrize("place", [0, 1, 30])
    def test_in_arrays_too(self, place: int) -> None:
        rows = np.zeros((40, 16), int)
        rows[place, 3] = 5
        boards, error = read(rows)
        assert boards == [Board.empty(Geometry(2, 2))] * place
        assert error == f"board {place}: r1c4 holds 5: digits run from 1 to 4"
        assert read(rows / 2) == (boards, f"board {place}: r1c4 holds 2.5: cells must be integers,"
                                  " 0 for an empty one")  # fmt: skip
        assert read(rows[:, :15]) == ([], "board 0: 15 cells do not make a square board")
        assert read(rows.reshape(40, 8, 2)) == (
            [], "board 0: 8 rows of 2 cells, expected as many rows as columns"
        )  # fmt: skip

    def test_an_error_of_whoever_makes_the_boards(self) -> None:
        def made() -> Iterator[str]:
            yield from [LINE_4X4] * 20
            raise InputError("this is mine")

        assert read(made()) == ([BOARD] * 20, "this is mine")

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (LINE_4X4, "expected boards, found one str: use a list of them"),
            (LINE_4X4.encode(), "expected boards, found one bytes: use a list of them"),
            (BOARD, "expected boards, found one Board: use a list of them"),
            (5, "expected boards, found 5"),
            ({}, "expected boards, found {}"),
            (np.array(5), "expected boards, found array(5)"),
        ],
    )
    def test_what_are_no_boards_is_seen_at_once(self, given: Any, message: str) -> None:
        with pytest.raises(InputError) as caught:
            batches_of(given)
        assert str(caught.value) == message

    @pytest.mark.parametrize("given", [[0] * 16, np.zeros(16, int), Column([0] * 16)])
    def test_the_cells_of_one_board_are_no_boards(self, given: Any) -> None:
        assert read(given) == (
            [], "board 0: expected a board as text or as rows of cells, found 0"
        )  # fmt: skip


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_comes_before_an_error_is_counted(jobs: int) -> None:
    """Of whatever kind the error is that the maker of the boards raises."""

    def made() -> Iterator[str]:
        yield from ["1....2....3....."] * 20
        raise ZeroDivisionError

    found = count_many(made(), device="cpu", jobs=jobs)
    assert [next(found).count for _ in range(20)] == [6] * 20
    with pytest.raises(ZeroDivisionError):
        next(found)


def test_a_masked_array_is_refused() -> None:
    """NumPy would show what is under the mask."""
    strings = np.ma.array(["1....2....3....."] * 3, mask=[0, 1, 0])
    integers = np.ma.array(np.zeros((3, 16), int), mask=np.ones((3, 16)))
    for masked in (strings, integers, list(integers)):
        with pytest.raises(InputError, match="masked array, expected a plain one"):
            list(count_many(masked, device="cpu"))
    with pytest.raises(InputError, match="masked array, expected a plain one"):
        count(integers[0], device="cpu")
    with pytest.raises(InputError, match="masked array, expected a plain one"):
        count(list(integers[0].reshape(4, 4)), device="cpu")
