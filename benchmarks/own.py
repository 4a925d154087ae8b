"""The driver of gpusudoku, which counts the boards on stdin, one a line, on one thread.

README.md defines what a driver reads and prints.
"""

from __future__ import annotations

import sys
import time

from llvmlite.binding import get_host_cpu_features
from numba import config

import gpusudoku
from gpusudoku import collection


def version() -> str:
    """Return the version and the widest vector instructions that kernels are compiled for."""
    features = (config.CPU_FEATURES or get_host_cpu_features().flatten()).split(",")
    if "+avx512vl" in features:
        instructions = "AVX-512"
    elif "+avx2" in features:
        instructions = "AVX2"
    else:
        instructions = "no AVX2"
    return f"{gpusudoku.__version__} {instructions}"


def count(boards: list[str]) -> list[int]:
    """Return the number of solutions of each board."""
    results = gpusudoku.count_many(boards, device="cpu", jobs=1, method="search")
    return [int(number) for number in results.numbers()]


def main() -> None:
    """Count the boards on stdin, or print the version."""
    if sys.argv[1:] == ["--version"]:
        print(version())
        return
    boards = sys.stdin.read().split()

    # Before the clock starts, count more boards than there are on stdin: kernels depend on the
    # number of boards, and all that are needed are loaded or compiled now.
    many_solutions = str(collection.load("1c"))
    one_solution = str(collection.load("1a"))
    count([many_solutions, *[one_solution] * (len(boards) + 99)])

    start = time.process_time()
    counts = count(boards)
    cpu_seconds = time.process_time() - start
    print(*counts, f"{cpu_seconds:.9f}", sep="\n")


if __name__ == "__main__":
    main()
