"""Several kernels compiled at the same time, in several processes.

Numba compiles under one lock, so threads do not help. The other processes, the *helpers*, run this
module: each reads a list of kernels from stdin, compiles them and writes them to the cache, from
which this process loads them. ``multiprocessing`` is not used, because it may run the user's script
again.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from gpusudoku.jobs.cancel import deadlines_paused
from gpusudoku.jobs.interrupts import WAIT_SECONDS, interruptibly
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.kernels import kernel_store
from gpusudoku.kernels.kernel import MIN_MEASURED_SECONDS, Kernel, announce, save_pace
from gpusudoku.kernels.kernel_store import base_folder, find_obstacle

START_SECONDS = 0.8
"""The time until a helper compiles. A helper that would save less is not started."""
MAX_PROCESSES = 8
"""The default limit of processes: each takes about 200 MB."""


@deadlines_paused()
def load_kernels(
    kernels: Iterable[Kernel],
    processes: int | None = None,
    on_loaded: Callable[[Kernel], None] | None = None,
    later: Iterable[Kernel] = (),
) -> None:
    """Load kernels. Compile those that are not cached, all at the same time.

    Parameters
    ----------
    kernels
        The kernels that will be called.
    processes
        The number of processes that compile, including this one. None: one per usable core, at
        most MAX_PROCESSES.
    on_loaded
        Called with each compiled kernel as soon as it is loaded in this process.
    later
        Kernels that may be needed afterwards: the time for them is announced, too.
    """
    missing = [kernel for kernel in kernels if not kernel.load_from_cache()]
    if not missing:
        return
    missing_later = [kernel for kernel in later if not kernel.is_cached and kernel not in missing]
    all_missing = [*missing, *missing_later]
    estimate = estimate_seconds(missing, processes)
    announce(all_missing, estimate, estimate_seconds(all_missing, processes))
    start = time.perf_counter()
    _compile(missing, processes, on_loaded)
    if estimate > MIN_MEASURED_SECONDS:
        save_pace((time.perf_counter() - start) / estimate)


def _compile(
    kernels: list[Kernel], processes: int | None, on_loaded: Callable[[Kernel], None] | None
) -> None:
    """Compile kernels in this process and in helpers, and load them all."""
    own_kernels, *helper_lists = _divide(kernels, processes)
    unreported = list(kernels)

    def report_loaded() -> None:
        loaded = [kernel for kernel in unreported if kernel.load_from_cache()]
        for kernel in loaded:
            unreported.remove(kernel)
            if on_loaded is not None:
                on_loaded(kernel)

    def compile_own() -> None:
        for kernel in own_kernels:
            kernel.compile()
            report_loaded()

    helpers: list[subprocess.Popen[bytes]] = []
    try:
        for helper_kernels in filter(None, helper_lists):
            with suppress(OSError):  # it does not start: its kernels are compiled below
                helpers.append(_start_helper())
                _send(helpers[-1], helper_kernels)
        interruptibly(compile_own)
        for helper in helpers:
            while helper.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    helper.wait(WAIT_SECONDS)
                report_loaded()
    finally:
        for helper in helpers:
            _end(helper)

    # Compile what a helper has failed to compile, or to write to the cache.
    for kernel in kernels:
        if not kernel.load_from_cache():
            interruptibly(kernel.compile)
    report_loaded()


def estimate_seconds(kernels: Iterable[Kernel], processes: int | None = None) -> float:
    """Return how long ``load_kernels`` takes on the reference core; 0 if everything is cached."""
    missing = [kernel for kernel in kernels if not kernel.is_cached]
    if not missing:
        return 0.0
    estimates = [kernel.seconds for kernel in missing]
    process_count = 1 + _count_helpers(missing, processes)
    # No faster than the longest kernel, which one process compiles.
    return max(sum(estimates) / process_count, *estimates)


def _count_helpers(kernels: Collection[Kernel], processes: int | None) -> int:
    """Return how many helpers to start."""
    can_start = _is_python(sys.executable) and find_obstacle(kernel_store.user_store()) is None
    if not can_start:
        return 0
    if processes is None:
        processes = min(usable_cores(), MAX_PROCESSES)
    estimates = [kernel.seconds for kernel in kernels]
    # The longest kernel is left to this process. The others must be worth starting helpers.
    saved_seconds = sum(estimates) - max(estimates)
    worthwhile_count = int(saved_seconds / START_SECONDS)
    return min(processes - 1, len(kernels) - 1, worthwhile_count)


def _is_python(executable: str | None) -> bool:
    """Return whether an executable is Python itself, and not a program that contains Python.

    Such a program, which may be a graphical one, would start once more instead of a helper.
    """
    name = Path(executable or "").name.lower()
    # python3.13t, pythonw.exe: d is a debug build, t free-threaded, w without a console.
    is_named_python = re.fullmatch(r"python[\d.]*[dtw]{0,2}(\.exe)?", name) is not None
    return is_named_python and not getattr(sys, "frozen", False)


def _divide(kernels: Collection[Kernel], processes: int | None) -> list[list[Kernel]]:
    """Divide kernels among this process, whose list is the first, and helpers.

    In the order of their estimates, longest first, each kernel goes to the process with the least
    work. Kernels without a name come first and stay in this process: they are not cached, so it
    could not load them from a helper.
    """
    helper_count = _count_helpers(kernels, processes)
    lists: list[list[Kernel]] = [[] for _ in range(1 + helper_count)]
    work_seconds = [0.0] + [START_SECONDS] * helper_count
    for kernel in sorted(kernels, key=lambda kernel: (kernel.name is not None, -kernel.seconds)):
        process = work_seconds.index(min(work_seconds)) if kernel.name else 0
        lists[process].append(kernel)
        work_seconds[process] += kernel.seconds
    return lists


def _start_helper() -> subprocess.Popen[bytes]:
    """Run ``main`` in a process that imports the same modules as this one."""
    path = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path)
    environment = {**os.environ, "PYTHONPATH": path, "GPUSUDOKU_CACHE_DIR": str(base_folder())}
    settings: dict[str, Any] = {}
    if os.name == "nt":  # without a window, and Ctrl-C does not reach it
        settings["creationflags"] = subprocess.CREATE_NO_WINDOW  # type: ignore[attr-defined]
    # -P: modules are not imported from the current folder, unless this process does so, too.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "gpusudoku.kernels.compile_many"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        **settings,
    )


def _send(helper: subprocess.Popen[bytes], kernels: list[Kernel]) -> None:
    """Send a helper its kernels. Its stdin stays open: closing it would end the helper."""
    assert helper.stdin is not None
    helper.stdin.write(pickle.dumps(kernels))
    helper.stdin.flush()


def _end(helper: subprocess.Popen[bytes]) -> None:
    """End a helper, also while it compiles."""
    assert helper.stdin is not None
    helper.kill()
    helper.wait()
    with suppress(OSError):  # closing flushes what the helper has not read, and fails
        helper.stdin.close()


def main() -> None:
    """Compile the kernels of a pickled list that is read from stdin."""
    # Ctrl-C interrupts the parent process, which then ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernels: list[Kernel] = pickle.load(sys.stdin.buffer)
    Thread(target=_end_with_stdin, daemon=True).start()
    for kernel in kernels:
        if not kernel.load_from_cache():
            kernel.compile()
    os._exit(0)  # the other thread is still reading


def _end_with_stdin() -> None:
    """End this process when the parent process closes the stdin, or ends."""
    os.read(0, 1)
    os._exit(0)


if __name__ == "__main__":
    main()
