"""Long runs that are killed at random moments, and resumed each time.

As a program, this module imports everything once, and each run is a fork of it. So a run begins to
work within milliseconds, and many runs can be killed in little time.
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

from gpusudoku.jobs.interrupts import catch_interrupts, enable_interrupts, interrupt_status
from tests.session import captured, status_of

ROOT = Path(__file__).resolve().parents[2]
SAVE_SECONDS = 0.01
"""The time between two saves: so short that most runs save something before they are killed."""
MAX_AWAITED_SAVES = 3
"""The time to the kill begins after up to this number of saves, as the machine may be busy."""
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
KILLED_STATUSES = (-signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGINT)
"""The exit statuses of runs that these signals ended."""
PAUSE_SECONDS = 0.2
"""One of three runs is paused for this time before it is killed."""
POLL_SECONDS = 0.001
"""The time between two looks at the checkpoint."""


@dataclass(frozen=True)
class Killing:
    """A run that is killed and resumed again and again, and how often."""

    commands: Sequence[Sequence[str]]
    """The arguments of the first run, and of the runs after it, which are taken in turn."""
    output: str
    """The file that the commands write."""
    checkpoint: str
    kills: int
    """The number of runs to kill. When a run finishes before, its output is compared."""
    seconds: float
    """The longest time between the awaited saves of a run and its kill."""
    in_order: bool = True
    """True if the lines of the output have the same order every time."""
    saved: int = 0
    """The least number of killed runs that have saved something: more are killed until then."""
    in_parts: bool = False
    """True to count by a contraction in small parts, whatever is faster."""

    def run(self) -> Counter[str]:
        """Kill runs in a new process, and compare the output of those that finish.

        Returns
        -------
        The number of runs that were ``killed``; of those that had ``saved`` solutions, but not
        finished, when they were killed; and of those that are ``done``.
        """
        completed = subprocess.run(
            [sys.executable, "-m", "tests.runs.kills"],
            input=json.dumps(asdict(self)),
            cwd=ROOT,
            env={**os.environ, "GPUSUDOKU_DEVICE": "cpu"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.returncode == 0, completed.stderr
        return Counter(json.loads(completed.stdout))

    def _kill(self) -> Counter[str]:
        """Do the same in this process, which does nothing else."""
        from gpusudoku.contraction.general import parts
        from gpusudoku.runs import store, tasks
        from tests.planning.plans import in_parts

        store.FIRST_SECONDS = SAVE_SECONDS
        store.MAX_SECONDS = SAVE_SECONDS
        if self.in_parts:
            parts.PART_MAPS = 10
            parts.TASK_LISTINGS = 1
            plan_of = cache(in_parts)  # made once: all runs are forks of this process
            tasks.choose = lambda board, *_, **__: plan_of(board)

        # One run that is not killed gives the expected output, and loads everything into memory.
        first_command = self.commands[0]
        next_commands = cycle(self.commands[1:])
        if status := status_of(first_command):
            sys.exit(f"{first_command} ended with {status}")
        if self.in_parts and not plan_of.cache_info().currsize:
            sys.exit("nothing was counted in parts")
        expected = self._content()
        self._remove_files()

        command = first_command
        chance = random.Random(self.kills)
        tally = Counter[str]()
        while not tally["done"] or self._kills_more(tally):
            status = self._run_fork(command, chance if self._kills_more(tally) else None)
            if status in KILLED_STATUSES:
                tally["killed"] += 1
                facts = self._status()
                tally["saved"] += bool(facts and int(facts["count"]) and not facts["finished"])
                command = next(next_commands) if facts else first_command
                continue
            if status:
                sys.exit(f"{command} ended with {status} after {tally}")
            if self._content() != expected:
                sys.exit(f"{command} left another file after {tally}")
            tally["done"] += 1
            command = first_command
            self._remove_files()
        return tally

    def _kills_more(self, tally: Counter[str]) -> bool:
        return tally["killed"] < self.kills or tally["saved"] < self.saved

    def _run_fork(self, arguments: Sequence[str], chance: random.Random | None) -> int:
        """Run the program in a fork, and kill it if ``chance`` is given; return its status."""
        old_state = self._state()
        child = os.fork()
        if not child:
            status = 70
            try:
                catch_interrupts()
                enable_interrupts()
                status = status_of(arguments)
            except KeyboardInterrupt:  # before or after the command, as in ``process.run_alone``
                status = interrupt_status()
            finally:
                os._exit(status)
        if chance and self._survives(child, chance, old_state):
            if chance.randrange(3) == 0:
                os.kill(child, signal.SIGSTOP)
                time.sleep(PAUSE_SECONDS)
                os.kill(child, signal.SIGCONT)
            os.kill(child, chance.choice(SIGNALS))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def _survives(self, child: int, chance: random.Random, old_state: object) -> bool:
        """Wait until a child has saved some times, and then for a while; False if it ends before.

        ``old_state`` is the state of the checkpoint before the child was started.
        """
        awaited_saves = chance.randrange(MAX_AWAITED_SAVES + 1)
        seconds = chance.uniform(0, self.seconds)
        end = None
        while end is None or time.monotonic() < end:
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return False
            state = self._state()
            if state != old_state:
                awaited_saves -= 1
                old_state = state
            if end is None and awaited_saves <= 0:
                end = time.monotonic() + seconds
            time.sleep(POLL_SECONDS)
        return True

    def _state(self) -> tuple[int, int] | None:
        """Return what changes with each save of the checkpoint; None if there is none."""
        try:
            status = Path(self.checkpoint).stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_ino

    def _content(self) -> list[bytes]:
        """Return the lines of the output, sorted if their order may differ."""
        lines = Path(self.output).read_bytes().splitlines(keepends=True)
        return lines if self.in_order else sorted(lines)

    def _status(self) -> dict[str, Any] | None:
        """Return the status of the run; None if it was killed before the first save."""
        status, out, _ = captured(["status", self.checkpoint, "--json"])
        return None if status else json.loads(out)

    def _remove_files(self) -> None:
        Path(self.output).unlink()
        Path(self.checkpoint).unlink()


if __name__ == "__main__":
    options = json.load(sys.stdin)
    # What the runs print goes to stderr, so that stdout has the tally only.
    stdout = os.dup(1)
    os.dup2(2, 1)
    os.write(stdout, json.dumps(Killing(**options)._kill()).encode())
