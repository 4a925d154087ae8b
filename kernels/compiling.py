"""Several kernels compiled at the same time, each in one of several processes.

Numba compiles under one lock, so threads are of no use. Other processes are this module run by
Python: they get kernels on stdin, compile them, and keep what comes out in the store, where this
process finds it. ``multiprocessing`` would do more than that: it runs a user's script again.
"""

from __future__ import annotations

import os
import pickle
import queue
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from gpusudoku.jobs.cancel import deadlines_paused
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.interrupts import WAIT_SECONDS, interruptibly
from gpusudoku.jobs.threads import NoThread, start_thread
from gpusudoku.kernels import cache
from gpusudoku.kernels.kernel import MEASURED_SECONDS, Kernel, announce, keep_pace

START_SECONDS = 0.8
"""What it takes until another process compiles; one with less to do is not started."""
MOST_PROCESSES = 8
"""As many processes as this, unless more are asked for: each takes some 200 MB."""


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
        What is going to be called.
    processes
        As many as this compile, this one included; None: as many as there are usable cores, or
        fewer.
    done
        Called with each kernel once it is compiled, from any thread.
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
    missing.sort(key=lambda kernel: (not kernel.name, -kernel.seconds))
    first, left = missing[0], deque(kernel for kernel in missing[1:] if kernel.name)
    helpers: list[_Helper] = []
    try:
        for _ in range(_helpers(left, processes)):
            helpers.append(_Helper(left, done))
        interruptibly(lambda: _compile(first, left, done))
        for helper in helpers:
            helper.wait()
    finally:
        left.clear()
        for helper in helpers:
            helper.end()
    for kernel in missing:  # where a helper failed, it is compiled here
        if not kernel.fetch():
            interruptibly(kernel.compile)
    if price > MEASURED_SECONDS:
        keep_pace((time.perf_counter() - start) / price)


def seconds(kernels: Iterable[Kernel], processes: int | None = None) -> float:
    """How long ``ready`` should take on the reference machine; 0 if everything is kept."""
    missing = sorted((kernel for kernel in kernels if not kernel.kept), key=lambda k: -k.seconds)
    if not missing:
        return 0.0
    whole = sum(kernel.seconds for kernel in missing)
    return max(whole / (1 + _helpers(missing[1:], processes)), missing[0].seconds)


def _most(processes: int | None) -> int:
    return min(usable_cores(), MOST_PROCESSES) if processes is None else processes


def _helpers(left: Collection[Kernel], processes: int | None) -> int:
    """How many other processes are worth starting for so many kernels, and can be."""
    store = cache.store()
    if store is None or not store.writable() or not _is_python(sys.executable):
        return 0
    worth = int(sum(kernel.seconds for kernel in left) / START_SECONDS)
    return min(_most(processes) - 1, len(left), worth)


def _is_python(executable: str | None) -> bool:
    """Whether that is Python itself, and no program that has Python in it."""
    name = re.fullmatch(r"python[\d.]*[dtw]{0,2}(\.exe)?", Path(executable or "").name.lower())
    return name is not None and not getattr(sys, "frozen", False)


def _compile(kernel: Kernel, left: deque[Kernel], done: Callable[[Kernel], None] | None) -> None:
    """Compile a kernel in this process, and others for as long as there are any."""
    while True:
        kernel.compile()
        if done is not None:
            done(kernel)
        try:
            kernel = left.popleft()
        except IndexError:
            return


class _Helper:
    """Another process that compiles, and the thread that gives it kernels one by one."""

    def __init__(self, left: deque[Kernel], done: Callable[[Kernel], None] | None) -> None:
        self._left, self._done = left, done
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = _start()
        self._thread = Thread(target=self._feed, daemon=True)
        with suppress(NoThread):
            start_thread(self._thread)

    def _feed(self) -> None:
        process = self._process
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        # OSError: the process has ended. ValueError: it was ended from here.
        with suppress(OSError, ValueError):
            while self._left:
                try:
                    kernel = self._left.popleft()
                except IndexError:  # somebody else has taken the last
                    return
                process.stdin.write(pickle.dumps(kernel))
                process.stdin.flush()
                if not process.stdout.read(1):
                    return
                if self._done is not None:
                    self._done(kernel)

    def wait(self) -> None:
        """Wait until it has compiled what it was given."""
        while self._thread.is_alive():
            self._thread.join(WAIT_SECONDS)

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._thread.ident is not None:
                self._thread.join()
            for pipe in self._process.stdin, self._process.stdout:
                if pipe is not None:
                    with suppress(OSError):  # what is written at the end goes nowhere
                        pipe.close()


def _start() -> subprocess.Popen[bytes]:
    """Run ``main`` in a process that imports what this one does."""
    path = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path)
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "GPUSUDOKU_CACHE_DIR": str(cache.base_folder()),
    }
    settings: dict[str, Any] = {}
    if os.name == "nt":  # no window, and no Ctrl-C
        settings["creationflags"] = subprocess.CREATE_NO_WINDOW  # type: ignore[attr-defined]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "gpusudoku.kernels.compiling"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        **settings,
    )


def main() -> None:
    """Compile the kernels that come on stdin, and write a byte to stdout after each.

    The process ends with its stdin, at once: whoever started it has all it needs, or is no more.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started it
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    kernels = queue.SimpleQueue[Kernel]()
    Thread(target=_receive, args=(kernels,), daemon=True).start()
    while True:
        kernel = kernels.get()
        if not kernel.fetch():
            kernel.compile()
        answers.write(b".")


def _receive(kernels: queue.SimpleQueue[Kernel]) -> None:
    try:
        while True:
            kernels.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
