"""Batches by the command as a process of its own: interrupts and closed pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpusudoku import Board
from gpusudoku.board.geometry import Geometry
from tests.boards import full_grid

ROOT = Path(__file__).resolve().parents[2]
FULL = Board(full_grid(Geometry(3, 3), 1), Geometry(3, 3))


def start(*arguments, **settings):
    return subprocess.Popen(
        [sys.executable, "-m", "gpusudoku", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "GPUSUDOKU_DEVICE": "cpu"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("command", "done"), [("count", "boards counted"), ("solve", "boards solved")]
)
def test_an_interrupt_says_how_many_are_done(command, done):
    """The first blocks are written before the input ends; an interrupt finds the rest waiting."""
    process = start(command, "-", "-j", 1, stdin=subprocess.PIPE)
    try:
        process.stdin.write(f"{FULL}\n" * 200)
        process.stdin.flush()
        first = [process.stdout.readline() for _ in range(16 + 32 + 64)]
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    tail = ":1\n" if command == "count" else "\n"
    text = "".join(first) + out
    assert text == f"{FULL}{tail}" * text.count("\n")
    assert process.returncode == 130
    assert err.splitlines()[-1] == f"gpusudoku: interrupted: {text.count(chr(10))} {done}"


@pytest.mark.skipif(os.name == "nt", reason="pipes are POSIX")
@pytest.mark.parametrize("command", ["count", "solve", "enumerate", "convert"])
def test_a_closed_pipe_ends_quietly(command, tmp_path):
    path = tmp_path / "boards"
    path.write_text(f"{FULL}\n" * 20000)
    process = start(command, path)
    try:
        assert process.stdout.readline().startswith(str(FULL))
        process.stdout.close()
        said = [line for line in process.stderr.read().splitlines() if "compiling" not in line]
        assert said in ([], ["Aborted!"])
        process.wait(timeout=30)
    finally:
        process.kill()
