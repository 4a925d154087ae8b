"""At how many cores a batch stops getting faster: what only one thread at a time can do.

One thread at a time holds Python's lock: compiled loops run without it, so those of all threads run
at the same time, and so do NumPy's, between which it is held. And one thread reads the boards of a
batch, puts the results in order and writes them, while the others work on blocks. Cores can be no
busier than either allows: the time of all threads on cores, over that with the lock, or over that
of the thread that reads, is the number of cores at which a batch stops getting faster.

None of that needs many cores. A timer of each thread's time on a core interrupts it again and
again, and a compiled handler counts how often the thread holds the lock (on Linux alone).

    python benchmarks/lock_share.py                      a list made of the program's own boards
    python benchmarks/lock_share.py list.txt -j 2 -j 16  a list of yours; speed-ups, too
    python benchmarks/lock_share.py --other FOLDER       another version of the program, in turns
    python benchmarks/lock_share.py --show               what was recorded before

Every run is done for a batch and for a tenth of it. The difference is that of the other nine
tenths: start-up, compiling and the first blocks cancel out.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import click
import numpy as np
from machine import record, recorded
from script import Run, grouped, other_option, repeated, script, table, trees_of, turns

RUNS = 3
COMMANDS = ["count", "count_many", "canonical"]
"""Those that take a list; ``count_many`` is the function of Python, with strings."""
MAKING = "generate"
SHORT = 10
"""The short batch has this many times fewer boards."""
FEWER = 10
"""``generate`` makes so many times fewer boards than lists have."""
MANY = 16
"""Threads of the run whose work is measured, on however many cores: it says how work is cut."""
PER = 100_000
"""Boards of the seconds that are shown."""
TICK_SECONDS = 1e-3
"""A thread is interrupted so often, or at the system's next tick, which may be 4 ms later."""
SIGEV_THREAD_ID, CLOCK_THREAD_CPUTIME_ID, SIGINFO_AND_RESTART = 4, 3, 0x10000004
"""Constants of Linux."""
TIMER_VALUE = 3
"""The word of ``siginfo_t`` that is the value which its timer was given."""


class Spent(NamedTuple):
    """Seconds on a core, but for the last."""

    compiled: float
    """In compiled loops."""
    all: float
    """The whole process."""
    lock: float
    """With Python's lock."""
    reader: float
    """The thread that reads and writes, without the blocks that it works on."""
    seconds: float
    """The time of the whole, on the wall."""

    def minus(self, other: Spent) -> Spent:
        """Return the differences."""
        return Spent(*(mine - its for mine, its in zip(self, other, strict=True)))


class Event(ctypes.Structure):
    """``struct sigevent``."""

    _fields_ = (("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int),
                ("thread", ctypes.c_int), ("rest", ctypes.c_char * 44))  # fmt: skip


class LockTimer:
    """Interrupts threads, and counts how often they hold Python's lock then."""

    def __init__(self) -> None:
        from numba import cfunc, types

        holds_lock = ctypes.CFUNCTYPE(ctypes.c_int)(
            ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p).value
        )
        counts_of_each = types.CPointer(types.CPointer(types.int64))

        @cfunc(types.void(types.int32, counts_of_each, types.voidptr))
        def handle(number, info, context):  # type: ignore[no-untyped-def]
            info[TIMER_VALUE][holds_lock()] += 1

        self._handle, self._libc = handle, ctypes.CDLL(None)
        self._counts = list[Any]()
        # struct sigaction: the handler, no signals that wait meanwhile, flags
        action = np.zeros(19, np.uint64)
        action[0], action[17] = handle.address, SIGINFO_AND_RESTART
        self._libc.sigaction(signal.SIGPROF, ctypes.c_void_p(action.ctypes.data), None)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Interrupt this thread."""
        counts, timer = np.zeros(2, np.int64), ctypes.c_void_p()
        self._counts.append(counts)
        thread = threading.get_native_id()
        event = Event(counts.ctypes.data, signal.SIGPROF, SIGEV_THREAD_ID, thread)
        self._libc.timer_create(CLOCK_THREAD_CPUTIME_ID, ctypes.byref(event), ctypes.byref(timer))
        ticks = np.array([0, TICK_SECONDS * 1e9] * 2, np.int64)  # struct itimerspec
        self._libc.timer_settime(timer, 0, ctypes.c_void_p(ticks.ctypes.data), None)
        try:
            yield
        finally:
            self._libc.timer_delete(timer)

    def share(self) -> float:
        """Return the share of the interrupts at which a thread had the lock."""
        free, held = np.sum(self._counts, axis=0).tolist()
        return held / max(1, free + held)


def lock_share(command: str, long: Path, short: Path) -> float:
    """The share of the work on the lines that one file has more than the other, on one thread.

    Whatever else the machine does changes it by several hundredths: it is the median of RUNS.
    """
    shares = []
    for _ in range(RUNS):
        more = spent(command, long).minus(spent(command, short))
        shares.append(1 - more.compiled / more.all)
    return median(shares)


def bound(share: float, threads: int) -> float:
    """How many times faster that many threads on as many cores can be, at most."""
    return 1 / (share + (1 - share) / threads)


def spent(command: str, file: Path | None = None, jobs: int = 1, tree: Path | None = None) -> Spent:
    """What a command takes, for a file if there is one, in a process of its own."""
    code = "import lock_share; lock_share.run()"
    words = [sys.executable, "-c", code, *command.split(), "-j", f"{jobs}"]
    if file is not None:
        words += [str(file.resolve())]
    folders = [str(tree or trees_of(None)["this"]), str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    # Python looks into the working directory first, which may be a checkout.
    process = subprocess.run(words, env=environment, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, check=True, cwd=folders[1])  # fmt: skip
    return Spent(**json.loads(process.stderr.splitlines()[-1]))


def run() -> None:
    """Run gpusudoku with the arguments of this process; say last on stderr what it took."""
    from gpusudoku.cli import main as gpusudoku
    from gpusudoku.jobs import ordered
    from gpusudoku.kernels.machine_code import Loaded

    compiled, helped, timer = list[float](), list[float](), LockTimer()
    call, work_on, reader = Loaded.__call__, ordered._Pool._do, threading.get_ident()
    run_thread = threading.Thread.run

    def timed_call(function: Loaded, block: Any) -> None:
        start = time.thread_time()
        try:
            call(function, block)
        finally:
            compiled.append(time.thread_time() - start)

    def timed_work(pool: Any, done: Any) -> None:
        start = time.thread_time()
        try:
            work_on(pool, done)
        finally:
            if threading.get_ident() == reader:
                helped.append(time.thread_time() - start)

    def watched_run(thread: threading.Thread) -> None:
        with timer.watching():
            run_thread(thread)

    Loaded.__call__ = timed_call  # type: ignore[method-assign]
    ordered._Pool._do = timed_work  # type: ignore[method-assign]
    threading.Thread.run = watched_run  # type: ignore[method-assign]
    name, *words = sys.argv[1:]
    lines = Path(words[-1]).read_text().splitlines() if name == "count_many" else []
    clocks = time.process_time, time.thread_time, time.perf_counter
    starts = [clock() for clock in clocks]
    try:
        with timer.watching():
            if name == "count_many":
                count_all(lines, int(words[words.index("-j") + 1]))
            else:
                sys.argv = ["gpusudoku", name, *words, "-q"]
                gpusudoku()
    finally:
        whole, own, seconds = (clock() - start for clock, start in zip(clocks, starts, strict=True))
        lock = whole * timer.share()
        took = Spent(sum(compiled), whole, lock, own - sum(helped), seconds)
        print(json.dumps(took._asdict()), file=sys.stderr)


def count_all(lines: Sequence[str], jobs: int) -> None:
    """Count a list of puzzles as a user of Python does."""
    import gpusudoku

    gpusudoku.count_many(lines, device="cpu", jobs=jobs).numbers()


def written(folder: Path, name: str, lines: Sequence[str], number: int) -> Path:
    """Write a list to a file, again and again until it has a number of lines."""
    path = folder / f"{name}-{number}.txt"
    path.write_text("".join(f"{lines[k % len(lines)]}\n" for k in range(number)))
    return path


@script("lock_share", lambda path: show(path))
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("-j", "--jobs", type=click.IntRange(min=1), multiple=True,
              help="Threads to time, as often as you like.")  # fmt: skip
@click.option("--lines", type=click.IntRange(min=SHORT * FEWER), default=1_000_000,
              show_default=True, help="Puzzles in a list.")  # fmt: skip
@click.option("--repeats", default=3, show_default=True, help="Runs of every case.")
@other_option
def main(path: Path, files: tuple[str, ...], jobs: tuple[int, ...], lines: int, repeats: int,
         other: str | None) -> None:  # fmt: skip
    """Measure what bounds the commands on the puzzles of FILES, one a line, on many cores."""
    from batches import own_puzzles, puzzles

    trees, runs = trees_of(other), list[Run]()
    lists = {Path(name).stem: puzzles(Path(name)) for name in files}
    lists = lists or {"own boards, shuffled": own_puzzles()}
    sizes = lines, lines // SHORT
    with tempfile.TemporaryDirectory() as folder:
        inputs = {(name, size): written(Path(folder), name, boards, size)
                  for (name, boards), size in product(lists.items(), sizes)}  # fmt: skip
        cases = [*product(lists, COMMANDS), ("", MAKING)]
        threads = dict.fromkeys([1, *jobs, MANY])  # one thread, to compare the others with
        for ((name, command), number, version), _ in turns(
            [*product(cases, threads, trees)], repeats, lambda case: f"{case}", warm_up=False
        ):
            times = []
            for size in sizes:
                words = command
                if command == MAKING:
                    words = f"{command} -n {size // FEWER} --seed 1"
                elif command == "count":
                    words = f"{command} --device cpu"
                times.append(spent(words, inputs.get((name, size)), number, trees[version]))
            took = times[0].minus(times[1])._asdict()
            boards = (sizes[0] - sizes[1]) // (FEWER if command == MAKING else 1)
            runs.append({"list": name, "command": command, "version": version, "jobs": number,
                         "boards": boards, **took})  # fmt: skip
    record(path, runs)


def show(path: Path) -> None:
    """Print what bounds each command, and how much faster it was on more threads."""
    runs = recorded(path)["runs"]
    cases = grouped(runs, "list", "command", "version", "jobs")
    numbers = sorted({run["jobs"] for run in runs})
    rows = []
    for case in grouped(runs, "list", "command", "version"):
        seconds = {jobs: median(run["seconds"] for run in cases[*case, jobs]) for jobs in numbers}
        whole, compiled, lock, reader = (
            median(run[part] * PER / run["boards"] for run in cases[*case, MANY])
            for part in ("all", "compiled", "lock", "reader")
        )
        cores = [f"{whole / part:.1f}" if part > 0 else "" for part in (lock, reader)]
        speeds = [f"{seconds[1] / seconds[jobs]:.2f}" for jobs in numbers[1:]]
        parts = [f"{part:.3f}" for part in (whole, compiled, lock, reader)]
        rows.append([case[0], f"`{case[1]}`", case[2], *parts, *cores, *speeds])
    heads = ["all threads, s", "compiled, s", "with the lock, s", "thread that reads and writes, s",
             "cores, by the lock", "cores, by that thread",
             *(f"speed-up, -j {jobs}" for jobs in numbers[1:])]  # fmt: skip
    table(["list", "command", "version", *heads], rows, left=3)
    print(f"\nSeconds on cores for {PER:,} boards. {repeated(cases.values())}")


if __name__ == "__main__":
    main()
