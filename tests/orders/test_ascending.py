"""Solutions in ascending order, by the counts of prefixes: against full lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Interrupted, MismatchError, TooExpensive
from gpusudoku.options import Options
from gpusudoku.orders import ascending, counts, prefixes
from gpusudoku.orders.ascending import Ascending, Recent
from gpusudoku.orders.counts import counts_of_digits
from tests import naive
from tests.boards import puzzle, spoilt

LEAF = 5
"""Lists are so short in here that there are many."""
TOGETHER = 3
"""So few prefixes are searched for together."""


@pytest.fixture(autouse=True)
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ascending, "LEAF", LEAF)
    monkeypatch.setattr(prefixes, "FIRST_MOST", 2)
    monkeypatch.setattr(prefixes, "LAST_MOST", LEAF)
    monkeypatch.setattr(prefixes, "TOGETHER", TOGETHER)


def allowing(board: Board, seed: int) -> Board:
    """The board with candidates, of which one in ten is missing."""
    allowed = np.random.default_rng(seed).random((board.cells.size, board.n)) < 0.9
    allowed[board.cells > 0] = True
    masks = (allowed.astype(np.uint64) << np.arange(board.n, dtype=np.uint64)).sum(axis=1)
    return Board(board.cells, board.geometry, candidates=masks.astype(np.uint64))


def allowed_by(board: Board) -> Iterator[tuple[int, ...]]:
    """The solutions of a board that may carry candidates."""
    masks = board.given_candidates
    for cells in naive.solutions(Board(board.cells, board.geometry)):
        if masks is None or all(
            mask >> d - 1 & 1 for mask, d in zip(masks.tolist(), cells, strict=True)
        ):
            yield cells


def sizes_of_blocks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets the number of boards of every block that is counted from now on."""
    sizes: list[int] = []

    def count_block(block: Batch, *others: Any) -> Any:
        sizes.append(len(block))
        return original(block, *others)

    original = counts.count_block
    monkeypatch.setattr(counts, "count_block", count_block)
    return sizes


def order_of(board: Board, known: list[Any], jobs: int = 1) -> Ascending:
    return Ascending(board, Options(), CpuEngine(jobs), CpuEngine(jobs), lambda: len(known))


BOARDS = {
    "the empty 2x2": Board.empty(Geometry(2, 2)),
    "2x2": puzzle("2x2", 2, 0),
    "a Latin square": puzzle("1x4", 1, 0),
    "2x3": puzzle("2x3", 8, 0),
    "3x2": puzzle("3x2", 9, 0),
    "candidates": allowing(puzzle("2x2", 1, 0), 3),
    "one solution": puzzle("2x2", 12, 0),
    "no solution": spoilt(puzzle("2x2", 9, 1), 2),
    "a contradiction": Board([1, 1, *[0] * 14]),
}


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", BOARDS)
class TestSmall:
    def test_every_number_and_every_rank(self, name: str) -> None:
        solutions = list(allowed_by(BOARDS[name]))
        order = order_of(BOARDS[name], solutions)
        mixed = np.random.default_rng(0).permutation(len(solutions))
        assert order.at(mixed).tolist() == [list(solutions[k]) for k in mixed]
        assert order.at(mixed.astype(object)[:9]).tolist() == order.at(mixed[:9]).tolist()
        ranks = [order.rank(np.array(cells, np.uint8)) for cells in solutions]
        assert ranks == list(range(len(solutions)))

    def test_ranks_before_anything_else(self, name: str) -> None:
        solutions = list(allowed_by(BOARDS[name]))
        for number in range(0, len(solutions), 17):
            order = order_of(BOARDS[name], solutions)
            assert order.rank(np.array(solutions[number], np.uint8)) == number

    def test_runs(self, name: str) -> None:
        solutions = list(allowed_by(BOARDS[name]))
        order = order_of(BOARDS[name], solutions)
        half, end = len(solutions) // 2, len(solutions)
        for first, last in [(0, half), (1, end - 1), (half, None), (end, None), (1, 1)]:
            blocks = list(order.rows(first, last))
            assert all(0 < len(block) <= TOGETHER * LEAF for block in blocks)
            found = [tuple(row) for block in blocks for row in block.tolist()]
            assert found == (solutions[first:last] if last != -1 else [])
        text = b"".join(order.texts(half, half + 3)).decode()
        assert text.split() == ["".join(map(str, each)) for each in solutions[half : half + 3]]


@pytest.mark.parametrize("jobs", [1, 2])
def test_nine_by_nine(jobs: int) -> None:
    board = puzzle("3x3", 28, 1)
    solutions = list(naive.solutions(board))
    order = order_of(board, solutions, jobs)
    assert (np.concatenate(list(order.rows(0))) == solutions).all()
    assert (order.at(np.arange(len(solutions))) == solutions).all()
    for number in range(0, len(solutions), 10):
        assert order.rank(np.array(solutions[number], np.uint8)) == number


@pytest.mark.usefixtures("uncompiled")
def test_no_count_is_needed_to_go_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise AssertionError("counted")

    board = BOARDS["2x3"]
    order = Ascending(board, Options(), CpuEngine(1), CpuEngine(1), refuse)
    monkeypatch.setattr(ascending, "counts_of_digits", lambda *_: refuse())
    found = [tuple(row) for block in order.rows(0) for row in block.tolist()]
    assert found == list(naive.solutions(board))


class Watched:
    """Takes the place of a function: what it is called with is kept, and it may fail."""

    def __init__(self, function: Callable[..., Any], fails: list[BaseException]) -> None:
        self.function, self.fails, self.calls = function, fails, 0

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        if self.fails:
            raise self.fails.pop()
        return self.function(*arguments)


@pytest.mark.usefixtures("uncompiled")
class TestCounts:
    def test_each_is_asked_for_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        board = BOARDS["2x3"]
        solutions = list(naive.solutions(board))
        order = order_of(board, solutions)
        watched = Watched(ascending.counts_of_digits, [])
        monkeypatch.setattr(ascending, "counts_of_digits", watched)
        order.at(np.arange(len(solutions)))
        asked = watched.calls
        assert asked > 1
        order.at(np.arange(len(solutions)))
        order.rank(np.array(solutions[5], np.uint8))
        assert watched.calls == asked

    def test_what_was_interrupted_is_done_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        board = BOARDS["2x3"]
        solutions = list(naive.solutions(board))
        order = order_of(board, solutions)
        watched = Watched(counts.count_block, [Interrupted("interrupted")])
        monkeypatch.setattr(counts, "count_block", watched)
        with pytest.raises(Interrupted):
            order.at(np.arange(3))
        assert order.at(np.arange(len(solutions))).tolist() == [list(each) for each in solutions]

    def test_who_comes_later_finds_what_was_forgotten(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """After a count that failed, and after others took its place."""
        given, fails = [5, 6, 7], [Interrupted("interrupted")]

        def counts_of(*_: Any) -> Iterator[int]:
            for number in given:
                if number == 7 and fails:
                    raise fails.pop()
                yield number

        monkeypatch.setattr(ascending, "counts_of_digits", counts_of)
        monkeypatch.setattr(ascending, "KEPT_NODES", 1)
        order = order_of(BOARDS["2x3"], [])
        assert [order._count_with(b"", 18, index) for index in (0, 1)] == [5, 6]
        with pytest.raises(Interrupted):
            order._count_with(b"", 18, 2)
        assert order._count_with(b"", 18, 2) == 7
        longer = bytes(order._prefixes.digits(b"")[:1])
        assert order._count_with(longer, 18, 0) == 5
        assert order._count_with(b"", 18, 2) == 7

    @pytest.mark.parametrize("whole", [0, 73])
    def test_what_does_not_add_up(self, whole: int) -> None:
        """A 4x4 board with one clue has 72 solutions."""
        board = Board([1, *[0] * 15])
        known = counts_of_digits(board, 10, [1, 2, 3, 4], Options(), CpuEngine(1), 60, whole)
        with pytest.raises(MismatchError, match="leave no number for each of 3 digits"):
            list(known)

    def test_digits_that_are_alike_are_counted_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = sizes_of_blocks(monkeypatch)
        board = Board([1, *[0] * 15])
        known = counts_of_digits(board, 5, [1, 2, 3, 4], Options(), CpuEngine(1), 60)
        expected = [naive.count(Board([1, *[0] * 4, d, *[0] * 10])) for d in (1, 2, 3, 4)]
        assert list(known) == expected
        assert asked == [1, 1]

    @pytest.mark.parametrize("clues", [[1], [1, 0, 2], [1, 2, 3], []])
    def test_the_last_digits_have_the_rest(
        self, clues: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If all solutions are known: those that are alike are not counted, and the others are."""
        asked = sizes_of_blocks(monkeypatch)
        board = Board([*clues, *[0] * (16 - len(clues))])
        cell, digits = 5, [d for d in range(1, 5) if int(board.candidates[5]) >> d - 1 & 1]
        expected = [
            naive.count(Board([*board.cells[:cell], d, *board.cells[cell + 1 :]])) for d in digits
        ]
        options, engine, whole = Options(), CpuEngine(1), naive.count(board)
        assert [*counts_of_digits(board, cell, digits, options, engine, 60, whole)] == expected
        present = len(set(digits) & set(clues))
        kinds = present + (present < len(digits))
        assert sum(asked) == kinds - 1

    @pytest.mark.parametrize(("method", "chosen"), [("auto", "contraction"), ("search", "search")])
    def test_boards_of_nine_are_contracted_at_once(
        self, method: str, chosen: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def count_block(block: Batch, options: Options, *_: Any) -> Any:
            methods.append(options.method)
            return iter([SimpleNamespace(counts=[7])])

        methods: list[str] = []
        monkeypatch.setattr(counts, "count_block", count_block)
        board, options = Board.empty(Geometry(3, 3)), Options(method=method)
        assert [*counts_of_digits(board, 0, [1, 2], options, CpuEngine(1), 60)] == [7, 7]
        assert methods == [chosen]

    def test_candidates_tell_digits_apart(self) -> None:
        board = allowing(Board.empty(Geometry(2, 2)), 1)
        digits = [d for d in range(1, 5) if int(board.candidates[0]) >> d - 1 & 1]
        found = list(counts_of_digits(board, 0, digits, Options(), CpuEngine(1), 60))
        solutions = list(allowed_by(board))
        assert found == [sum(cells[0] == d for cells in solutions) for d in digits]
        assert sum(found) == len(solutions) > 0

    def test_too_expensive(self) -> None:
        board = Board.empty(Geometry(2, 3))
        known = counts_of_digits(board, 0, [1, 2], Options(), CpuEngine(1), 1e-9)
        with pytest.raises(TooExpensive, match=r"one of these should take about .* s$") as error:
            next(known)
        assert error.value.seconds is not None
        assert f" {error.value.seconds:.1e} s" in str(error.value)


def test_what_is_kept_is_bounded() -> None:
    made: list[bytes] = []

    def make(prefix: bytes) -> int:
        made.append(prefix)
        return len(made)

    recent = Recent[int](2)
    assert [recent.get(prefix, make) for prefix in (b"1", b"2", b"1", b"3", b"1", b"2")] == [
        1, 2, 1, 3, 1, 4,
    ]  # fmt: skip
    recent.forget(b"1")
    recent.forget(b"7")
    assert recent.get(b"1", make) == 5
    assert made == [b"1", b"2", b"3", b"2", b"1"]
