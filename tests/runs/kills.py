"""A long run that is killed at random moments, again and again, and goes on each time.

As a program this has all modules in memory, and each run is a fork of it: it is at work within
milliseconds, and many can be killed in little time.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import cycle
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EVERY_SECONDS = 0.01
"""Between two saves: so that most runs get something done before they are killed."""
SAVES = 4
"""Up to three saves are waited for before the clock of a run starts, or none."""
POLL_SECONDS = 0.001
"""Between two looks at the checkpoint."""


@dataclass(frozen=True)
class Life:
    """How long a process lives, by its own work: so a busy machine does not end all at once."""

    checkpoint: str
    saves: int
    """At least so many changes of the checkpoint are seen first."""
    seconds: float
    """So long it lives after that."""

    def state(self) -> tuple[int, int] | None:
        """What changes with each save; None if there is no file."""
        try:
            found = Path(self.checkpoint).stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino

    def passes(self, child: int, state: tuple[int, int] | None) -> bool:
        """Wait for the end of the life of a child; whether the child ended before."""
        saves, end = self.saves, None
        while end is None or time.monotonic() < end:
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
            if state != (state := self.state()):
                saves -= 1
            if end is None and saves <= 0:
                end = time.monotonic() + self.seconds
            time.sleep(POLL_SECONDS)
        return False


@dataclass(frozen=True)
class Killing:
    """What is to be killed."""

    commands: Sequence[Sequence[str]]
    """Arguments of the program: of the first run, and of those after it, taken in turn."""
    output: str
    """The file that they write."""
    checkpoint: str
    kills: int
    """How many runs are killed. What ends before is compared, removed, and begun again."""
    seconds: float
    """No run lives longer than so many after it has saved a few times."""
    in_order: bool = True
    """Whether the lines of the file are in the same order every time."""
    in_parts: bool = False
    """Whether counts are by a contraction in small parts, whatever is quicker."""

    def run(self) -> Counter[str]:
        """Kill runs, and compare what comes of them.

        Returns
        -------
        How many runs were killed, ``killed``; with something written, ``begun``, or saved and more
        to do, ``saved``; and how many ended by themselves, ``done``.
        """
        done = subprocess.run(
            [sys.executable, "-m", "tests.runs.kills"],
            input=json.dumps(asdict(self)),
            cwd=ROOT,
            env={**os.environ, "GPUSUDOKU_DEVICE": "cpu"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return Counter(json.loads(done.stdout))

    def _kill(self) -> Counter[str]:
        """Do it, in a process that does nothing else."""
        from gpusudoku.cli import saving
        from gpusudoku.contraction.general import parts
        from gpusudoku.runs import counting, local
        from tests.planning.plans import in_parts

        saving.EVERY_SECONDS, saving.WORTH = EVERY_SECONDS, 0
        local.FIRST_SECONDS, local.MOST_SECONDS = EVERY_SECONDS, EVERY_SECONDS
        if self.in_parts:
            parts.PART_MAPS, parts.TASK_LISTINGS = 10, 1
            made = cache(in_parts)  # by the first run, of which all others are forks
            counting.choose_alike = lambda board, *_: made(board)
        chance, told = random.Random(repr(self)), Counter[str]()
        wanted, others = self._undisturbed(), self._others()
        if self.in_parts and not made.cache_info().currsize:
            sys.exit("nothing was counted in parts")
        command = self.commands[0]
        while not told["done"] or told["killed"] < self.kills:
            life = Life(self.checkpoint, chance.randrange(SAVES), chance.uniform(0, self.seconds))
            status = _forked(command, life if told["killed"] < self.kills else None)
            if status == -signal.SIGKILL:
                told["killed"] += 1
                told["saved"] += self._is_unfinished()
                told["begun"] += Path(self.output).exists() and Path(self.output).stat().st_size > 0
                command = next(others) if self._has_begun() else self.commands[0]
                continue
            if status:
                sys.exit(f"{command} ended with {status} after {told}")
            if self._content() != wanted:
                sys.exit(f"{command} left another file after {told}")
            told["done"] += 1
            command = self.commands[0]
            self._remove()
        return told

    def _others(self) -> Iterator[Sequence[str]]:
        return cycle(self.commands[1:] or self.commands)

    def _undisturbed(self) -> list[bytes]:
        """What a run writes that nobody kills. It is none of its own, so that all is in memory."""
        if status := _status(self.commands[0]):
            sys.exit(f"{self.commands[0]} ended with {status}")
        content = self._content()
        self._remove()
        return content

    def _content(self) -> list[bytes]:
        lines = Path(self.output).read_bytes().splitlines(keepends=True)
        return lines if self.in_order else sorted(lines)

    def _has_begun(self) -> bool:
        """Whether there is anything to go on with: one that is killed early leaves nothing."""
        checkpoint = Path(self.checkpoint)
        return checkpoint.exists() and checkpoint.stat().st_size > 0

    def _is_unfinished(self) -> bool:
        """Whether the checkpoint holds something that was found, and something that is left."""
        told = _said(["status", self.checkpoint, "--json"])
        facts = json.loads(told) if told else {"count": "0"}  # killed before it began
        return int(facts["count"]) > 0 and not facts["finished"]

    def _remove(self) -> None:
        Path(self.output).unlink()
        Path(self.checkpoint).unlink()


def _status(arguments: Sequence[str]) -> int:
    """Run the program here; returns its status."""
    from gpusudoku.cli.process import main

    sys.argv = ["gpusudoku", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _said(arguments: Sequence[str]) -> str:
    """Run the program in a process of its own; returns what it prints."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writer, 1)
        try:
            _status(arguments)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        text = said.read()
    os.waitpid(child, 0)
    return text


def _forked(arguments: Sequence[str], life: Life | None) -> int:
    """Run the program in a process that has such a life, if any; returns its status."""
    before = None if life is None else life.state()
    child = os.fork()
    if not child:
        status = 70
        try:
            status = _status(arguments)
        finally:
            os._exit(status)
    if life is not None and not life.passes(child, before):
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    asked, told = json.load(sys.stdin), os.dup(1)
    os.dup2(2, 1)
    os.write(told, json.dumps(Killing(**asked)._kill()).encode())
