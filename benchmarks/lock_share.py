"""Which share of a command's work only one thread at a time can do: all that is not compiled.

Compiled loops run without Python's lock, so those of all threads run at the same time; whatever is
Python or NumPy holds it. By Amdahl's law the share that holds it bounds what more cores can give.

    python benchmarks/lock_share.py count --limit 2 puzzles.txt     a command of gpusudoku
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

RUNS = 3


class Spent(NamedTuple):
    """Seconds on a core."""

    compiled: float
    """In compiled loops."""
    all: float
    """The whole process."""


def lock_share(command: str, long: Path, short: Path) -> float:
    """The share of the work on the lines that one file has more than the other, on one thread.

    Whatever else the machine does changes it by several hundredths: it is the median of RUNS.
    """
    shares = []
    for _ in range(RUNS):
        more, fewer = (spent(command, path) for path in (long, short))
        shares.append(1 - (more.compiled - fewer.compiled) / (more.all - fewer.all))
    return median(shares)


def bound(share: float, threads: int) -> float:
    """How many times faster that many threads on as many cores can be, at most."""
    return 1 / (share + (1 - share) / threads)


def spent(command: str, file: Path) -> Spent:
    """What a command takes for a file, on one thread, in a process of its own."""
    words = [sys.executable, __file__, *command.split(), "-j", "1", "-q", "--device", "cpu"]
    done = subprocess.run([*words, str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          check=True)  # fmt: skip
    return Spent(**json.loads(done.stderr.splitlines()[-1]))


def main() -> None:
    """Run gpusudoku with the arguments of this script; say last on stderr what it took."""
    from gpusudoku.cli import main as gpusudoku
    from gpusudoku.kernels.kernel import Kernel

    compiled, call = [0.0], Kernel.__call__

    def timed(kernel: Kernel, *arguments: Any) -> Any:
        start = time.thread_time()
        try:
            return call(kernel, *arguments)
        finally:
            compiled[0] += time.thread_time() - start

    Kernel.__call__ = timed  # type: ignore[method-assign]
    sys.argv[0] = "gpusudoku"
    try:
        gpusudoku()
    finally:
        print(json.dumps(Spent(compiled[0], time.process_time())._asdict()), file=sys.stderr)


if __name__ == "__main__":
    main()
