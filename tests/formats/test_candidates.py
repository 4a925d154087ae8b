"""Boards that are given by the candidates of every cell."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku import collection, count, count_many, simplify
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import parse, read_text
from tests import naive
from tests.formats.samples import read, solution


def characters_of(masks: list[int], n: int, struck: str = ".") -> str:
    """Write a character for every candidate."""
    digits = "123456789ABCDEFG"
    return "".join(digits[d] if mask >> d & 1 else struck for mask in masks for d in range(n))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1..." + "1234" * 15, 72),
        ("1000" + "1234" * 15, 72),
        ("1234" * 16, 288),
        ("123456789" * 81, 6670903752021072936960),
        ("." * 64, 29136487207403520),
        ("1..." * 2 + "1234" * 14, 0),
    ],
)
def test_a_character_for_every_candidate(text: str, expected: int) -> None:
    """Every digit at its own place; a line of signs for empty is the larger board."""
    assert count(text, device="cpu") == expected
    assert [result.count for result in count_many([text] * 3, device="cpu")] == [expected] * 3


@pytest.mark.parametrize("shape", ["2x2", "2x3", "2x4", "3x3", "2x5", "4x4"])
def test_random_candidates(shape: str) -> None:
    """In one line among others, and in braces; masks that the clues exclude anyway are dropped."""
    geometry = Geometry.parse(shape)
    n = geometry.n
    full = solution(geometry)
    rng = np.random.default_rng(geometry.cells)
    masks = rng.integers(1, 1 << n, geometry.cells).astype(np.uint64)
    masks[:n] |= np.uint64(3)
    masks |= np.uint64(1) << (full.cells.astype(np.uint64) - np.uint64(1))
    board = parse(characters_of(masks.tolist(), n))
    assert board.given_candidates is not None
    assert np.array_equal(board.given_candidates, masks)
    line = characters_of(masks.tolist(), n, "0")
    assert [entry.board for entry in read(f"{line}\n{board}\n{line}\n")] == [board] * 3
    assert [entry.board for entry in read(f"id,puzzle\n1,{line}\n2,{board}\n")] == [board] * 2
    if n == 4:
        assert count(board, device="cpu") == naive.count(board)
    allowed = np.full(geometry.cells, geometry.all_digits)
    allowed[0] = 1
    assert parse(characters_of(allowed.tolist(), n)) == Board([1] + [0] * (n * n - 1), geometry)


def test_a_larger_board_of_the_same_length() -> None:
    """If its clues agree it is the larger one; the shape of the boxes decides in any case."""
    eight = Geometry(2, 4)
    four = Geometry(2, 2)
    text = "1..." + "." * 60
    assert parse(text).geometry == eight
    assert parse(text, four).geometry == four
    assert parse("1234" * 16, eight).n == 8
    assert parse("1" + "." * 728).n == 27
    assert [entry.board.n for entry in read(f"{text}\n{'1234' * 16}\n{'.' * 64}\n")] == [8, 4, 8]
    with pytest.raises(InputError, match=r"are ambiguous: give box=\"2x4\" for a board of 8x8 or"):
        parse("1..." * 8 + "." * 32)


def test_the_string_of_the_definition() -> None:
    """The example of SudokuWiki's page, in which clues have more bits than their own."""
    text = (
        "vu4804032o1508g080030k10o888882647046888g06828060k10029k260b90478go003g0g95090b0b6a2c0"
        "0g0bcg038ga8g9ao1506601oh847063a2ag288gg8g0626c082c2k20b159818920k9ag9462044"
    )
    board = parse(text)
    assert board.candidate_counts[0] > 1
    assert str(board).startswith("{123456789}{37}{2}{1}{346}{25}{3}{9}{8}")
    assert count(text, device="cpu") == 1
    assert parse(text.upper()) == board


def test_candidates_that_are_a_clue() -> None:
    """A cell with one candidate is filled."""
    line = str(collection.load("2b"))
    groups = "".join(f"{{{'123456789' if cell == '.' else cell}}}" for cell in line)
    assert parse(groups) == collection.load("2b")


def test_one_cell_with_two_digits_is_an_error() -> None:
    """Its neighbours have one digit each: one too many was typed."""
    rows = [" ".join(map(str, row)) for row in solution(Geometry(3, 3)).grid.tolist()]
    rows[8] = rows[8][:-1] + "98"
    with pytest.raises(InputError, match="r9c9 holds '98', expected a number from 0 to 9"):
        parse("\n".join(rows))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[["{a}", "{sa}"]]', [6]),
        ('[["{sa}", "{a}"], ["{b}", "{sb}"]]', [6, 6]),
        ('[["{a}", "{sa}"], ["{b}"]]', [6, 6]),
        ('[["{a}", "{b}"], ["{b}", "{a}"]]', [6, 6, 6, 6]),
        ('[["{a}", "{a}"]]', [6, 6]),
        ('[["{sa}", "{sb}"]]', [1, 1]),
        ('["{a}", "{sa}"]', [6, 1]),
        ('[["{sa}", "{sa}"], ["{sa}", "{sb}"]]', [1, 1, 1]),
    ],
)
def test_pairs_of_puzzles_and_solutions(text: str, expected: list[int]) -> None:
    a, b = "1....2....3.....", ".4......2....1.."
    names = {"a": a, "b": b, "sa": "1342421324313124", "sb": "2431132442133142"}
    for name, board in names.items():
        text = text.replace(f"{{{name}}}", board)
    assert [result.count for result in count_many(list(read_text(text)), device="cpu")] == expected


@pytest.mark.parametrize("text", ['[["{a}", "1342"], ["{a}"]]', '[["1....", "1342421324313124"]]'])
def test_a_damaged_pair_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match=r"cells make no board|a board of 2 rows"):
        list(read_text(text.replace("{a}", "1....2....3.....")))


def test_a_wrong_place_with_a_box_is_named() -> None:
    line = "123456789" * 80 + "123456798"
    with pytest.raises(InputError, match=r"'9' among the candidates of r9c9, expected 8 or a sign"):
        parse(line, Geometry(3, 3))
    with pytest.raises(InputError, match=r"'9' among the candidates of r9c9, expected 8 or a sign"):
        parse(line)
    board = solution(Geometry(2, 4))  # one of 8x8 cells may have four digits in 32 of them
    few = Board(board.cells * (board.cells <= 4))
    assert parse(str(few)) == few
    assert [entry.board for entry in read(f"{few}\n" * 20)] == [few] * 20


def test_simplified_boards_keep_their_candidates() -> None:
    board = parse("12.." + "1234" * 15)
    assert count(simplify(board).board, device="cpu") == count(board, device="cpu") == 144
