"""Names, values and bytes that nobody would give: one printable line on stderr, and status 2."""

from __future__ import annotations

import io
import os
import socket
import sys
import threading
from itertools import cycle
from pathlib import Path

import pytest

from tests.boards import LINE_4X4

ODD = "a\x1b[31mred\nb\x07\u202e"
"""What a terminal would obey."""
LONG = "x" * 5000
NAMES = [
    "/dev/null", "/dev/zero", "/dev/full", "socket", "folder", "loop", "dangling", "f/g", "",
    " ", "@", "@" + ODD, "@" + LONG, LONG, "a/" * 3000, ODD, "no" + ODD, ODD * 100, "\x00",
    os.fsdecode(b"\xff\xfe"), os.fsdecode(b"no\xff"), "\x7f", "a\u2028b",
]  # fmt: skip
PLACES = ["folder", "socket", "loop", "no/file", "good/", ODD + "/x", LONG, "/dev/full"]
VALUES = {
    "--box": [ODD, LONG, "1x999999999", "9" * 5000 + "x1", "-1x3", "0x0"],
    "--column": [ODD, LONG, os.fsdecode(b"\xff")],
    "--limit": [ODD, "9" * 5000, "1e400", "-1"],
    "--cutoff": [ODD, "1e400", "nan", "0"],
    "--jobs": [ODD, "9" * 5000],
    "--gpu": [ODD, "9" * 5000, "1," * 3000],
    "--memory": [ODD, "9" * 5000, "1e9"],
    "--propagate": [ODD, LONG, "," * 5000],
    "--method": [ODD, LONG],
    "--format": [ODD],
}


@pytest.fixture
def things(tmp_path, monkeypatch):
    """Make a folder of things that are no files, or have odd names."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        Path("folder").mkdir()
        Path("loop").symlink_to("pool")
        Path("pool").symlink_to("loop")
        Path("dangling").symlink_to("nothing")
        Path("good").write_text(f"{LINE_4X4}\n")
        Path(ODD).write_text("1.2\n")
        Path(os.fsdecode(b"\xff\xfe")).write_text("1.2\n")
        yield


def is_printable(*texts):
    return all(line.isprintable() for text in texts for line in text.split("\n"))


def check(result, statuses=(2,)):
    """Assert that a command refused something in one printable line."""
    status, _, err = result
    assert status in statuses
    assert err.startswith("gpusudoku: ")
    assert err.count("\n") == 1
    assert is_printable(err)
    assert len(err) < 5200


@pytest.mark.parametrize("command", ["count", "convert"])
def test_names_of_boards(run, things, command):
    for name in NAMES:
        check(run(command, name))


@pytest.mark.parametrize("words", ["convert -o", "enumerate -o", "count --log", "shares --plot"])
def test_places_to_write(run, things, words):
    command, option = words.split()
    for place in PLACES:
        check(run(command, "good", option, place), (1, 2))
    assert Path("good").read_text() == f"{LINE_4X4}\n"


def test_values_of_options(run, things, monkeypatch):
    for option, values in VALUES.items():
        prefix = "COUNT_" if option in ("--limit", "--format") else ""
        variable = f"GPUSUDOKU_{prefix}{option[2:].upper()}"
        for value in values:
            check(run("count", "good", option, value))
            with monkeypatch.context() as patch:
                patch.setenv(variable, value.replace("\0", ""))
                check(run("count", "good"))


def test_no_control_characters_of_boards_are_shown(run, file):
    for bad in (b"\x1b[31m", b"\x9b31m", "\u202e".encode(), b"\xff", b"\x85", b"\x0c", b"\r\x07"):
        for start in (b"", b"puzzle,\x1b[31m\n", LINE_4X4.encode() + b"\n", b"[", b'{"puzzle": "'):
            status, out, err = run("count", file(start + bad * 4), "--keep-going")
            assert status in (0, 2)
            assert is_printable(out, err)


class Endless(io.RawIOBase):
    """Gives the same text for ever."""

    def __init__(self, text):
        self._bytes = cycle(text)

    def readable(self):
        return True

    def readinto(self, buffer):
        buffer[:] = bytes(byte for byte, _ in zip(self._bytes, buffer, strict=False))
        return len(buffer)


@pytest.mark.parametrize("text", [b"1", b"\0", b"["])
def test_a_stream_without_an_end_is_refused(run, monkeypatch, text):
    """A line that is too long, or that is no text, is refused before it has come."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless(text))))
    status, _, err = run("count", "-")
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith("gpusudoku: <stdin>:1: ")


def test_a_pipe_with_a_name(run, things):
    os.mkfifo("pipe")
    writer = threading.Thread(daemon=True, target=lambda: Path("pipe").write_text(LINE_4X4))
    writer.start()
    assert run("convert", "pipe") == (0, f"{LINE_4X4}\n", "")
    writer.join()


def test_a_terminal_is_told_what_is_expected(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINE_4X4.encode())))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    prompt = "gpusudoku: reading boards from the terminal; end with Ctrl-D\n"
    assert run("convert", "-") == (0, f"{LINE_4X4}\n", prompt)


def test_closed_standard_input(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    message = "gpusudoku: <stdin>: standard input is closed, expected boards\n"
    assert run("convert", "-") == (2, "", message)


TAKE_BOARDS = [
    *("canonical", "convert", "count", "enumerate", "info", "minimise --seed 1", "neighbours"),
    *("sample --seed 1", "shares", "simplify", "solve"),
]
"""Commands that take any number of boards."""
BOARD_OF_ONE = "1.3.3..2.1....21"


@pytest.fixture
def stdin(monkeypatch):
    """Replace standard input by a file that is open."""
    files = []

    def replace(file):
        files.append(file)
        monkeypatch.setattr(sys, "stdin", file)

    yield replace
    for file in files:
        file.close()


@pytest.mark.parametrize("command", TAKE_BOARDS)
def test_standard_input_is_read_where_no_board_is_given(run, stdin, tmp_path, command):
    """If it is a pipe or a file."""
    path = tmp_path / "boards.txt"
    path.write_text(f"{BOARD_OF_ONE}\n")
    for options in ([], ["-o", tmp_path / "out.txt"]):
        if options and command in ("info", "simplify"):
            continue
        stdin(path.open())
        expected = run(*command.split(), "-", *options, "-q", "--box", "2x2")
        assert expected[0] == 0
        (tmp_path / "out.txt").unlink(missing_ok=True)
        stdin(path.open())
        assert run(*command.split(), *options, "-q", "--box", "2x2")[:2] == expected[:2]
        (tmp_path / "out.txt").unlink(missing_ok=True)
        reading, writing = os.pipe()
        with os.fdopen(writing, "w") as pipe:
            pipe.write(f"{BOARD_OF_ONE}\n")
        stdin(os.fdopen(reading))
        assert run(*command.split(), *options, "-q", "--box", "2x2")[:2] == expected[:2]
        (tmp_path / "out.txt").unlink(missing_ok=True)


@pytest.mark.parametrize("command", TAKE_BOARDS)
def test_other_standard_input_is_not_read_unasked(run, stdin, monkeypatch, command):
    name = command.split()[0]
    missing = f"gpusudoku: BOARD... is missing: see 'gpusudoku help {name}'\n"
    main, terminal = os.openpty()
    sender, receiver = socket.socketpair()
    try:
        for file in (open(os.devnull), os.fdopen(terminal), receiver.makefile()):  # noqa: SIM115, PTH123
            stdin(file)
            assert run(*command.split()) == (2, "", missing)
        monkeypatch.setattr(sys, "stdin", None)
        assert run(*command.split()) == (2, "", missing)
    finally:
        os.close(main)
        sender.close()
        receiver.close()


def test_many_boards_from_a_pipe(run, stdin, tmp_path):
    path = tmp_path / "boards.txt"
    path.write_text("1....2....3.....\n.4......2....1..\n")
    stdin(path.open())
    status, out, _ = run("count")
    assert (status, out) == (0, "1....2....3.....:6\n.4......2....1..:6\n")
