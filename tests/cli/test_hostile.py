"""Files, names and values that nobody would give: one line, status 2, nothing for a terminal."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.boards import LINE_4X4
from tests.cli.conftest import ROOT

ODD = "a\x1b[31mred\nb\x07\u202e"
"""What a terminal would obey."""
LONG = "x" * 5000
COMMANDS = ["count", "info", "convert"]
each_command = pytest.mark.parametrize("command", COMMANDS)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="devices and pipes have no names there")


@pytest.fixture
def things(tmp_path, monkeypatch):
    """A folder of things that are no files, or have odd names."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        Path("folder").mkdir()
        Path("loop").symlink_to("pool")
        Path("pool").symlink_to("loop")
        Path("dangling").symlink_to("nothing")
        Path("good").write_text(LINE_4X4 + "\n")
        Path(ODD).write_text("1.2\n")
        Path(os.fsdecode(b"\xff\xfe")).write_text("1.2\n")
        yield tmp_path


def check(result, statuses=(2,)):
    status, _, err = result
    assert status in statuses, err
    assert err.startswith("gpusudoku: ")
    assert len(err.splitlines()) == 1
    assert err.rstrip("\n").isprintable(), repr(err)
    assert len(err) < 5200


NAMES = [
    "/dev/null", "/dev/zero", "/dev/full", "socket", "folder", "loop", "dangling", "",
    " ", "@", "@" + ODD, "@" + LONG, LONG, "a/" * 3000, ODD, "no" + ODD, ODD * 100, "\x00",
    os.fsdecode(b"\xff\xfe"), os.fsdecode(b"no\xff"), "\x7f", "a\u2028b",
]  # fmt: skip


@each_command
@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name[:20]))
def test_names(run, things, command, name):
    check(run(command, name))


@pytest.mark.parametrize(
    "name", ["folder", "socket", "loop", "no/file", "good/", ODD + "/x", LONG, "/dev/full"],
    ids=lambda name: ascii(name[:20]),
)  # fmt: skip
@pytest.mark.parametrize(
    "words",
    [["convert", "-o"], ["enumerate", "-o"], ["count", "--log"], ["shares", "--plot"]],
    ids=" ".join,
)
def test_places_to_write(run, things, words, name):
    command, option = words
    check(run(command, "good", option, name), (1, 2))
    assert Path("good").read_text() == LINE_4X4 + "\n"


VALUES = {
    "--box": [ODD, LONG, "1x999999999", "9" * 5000 + "x1", "-1x3", "0x0"],
    "--column": [ODD, LONG, os.fsdecode(b"\xff")],
    "--limit": [ODD, "9" * 5000, "1e400", "-1"],
    "--cutoff": [ODD, "1e400", "nan"],
    "--jobs": [ODD, "9" * 5000],
    "--gpu": [ODD, "9" * 5000, "1," * 3000],
    "--memory": [ODD, "9" * 5000, "1e9"],
    "--propagate": [ODD, LONG, "," * 5000],
    "--method": [ODD, LONG],
    "--device": [ODD],
    "--format": [ODD],
    "--nonsense" + ODD: ["1"],
}


@pytest.mark.parametrize("option", VALUES, ids=ascii)
def test_values(run, things, option):
    for value in VALUES[option]:
        check(run("count", "good", option, value))


@pytest.mark.parametrize("option", [name for name in VALUES if "nonsense" not in name])
def test_values_from_the_environment(run, things, monkeypatch, option):
    own = "COUNT_" if option in ("--limit", "--format") else ""
    for value in VALUES[option]:
        monkeypatch.setenv(f"GPUSUDOKU_{own}{option[2:].upper()}", value)
        check(run("count", "good"))


def test_commands(run, things):
    for name in (ODD, LONG):
        check(run(name))
        check(run("help", name))


def test_names_of_files_in_a_batch(run, things):
    """What is said of a board names its file, on stderr and where people read the answers."""
    Path(ODD).write_text("11..............\n" * 2)
    for command in ("info", "count", "solve", "shares", "simplify", "convert", "enumerate"):
        _, out, err = run(command, ODD)
        assert all(line.isprintable() for line in [*out.splitlines(), *err.splitlines()])


def test_what_is_told_of_a_file(run, things, monkeypatch):
    pytest.importorskip("matplotlib")
    status, _, err = run("shares", "good", "--plot", ODD + ".svg")
    assert (status, Path(ODD + ".svg").exists()) == (0, True)
    assert r"a\x1b[31mred b\x07\u202e.svg written" in err
    assert all(line.isprintable() for line in err.splitlines())


def test_boards_with_control_characters(run, file):
    for bad in (b"\x1b[31m", b"\x9b31m", "\u202e".encode(), b"\xff", b"\x85", b"\x0c", b"\r\x07"):
        for before in (b"", b"puzzle,\x1b[31m\n", LINE_4X4.encode() + b"\n", b"[", b'{"puzzle": "'):
            status, out, err = run("count", file(before + bad * 4), "--keep-going")
            assert status in (0, 2)
            assert all(line.isprintable() for line in [*out.splitlines(), *err.splitlines()]), err


def test_many_errors(run, file):
    """Every bad board is a line of its own, and the others are read."""
    text = f"{LINE_4X4}\n" * 200 + (f"{LINE_4X4}\n" + "1\x1b" * 8 + "\n") * 500
    status, out, err = run("convert", file(text), "--keep-going")
    assert (status, len(out.splitlines()), len(err.splitlines())) == (2, 700, 500)
    assert all(line.isprintable() for line in err.splitlines())


@pytest.mark.parametrize("text", [b"1" * (1 << 20), b"\0" * (1 << 16), b"[" * (1 << 16)])
def test_streams_without_an_end(start, text):
    """A line that is too long, or that is no text, is refused before it has come."""
    process = start("count", "-", stdin=subprocess.PIPE, text=False)

    def feed():
        try:
            while True:
                process.stdin.write(text)
        except (BrokenPipeError, ValueError):
            pass

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert process.wait(300) == 2
    feeder.join()
    err = process.stderr.read().decode()
    assert err.startswith("gpusudoku: <stdin>:1: ")
    assert len(err.splitlines()) == 1


def test_a_pipe_with_a_name(run, things):
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text(LINE_4X4))
    writer.start()
    assert run("convert", "pipe") == (0, LINE_4X4 + "\n", "")
    writer.join()


@pytest.mark.slow
def test_a_damaged_cache(things):
    """Whatever lies in the folder of kept kernels, the answers are the same."""
    soon = ["--propagate", "none", "-j", "1"]  # compiled in less time than others
    command = [sys.executable, "-m", "gpusudoku", "count", "good", "--stats", *soon]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GPUSUDOKU_DEVICE": "cpu"}

    def count(cache):
        done = subprocess.run(
            command, env={**environment, "GPUSUDOKU_CACHE_DIR": str(cache)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        assert all(line.isprintable() for line in done.stderr.splitlines())
        return done.returncode, done.stdout

    cache = Path("cache")
    whole = count(cache)
    assert whole == (0, "6\n")
    kept = [path for path in cache.rglob("*") if path.is_file()]
    for number, path in enumerate(kept):
        data = path.read_bytes()
        rubbish = [b"", b"rubbish\n", data[: len(data) // 2], data[:-1] + b"\0", bytes(len(data))]
        path.chmod(0o600)
        path.write_bytes(rubbish[number % len(rubbish)])
    assert count(cache) == whole
    for place in ("good", "loop"):
        assert count(place) == whole
