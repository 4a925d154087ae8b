"""A command with --output and --checkpoint, and a disk that becomes full."""

from __future__ import annotations

import errno
import os

import pytest

from gpusudoku.pipeline import output
from tests.boards import LINE_4X4, NONE, SEVERAL, UNIQUE

BATCH = "".join(f"{board}\n" for board in [UNIQUE, NONE, *[LINE_4X4] * 15, SEVERAL, UNIQUE])
"""More boards than the first block has."""
PUZZLES = "".join(f"{board}\n" for board in [UNIQUE, NONE, *[UNIQUE] * 15, NONE])
"""Boards with at most one solution: of several solutions, ``solve`` may write any."""
SOLVABLE = BATCH.replace(f"{NONE}\n", "")
"""Boards with a solution, which ``sample`` can draw."""


@pytest.fixture
def limit_disk(monkeypatch):
    """Return a function that lets the disk be full after a number of bytes, or never for None.

    Only bytes for files count, not those for stdout and stderr.
    """
    remaining_bytes = None
    write = os.write

    def limited_write(descriptor, data):
        nonlocal remaining_bytes
        if remaining_bytes is None or descriptor <= 2:
            return write(descriptor, data)
        if not remaining_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        # A disk that becomes full takes the bytes for which it has space.
        written = write(descriptor, bytes(data)[:remaining_bytes])
        remaining_bytes -= written
        return written

    monkeypatch.setattr(output.os, "write", limited_write)

    def limit(max_bytes):
        nonlocal remaining_bytes
        remaining_bytes = max_bytes

    return limit


class Checkpointed:
    """A command, and the files in a folder that it reads and writes."""

    def __init__(self, run, folder, command, boards=BATCH):
        self.boards = folder / "boards.txt"
        self.out = folder / "out.txt"
        self.run_file = folder / "a.run"
        self.boards.write_text(boards)
        self.command = [*command, self.boards]
        self._run = run

    def run_without_checkpoint(self):
        """Run the command to stdout; return its status, stdout and stderr."""
        return self._run(*self.command)

    def __call__(self, *options):
        """Run the command with its output file and a checkpoint."""
        return self._run(
            *self.command, "-o", self.out, "--checkpoint", self.run_file, "-q", *options
        )

    def resume(self, *options):
        """Resume the run of the command."""
        return self._run("resume", self.run_file, "-q", *options)


@pytest.fixture
def checkpointed(run, tmp_path):
    """Return a function that makes a ``Checkpointed`` of a command, with boards that suit it."""
    default_boards = {"solve": PUZZLES, "sample": SOLVABLE}

    def make(command, boards=None):
        return Checkpointed(run, tmp_path, command, boards or default_boards.get(command[0], BATCH))

    return make
