"""Minimal puzzles: one solution, every clue necessary, the same for a seed everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusudoku import (
    BadBoard,
    Board,
    Cancelled,
    CancelToken,
    Geometry,
    InputError,
    Interrupted,
    minimise,
    minimise_many,
    minimize,
)
from tests import naive
from tests.boards import LINE_4X4, NONE, UNIQUE, full_grid
from tests.puzzles.reference import is_minimal
from tests.test_cancelling import Countdown, moments

NINE = "154239867296178345783564291935647128618925734472381956867493512549712683321856479"
KNOWN = "1.....86..9....3...8.56........4..2.6....5...4...81.568..493.....9.12..........7."
"""Computed by counting, as in test_remove_clues, with seed 7."""


def full(shape: str, seed: int) -> Board:
    geometry = Geometry.parse(shape)
    return Board(full_grid(geometry, seed), geometry)


def without(board: Board, *removed_cells: int) -> Board:
    """Return the board without the clues of some cells."""
    cells = board.cells.copy()
    cells[list(removed_cells)] = 0
    return Board(cells, board.geometry)


def test_minimize_is_another_spelling() -> None:
    assert minimize is minimise


@pytest.mark.parametrize("shape", ["1x1", "2x2", "1x4", "4x1", "2x3"])
@pytest.mark.usefixtures("uncompiled")
def test_no_remaining_clue_is_redundant(shape: str) -> None:
    for seed in range(2):
        board = full(shape, seed)
        result = minimise(board, seed=seed)
        assert result.board == without(board, *result.removed)
        assert list(result.removed) == sorted(result.removed)
        assert (result.puzzle, result.solution, result.seed) == (board, board, seed)
        assert naive.count(result.board) == 1
        for cell in np.flatnonzero(result.board.cells).tolist():
            assert naive.count(without(result.board, cell), limit=2) == 2
        repeated = minimise(result.board, seed=seed + 1)
        assert (repeated.board, repeated.removed, repeated.solution) == (result.board, (), board)


@pytest.mark.parametrize("shape", ["3x3", "4x4"])
def test_every_clue_of_a_larger_puzzle_is_necessary(shape: str) -> None:
    board = full(shape, 1)
    result = minimise(board, seed=3)
    clue_cells = np.flatnonzero(result.board.cells).tolist()
    assert sorted([*clue_cells, *result.removed]) == [*range(board.geometry.cells)]
    assert is_minimal([result.board])


def test_a_seed_gives_the_same_puzzle_on_any_machine() -> None:
    assert str(minimise(NINE, seed=7).board) == KNOWN
    results = [minimise(NINE, seed=8), minimise(NINE), minimise(NINE)]
    assert len({KNOWN, *(str(result.board) for result in results)}) == 4
    assert minimise(NINE, seed=results[1].seed) == results[1]  # a new seed is told
    assert str(minimise(NINE, seed=(1 << 128) - 1).board) != KNOWN


def test_a_batch_has_the_results_of_single_boards() -> None:
    """They do not depend on threads, nor on other boards of the batch."""
    boards = [full(shape, seed) for seed in range(30) for shape in ("3x3", "2x2")]
    expected = [minimise(board, seed=5) for board in boards]
    for jobs in (1, 3):
        assert [*minimise_many(boards, seed=5, jobs=jobs)] == expected
        turned = minimise_many(boards[::-1], seed=5, jobs=jobs)
        assert [*turned] == expected[::-1]
    results = [*minimise_many(boards[:2])]
    assert results == [*minimise_many(boards[:2], seed=results[0].seed)]  # type: ignore[union-attr]


def test_a_small_list_stays_as_it_is(tmp_path: Path) -> None:
    grids = np.array([full_grid(Geometry(3, 3), seed).ravel() for seed in range(200)])
    minimal = [result.board for result in minimise_many(list(grids), seed=1)]  # type: ignore[union-attr]
    assert is_minimal(minimal)
    path = tmp_path / "minimal.txt"
    path.write_text("".join(f"{board}\n" for board in minimal))
    for source in (minimal, path):
        results = [*minimise_many(source, seed=2)]
        assert [result.board for result in results] == minimal  # type: ignore[union-attr]
        assert not any(result.removed for result in results)  # type: ignore[union-attr]


def test_clues_that_are_kept() -> None:
    board = full("3x3", 2)
    pattern = np.zeros(81, np.bool_)
    pattern[[0, 40, 80]] = True
    text = "".join("x" if is_kept else "." for is_kept in pattern)
    expected = minimise(board, seed=1, keep=[0, 40, 80])
    for keep in ("r1c1,r5c5,r9c9", "R1C1 r5c5 r9c9", text, (np.int64(80), 40, 0)):
        assert minimise(board, seed=1, keep=keep) == expected
        assert [*minimise_many([board], seed=1, keep=keep)] == [expected]
    assert expected.board.cells[pattern].all()
    assert is_minimal([expected.board], fixed=pattern)
    assert minimise(board, keep=range(81)).removed == ()
    # An empty cell may be among them.
    puzzle = minimise(board, seed=1).board
    assert minimise(puzzle, seed=1, keep=range(81)).board == puzzle


@pytest.mark.usefixtures("uncompiled")
def test_given_candidates_stay() -> None:
    """Only a cell whose clue is removed may have any digit."""
    masks = np.full(16, 15, np.uint64)
    masks[[3, 12]] = 0b1000, 0b1000
    cells = [1, 2, 3, 0, 3, 4, 1, 2, 2, 1, 4, 3, 0, 3, 2, 1]
    result = minimise(Board(cells, candidates=masks), seed=0)
    given_masks = result.board.given_candidates
    assert given_masks is not None
    assert given_masks[[3, 12]].tolist() == [8, 8]
    assert all(given_masks[cell] == 15 for cell in result.removed)
    assert naive.count(result.board) == 1
    assert naive.count(without(result.board), limit=2) == 2  # they are needed
    assert str(result.solution) == "1234341221434321"


@pytest.mark.usefixtures("uncompiled")
def test_errors() -> None:
    several_solutions = "the board has several solutions, expected exactly one"
    board: Any
    for board, options, message in (
        ("." * 16, {}, several_solutions),
        ("12..3..4........", {}, "the board has no solution, expected exactly one"),
        ("1234341221434312", {}, "the board has no solution, expected exactly one"),
        ([1, 2], {}, "2 cells do not make a square board"),
        (UNIQUE, {"seed": 1 << 128}, "seed "),
        (UNIQUE, {"seed": "7"}, "seed '7': expected an integer from 0 to 2^128 - 1"),
        (UNIQUE, {"keep": [16]}, "keep 16: expected cells from 0 to 15"),
        (UNIQUE, {"keep": [True]}, "keep True: expected cells from 0 to 15"),
        (UNIQUE, {"keep": "r1c1,r0c1"}, "keep 'r0c1': expected cells from r1c1 to r4c4"),
        (
            UNIQUE,
            {"keep": "x" * 15},
            "keep 'xxxxxxxxxxxxxxx': expected cells such as r1c1,r5c5, or a pattern of 16 cells",
        ),
    ):
        with pytest.raises(InputError) as caught:
            minimise(board, **options)
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)
    for options in ({"seed": -1}, {"jobs": 0}, {"on_error": "x"}):
        with pytest.raises(InputError):
            minimise_many([UNIQUE], **options)
    with pytest.raises(InputError, match="keep 16"):
        next(minimise_many([UNIQUE], keep=[16]))


@pytest.mark.usefixtures("uncompiled")
def test_bad_boards_among_many() -> None:
    boards = [UNIQUE, "12", LINE_4X4, NONE, UNIQUE]
    results = [*minimise_many(boards, seed=1, on_error="record")]
    assert results[0] == results[4] == minimise(UNIQUE, seed=1)
    bad = {result.index: str(result.error) for result in results if isinstance(result, BadBoard)}
    assert [*bad] == [1, 2, 3]
    assert bad[2] == "the board has several solutions, expected exactly one"
    assert bad[3] == "the board has no solution, expected exactly one"
    rows = minimise_many(boards, seed=1)
    assert next(rows) == results[0]
    with pytest.raises(InputError, match="2 cells"):
        next(rows)
    with pytest.raises(InputError, match=r"^board 1: the board has several solutions"):
        [*minimise_many([UNIQUE, LINE_4X4])]


CALLS: dict[str, Callable[..., Any]] = {
    "minimise": lambda **options: minimise(full("2x2", 0), seed=1, **options),
    "many": lambda **options: [*minimise_many([full("2x2", 0)] * 12, seed=1, jobs=3, **options)],
}


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_token_stops_it_at_any_moment(call: Callable[..., Any]) -> None:
    cancelled = 0
    expected = call()
    for token in moments():
        try:
            assert call(cancel=token) == expected
        except Cancelled:
            cancelled += 1
    assert cancelled > 3
    with pytest.raises(Cancelled), Countdown(1):
        call()


@pytest.mark.usefixtures("uncompiled")
def test_a_token_stops_it_where_it_would_take_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpusudoku.puzzles.remove_clues.CALL_SECONDS", 0.0)
    board = full("5x5", 0)
    for call in (
        lambda token: minimise(board, seed=0, cancel=token),
        lambda token: [*minimise_many([board], seed=0, cancel=token)],
    ):
        with pytest.raises(Cancelled):
            call(Countdown(20))


@pytest.mark.usefixtures("uncompiled")
def test_an_interrupt_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def boards() -> Iterator[Board]:
        yield full("2x2", 0)
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"^interrupted$") as caught:
        [*minimise_many(boards(), jobs=1)]
    assert not isinstance(caught.value, Cancelled)
    monkeypatch.setattr("gpusudoku.puzzles.minimise.remove_redundant_clues", interrupt)
    with pytest.raises(Interrupted, match=r"^interrupted$") as caught:
        minimise(full("2x2", 0))
    assert not isinstance(caught.value, Cancelled)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        minimise(full("2x2", 0), cancel=token)


@pytest.mark.usefixtures("uncompiled")
def test_repr_html_and_dict() -> None:
    board = full("2x2", 0)
    result = minimise(board, seed=1 << 100)
    clue_count = result.board.clues
    words = f"{clue_count} of 16 clues left, with seed {1 << 100}"
    assert repr(result) == f"<Minimised: {words}>"
    assert f"<div>{words}</div>" in result._repr_html_()
    assert result.as_dict() == {
        "puzzle": str(board),
        "board": str(result.board),
        "box": "2x2",
        "clues": clue_count,
        "removed": list(result.removed),
        "solution": str(board),
        "seed": str(1 << 100),
    }
    assert json.loads(json.dumps(result.as_dict())) == result.as_dict()
