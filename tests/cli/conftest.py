"""Fixtures of the tests of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.checkpointed import checkpointed, limit_disk

__all__ = ["checkpointed", "limit_disk"]

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
from gpusudoku.pipeline import output
from gpusudoku.jobs import interrupts
interrupts.MIN_GRACE_SECONDS = {patience}
output.GRACE_SECONDS, output.PIPE_CAPACITY = {grace}, 1 << 16
from gpusudoku.__main__ import main
main()
"""
"""The program with a long time to end by itself, for a busy machine, and with small pipes."""
HARD = "." * 81
"""A board that a search cannot count in a lifetime."""


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write(content, name="board.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def start():
    """Return a function that starts ``gpusudoku`` as a process, which ends with the test.

    After a signal, the process has ``patience`` seconds to end by itself. It waits ``grace``
    seconds for a reader that stopped within a line. ``setup_code`` runs before the program.
    """
    processes = []

    def call(*arguments, env=None, grace=0.5, patience=120, setup_code="", **settings):
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **settings}
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                setup_code + PROGRAM.format(grace=grace, patience=patience),
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
    """Write a file with ``HARD``; return its path."""
    path = tmp_path / "hard.txt"
    path.write_text(HARD)
    return path
