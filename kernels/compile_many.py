"""Several kernels compiled at the same time, in several processes.

Numba compiles under one lock, so threads are of no use. The other processes run this module: each
gets a list of kernels on stdin, compiles them and keeps them in the store, where this process finds
them. ``multiprocessing`` would also run a user's script again.
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
from gpusudoku.kernels.kernel import MEASURED_SECONDS, Kernel, announce, keep_pace
from gpusudoku.kernels.kernel_store import base_folder, obstacle

START_SECONDS = 0.8
"""The time until another process compiles; one with less to do is not started."""
MAX_PROCESSES = 8
"""The default limit of processes: each takes some 200 MB."""


@deadlines_paused()
def ready(
    kernels: Iterable[Kernel],
    processes: int | None = None,
    done: Callable[[Kernel], None] | None = None,
    later: Iterable[Kernel] = (),
) -> None:
    """Load kernels; compile those that are not kept, all at the same time.

    Parameters
    ----------
    kernels
        The kernels that will be called.
    processes
        The number of processes that compile, this one included; None: at most the usable cores.
    done
        Called with each kernel once it is compiled.
    later
        Kernels that may be needed afterwards: the time for them is announced, too.
    """
    missing = [kernel for kernel in kernels if not kernel.fetch()]
    if not missing:
        return
    likely = [kernel for kernel in later if not kernel.kept and kernel not in missing]
    price = seconds(missing, processes)
    announce([*missing, *likely], price, seconds([*missing, *likely], processes))
    start = time.perf_counter()
    own_kernels, *lists = _divide(missing, processes)
    unreported = list(missing)

    def report() -> None:
        for kernel in [kernel for kernel in unreported if kernel.fetch()]:
            unreported.remove(kernel)
            if done is not None:
                done(kernel)

    def compile_own() -> None:
        for kernel in own_kernels:
            kernel.compile()
            report()

    helpers: list[subprocess.Popen[bytes]] = []
    try:
        for helper_kernels in filter(None, lists):
            with suppress(OSError):  # no process: its kernels are compiled here
                helpers.append(_start())
                _send(helpers[-1], helper_kernels)
        interruptibly(compile_own)
        for helper in helpers:
            while helper.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    helper.wait(WAIT_SECONDS)
                report()
    finally:
        for helper in helpers:
            _end(helper)
    for kernel in missing:  # where a helper failed, it is compiled here
        if not kernel.fetch():
            interruptibly(kernel.compile)
    report()
    if price > MEASURED_SECONDS:
        keep_pace((time.perf_counter() - start) / price)


def seconds(kernels: Iterable[Kernel], processes: int | None = None) -> float:
    """Return how long ``ready`` takes on the reference machine; 0 if everything is kept."""
    missing = [kernel for kernel in kernels if not kernel.kept]
    if not missing:
        return 0.0
    prices = [kernel.seconds for kernel in missing]
    return max(sum(prices) / (1 + _count_helpers(missing, processes)), *prices)


def _count_helpers(kernels: Collection[Kernel], processes: int | None) -> int:
    """Return how many other processes are worth starting, and can be."""
    if obstacle(kernel_store.user_store()) is not None or not _is_python(sys.executable):
        return 0
    if processes is None:
        processes = min(usable_cores(), MAX_PROCESSES)
    prices = [kernel.seconds for kernel in kernels]
    worth = int((sum(prices) - max(prices)) / START_SECONDS)
    return min(processes - 1, len(kernels) - 1, worth)


def _is_python(executable: str | None) -> bool:
    """Return whether that is Python itself, and not a program that contains Python."""
    name = re.fullmatch(r"python[\d.]*[dtw]{0,2}(\.exe)?", Path(executable or "").name.lower())
    return name is not None and not getattr(sys, "frozen", False)


def _divide(kernels: Collection[Kernel], processes: int | None) -> list[list[Kernel]]:
    """Divide kernels among this process, which comes first, and others, longest first.

    The next kernel is for the process that has least to do. Only this process can compile kernels
    without a name, as they are not kept.
    """
    helpers = _count_helpers(kernels, processes)
    lists: list[list[Kernel]] = [[] for _ in range(1 + helpers)]
    loads = [0.0] + [START_SECONDS] * helpers
    for kernel in sorted(kernels, key=lambda kernel: (kernel.name is not None, -kernel.seconds)):
        process = loads.index(min(loads)) if kernel.name else 0
        lists[process].append(kernel)
        loads[process] += kernel.seconds
    return lists


def _start() -> subprocess.Popen[bytes]:
    """Run ``main`` in a process that imports the same modules as this one."""
    path = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path)
    environment = {**os.environ, "PYTHONPATH": path, "GPUSUDOKU_CACHE_DIR": str(base_folder())}
    settings: dict[str, Any] = {}
    if os.name == "nt":  # no window, and no Ctrl-C
        settings["creationflags"] = subprocess.CREATE_NO_WINDOW  # type: ignore[attr-defined]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "gpusudoku.kernels.compile_many"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        **settings,
    )


def _send(helper: subprocess.Popen[bytes], kernels: list[Kernel]) -> None:
    """Give a process its kernels. Its stdin stays open: the process ends with it."""
    assert helper.stdin is not None
    helper.stdin.write(pickle.dumps(kernels))
    helper.stdin.flush()


def _end(helper: subprocess.Popen[bytes]) -> None:
    """End a process, whatever it is doing."""
    assert helper.stdin is not None
    helper.kill()
    helper.wait()
    with suppress(OSError):  # what is still to be written is lost
        helper.stdin.close()


def main() -> None:
    """Compile the kernels that come on stdin, as a pickled list."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    kernels: list[Kernel] = pickle.load(sys.stdin.buffer)
    Thread(target=_end_with_stdin, daemon=True).start()
    for kernel in kernels:
        if not kernel.fetch():
            kernel.compile()
    os._exit(0)


def _end_with_stdin() -> None:
    """End this process once the one that started it has closed its stdin, or is no more."""
    os.read(0, 1)
    os._exit(0)


if __name__ == "__main__":
    main()
