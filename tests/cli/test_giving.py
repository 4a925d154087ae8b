"""Boards as arguments and from standard input."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from gpusudoku.cli.options import Reading
from gpusudoku.cli.source import Source
from tests.boards import LINE_4X4, PUZZLE


@pytest.mark.parametrize(
    "text",
    [
        LINE_4X4,
        " ".join(LINE_4X4.replace(".", "0")),
        PUZZLE.replace(".", "0"),
        "1... .2.. ..3. ....",
        "1...\n.2..\n..3.\n....\n",
        "[[1,0,0,0],[0,2,0,0],[0,0,3,0],[0,0,0,0]]",
        f'"{LINE_4X4}"',
        f"{LINE_4X4};name",
    ],
)
def test_a_board_as_an_argument(run, text):
    board = PUZZLE if len(text) > 80 else LINE_4X4
    assert run("convert", text) == (0, f"{board}\n", "")


def test_several_boards_as_arguments(run):
    assert run("convert", LINE_4X4, PUZZLE) == (0, f"{LINE_4X4}\n{PUZZLE}\n", "")


def test_the_shape_of_its_boxes(run):
    assert run("info", "." * 36, "--box", "3x2", "--json")[1].count('"box": "3x2"') == 1


def test_a_file_of_that_name_wins_and_is_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(LINE_4X4).write_text(LINE_4X4[::-1])
    status, out, err = run("convert", LINE_4X4)
    assert (status, out) == (0, f"{LINE_4X4[::-1]}\n")
    assert err == f"gpusudoku: '{LINE_4X4}': there is a file of this name, which is read\n"


def test_a_board_that_starts_with_a_dash(run):
    board = "-" + LINE_4X4[1:]
    status, out, err = run("convert", board)
    assert (status, out) == (2, "")
    assert "a board that begins with - comes after --" in err
    assert len(err.splitlines()) == 1
    assert run("convert", "--", board) == (0, f".{LINE_4X4[1:]}\n", "")
    assert "comes after" not in run("convert", "--nonsense", LINE_4X4)[2]


LETTERS = "EC..G...." + "." * 72


def test_letters_that_are_no_board_have_the_reason_that_a_file_would_get(run, file):
    reason = "1:1: r1c1 holds 'E', which is digit 14, expected 1 to 9"
    assert reason in run("count", file(LETTERS))[2]
    status, out, err = run("count", LETTERS)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "no file" in err
    assert reason in err
    assert f"did you mean 'count {LETTERS[:20]}" in run(LETTERS)[2]


def test_the_name_of_a_board_without_its_sign(run):
    assert run("count", "empty") == (
        2,
        "",
        "gpusudoku: empty: no such file: did you mean @empty?\n",
    )


DATED = (
    "2024-01-01-12-30",
    "2024_01_01_12_30",
    "2024.01.01.12.30",
    "2024 01 01 12 30 11 22",
    "0123012301230123",
)
"""Names that would do for the cells of a 4x4 board."""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing.txt", "nothing.txt: no such file, and no board"),
        ("no\x1bthing", "no\\x1bthing: no such file, and no board"),
        ("1", "1: no such file, and no board"),
        ("x" * 5000 + "y", "no file 'xxx"),
        (PUZZLE[1:], f"no file '{PUZZLE[1:40]}…', and no board: <argument>:1: 80 cells make no"),
        ("boards/" + "a" * 5000, "'boards/aaa"),
        ("1...\n.2..", "no file '1...\\n.2..', and no board: <argument>:1: 2 rows of 4 cells"),
        *((name, f"{name!r}: no such file, and if it is a board, put a blank") for name in DATED),
        ("", "'': no such file, and no board"),
        ("a\0b", "a\\x00b: no such file, and no board"),
    ],
)
def test_what_is_neither_file_nor_board(run, text, message):
    status, out, err = run("convert", text)
    assert (status, out) == (2, "")
    assert err.startswith(f"gpusudoku: {message}")
    assert len(err) < 250
    assert err.rstrip("\n").isprintable()


def test_a_source_of_one_board():
    source = Source([LINE_4X4], Reading(None, False))
    assert [str(board) for board in source] == [LINE_4X4]
    assert source.single


def test_a_column(run, file):
    path = file(f"a,b\n{LINE_4X4},{LINE_4X4[::-1]}\n")
    assert run("convert", path, "--column", "b") == (0, f"{LINE_4X4[::-1]}\n", "")
    status, out, err = run("convert", path)
    assert (status, out) == (2, "")
    assert "--column NAME" in err


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


def test_a_terminal_is_told_what_is_expected(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO(LINE_4X4.encode())))
    prompt = "gpusudoku: reading boards from the terminal; end with Ctrl-D\n"
    assert run("convert", "-") == (0, f"{LINE_4X4}\n", prompt)


def test_closed_standard_input(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    message = "gpusudoku: <stdin>: standard input is closed, expected boards\n"
    assert run("convert", "-") == (2, "", message)


def test_the_share_of_what_was_read(file):
    path = str(file(f"{LINE_4X4}\n" * 100_000))
    source = Source([path, LINE_4X4, "@2f"], Reading(None, False))
    shares = [source.share for _ in source.batches()]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 1 == shares[-1]
    assert Source([LINE_4X4], Reading(None, False)).share is None
