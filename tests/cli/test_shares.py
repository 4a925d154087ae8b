"""``shares``, run in this process: its forms against full lists, colours, figures, bad input."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from functools import partial

import numpy as np
import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.places import Origin, Places
from gpusudoku.cli import share_forms, share_text
from gpusudoku.errors import TooExpensive
from gpusudoku.formats import parse
from gpusudoku.orders import many
from gpusudoku.orders.choose import Orders
from tests import naive
from tests.boards import LINE_4X4, PUZZLE
from tests.cli.counted import FORCED_4X4, NONE_4X4, counted

BOARDS = [LINE_4X4, FORCED_4X4, "." * 16, PUZZLE]

pytestmark = pytest.mark.usefixtures("uncompiled")


def shown(text):
    """The percentages and marks of a grid of 4x4 cells: for every cell its words."""
    lines = text.splitlines()
    return [
        " ".join(lines[top + i][left : left + 5] for i in (0, 1)).split()
        for top in (2, 5, 8, 11)
        for left in (2, 10, 18, 26)
    ]


class TestJson:
    @pytest.mark.parametrize("text", BOARDS)
    def test_numbers_are_those_of_a_full_list(self, run, file, text):
        status, out, _ = run("shares", file(text), "--json")
        record, shares = json.loads(out), counted(parse(text))
        assert status == 0
        assert record["shares"] == [[str(share) for share in row] for row in shares]
        assert record["count"] == str(shares[0].sum())
        assert (record["board"], record["line"]) == (text, 1)

    def test_batch_by_default(self, run, file):
        path = file(f"level,puzzle\neasy,{LINE_4X4}\nwrong,{NONE_4X4}\n", "puzzles.csv")
        status, out, err = run("shares", path)
        first, second = map(json.loads, out.splitlines())
        assert status == 0
        assert list(first) == ["board", "box", "count", "shares", "source", "line", "columns"]
        assert (first["source"], first["line"], first["columns"]) == (
            str(path), 2, {"level": "easy"},
        )  # fmt: skip
        assert (second["count"], second["shares"]) == ("0", [["0"] * 4] * 16)
        assert err.count("\n") == 1
        assert err.endswith("puzzles.csv:3: r1c1 and r1c2 both hold 1: no solution\n")

    def test_boards_of_the_program_have_no_line(self, run):
        record = json.loads(run("shares", "@box1x1-full", "--json")[1])
        assert (record["source"], record["line"], record["shares"]) == (
            "@box1x1-full",
            None,
            [["1"]],
        )


class TestCsv:
    def test_a_record_a_cell(self, run, file):
        path = file(f"{LINE_4X4}\n{FORCED_4X4}\n")
        rows = list(csv.DictReader(io.StringIO(run("shares", path, "--format", "csv")[1])))
        assert list(rows[0]) == [
            *("source", "line", "row", "column", "clue", "count"),
            *("d1", "d2", "d3", "d4"),
        ]
        boards = [parse(LINE_4X4), parse(FORCED_4X4)]
        shares = np.concatenate([counted(board) for board in boards])
        assert [[row[f"d{digit}"] for digit in range(1, 5)] for row in rows] == [
            [str(share) for share in row] for row in shares
        ]
        assert [row["line"] for row in rows] == ["1"] * 16 + ["2"] * 16
        assert {row["source"] for row in rows} == {str(path)}
        assert "".join(row["clue"] or "." for row in rows) == LINE_4X4 + FORCED_4X4
        places = [(int(row["row"]), int(row["column"])) for row in rows[16:]]
        assert places == [(i, j) for i in range(1, 5) for j in range(1, 5)]
        assert all(sum(int(row[f"d{d}"]) for d in range(1, 5)) == int(row["count"]) for row in rows)

    def test_names_are_quoted(self, run, file):
        path = file(LINE_4X4, 'a,"b.txt')
        rows = list(csv.reader(io.StringIO(run("shares", path, "--format", "csv")[1])))
        assert {row[0] for row in rows[1:]} == {str(path)}
        assert {len(row) for row in rows} == {10}

    def test_boards_of_other_sizes_do_not_fit(self, run, file):
        path = file(f"{LINE_4X4}\n{PUZZLE}\n")
        status, out, err = run("shares", path, "--format", "csv")
        assert (status, out.count("\n")) == (2, 17)
        assert "board.txt:2: has 9 digits, but the boards before it have 4" in err


class TestText:
    @pytest.mark.parametrize("text", [LINE_4X4, FORCED_4X4, "." * 16])
    def test_every_share_is_there(self, run, file, text):
        status, out, _ = run("shares", file(text))
        board = parse(text)
        shares = counted(board)
        count = shares[0].sum()
        assert status == 0
        assert out.startswith(f"{count} solutions\n")
        assert out.endswith("   (4) in all   4 a clue\n")  # digits that the board has
        for cell, words in enumerate(shown(out)):
            [best] = [d + 1 for d in range(4) if shares[cell, d] == count] or [None]
            if board.cells[cell]:
                assert words == [str(board.cells[cell])]
            elif best:
                assert words == [f"({best})"]
            else:
                candidates = int(board.candidates[cell])
                assert words == [
                    str(100 * share // count) if share else "x" if candidates >> d & 1 else "."
                    for d, share in enumerate(shares[cell])
                ]

    def test_fits_on_a_terminal(self, run, file):
        board = PUZZLE.replace("8", ".").replace("2", ".")
        out = run("shares", file(board))[1]
        assert max(map(len, out.splitlines())) <= 100
        assert len(out.splitlines()) < 48
        assert out.isascii()

    @pytest.mark.parametrize(
        ("share", "expected"),
        [(1, "<1"), (10**28 - 1, "<1"), (10**28, "1"), (5 * 10**29, "50"), (10**30 - 1, "99")],
    )
    def test_some_are_neither_none_nor_all(self, share, expected):
        assert share_forms.percent(share, 10**30) == expected

    def test_what_is_the_same_in_all(self, run, file):
        out = run("shares", file(PUZZLE))[1]
        solution = next(naive.solutions(parse(PUZZLE)))
        assert out.startswith("1 solution\n")
        digits = re.findall(r"\((\d)\)|(\d)", "".join(out.splitlines()[2:-2]))
        assert [int(found or clue) for found, clue in digits] == list(solution)
        assert "".join(clue or "." for _, clue in digits) == PUZZLE

    def test_large_boards_have_a_line_for_each_open_cell(self):
        board = parse("." * 256)
        shares = np.zeros((256, 16), object)
        shares[:, 0] = 7
        shares[1, :3] = 1, 4, 2
        lines = share_text.Text(True, False).text(share_forms.Shares(batch(board), shares))
        *_, legend, last = lines.decode().splitlines()
        assert legend.startswith("(5) in all solutions, 5 a clue, * differs.")
        none = " ".join(map(str, range(4, 17)))
        assert last == f"r1c2    2: 57 %, 3: 28 %, 1: 14 %; in none: {none}"

    @pytest.mark.parametrize(("text", "first"), [(NONE_4X4, "no solution"), ("1", "1 solution")])
    def test_the_least_of_all(self, run, file, text, first):
        name = file(text) if len(text) > 1 else "@box1x1-full"
        status, out, err = run("shares", name)
        assert (status, out.splitlines()[0]) == (0, first)
        assert ("r1c1 and r1c2 both hold 1: no solution" in err) == (first == "no solution")

    def test_batch(self, run, file):
        path = file(f"{LINE_4X4}\n{NONE_4X4}\n")
        out = run("shares", path, "--format", "text")[1]
        assert out.startswith(f"{path}:1: 6 solutions\n =")
        assert out.endswith(f"\n\n{path}:2: no solution\n\n")


class TestColours:
    def test_are_never_in_pipes_or_files_unasked(self, run, file, tmp_path):
        path, output = file(LINE_4X4), tmp_path / "shares.txt"
        plain = run("shares", path)[1]
        assert "\x1b" not in plain
        assert run("shares", path, "-o", output, "--color", "always")[0] == 0
        assert output.read_text() == plain
        coloured = run("shares", path, "--color", "always")[1]
        assert coloured.count("\x1b[") > 50
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
        assert "\x1b" not in run("shares", path, "--color", "always", "--json")[1]

    def test_on_a_terminal(self, run, file, monkeypatch):
        path = file(LINE_4X4)
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert "\x1b[" in run("shares", path)[1]
        assert "\x1b[" not in run("shares", path, "--color", "never")[1]
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b[" not in run("shares", path)[1]

    def test_larger_shares_are_darker(self):
        text = share_text.Text(True, True)
        shades = [text._shaded("", share, 100) for share in (0, 5, 20, 99)]
        assert len(set(shades)) == 4


class TestHalving:
    def test_the_nearest_come_first(self, run, file):
        out = run("shares", file(FORCED_4X4), "--halving", 3)[1]
        shares = counted(parse(FORCED_4X4))
        count = shares[0].sum()
        order = sorted(
            (abs(2 * share - count), cell, digit)
            for (cell, digit), share in np.ndenumerate(shares)
            if 0 < share < count
        )
        head, names, *rows = out.splitlines()
        assert head == f"{count} solutions"
        assert names.split() == ["cell", "digit", "solutions", "share"]
        assert [row.split()[:3] for row in rows] == [
            [f"r{cell // 4 + 1}c{cell % 4 + 1}", str(digit + 1), str(shares[cell, digit])]
            for _, cell, digit in order[:3]
        ]

    def test_nothing_to_halve(self, run, file):
        assert run("shares", file(PUZZLE), "--halving", 3)[:2] == (0, "1 solution\n")

    def test_is_a_text(self, run, file):
        status, out, err = run("shares", file(PUZZLE), "--halving", 3, "--json")
        assert (status, out) == (2, "")
        assert err == "gpusudoku: --halving 3: lists placements as a text, not as jsonl\n"


def fail(error: BaseException, orders: Orders) -> None:
    raise error


class TestFailures:
    def test_bad_boards_of_a_batch(self, run, file):
        path = file(f"{LINE_4X4}\n1..5....2....3..\n{FORCED_4X4}\n")
        status, out, err = run("shares", path)
        assert (status, len(out.splitlines()), err.count("\n")) == (2, 1, 1)
        status, out, err = run("shares", path, "--keep-going")
        assert [json.loads(line)["line"] for line in out.splitlines()] == [1, 3]
        assert (status, err.count("board.txt:2")) == (2, 1)

    @pytest.mark.parametrize("single", [True, False])
    def test_too_expensive(self, run, file, monkeypatch, single):
        """The others are given all the same."""
        error = TooExpensive("too expensive: it has too many solutions")
        monkeypatch.setattr(Orders, "shares", property(partial(fail, error)))
        others = [LINE_4X4, FORCED_4X4] * (not single)
        status, out, err = run("shares", file("\n".join(["." * 16, *others, ""])))
        assert (status, len(out.splitlines())) == (1, len(others))
        assert err.count("\n") == 1
        assert err.endswith("board.txt:1: too expensive: it has too many solutions\n")

    @pytest.mark.parametrize("form", ["jsonl", "csv"])
    def test_ctrl_c_leaves_whole_boards(self, run, file, monkeypatch, form):
        monkeypatch.setattr(Orders, "shares", property(partial(fail, KeyboardInterrupt())))
        monkeypatch.setattr(many, "BLOCK_BOARDS", 1)
        path = file(f"{LINE_4X4}\n{FORCED_4X4}\n{'.' * 16}\n{LINE_4X4}\n")
        _, out, err = run("shares", path, "--format", form)
        assert out.endswith("\n")
        assert len(out.splitlines()) == (2 if form == "jsonl" else 33)
        assert err == "gpusudoku: interrupted: 2 boards done\n"

    def test_json_and_another_form(self, run, file):
        status, _, err = run("shares", file(LINE_4X4), "--json", "--format", "csv")
        assert status == 2
        assert "--json is --format jsonl, but --format csv is given, too" in err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("shares @box2x2-f", "plain,@box2x2-few"),
        ("shares @1a --plot sha", "file,sha"),
        ("shares @1a -o sha", "file,sha"),
        ("shares --format j", "plain,jsonl"),
        ("shares --color al", "plain,always"),
    ],
)
def test_completion(run, monkeypatch, line, expected):
    monkeypatch.setenv("_GPUSUDOKU_COMPLETE", "fish_complete")
    monkeypatch.setenv("COMP_WORDS", f"gpusudoku {line}")
    monkeypatch.setenv("COMP_CWORD", line.split()[-1])
    assert run()[1].partition("\t")[0].strip() == expected


def batch(board):
    """A batch of one board."""
    return Batch(board.geometry, board.cells[None], places=Places.of(Origin("<here>"), [1]))


@pytest.mark.parametrize("more", [[], ["--part", "1/2"]])
def test_a_bad_board_alone(run, file, more):
    status, out, err = run("shares", file("z" * 81), "--keep-going", *more)
    assert (status, out, err.count("\n")) == (2, "", 1)
