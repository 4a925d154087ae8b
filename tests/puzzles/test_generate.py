"""Random puzzles: unique, as the options demand, and determined by seed and number."""

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
from tests.puzzles.reference import counts, is_minimal
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
    return [puzzle.board for puzzle in generate(number, **wishes)]


def test_every_puzzle_is_unique_and_minimal() -> None:
    puzzles = [*generate(300, seed=1)]
    assert is_minimal([puzzle.board for puzzle in puzzles])
    for number, puzzle in enumerate(puzzles):
        assert (puzzle.number, puzzle.seed) == (number, 1)
        board = puzzle.board.cells
        solution = puzzle.solution.cells
        assert (board == solution)[board > 0].all()
    assert len({puzzle.board for puzzle in puzzles}) == 300
    solved_boards = gpusudoku.solve_many([puzzle.board for puzzle in puzzles], device="cpu")
    assert [puzzle.board for puzzle in solved_boards] == [puzzle.solution for puzzle in puzzles]


def test_minimal_puzzles_have_the_mean_number_of_clues_that_is_known() -> None:
    """It is 24.40 if clues are removed from random full grids."""
    clues = np.array([board.clues for board in boards(3000, seed=2026)])
    assert abs(clues.mean() - 24.40) < 4 * clues.std() / 3000**0.5


@pytest.mark.parametrize(
    ("box", "number"), [("2x2", 60), ("2x3", 40), ("3x2", 10), ("1x5", 20), ("4x4", 3)]
)
def test_other_boxes(box: str, number: int) -> None:
    puzzles = boards(number, box=box, seed=3)
    assert {str(puzzle.geometry) for puzzle in puzzles} == {box}
    assert is_minimal(puzzles)
    assert len({*puzzles}) == number


@pytest.mark.parametrize("names", [*MOVES, "all", "rotational,diagonal", "left-right, top-bottom"])
def test_symmetries(names: str) -> None:
    symmetries = [*MOVES] if names == "all" else [name.strip() for name in names.split(",")]
    for box, number in (("3x3", 12), ("2x3", 5)):
        puzzles = boards(number, box=box, symmetry=names, seed=4)
        assert puzzles == boards(number, box=box, symmetry=symmetries, seed=4)
        assert counts(puzzles) == [1] * number
        for board in puzzles:
            clues = board.cells.reshape(board.n, board.n) > 0
            assert all((MOVES[name](clues) == clues).all() for name in symmetries)  # type: ignore[no-untyped-call]


def test_symmetric_puzzles_lose_uniqueness_without_any_pair_of_clues() -> None:
    """Without a pair of opposite clues, or the clue in the middle, each has several solutions."""
    for board in boards(20, symmetry="rotational", seed=5):
        smaller_boards = []
        for cell in np.flatnonzero(board.cells[:41]).tolist():
            cells = board.cells.copy()
            cells[[cell, 80 - cell]] = 0
            smaller_boards.append(Board(cells, board.geometry))
        assert {*counts(smaller_boards)} == {2}


@pytest.mark.parametrize(
    "wishes", [{"symmetry": "rotational"}, {"symmetry": "diagonal", "box": "2x2"}, {"pattern": FEW}]
)
def test_minimal_puzzles_are_minimal_with_any_other_options(wishes: dict[str, Any]) -> None:
    puzzles = boards(3, minimal=True, seed=6, **wishes)
    assert is_minimal(puzzles)
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
        puzzles = boards(10, clues=clues, seed=8)
        assert {puzzle.clues for puzzle in puzzles} <= allowed
        assert counts(puzzles) == [1] * 10
    symmetric = boards(10, clues=(28, 29), symmetry="quarter-turn", seed=8)
    assert {puzzle.clues for puzzle in symmetric} <= {28, 29}
    minimal = boards(3, clues=26, minimal=True, seed=8)
    assert is_minimal(minimal)
    assert {puzzle.clues for puzzle in minimal} == {26}


def test_levels() -> None:
    for level in ("easy", "medium", "hard", "expert", "medium,hard"):
        for puzzle in generate(4, difficulty=level, seed=9):
            rating = gpusudoku.rate(puzzle.board)
            assert rating.level in level.split(",")
            assert rating == (puzzle.difficulty, puzzle.guesses)
    assert [puzzle.difficulty for puzzle in generate(1, difficulty=["extreme"], seed=9)] == [
        "extreme"
    ]


def test_no_two_small_puzzles_are_equal() -> None:
    puzzles = boards(400, box="2x2", seed=10)
    assert len({*puzzles}) == 400
    assert is_minimal(puzzles)
    # All of one pattern that there are, although grids come again.
    grids = gpusudoku.solutions("." * 16, device="cpu")
    possible = [Board(grid * np.array([cell == "x" for cell in FEW])) for grid in np.asarray(grids)]
    unique = {
        board for board, number in zip(possible, counts(possible), strict=True) if number == 1
    }
    assert {*boards(len(unique), pattern=FEW, seed=10)} == unique
    assert len(unique) == 120


def test_generate_gives_up_when_all_puzzles_were_found() -> None:
    for jobs in (1, 3):
        found_puzzles = []
        with pytest.raises(GaveUp, match=r"^gave up after 1 s .*: \d+ of 1000 found") as caught:
            found_puzzles += generate(1000, pattern=FEW, seed=10, seconds=1, jobs=jobs)
        assert "120 of" in str(caught.value)
    puzzles = generate(1000, pattern=FEW, seed=10, seconds=1)
    assert [puzzle.board for puzzle in islice(puzzles, 120)] == boards(120, pattern=FEW, seed=10)
    with pytest.raises(GaveUp):
        next(puzzles)
    with pytest.raises(GaveUp, match="0 of 1 found"):
        boards(1, clues=(3, 3), box="2x2", seconds=0.1)


def test_puzzles_before_giving_up_have_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A puzzle after a gap would be lost to a resumed run."""

    class Steady:
        size = 8

        def adapt(self, *_: Any, **__: Any) -> None:
            """Keep the size."""

    monkeypatch.setattr("gpusudoku.puzzles.generate.ChunkSize", lambda *_: Steady())
    for asks in (0, 6, 14, 28, 49):
        countdown = Countdown(asks)
        monkeypatch.setattr(
            _Patience, "cancelled", property(lambda self, countdown=countdown: countdown.cancelled)
        )
        numbers: list[int] = []
        puzzles = generate(1000, difficulty="medium", seed=1, jobs=1)
        with pytest.raises(GaveUp, match=r": \d+ of 1000 found"):
            numbers.extend(puzzle.number for puzzle in puzzles)
        assert numbers == [*range(len(numbers))]


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
    assert [puzzle.number for puzzle in expected] == [*range(15)]
    assert [*generate(15, seed=11, jobs=3, **wishes)] == expected
    assert [*generate(7, seed=11, jobs=3, **wishes)] == expected[:7]
    assert [*islice(generate(10**9, seed=11, jobs=2, **wishes), 9)] == expected[:9]
    boards_of_next_seed = boards(15, seed=12, **wishes)
    assert boards_of_next_seed != [puzzle.board for puzzle in expected]


def test_a_later_start_has_the_same_puzzles() -> None:
    for wishes in WISHES[1:4]:
        whole = [*generate(9, seed=13, **wishes)]
        for start in (1, 5):
            puzzles = Puzzles(9, PuzzleOptions(**wishes), 13, first=start)
            assert [*puzzles] == whole[start:]


def test_puzzles_of_a_seed_do_not_change() -> None:
    """The first one was checked by counting, as in test_remove_clues."""
    assert [str(puzzle) for puzzle in generate(2, seed=1)] == [
        "..3.4...12......5..9........8.1..5..41......87...839.......67....6.35.4...4..2..9",
        "..24..9.6...86.43......1....5.2..64...7.34.5.........9.286.....9....7..3...9.....",
    ]


def test_each_call_reports_a_new_seed() -> None:
    puzzles = generate(2)
    more_puzzles = generate(2)
    assert puzzles.seed != more_puzzles.seed
    puzzle_list = [*puzzles]
    assert {puzzle.seed for puzzle in puzzle_list} == {puzzles.seed}
    assert [*generate(2, seed=puzzles.seed)] == puzzle_list
    assert puzzles.uniform
    assert not generate(1, box="4x4").uniform


def test_blocks_have_the_same_puzzles_as_arrays() -> None:
    whole = [*generate(50, seed=14)]
    blocks = [*generate(50, seed=14).blocks()]
    assert sum(map(len, blocks)) == 50
    assert len(blocks[0].chosen(slice(1))) == 1
    cells = np.concatenate([block.puzzles for block in blocks])
    assert cells.tolist() == [puzzle.board.cells.tolist() for puzzle in whole]
    solutions = np.concatenate([block.solutions for block in blocks])
    assert solutions.tolist() == [puzzle.solution.cells.tolist() for puzzle in whole]
    assert np.concatenate([block.numbers for block in blocks]).tolist() == [*range(50)]
    assert [puzzle for block in blocks for puzzle in block] == whole


def test_a_puzzle_is_shown() -> None:
    [puzzle] = generate(1, seed=1)
    assert str(puzzle) == str(puzzle.board)
    assert f"<div>25 clues, {puzzle.difficulty}</div>" in puzzle._repr_html_()
    assert [*generate(0)] == []


def test_a_token_stops_it() -> None:
    threads_before = threading.active_count()
    for wishes in ({}, {"pattern": FEW, "seconds": 1e9}, {"difficulty": "extreme"}):
        for jobs in (1, 3):
            for asks in (0, 30):
                with pytest.raises(Cancelled):
                    boards(10**6, seed=15, jobs=jobs, cancel=Countdown(asks), **wishes)
                until(lambda: threading.active_count() <= threads_before)
    token = CancelToken()
    puzzles = generate(10**6, seed=15, cancel=token)
    next(puzzles)
    token.cancel()
    with pytest.raises(Cancelled):
        next(islice(puzzles, 10**5, None))


def test_an_interrupt_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpusudoku.puzzles.generate.remove_redundant_clues", interrupt)
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
        ({"clues": 82}, "clues 82: expected a number from 0 to 81, or a minimum and a maximum"),
        ({"clues": (30, 20)}, "clues 30-20: expected a number from 0 to 81, or a minimum and"),
        ({"clues": (30,)}, "clues (30,): expected a number from 0 to 81, or a minimum and"),
        ({"clues": "30"}, "clues '30': expected a number from 0 to 81, or a minimum and"),
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
    for arguments, message in wrong:
        with pytest.raises(InputError) as caught:
            generate(**arguments)
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)
