"""Solutions by number, in both orders, compared to the naive list."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku import Geometry
from gpusudoku.board.board import Board
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.enumeration import in_memory, solution_set
from gpusudoku.enumeration.contraction_order import GeneralIndex, NineIndex, contraction_for_order
from gpusudoku.enumeration.in_memory import InMemoryIndex
from gpusudoku.errors import MismatchError, TooExpensive
from tests.boards import puzzle, stream_solutions, with_wrong_clue
from tests.enumeration.short import (
    naive_solutions,
    short_blocks,
    short_lists,
    short_parts,
    solution_set_of,
)


def allowing(board: Board, seed: int) -> Board:
    """Return the board with candidates, one in ten of which is missing."""
    allowed = np.random.default_rng(seed).random((board.cells.size, board.n)) < 0.9
    allowed[board.cells > 0] = True
    masks = (allowed.astype(np.uint64) << np.arange(board.n, dtype=np.uint64)).sum(axis=1)
    return Board(board.cells, board.geometry, candidates=masks.astype(np.uint64))


BOARDS = {
    "the empty 2x2": Board.empty(Geometry(2, 2)),
    "2x2": puzzle("2x2", 2, 0),
    "a Latin square": puzzle("1x4", 1, 0),
    "2x3": puzzle("2x3", 9, 0),
    "3x2": puzzle("3x2", 10, 0),
    "candidates": allowing(puzzle("2x2", 1, 0), 3),
    "one solution": puzzle("2x2", 12, 0),
    "full": puzzle("2x2", 16, 0),
    "no solution": with_wrong_clue(puzzle("2x2", 9, 1), 2),
    "a contradiction": Board([1, 1, *[0] * 14]),
}
SIX = BOARDS["2x3"]
NINE = puzzle("3x3", 29, 3)


def keys(rows: NDArray[np.uint8]) -> list[bytes]:
    return [row.tobytes() for row in rows]


def lines(rows: NDArray[np.uint8]) -> list[str]:
    return ["".join(map(str, row)) for row in rows.tolist()]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    short_lists(monkeypatch)
    short_blocks(monkeypatch)


def check_ascending(board: Board, jobs: int = 1) -> None:
    """Compare every number, rank and run of the ascending order with the list."""
    rows = naive_solutions(board)
    count = len(rows)
    order = solution_set_of(board, jobs).ascending
    mixed = np.random.default_rng(0).permutation(count)
    assert (order.at(mixed) == rows[mixed]).all()
    assert (order.at(mixed.astype(object)[:9]) == rows[mixed[:9]]).all()
    assert [order.rank(row) for row in rows] == list(range(count))
    for number in range(0, count, count // 3 + 1):  # before anything else is known
        assert solution_set_of(board, jobs).ascending.rank(rows[number]) == number
    half = count // 2
    for start, end in [(0, None), (0, half), (half, None), (1, count - 1), (count, None), (1, 1)]:
        blocks = list(solution_set_of(board, jobs).ascending.rows(start, end))
        assert all(0 < len(block) <= 15 for block in blocks)
        expected = rows[start : None if end is None else max(end, 0)]
        assert (np.concatenate([rows[:0], *blocks]) == expected).all()
    assert b"".join(order.texts(half, half + 3)).decode().split() == lines(rows[half : half + 3])


def check_contraction_order(board: Board) -> None:
    """Compare the contraction order with the list, with several threads, and in parts."""
    rows = naive_solutions(board)
    order = solution_set_of(board, 2).contraction_order
    count = len(rows)
    assert order.count == count
    ordered = np.concatenate([rows[:0], *order.rows(0)])
    assert sorted(keys(ordered)) == keys(rows)
    mixed = np.random.default_rng(0).permutation(count)
    assert (order.at(mixed) == ordered[mixed]).all()
    for start, end in pairwise(count * part // 4 for part in range(5)):
        blocks = list(order.rows(start, end))
        assert (np.concatenate([rows[:0], *blocks]) == ordered[start:end]).all()
    assert b"".join(order.texts(1, 4)).decode().split() == lines(ordered[1:4])
    copy = pickle.loads(pickle.dumps(solution_set_of(board, 1))).contraction_order
    assert (np.concatenate([rows[:0], *copy.rows(0)]) == ordered).all()


@pytest.mark.usefixtures("short", "uncompiled")
@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_small_boards(board: Board) -> None:
    check_ascending(board)
    check_contraction_order(board)


@pytest.mark.usefixtures("short")
def test_nine_by_nine() -> None:
    check_ascending(NINE, jobs=2)
    check_contraction_order(NINE)
    board_with_candidates = Board(
        NINE.cells, candidates=[0b111111110, *[511] * 80]
    )  # is only searched
    rows = naive_solutions(NINE)
    order = solution_set_of(board_with_candidates).contraction_order
    assert (np.concatenate(list(order.rows(0))) == rows[rows[:, 0] != 1]).all()


def test_lists_of_the_usual_length() -> None:
    """In both orders, an InMemoryIndex has its solutions in ascending order."""
    for board in (SIX, NINE):
        rows = naive_solutions(board)
        order = solution_set_of(board).contraction_order
        assert isinstance(order, InMemoryIndex)
        assert (np.concatenate(list(order.rows(0))) == rows).all()
        order.at(np.arange(3))[:] = 0  # what is given can be changed
        next(order.rows(0))[:] = 0
        assert (order.at(np.arange(len(rows))) == rows).all()


@pytest.mark.usefixtures("short", "uncompiled")
def test_a_contraction_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    short_parts(monkeypatch)
    parts = Parts(SIX, 1 << 28, TooExpensive("too expensive to contract: said for a test"))
    assert len(list(parts.joins())) > 3
    monkeypatch.setattr(
        "gpusudoku.enumeration.contraction_order.contraction_for_order", lambda board: parts
    )
    check_contraction_order(SIX)


@pytest.mark.usefixtures("short", "uncompiled")
def test_without_a_contraction_the_order_is_ascending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "gpusudoku.enumeration.contraction_order.contraction_for_order", lambda board: None
    )
    rows = naive_solutions(SIX)
    assert (np.concatenate(list(solution_set_of(SIX).contraction_order.rows(0))) == rows).all()


@pytest.mark.usefixtures("short", "uncompiled")
def test_forgotten_counts_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpusudoku.enumeration.lexicographic.KEPT_NODES", 1)
    monkeypatch.setattr("gpusudoku.enumeration.lexicographic.KEPT_LEAVES", 1)
    board = BOARDS["2x2"]
    rows = naive_solutions(board)
    order = solution_set_of(board).ascending
    for number in np.random.default_rng(1).permutation(len(rows)).tolist():
        assert (order.at(np.array([number])) == rows[number]).all()
        assert order.rank(rows[-1 - number]) == len(rows) - 1 - number


def test_the_number_of_solutions_alone_decides_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not matter whether the number was known before."""
    for name in ("SEARCHED_FIRST", "SEARCHED_BEFORE_LOADING"):
        monkeypatch.setattr(f"gpusudoku.enumeration.solution_set.{name}", 5)
    for max_in_memory, kind in [
        (len(naive_solutions(NINE)), InMemoryIndex),
        (len(naive_solutions(NINE)) - 1, NineIndex),
    ]:
        monkeypatch.setattr("gpusudoku.enumeration.solution_set.IN_MEMORY_NINE", max_in_memory)
        for is_known in (False, True):
            solution_set = solution_set_of(NINE)
            assert not is_known or solution_set.count == len(naive_solutions(NINE))
            assert type(solution_set.contraction_order) is kind


def test_which_boards_have_a_contraction_for_the_order() -> None:
    assert contraction_for_order(Board.empty(Geometry(2, 3))) is not None
    assert contraction_for_order(Board.empty(Geometry(3, 3))) is None
    assert contraction_for_order(Board([0] * 16, candidates=[15] * 15 + [7])) is None


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("board", "kind"), [(SIX, GeneralIndex), (NINE, NineIndex)])
def test_another_count_is_a_mismatch(board: Board, kind: type) -> None:
    count = len(naive_solutions(board))
    order = solution_set_of(board, count=count).contraction_order
    assert isinstance(order, kind)
    assert order.count == count
    with pytest.raises(MismatchError, match=f"has {count} solutions, not {count + 1}: "):
        _ = solution_set_of(board, count=count + 1).contraction_order


@pytest.mark.parametrize("attribute", ["contraction_order", "shares"])
def test_a_huge_board_is_refused_in_one_line(
    attribute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No endless work is begun."""
    monkeypatch.setattr("gpusudoku.enumeration.solution_set.SEARCH_SECONDS", 1e-9)
    with pytest.raises(TooExpensive, match=r"^too expensive: .*take about"):
        getattr(solution_set_of(Board.empty(Geometry(4, 4))), attribute)


def test_large_boards_are_kept_in_bounds() -> None:
    assert (
        solution_set.max_in_memory(Geometry(3, 3))
        == solution_set.max_in_memory(Geometry(4, 4))
        == 1 << 20
    )
    assert solution_set.max_in_memory(Geometry(8, 8)) == 1 << 16


@pytest.mark.parametrize("shape", ["1x1", "3x3", "6x6"])
def test_rows_that_differ_in_any_one_cell_are_sorted(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for small in (0, 1 << 20):
        monkeypatch.setattr(in_memory, "COMPARED_ROWS", small)
        cells = Geometry.parse(shape).cells
        rows = np.tile(np.arange(cells, dtype=np.uint8) % 9 + 1, (cells, 1))
        np.fill_diagonal(rows, 10)
        rows = np.array(sorted(rows.tolist()), np.uint8)
        mixed = np.random.default_rng(0).permutation(rows)
        assert (in_memory.sort_rows(mixed) == rows).all()
        assert len(in_memory.sort_rows(rows[:0])) == 0


@pytest.mark.slow
def test_a_full_list_of_thirty_thousand() -> None:
    """Every number and every rank, in both orders."""
    board = puzzle("3x3", 24, 3)
    rows = np.array(sorted(stream_solutions(board, device="cpu")), np.uint8)
    assert len(rows) == 30_014
    solution_set = solution_set_of(board, 2)
    assert (np.concatenate(list(solution_set.contraction_order.rows(0))) == rows).all()
    order = solution_set.ascending
    mixed = np.random.default_rng(0).permutation(len(rows))
    assert (order.at(mixed) == rows[mixed]).all()
    assert [order.rank(row) for row in rows] == list(range(len(rows)))
    assert (solution_set.shares == InMemoryIndex(rows, 9).shares()).all()
