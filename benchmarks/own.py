"""The driver of this program: counts the boards on stdin, one a line, on one thread.

README.md says what a driver reads and prints. Before the clock starts, more boards than those are
counted, so that all kernels for so many are loaded, and compiled if need be.
"""

from __future__ import annotations

import sys
import time

from llvmlite.binding import get_host_cpu_features
from numba import config

import gpusudoku
from gpusudoku import collection


def version() -> str:
    """The version, and the widest vector instructions that kernels are compiled for."""
    features = (config.CPU_FEATURES or get_host_cpu_features().flatten()).split(",")
    known = {"+avx512vl": "AVX-512", "+avx2": "AVX2"}
    return f"{gpusudoku.__version__} {next((known[f] for f in known if f in features), 'no AVX2')}"


def count(boards: list[str]) -> list[int]:
    """The number of solutions of each."""
    made = gpusudoku.count_many(boards, device="cpu", jobs=1, method="search")
    return [int(number) for number in made.numbers()]


def main() -> None:
    """Do what the module says, or print the version."""
    if sys.argv[1:] == ["--version"]:
        print(version())
        return
    boards = sys.stdin.read().split()
    count([str(collection.load("1c")), *[str(collection.load("1a"))] * (len(boards) + 99)])
    start = time.process_time()
    counts = count(boards)
    seconds = time.process_time() - start
    print(*counts, f"{seconds:.9f}", sep="\n")


if __name__ == "__main__":
    main()
