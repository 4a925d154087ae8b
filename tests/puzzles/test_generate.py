"""Random puzzles: unique, as they were wished for, the same for a seed and a number everywhere."""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Board, Cancelled, CancelToken, GaveUp, InputError, Interrupted, generate
from gpusudoku.options import MAX_NUMBER
from gpusudoku.puzzles.generate import PuzzleOptions, Puzzles, _Patience
from tests.puzzles.oracle import counts, is_minimal
from tests.test_cancelling import Countdown
from tests.waiting import until

MOVES = {
    "rotational": lambda grid: np.rot90(grid, 2),
    "quarter-turn": np.rot90,
    "left-right": np.fliplr,
    "top-bottom": np.flipud,
    "diagonal": np.transpose,
    "antidiagonal": lambda grid: np.rot90(grid.T, 2),
}
FLOWER = """
    1.1|.1.|1.1
    .1.|1.1|.1.
    1.1|...|1.1
    ---+---+---
    .1.|1.1|.1.
    1..|.1.|..1
    .1.|1.1|.1.
    ---+---+---
    1.1|...|1.1
    .1.|1.1|.1.
    1.1|.1.|1.1
"""
FEW = "..xx....x...x.x."
"""A pattern of a few 4x4 puzzles."""


def boards(number: int, **wishes: Any) -> list[Board]:
    return [each.board for each in generate(number, **wishes)]


def test_every_puzzle_is_unique_and_minimal() -> None:
    puzzles = [*generate(300, seed=1)]
    assert is_minimal([each.board for each in puzzles])
    for number, each in enumerate(puzzles):
        assert (each.number, each.seed) == (number, 1)
        board = each.board.cells
        solution = each.solution.cells
        assert (board == solution)[board > 0].all()
    assert len({each.board for each in puzzles}) == 300
    solved = gpusudoku.solve_many([each.board for each in puzzles], device="cpu")
    assert [each.board for each in solved] == [each.solution for each in puzzles]


def test_minimal_puzzles_have_the_mean_number_of_clues_that_is_known() -> None:
    """24.40 in puzzles from random grids that lost their clues from the top down."""
    clues = np.array([each.clues for each in boards(3000, seed=2026)])
    assert abs(clues.mean() - 24.40) < 4 * clues.std() / 3000**0.5


@pytest.mark.parametrize(
    ("box", "number"), [("2x2", 60), ("2x3", 40), ("3x2", 10), ("1x5", 20), ("4x4", 3)]
)
def test_other_boxes(box: str, number: int) -> None:
    found = boards(number, box=box, seed=3)
    assert {str(each.geometry) for each in found} == {box}
    assert is_minimal(found)
    assert len({*found}) == number


@pytest.mark.parametrize("names", [*MOVES, "all", "rotational,diagonal", "left-right, top-bottom"])
def test_symmetries(names: str) -> None:
    known = [*MOVES] if names == "all" else [name.strip() for name in names.split(",")]
    for box, number in (("3x3", 12), ("2x3", 5)):
        found = boards(number, box=box, symmetry=names, seed=4)
        assert found == boards(number, box=box, symmetry=known, seed=4)
        assert counts(found) == [1] * number
        for board in found:
            clues = board.cells.reshape(board.n, board.n) > 0
            assert all((MOVES[name](clues) == clues).all() for name in known)  # type: ignore[no-untyped-call]


def test_of_symmetric_puzzles_no_clues_can_go_together() -> None:
    """Without half a turn's pair, or the cell in the middle, each has several solutions."""
    for board in boards(20, symmetry="rotational", seed=5):
        some = []
        for cell in np.flatnonzero(board.cells[:41]).tolist():
            cells = board.cells.copy()
            cells[[cell, 80 - cell]] = 0
            some.append(Board(cells, board.geometry))
        assert {*counts(some)} == {2}


@pytest.mark.parametrize(
    "wishes", [{"symmetry": "rotational"}, {"symmetry": "diagonal", "box": "2x2"}, {"pattern": FEW}]
)
def test_minimal_ones_are_minimal_whatever_else_is_wished_for(wishes: dict[str, Any]) -> None:
    found = boards(3, minimal=True, seed=6, **wishes)
    assert is_minimal(found)
    if "pattern" not in wishes:
        assert not is_minimal(boards(30, seed=6, **wishes))


def test_patterns(tmp_path: Any) -> None:
    cells = [character == "1" for character in FLOWER if character in "1."]
    path = tmp_path / "flower.txt"
    path.write_text(FLOWER)
    expected = boards(5, pattern=FLOWER, seed=7)
    assert counts(expected) == [1] * 5
    for board in expected:
        assert ((board.cells > 0) == cells).all()
    for pattern in (path, cells, np.array(cells).reshape(9, 9)):
        assert boards(5, pattern=pattern, seed=7) == expected


def test_numbers_of_clues() -> None:
    for clues, allowed in ((26, {26}), ((23, 24), {23, 24}), ([30, 30], {30}), (80, {80})):
        found = boards(10, clues=clues, seed=8)
        assert {each.clues for each in found} <= allowed
        assert counts(found) == [1] * 10
    symmetric = boards(10, clues=(28, 29), symmetry="quarter-turn", seed=8)
    assert {each.clues for each in symmetric} <= {28, 29}
    minimal = boards(3, clues=26, minimal=True, seed=8)
    assert is_minimal(minimal)
    assert {each.clues for each in minimal} == {26}


def test_levels() -> None:
    for level in ("easy", "medium", "hard", "expert", "medium,hard"):
        for each in generate(4, difficulty=level, seed=9):
            rating = gpusudoku.rate(each.board)
            assert rating.level in level.split(",")
            assert rating == (each.difficulty, each.guesses)
    assert [each.difficulty for each in generate(1, difficulty=["extreme"], seed=9)] == ["extreme"]


def test_no_two_small_puzzles_are_equal() -> None:
    found = boards(400, box="2x2", seed=10)
    assert len({*found}) == 400
    assert is_minimal(found)
    # All of one pattern that there are, although grids come again.
    grids = gpusudoku.solutions("." * 16, device="cpu")
    there_are = [
        Board(grid * np.array([cell == "x" for cell in FEW])) for grid in np.asarray(grids)
    ]
    unique = {
        each for each, number in zip(there_are, counts(there_are), strict=True) if number == 1
    }
    assert {*boards(len(unique), pattern=FEW, seed=10)} == unique
    assert len(unique) == 120


def test_it_gives_up_where_there_are_no_more() -> None:
    for jobs in (1, 3):
        found = []
        with pytest.raises(GaveUp, match=r"^gave up after 1 s .*: \d+ of 1000 found") as caught:
            found += generate(1000, pattern=FEW, seed=10, seconds=1, jobs=jobs)
        assert "120 of" in str(caught.value)
    puzzles = generate(1000, pattern=FEW, seed=10, seconds=1)
    assert [each.board for each in islice(puzzles, 120)] == boards(120, pattern=FEW, seed=10)
    with pytest.raises(GaveUp):
        next(puzzles)
    with pytest.raises(GaveUp, match="0 of 1 found"):
        boards(1, clues=(3, 3), box="2x2", seconds=0.1)


def test_before_it_gives_up_there_is_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A puzzle that is found, after one that is not, would be lost to a run that goes on."""

    class Steady:
        size = 8

        def took(self, *_: Any, **__: Any) -> None:
            """Stay as it is."""

    monkeypatch.setattr("gpusudoku.puzzles.generate.ChunkSize", lambda *_: Steady())
    for asks in (0, 6, 14, 28, 49):
        left = Countdown(asks)
        monkeypatch.setattr(
            _Patience, "cancelled", property(lambda self, left=left: left.cancelled)
        )
        found: list[int] = []
        made = generate(1000, difficulty="medium", seed=1, jobs=1)
        with pytest.raises(GaveUp, match=r": \d+ of 1000 found"):
            found.extend(each.number for each in made)
        assert found == [*range(len(found))]


WISHES: list[dict[str, Any]] = [
    {},
    {"box": "2x2"},
    {"box": "2x3", "difficulty": "easy,hard"},
    {"symmetry": "diagonal", "clues": (24, 28)},
    {"pattern": FLOWER},
    {"difficulty": "medium,expert", "clues": (24, 25)},
]


@pytest.mark.parametrize("wishes", WISHES)
def test_a_seed_gives_the_same_puzzles_however_many_and_by_any_threads(
    wishes: dict[str, Any],
) -> None:
    expected = [*generate(15, seed=11, jobs=1, **wishes)]
    assert [each.number for each in expected] == [*range(15)]
    assert [*generate(15, seed=11, jobs=3, **wishes)] == expected
    assert [*generate(7, seed=11, jobs=3, **wishes)] == expected[:7]
    assert [*islice(generate(10**9, seed=11, jobs=2, **wishes), 9)] == expected[:9]
    others = boards(15, seed=12, **wishes)
    assert others != [each.board for each in expected]


def test_a_run_that_begins_later_has_the_same_puzzles() -> None:
    for wishes in WISHES[1:4]:
        whole = [*generate(9, seed=13, **wishes)]
        for first in (1, 5):
            made = Puzzles(9, PuzzleOptions(**wishes), 13, first=first)
            assert [*made] == whole[first:]


def test_puzzles_of_a_seed_do_not_change() -> None:
    """Of the first by the oracle of test_reducing, from the first grid."""
    assert [str(each) for each in generate(2, seed=1)] == [
        "..3.4...12......5..9........8.1..5..41......87...839.......67....6.35.4...4..2..9",
        "..24..9.6...86.43......1....5.2..64...7.34.5.........9.286.....9....7..3...9.....",
    ]


def test_a_new_seed_every_time_is_told() -> None:
    one = generate(2)
    other = generate(2)
    assert one.seed != other.seed
    found = [*one]
    assert {each.seed for each in found} == {one.seed}
    assert [*generate(2, seed=one.seed)] == found
    assert one.uniform
    assert not generate(1, box="4x4").uniform


def test_blocks_have_the_same_puzzles_as_arrays() -> None:
    whole = [*generate(50, seed=14)]
    blocks = [*generate(50, seed=14).blocks()]
    assert sum(map(len, blocks)) == 50
    assert len(blocks[0].chosen(slice(1))) == 1
    cells = np.concatenate([block.puzzles for block in blocks])
    assert cells.tolist() == [each.board.cells.tolist() for each in whole]
    solutions = np.concatenate([block.solutions for block in blocks])
    assert solutions.tolist() == [each.solution.cells.tolist() for each in whole]
    assert np.concatenate([block.numbers for block in blocks]).tolist() == [*range(50)]
    assert [each for block in blocks for each in block] == whole


def test_a_puzzle_is_shown() -> None:
    [each] = generate(1, seed=1)
    assert str(each) == str(each.board)
    assert f"<div>25 clues, {each.difficulty}</div>" in each._repr_html_()
    assert [*generate(0)] == []


def test_a_token_stops_it() -> None:
    before = threading.active_count()
    for wishes in ({}, {"pattern": FEW, "seconds": 1e9}, {"difficulty": "extreme"}):
        for jobs in (1, 3):
            for asks in (0, 30):
                with pytest.raises(Cancelled):
                    boards(10**6, seed=15, jobs=jobs, cancel=Countdown(asks), **wishes)
                until(lambda: threading.active_count() <= before)
    token = CancelToken()
    found = generate(10**6, seed=15, cancel=token)
    next(found)
    token.cancel()
    with pytest.raises(Cancelled):
        next(islice(found, 10**5, None))


def test_an_interrupt_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpusudoku.puzzles.generate.reduced", interrupt)
    with pytest.raises(Interrupted, match=r"^interrupted$") as caught:
        boards(1)
    assert not isinstance(caught.value, Cancelled)


def test_errors() -> None:
    """They are raised at once."""
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"n": -1}, f"-1 puzzles: expected an integer from 0 to {MAX_NUMBER}"),
        ({"n": 1.5}, f"1.5 puzzles: expected an integer from 0 to {MAX_NUMBER}"),
        ({"n": 1 << 63}, f"{1 << 63} puzzles: expected an integer from 0 to {MAX_NUMBER}"),
        ({"seed": -1}, "seed -1: expected an integer from 0 to 2^128 - 1"),
        ({"seconds": 0}, "seconds 0: expected a number above 0"),
        ({"seconds": "x"}, "seconds 'x': expected a number above 0"),
        ({"clues": 82}, "clues 82: expected a number from 0 to 81, or the least and the most"),
        ({"clues": (30, 20)}, "clues 30-20: expected a number from 0 to 81, or the least"),
        ({"clues": (30,)}, "clues (30,): expected a number from 0 to 81, or the least"),
        ({"clues": "30"}, "clues '30': expected a number from 0 to 81, or the least"),
        ({"clues": 16}, "16 clues: no 9x9 puzzle has fewer than 17"),
        ({"symmetry": "foo"}, "unknown symmetry 'foo': expected rotational, quarter-turn,"),
        ({"symmetry": 3}, "symmetry 3: expected names, separated by commas"),
        ({"difficulty": "foo"}, "difficulty 'foo': expected easy, medium, hard, expert, extreme"),
        ({"difficulty": 3}, "difficulty 3: expected names of levels"),
        ({"pattern": "x" * 80}, "a pattern of 80 cells, expected those of a square board"),
        ({"pattern": "x" * 16, "box": "2x3"}, "a pattern of 16 cells, expected 36"),
        ({"pattern": "x" * 16, "clues": 9}, "clues and a pattern: a pattern has all clues already"),
        ({"pattern": "x" * 16, "symmetry": "all"}, "symmetry and a pattern: a pattern has all"),
        ({"pattern": "." * 18 + "x" * 63}, "no puzzle has this pattern: rows 1 and 2 are empty"),
        ({"pattern": "...xxxxxx" * 9}, "no puzzle has this pattern: columns 1 and 2 are empty"),
        ({"pattern": "x..x..x.." + ".x..x..x." + "..x..x..x" + "......x.." + "." * 45},
         "no puzzle has this pattern: rows 5 and 6 are empty"),
        ({"jobs": 0}, "jobs 0"),
        ({"box": "9x9"}, "box 9x9: 81 digits, at most 64 are supported"),
    ]  # fmt: skip
    for given, message in wrong:
        with pytest.raises(InputError) as caught:
            generate(**given)
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)
