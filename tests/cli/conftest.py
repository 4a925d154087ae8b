"""Fixtures for tests of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.checkpointed import checkpointed, full

__all__ = ["checkpointed", "full"]

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
from gpusudoku.pipeline import output
from gpusudoku.jobs import interrupts
interrupts.PATIENCE_SECONDS = {patience}
output.GRACE_SECONDS, output.PIPE_CAPACITY = {grace}, 1 << 16
from gpusudoku.__main__ import main
main()
"""
"""The program with long patience, for a busy machine, and with small pipes, which are soon full."""
HARD = "." * 81  # not to be counted by a search in our lifetime


@pytest.fixture
def file(tmp_path):
    """Write a file; returns its path."""

    def write(content, name="board.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def start():
    """Start ``gpusudoku`` with arguments as a process, which is killed at the end of the test.

    After a signal it has ``patience`` seconds. ``grace`` seconds are for a reader that stopped
    within a line, and ``preamble`` is code that it runs first.
    """
    processes = []

    def call(*arguments, env=None, grace=0.5, patience=120, preamble="", **settings):
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **settings}
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                preamble + PROGRAM.format(grace=grace, patience=patience),
                *map(str, arguments),
            ],
            cwd=ROOT,
            env={**os.environ, "GPUSUDOKU_DEVICE": "cpu", **(env or {})},
            **settings,
        )
        processes.append(process)
        return process

    yield call
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def hard(tmp_path):
    """A file of a board with more solutions than can be counted."""
    path = tmp_path / "hard.txt"
    path.write_text(HARD)
    return path
