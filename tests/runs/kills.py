"""Long runs that are killed at random moments, again and again, and go on each time.

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
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

from gpusudoku.jobs.interrupts import catch_interrupts, enable_interrupts
from tests.session import captured, status_of

ROOT = Path(__file__).resolve().parents[2]
EVERY_SECONDS = 0.01
"""Between two saves: so that most runs get something done before they are killed."""
SAVES = 4
"""Fewer saves are waited for before the clock of a run starts, as the machine may be busy."""
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ENDED = (-signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGINT)
"""The statuses of a run that one of them ended."""
STOPPED_SECONDS = 0.2
"""One of three runs is stopped for so long before it is killed."""
POLL_SECONDS = 0.001
"""Between two looks at the checkpoint."""


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
    saved: int = 0
    """How many of the killed runs have saved something, at least: more are killed until then."""
    in_parts: bool = False
    """Whether counts are by a contraction in small parts, whatever is quicker."""

    def run(self) -> Counter[str]:
        """Kill runs, and compare what comes of them.

        Returns
        -------
        How many were ``killed``, had ``saved`` something by then and more to do, were ``done``.
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
        """Do it, in a process that does nothing else; every run that ends is compared here."""
        from gpusudoku.contraction.general import parts
        from gpusudoku.runs import store, tasks
        from tests.planning.plans import in_parts

        store.FIRST_SECONDS = EVERY_SECONDS
        store.MAX_SECONDS = EVERY_SECONDS
        if self.in_parts:
            parts.PART_MAPS, parts.TASK_LISTINGS = 10, 1
            made = cache(in_parts)  # by the first run, of which all others are forks
            tasks.choose = lambda board, *_, **__: made(board)
        first = self.commands[0]
        others = cycle(self.commands[1:])
        if status := status_of(first):  # nobody kills this one; here, so that all is in memory
            sys.exit(f"{first} ended with {status}")
        if self.in_parts and not made.cache_info().currsize:
            sys.exit("nothing was counted in parts")
        wanted = self._content()
        command = first
        self._remove()
        chance = random.Random(self.kills)
        tally = Counter[str]()
        while not tally["done"] or self._kills_more(tally):
            status = self._forked(command, chance if self._kills_more(tally) else None)
            if status in ENDED:
                tally["killed"] += 1
                facts = self._status()
                tally["saved"] += bool(facts and int(facts["count"]) and not facts["finished"])
                command = next(others) if facts else first
                continue
            if status:
                sys.exit(f"{command} ended with {status} after {tally}")
            if self._content() != wanted:
                sys.exit(f"{command} left another file after {tally}")
            tally["done"] += 1
            command = first
            self._remove()
        return tally

    def _kills_more(self, tally: Counter[str]) -> bool:
        return tally["killed"] < self.kills or tally["saved"] < self.saved

    def _forked(self, arguments: Sequence[str], chance: random.Random | None) -> int:
        """Run the program in a process that is killed at some moment, if any; its status."""
        before = self._state()
        child = os.fork()
        if not child:
            status = 70
            try:
                catch_interrupts()
                enable_interrupts()
                status = status_of(arguments)
            finally:
                os._exit(status)
        if chance and self._survives(child, chance, before):
            if chance.randrange(3) == 0:
                os.kill(child, signal.SIGSTOP)
                time.sleep(STOPPED_SECONDS)
                os.kill(child, signal.SIGCONT)
            os.kill(child, chance.choice(SIGNALS))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def _survives(self, child: int, chance: random.Random, state: object) -> bool:
        """Wait until a child has saved a few times and for a while; False if it ends before."""
        saves = chance.randrange(SAVES)
        seconds = chance.uniform(0, self.seconds)
        end = None
        while end is None or time.monotonic() < end:
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return False
            if state != (state := self._state()):
                saves -= 1
            if end is None and saves <= 0:
                end = time.monotonic() + seconds
            time.sleep(POLL_SECONDS)
        return True

    def _state(self) -> tuple[int, int] | None:
        """What changes with each save of the checkpoint; None if there is none."""
        try:
            found = Path(self.checkpoint).stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino

    def _content(self) -> list[bytes]:
        lines = Path(self.output).read_bytes().splitlines(keepends=True)
        return lines if self.in_order else sorted(lines)

    def _status(self) -> dict[str, Any] | None:
        """Return what the checkpoint holds; None if its run was killed before the first save."""
        status, out, _ = captured(["status", self.checkpoint, "--json"])
        return None if status else json.loads(out)

    def _remove(self) -> None:
        Path(self.output).unlink()
        Path(self.checkpoint).unlink()


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    tally = os.dup(1)
    os.dup2(2, 1)
    os.write(tally, json.dumps(Killing(**asked)._kill()).encode())
