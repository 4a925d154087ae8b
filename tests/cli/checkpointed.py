"""A command whose output is kept track of, and a disk that is full."""

from __future__ import annotations

import errno
import os

import pytest

from gpusudoku.pipeline import output
from tests.boards import LINE_4X4, NONE, SEVERAL, UNIQUE

BATCH = "".join(f"{board}\n" for board in [UNIQUE, NONE, *[LINE_4X4] * 15, SEVERAL, UNIQUE])
"""More boards than the first block has."""
PUZZLES = "".join(f"{board}\n" for board in [UNIQUE, NONE, *[UNIQUE] * 15, NONE])
"""Of others ``solve`` might find any solution."""
SOLVABLE = BATCH.replace(f"{NONE}\n", "")
"""Those that have something to draw."""


@pytest.fixture
def full(monkeypatch):
    """Let the disk be full once so many bytes were written to output files; None for never."""
    left = [None]
    write = os.write

    def limited(descriptor, data):
        if left[0] is None or descriptor <= 2:
            return write(descriptor, data)
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sent = write(descriptor, bytes(data)[: left[0]])
        left[0] -= sent
        return sent

    monkeypatch.setattr(output.os, "write", limited)

    def after(number):
        left[0] = number

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

    def wanted(self):
        """Run it without a checkpoint."""
        return self._run(*self.command)

    def __call__(self, *options):
        return self._run(
            *self.command, "-o", self.out, "--checkpoint", self.run_file, "-q", *options
        )

    def resume(self, *options):
        """Go on with it."""
        return self._run("resume", self.run_file, "-q", *options)


@pytest.fixture
def checkpointed(run, tmp_path):
    """Make a command whose output is kept track of, of boards that suit it."""
    boards_of = {"solve": PUZZLES, "sample": SOLVABLE}

    def make(command, boards=None):
        return Checkpointed(run, tmp_path, command, boards or boards_of.get(command[0], BATCH))

    return make
