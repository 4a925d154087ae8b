"""``canonical`` and ``isomorphic``: forms, bad boards, the first of each class."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from gpusudoku import Board, Geometry
from tests.boards import PUZZLE, UNIQUE
from tests.puzzles.symmetries import arranged, least, twin

BAD = "11.............."
"""Equal digits in a row."""
FULL = "1234341221434321"
FACTS = ["canonical", "automorphisms", "transposed", "rows", "columns", "digits"]


def text(lines):
    return "".join(f"{line}\n" for line in lines)


def board_of(line):
    return Board([int(sign) for sign in line.replace(".", "0")])


def numbers(value):
    """Read a list of numbers, as a line, a table or JSON has it."""
    return [int(number) for number in (value.split(",") if isinstance(value, str) else value)]


def led(line, transposed, rows, columns, digits):
    """Return the text of a board after a transformation whose numbers are from 1."""
    order = [[number - 1 for number in numbers(lines)] for lines in (rows, columns)]
    cells = arranged(board_of(line), (transposed, *order))
    return "".join(map(str, np.array([0, *numbers(digits)])[cells])).replace("0", ".")


@pytest.fixture
def boards(file):
    """Make a file of 9x9 boards of three classes, and their lines."""
    rng = np.random.default_rng(0)
    sources = [PUZZLE, PUZZLE[:80] + ".", "." * 27 + PUZZLE[27:]]
    lines = [str(twin(board_of(source), rng)) for _ in range(4) for source in sources]
    return file(text(lines), "boards.txt"), lines


def test_a_line_for_every_board(run, boards):
    path, lines = boards
    expected = text(least(board_of(line)).board for line in lines)
    for jobs in (1, 3):
        status, out, _ = run("canonical", path, "-j", jobs)
        assert (status, out) == (0, expected)
    assert run("canonical", lines[0])[:2] == (0, expected[:82])


def test_symmetries_and_the_way_are_fields_of_the_line(run, boards):
    path, lines = boards
    for options in (), ("--automorphisms",), ("--map",), ("--automorphisms", "--map"):
        status, out, _ = run("canonical", path, *options)
        assert status == 0
        for line, answer in zip(lines, out.splitlines(), strict=True):
            form, *fields = answer.split(" ")
            expected = least(board_of(line))
            assert form == str(expected.board)
            if "--automorphisms" in options:
                assert int(fields.pop(0)) == expected.automorphisms
            if "--map" in options:
                transposed = {"yes": True, "no": False}[fields.pop(0)]
                assert led(line, transposed, *fields) == form
                fields = []
            assert fields == []


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_records(run, boards, form):
    path, lines = boards
    status, out, _ = run("canonical", path, "--automorphisms", "--map", "--format", form)
    assert status == 0
    if form == "jsonl":
        rows = [json.loads(line) for line in out.splitlines()]
    else:
        rows = [*csv.DictReader(io.StringIO(out), delimiter="," if form == "csv" else "\t")]
    for line, row in zip(lines, rows, strict=True):
        assert [name for name in row if name in FACTS] == FACTS
        expected = least(board_of(line))
        assert row["canonical"] == str(expected.board)
        assert int(row["automorphisms"]) == expected.automorphisms
        transposed = {"true": True, "false": False}[str(row["transposed"]).lower()]
        facts = [row[name] for name in FACTS[3:]]
        if form == "jsonl":
            facts = [",".join(map(str, numbers_of_line)) for numbers_of_line in facts]
        facts.insert(0, transposed)
        assert led(line, *facts) == row["canonical"]


def test_the_first_of_each_class(run, boards, file):
    path, lines = boards
    forms = [str(least(board_of(line)).board) for line in lines]
    distinct_forms = [*dict.fromkeys(forms)]
    assert len(distinct_forms) == 3
    for jobs in (1, 3):
        status, out, _ = run("canonical", path, "--dedupe", "-j", jobs)
        assert (status, out) == (0, text(distinct_forms))
    rows = [*csv.DictReader(io.StringIO(run("canonical", path, "--dedupe", "--format", "csv")[1]))]
    assert [row["canonical"] for row in rows] == distinct_forms
    assert [int(row["line"]) for row in rows] == [forms.index(form) + 1 for form in distinct_forms]
    # Classes are those of all boards together.
    reversed_path = file(text(lines[::-1]), "again.txt")
    assert run("canonical", path, reversed_path, "--dedupe")[:2] == (0, text(distinct_forms))


def test_a_shape_of_boxes(run):
    board = Board([1, 2, *[0] * 33, 1], Geometry(3, 2))
    expected = least(board)
    status, out, _ = run("canonical", str(board), "--box", "3x2", "--automorphisms")
    assert (status, out) == (0, f"{expected.board} {expected.automorphisms}\n")


def test_a_file(run, boards, tmp_path):
    path, lines = boards
    out = tmp_path / "forms.txt"
    assert run("canonical", path, "-o", out)[:2] == (0, "")
    assert out.read_text() == text(least(board_of(line)).board for line in lines)
    status, _, err = run("canonical", path, "-o", out)
    assert status == 2
    assert "forms.txt" in err


@pytest.mark.parametrize("bad", ["no board", "15.............."])
def test_a_bad_board_ends_it(run, file, bad):
    path = file(text([UNIQUE, bad, UNIQUE]), "bad.txt")
    status, out, err = run("canonical", path)
    assert (status, out) == (2, text([least(board_of(UNIQUE)).board]))
    assert err.startswith("gpusudoku: ")
    assert "bad.txt:2" in err
    status, out, err = run("canonical", file(f"{bad}\n", "one.txt"))
    assert (status, out) == (2, "")
    assert "one.txt" in err


def test_clues_that_contradict_each_other(run, file):
    form = str(least(board_of(UNIQUE)).board)
    status, out, err = run("canonical", file(text([UNIQUE, BAD, UNIQUE]), "bad.txt"))
    assert (status, out) == (1, f"{form}\n\n{form}\n")
    assert "bad.txt:2: clues contradict each other: " in err
    status, out, err = run("canonical", file(f"{BAD}\n", "one.txt"))
    assert (status, out) == (1, "")
    assert "one.txt" in err


def test_bad_boards_are_empty_lines(run, file):
    form = str(least(board_of(UNIQUE)).board)
    path = file(text([UNIQUE, BAD, "no board", FULL, UNIQUE]), "bad.txt")
    status, out, err = run("canonical", path, "--keep-going")
    assert (status, out.splitlines()) == (2, [form, "", "", FULL, form])
    assert err.index("bad.txt:2") >= 0
    assert err.index("bad.txt:3") >= 0
    status, out, _ = run("canonical", path, "--keep-going", "--format", "csv")
    rows = [*csv.DictReader(io.StringIO(out))]
    assert (status, [row["canonical"] for row in rows]) == (2, [form, "", "", FULL, form])
    assert [bool(row["error"]) for row in rows] == [False, True, True, False, False]
    status, out, _ = run("canonical", path, "--keep-going", "--format", "jsonl")
    objects = [json.loads(line) for line in out.splitlines()]
    assert (status, [row["error"] > "" for row in objects]) == (
        2,
        [False, True, True, False, False],
    )
    assert objects[3]["canonical"] == FULL


@pytest.mark.parametrize("number", [20, 3000])
def test_boards_of_many_blocks(run, file, number):
    """Among many, in their order, some of which are bad."""
    rng = np.random.default_rng(1)
    source = board_of(PUZZLE)
    form = str(least(source).board)
    lines = [str(twin(source, rng)) if i % 7 else "11" + "." * 79 for i in range(number)]
    path = file(text(lines), "many.txt")
    status, out, err = run("canonical", path, "--keep-going", "-j", 3)
    assert (status, out) == (1, text(form if i % 7 else "" for i in range(number)))
    assert [i for i in range(0, number, 7) if f"many.txt:{i + 1}:" not in err] == []


def test_equivalent_boards(run, file):
    rng = np.random.default_rng(2)
    equivalent = str(twin(board_of(PUZZLE), rng))
    assert run("isomorphic", PUZZLE, equivalent)[:2] == (0, "yes\n")
    assert run("isomorphic", file(PUZZLE), equivalent)[:2] == (0, "yes\n")
    clue = next(cell for cell, sign in enumerate(equivalent) if sign != ".")
    fewer = equivalent[:clue] + "." + equivalent[clue + 1 :]
    assert run("isomorphic", PUZZLE, fewer)[1] == "no\n"
    good = file(UNIQUE, "good.txt")
    bad = file(BAD, "bad.txt")
    for pair in ([good, bad], [bad, good]):
        status, out, err = run("isomorphic", *pair)
        assert (status, out) == (2, "")
        assert "both hold 1" in err
