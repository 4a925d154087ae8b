"""Answers in the alphabet of the board, boards of letters alone, and the text in ``puzzle``."""

from __future__ import annotations

import csv
import io
import json
import random

import numpy as np
import pytest

import gpusudoku
from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import parse
from tests.formats.samples import BOARD, LINE, read, report, solution

ALPHABETS = {
    "figures": "123456789",
    "A-I": "ABCDEFGHI",
    "a word": "ADEGIMNRT",
    "a word with X": "ADEGINRTX",
    "figures from zero": "012345678",
    "six letters": "CEHINS",
    "1-9A-G": "123456789ABCDEFG",
    "A-P": "ABCDEFGHIJKLMNOP",
    "hexadecimal": "0123456789ABCDEF",
    "sixteen letters": "ACDEFGHIJKLMNOPQ",
    "A-Y": "ABCDEFGHIJKLMNOPQRSTUVWXY",
}
CANONICAL = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
of_alphabets = pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
pytestmark = pytest.mark.filterwarnings("ignore:0 and another sign:UserWarning")


@pytest.fixture
def file(tmp_path):
    """Write a file with a text, and return its path."""

    def write(text):
        path = tmp_path / f"file{len(list(tmp_path.iterdir()))}"
        path.write_text(text)
        return path

    return write


def in_alphabet(line: str, alphabet: str) -> str:
    """Write a canonical line in an alphabet."""
    return line.translate(str.maketrans(CANONICAL[: len(alphabet)], alphabet))


def canonical_line(n: int, seed: int = 1, holes: int = 6) -> str:
    """Make the canonical line of a board that has all digits, and empty cells."""
    cells = solution(Geometry.of_size(n)).cells.copy()
    cells[random.Random(seed).sample(range(n * n), holes)] = 0
    return "".join(f".{CANONICAL}"[cell] for cell in cells)


def rows_of(line: str, n: int) -> list[str]:
    return [line[i : i + n] for i in range(0, len(line), n)]


def column(text: str, name: str) -> list[str]:
    """Return a column of a table, or a value of JSON lines."""
    if text.startswith("{"):
        return [json.loads(line)[name] for line in text.splitlines()]
    return [row[name] for row in csv.DictReader(io.StringIO(text))]


COMMANDS = {
    "solve": ["solve", "-j", 1],
    "enumerate": ["enumerate", "-j", 1],
    "sorted": ["enumerate", "--sorted"],
    "sample": ["sample", "-n", 2, "--seed", 7],
    "nth": ["nth"],
}


@of_alphabets
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("form", ["line", "grid", "sdk", "csv", "jsonl"])
def test_answers_have_the_alphabet_of_the_board(run, file, alphabet, command, form):
    line = canonical_line(len(alphabet))
    text = in_alphabet(line, alphabet)
    name, *options = COMMANDS[command]
    numbers = [0] if command == "nth" else []
    answers = [
        run(name, *options, file(each), *numbers, "--format", form)[1] for each in (line, text)
    ]
    if form in ("csv", "jsonl"):
        board = "puzzle" if form == "csv" else "board"
        assert set(column(answers[1], board)) == {text}
        answers = ["\n".join(column(answer, "solution")) for answer in answers]
    titles = [answer.count("[Puzzle]") for answer in answers]
    before, after = (answer.replace("[Puzzle]", "") for answer in answers)
    assert titles[0] == titles[1]
    assert len(after.strip()) >= len(alphabet) ** 2
    assert in_alphabet(before, alphabet) == after


@of_alphabets
def test_forms_with_an_alphabet_of_their_own(run, file, alphabet):
    n = len(alphabet)
    board, text = map(file, (canonical_line(n), in_alphabet(canonical_line(n), alphabet)))
    for form in ("integers", "letters", *(["hex"] if n == 16 else [])):
        assert run("solve", text, "--format", form)[1] == run("solve", board, "--format", form)[1]
    for command in ("convert", "canonical"):
        assert run(command, text)[1] == run(command, board)[1]
    assert run("solve", text)[1] == run("solve", text, "--format", "pretty")[1]
    symbols = [sign for sign in run("solve", text)[1] if sign not in " =|\n"]
    assert "".join(symbols) == run("solve", text, "--format", "line")[1].strip()


def test_pretty_answers_of_numbers_are_numbers(run, file):
    line = canonical_line(16)
    numbers = " ".join(map(str, parse(line).cells.tolist()))
    out = run("solve", file(numbers))[1]
    assert "16" in out
    assert "G" not in out


@of_alphabets
def test_answers_are_solutions_of_the_board_again(run, file, alphabet):
    """Full boards, too, whose digits begin with 0."""
    path = file(in_alphabet(canonical_line(len(alphabet), holes=20), alphabet))
    answers = run("enumerate", path, "--sorted", "--limit", 3)[1]
    numbers = [str(number) for number in range(len(answers.split()))]
    assert run("nth", path, *numbers)[1] == answers
    assert run("rank", path, file(answers))[1].split() == numbers
    if "0" not in alphabet:
        assert [entry.board for entry in read(answers)] == [
            entry.board for entry in read(run("enumerate", path, "--sorted", "--limit", 3,
                                              "--format", "letters")[1])
        ]  # fmt: skip


@pytest.mark.parametrize("n", [9, 16])
@pytest.mark.parametrize("form", ["line", "csv", "grid"])
@pytest.mark.parametrize("command", ["solve", "enumerate", "sample"])
def test_every_board_of_a_batch_has_its_own(run, file, n, form, command):
    alphabets = [alphabet for alphabet in ALPHABETS.values() if len(alphabet) == n]
    lines = [canonical_line(n, seed) for seed in range(40)]
    texts = [in_alphabet(line, alphabets[seed % len(alphabets)])
             for seed, line in enumerate(lines)]  # fmt: skip
    options = ["-j", 1] if command != "sample" else ["--seed", 1]
    found = run(command, file("\n".join(texts)), "--format", form, *options)[1]
    if form == "csv":
        puzzles = column(found, "puzzle")
        answers = column(found, "solution")
        assert list(dict.fromkeys(puzzles)) == texts
    else:
        answers = [
            "".join(grid.split()) for grid in found.split("\n\n" if form == "grid" else "\n")
        ]
        answers = list(filter(None, answers))
        puzzles = texts
    assert len(answers) == len(puzzles)
    for puzzle, answer in zip(puzzles, answers, strict=True):
        assert all(sign in (".", own) for sign, own in zip(puzzle, answer, strict=True))


def test_counts_do_not_depend_on_the_alphabet(run, file):
    for alphabet in ALPHABETS.values():
        line = canonical_line(len(alphabet), holes=len(alphabet) * 2)
        assert run("count", file(in_alphabet(line, alphabet)))[1] == run("count", file(line))[1]


ZEROS = LINE.replace(".", "0")
WORD = in_alphabet(LINE, "ADEGIMNRT")
PUZZLES = {
    "zeros": (ZEROS, ZEROS),
    "several signs": (LINE.replace(".", "*", 9), LINE.replace(".", "*", 9)),
    "x": (LINE.replace(".", "x"), LINE.replace(".", "x")),
    "small letters": (WORD.lower(), WORD.lower()),
    "small letters and x": (WORD.lower().replace(".", "x"), WORD.lower().replace(".", "x")),
    "quotes": (f'"{ZEROS}",', ZEROS),
    "a count behind it": (f"{ZEROS}:1", ZEROS),
    "blanks between cells": (" ".join(ZEROS), ZEROS),
    "a grid": ("\n".join(rows_of(ZEROS, 9)), ZEROS),
    "a grid of a word": ("\n".join(rows_of(WORD, 9)), WORD),
    "a field": (f"name,puzzle\nx,{ZEROS}", ZEROS),
    "a value": (json.dumps({"puzzle": ZEROS}), ZEROS),
    "a list": (json.dumps(BOARD.grid.tolist()), ZEROS),
    "nothing in empty cells": ("\n".join(map(",".join, rows_of(LINE, 9))).replace(".", ""), LINE),
    "numbers of two figures": (" ".join(f"0{cell}" for cell in ZEROS), LINE),
    "candidates": ("".join(f"{{{c if c != '.' else '123456789'}}}" for c in LINE), LINE),
}


@pytest.mark.parametrize(("text", "puzzle"), PUZZLES.values(), ids=PUZZLES)
def test_the_column_puzzle_has_the_characters_of_the_input(run, file, text, puzzle):
    assert column(run("count", file(text), "--format", "csv")[1], "puzzle") == [puzzle]
    assert column(run("count", file(text), "--json")[1], "board") == [puzzle]
    if not text.startswith("{"):
        three = "\n\n".join([text] * 3) if "\n" in text and "," not in text else text
        found = column(run("solve", file(three), "--format", "csv")[1], "puzzle")
        assert set(found) == {puzzle}


def test_the_column_puzzle_of_boards_that_are_read_together(run, file):
    texts = [canonical_line(9, seed).replace(".", "0.*"[seed % 3]) for seed in range(300)]
    for lines in (texts, ["puzzle,id", *(f"{text},7" for text in texts)]):
        out = run("count", file("\n".join(lines)), "--format", "csv")[1]
        assert column(out, "puzzle") == texts


GRIDS = rows_of(WORD, 9)
WORDS = {
    "a line": WORD,
    "lines": f"{WORD}\n" * 40,
    "a grid": "\n".join(GRIDS),
    "grids": "\n\n".join(["\n".join(GRIDS)] * 3),
    "blanks between cells": "\n".join(map(" ".join, GRIDS)),
    "commas": "\n".join(map(",".join, GRIDS)),
    "a spreadsheet": "\n".join(map(",".join, GRIDS)).replace(".", ""),
    "bars": "\n".join(f"|{row[:3]}|{row[3:6]}|{row[6:]}|" for row in GRIDS),
    "titles": "\n".join(["Hard", *GRIDS, "", "Diabolical puzzle", "", *GRIDS]),
    "titles like rows": "\n".join(["Difficult", "", *GRIDS, "Difficile", *GRIDS]),
    "a table": f"id,puzzle\n1,{WORD}\n2,{WORD}",
    "a table without a header": f"{WORD},{in_alphabet(str(solution(BOARD.geometry)), 'ADEGIMNRT')}",
    "rows of a table without a header": f"{WORD};easy\n{WORD};hard\n",
    "an object": json.dumps({"puzzle": WORD}),
    "an object with rows": json.dumps({"puzzle": GRIDS}),
    "a list": json.dumps([[sign.strip(".") for sign in row] for row in GRIDS]),
    "underscores": WORD.replace(".", "_"),
    "zeros": WORD.replace(".", "0"),
    "small letters": WORD.lower(),
}


@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_nine_letters_are_digits_in_alphabetical_order(text):
    entries = read(text)
    assert {entry.board for entry in entries} == {BOARD}
    assert len(entries) == max(1, text.count(WORD), text.count("\n".join(GRIDS)))


def test_some_of_the_first_letters_are_enough():
    for letters in ("A", "AEI", "I", "ABCDEFGH"):
        board = parse("".join(letters[i // 10] if i % 10 == 0 and i // 10 < len(letters) else "."
                              for i in range(81)))  # fmt: skip
        assert [int(d) for d in board.cells if d] == [ord(letter) - 64 for letter in letters]


REFUSED = {
    "eight letters of a word": (WORD.replace("A", "D", 99), "only letters, expected 9 different"),
    "ten letters": (WORD.replace("A", "Z", 1), "only letters, expected 9 different ones, or some"),
    "letters and a figure": (WORD.replace("A", "1", 1), "which is digit 1"),
    "letters, zeros and dots": (WORD.replace(".", "0", 3), "only letters, expected 9 different"),
    "one letter among figures": (LINE.replace("5", "A", 1), "holds 'A', which is digit 10"),
    "x beside dots": (LINE.replace(".", "x", 3), "holds 'x', which is digit 33"),
    "sixteen cells": ("ABCD............", "holds 'A', which is digit 10, expected 1 to 4"),
    "a letter too many": ("".join(map(chr, range(65, 82))) + "." * 239, "which is digit 17"),
    "17 letters": ("CDEFGHIJKLMNOPQRS" + "." * 239, "expected 1 to 16"),
    "letters A-P and a figure": ("1ABCDEFGHIJKLMNOP" + "." * 239, "expected 1 to 16"),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_letters_that_are_refused(text, expected):
    [error] = report(text)
    assert expected in error


@pytest.mark.parametrize("lost", range(10))
@pytest.mark.parametrize("row", ["ADEGIMNRT", "TRAMADEMG", "AEG.IM.RT"])
def test_no_row_of_letters_passes_for_a_title(lost, row):
    """Grids without a gap, a row too much, or one lost: they are refused as those of figures."""
    grid = [*GRIDS[:4], row, *GRIDS[5:]]
    for rows in (
        [row, *GRIDS],
        [*GRIDS, row],
        [row, row, *grid],
        ["Title", *grid[:lost], *grid[lost + 1 :], *grid],
        [*grid[:lost], *grid[lost + 1 :], *grid, *grid],
        [row, "", *grid],
    ):
        if lost == 9 and rows[0] != row:
            continue  # none is lost
        assert not any(line.startswith("board") for line in report("\n".join(rows)))


def test_rows_of_sixteen_letters_are_no_small_boards():
    """A grid of 16 rows that lost one is refused, and not read as boards of 4 digits."""
    rows = rows_of(canonical_line(16, holes=40), 16)
    assert all("board" not in line for line in report("\n".join(rows[:15])))
    few = ["ABCD............", *["................"] * 14]
    assert "board 1" not in report("\n".join(few))


AMBIGUOUS = {
    "A-G alone stay 10 to 16": ("ABCDEFG", 16, [10, 11, 12, 13, 14, 15, 16]),
    "H makes it A-P": ("ABCDEFH", 16, [1, 2, 3, 4, 5, 6, 8]),
    "a figure makes it 1-9A-G": ("1BCDEFG", 16, [1, 11, 12, 13, 14, 15, 16]),
    "A-F and zero": ("0BCDEFA", 16, [1, 12, 13, 14, 15, 16, 11]),
    "hexadecimal without 0 is 1-9A-G": ("9ABCDEF", 16, [9, 10, 11, 12, 13, 14, 15]),
    "zero and G": ("0BCDEFG", 16, [11, 12, 13, 14, 15, 16]),
    "A-P alone stay 10 to 25": ("ACEGIKP", 25, [10, 12, 14, 16, 18, 20, 25]),
    "Q makes it A-Y": ("ACEGIKQ", 25, [1, 3, 5, 7, 9, 11, 17]),
    "letters of a word are named in order": ("ZACEGIKMNOPQRSTU", 16, [16, *range(1, 16)]),
}


@pytest.mark.parametrize(("signs", "n", "digits"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_texts_that_could_be_of_two_alphabets(signs, n, digits):
    text = "".join(signs[i // (n + 1)] if i % (n + 1) == 0 and i // (n + 1) < len(signs) else "."
                   for i in range(n * n))  # fmt: skip
    for form in (text, text.lower(), "\n".join(rows_of(text, n))):
        [entry] = read(form)
        assert [int(digit) for digit in entry.board.cells if digit] == digits


@pytest.mark.parametrize("sign", [".", "0", "_", "x"])
@pytest.mark.parametrize("n", [6, 9, 16])
def test_answers_keep_the_symbols_of_the_clues(run, file, n, sign):
    """Whatever a text with few clues is read as: it is refused, or its answer has its symbols."""
    draw = random.Random(f"{n}{sign}")
    full = solution(Geometry.of_size(n)).cells
    answered = 0
    texts = []
    for _ in range(150):
        pool = draw.choice([CANONICAL[:n], f"0{CANONICAL}"[:n], CANONICAL[9:], CANONICAL[9:][:n]])
        alphabet = draw.sample(pool, n) if draw.random() < 0.5 else pool[:n]
        digits = draw.sample(range(1, n + 1), draw.randint(1, n))
        clues = np.isin(full, digits) & (np.array([draw.random() for _ in full]) < 0.7)
        texts.append("".join(alphabet[digit - 1] if is_clue else sign
                             for digit, is_clue in zip(full, clues, strict=True)))  # fmt: skip
    out = run("solve", file("\n".join(texts)), "--keep-going", "--first", "-q", "-j", 1)[1]
    for text, answer in zip(texts, out.split("\n"), strict=False):
        if answer:
            answered += 1
            assert set(answer) <= set(CANONICAL + "0")
            assert len(set(answer)) == n
            empty = {sign, sign.upper()}
            assert all(clue in empty or clue == own for clue, own in zip(text, answer, strict=True))
    assert answered > 30 or (sign == "x" and n > 9)


def test_x_is_empty_unless_it_is_one_of_nine_letters():
    word = "ADEGINRTX"
    full = in_alphabet(str(solution(BOARD.geometry)), word)
    assert read(full)[0].board == solution(BOARD.geometry)
    assert read(in_alphabet(LINE, word))[0].board == BOARD
    assert read(in_alphabet(LINE, "ABCDEFGHI").replace(".", "x"))[0].board == BOARD
    assert read(WORD.replace(".", "x"))[0].board == BOARD
    assert parse("x" * 81).empty_cells == 81


def test_boards_in_python_have_digits():
    assert str(parse(WORD)) == LINE
    assert str(gpusudoku.solve(WORD).board) == str(gpusudoku.solve(LINE).board)


def test_a_run_goes_on_in_its_alphabet(run, file, tmp_path):
    line = canonical_line(9, holes=20)
    text = in_alphabet(line, "ADEGIMNRT")
    path = file(text)
    saved = tmp_path / "run"
    out = tmp_path / "solutions"
    arguments = ["--checkpoint", saved, "-o", out]
    assert run("enumerate", path, *arguments)[0] == 0
    found = out.read_text()
    assert found == run("enumerate", path)[1]
    assert run("resume", saved)[0] == 0
    assert out.read_text() == found
    status, _, err = run("enumerate", file(line), *arguments)
    assert status == 2
    assert "other" in err
    parts = [tmp_path / f"part{i}" for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        sample = ["sample", path, "-n", 4, "--seed", 1]
        assert run(*sample, "--part", f"{i}/2", "-o", part)[0] == 0
    assert run("merge", *parts)[1] == run(*sample)[1]
    count = ["count", path, "--format", "csv"]
    records = [file(run("count", path, "--part", f"{i}/2", "--format", "csv")[1]) for i in (1, 2)]
    assert run("merge", *records)[1] == run(*count)[1]
