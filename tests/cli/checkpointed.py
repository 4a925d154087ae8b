"""A command with a checkpoint, and a disk that is full."""

from __future__ import annotations

import errno
import os

import pytest

from gpusudoku.pipeline import output
from tests.boards import LINE_4X4, NONE, SEVERAL, UNIQUE

BATCH = "".join(f"{board}\n" for board in [UNIQUE, NONE, *[LINE_4X4] * 15, SEVERAL, UNIQUE])
"""More boards than the first block has."""
PUZZLES = "".join(f"{board}\n" for board in [UNIQUE, NONE, *[UNIQUE] * 15, NONE])
"""Unique puzzles and unsolvable boards: of others, ``solve`` may find any solution."""
SOLVABLE = BATCH.replace(f"{NONE}\n", "")
"""The boards of BATCH that have a solution to draw."""


@pytest.fixture
def full(monkeypatch):
    """Return a function that makes the disk full after a number of bytes; None for never."""
    remaining = [None]
    write = os.write

    def limited(descriptor, data):
        if remaining[0] is None or descriptor <= 2:
            return write(descriptor, data)
        if not remaining[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(descriptor, bytes(data)[: remaining[0]])
        remaining[0] -= written
        return written

    monkeypatch.setattr(output.os, "write", limited)

    def after(number):
        remaining[0] = number

    return after


class Checkpointed:
    """A command with its files in a folder."""

    def __init__(self, run, folder, command, boards=BATCH):
        self.boards, self.out, self.run_file = (
            folder / name for name in ("boards.txt", "out.txt", "a.run")
        )
        self.boards.write_text(boards)
        self.command = [*command, self.boards]
        self._run = run

    def run_plain(self):
        """Run the command without a checkpoint."""
        return self._run(*self.command)

    def __call__(self, *options):
        return self._run(
            *self.command, "-o", self.out, "--checkpoint", self.run_file, "-q", *options
        )

    def resume(self, *options):
        """Resume the run."""
        return self._run("resume", self.run_file, "-q", *options)


@pytest.fixture
def checkpointed(run, tmp_path):
    """Return a function that makes a command with a checkpoint, with boards that suit it."""
    boards_of = {"solve": PUZZLES, "sample": SOLVABLE}

    def make(command, boards=None):
        return Checkpointed(run, tmp_path, command, boards or boards_of.get(command[0], BATCH))

    return make
