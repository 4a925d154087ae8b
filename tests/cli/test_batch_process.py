"""Batches by the command as a process of its own: interrupts and closed pipes."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time

import pytest

from gpusudoku import Board
from gpusudoku.board.geometry import Geometry
from tests.boards import full_grid

FULL = Board(full_grid(Geometry(3, 3), 1), Geometry(3, 3))


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("command", "done"), [("count", "boards counted"), ("solve", "boards solved")]
)
def test_an_interrupt_says_how_many_are_done(start, command, done):
    """The first blocks are written before the input ends; an interrupt finds the rest waiting."""
    process = start(command, "-", "-j", 1, stdin=subprocess.PIPE)
    process.stdin.write(f"{FULL}\n" * 200)
    process.stdin.flush()
    text = "".join(process.stdout.readline() for _ in range(16))
    process.send_signal(signal.SIGINT)
    text += process.stdout.read()
    err = process.stderr.read()
    assert process.wait() == 130
    tail = ":1\n" if command == "count" else "\n"
    boards = text.count("\n")
    assert text == f"{FULL}{tail}" * boards
    assert err.splitlines()[-1] == f"gpusudoku: interrupted: {boards} {done}"


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("command", "headers", "height"),
    [
        (["count"], 0, 1),
        (["count", "--format", "csv"], 1, 1),
        (["count", "--only", "unique"], 0, 1),
        (["solve", "--format", "pretty"], 0, 14),
    ],
    ids=["count", "csv", "only", "pretty"],
)
def test_what_nobody_reads_is_neither_told_of_nor_logged(start, tmp_path, command, headers, height):
    boards, log = tmp_path / "boards", tmp_path / "log"
    boards.write_text(f"{FULL}\n" * 20000)
    ours, theirs = os.pipe()
    process = start(*command, boards, "-j", 1, "--log", log, stdout=theirs)
    while select.select([], [theirs], [], 0)[1]:  # till the pipe is full
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        lines = pipe.readlines()
    written = (len(lines) - headers + (height > 1)) // height  # with a blank line between two
    assert 0 < written < 20000
    verb = "solved" if command[0] == "solve" else "counted"
    said = process.stderr.read().splitlines()[-1]
    assert said == f"gpusudoku: interrupted: {written} boards {verb}"
    assert len(log.read_text().splitlines()) == written


@pytest.mark.skipif(os.name == "nt", reason="pipes are POSIX")
@pytest.mark.parametrize("command", ["count", "solve", "enumerate", "convert"])
def test_a_closed_pipe_ends_quietly(start, command, tmp_path):
    path = tmp_path / "boards"
    path.write_text(f"{FULL}\n" * 20000)
    process = start(command, path)
    assert process.stdout.readline().startswith(str(FULL))
    process.stdout.close()
    said = [line for line in process.stderr.read().splitlines() if "compiling" not in line]
    assert said in ([], ["Aborted!"])
    process.wait(timeout=300)
