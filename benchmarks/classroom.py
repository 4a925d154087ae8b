"""Race against two textbook counters in plain Python: backtracking, and fork/join with a cutoff.

They follow the two pseudo-codes in the README of simonepri/sudoku-solver, which counts in Java:

* ``sequential`` follows "Sequential Backtracking": a stack of moves, some of which empty a cell
  again. As its "Implementation details" say, every row, column and box has a set of its digits, a
  table counts the digits that a set leaves, and the guess is in a cell with the fewest candidates.
  Rule 3 of the blog post "Solving Sudoku Puzzles" takes that cell, too.
* ``fork_join`` follows "Parallel Backtracking". The search space of a board is the product of the
  numbers of candidates of its cells. Above a cutoff every candidate of a cell makes a board (fork),
  below it the board is a task, counted sequentially. The counts are added (join). In Java all tasks
  fork, here only the first process does. "Exploratory Decomposition" forks likewise. Tarhini and
  Hajj do not: all cores fill one board, and lock the row, the column and the box of a cell.

    python benchmarks/classroom.py @2c -j 8 --cutoff 1e25   by default @1b, all cores, 1e28
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from math import prod
from signal import SIG_DFL, SIGINT, signal

import click
import numpy as np
from numba import njit
from script import check, command, table

from gpusudoku import Board, InputError, collection, count, make_engine
from gpusudoku.engines.cuda import availability
from gpusudoku.jobs.threads import usable_cores


@cache
def numbers_left(digits: int) -> list[int]:
    """Return the table: for every set of digits the number of the others."""
    return [digits - used.bit_count() for used in range(1 << digits)]


def sets_of(board: Board) -> tuple[list[int], ...]:
    """Return the set of each row, column and box; then the empty cells' rows, columns and boxes.

    Digit d is bit d - 1. Clues that contradict each other give one cell without any candidate.
    """
    used = [0] * (3 * board.n)
    filled = board.cells > 0
    units = board.geometry.unit_of
    clues = zip(board.cells[filled].tolist(), units[filled].tolist(), strict=True)
    for digit, (row, column, box) in clues:
        bit = 1 << digit - 1
        if (used[row] | used[column] | used[box]) & bit:
            return [2**board.n - 1], [0], [0], [0]
        for unit in (row, column, box):
            used[unit] |= bit
    return used, *units[~filled].T.tolist()


def backtrack(used, rows, columns, boxes, left):
    """Count the solutions of sets, with the table of their digits. Numba compiles it as it is."""
    every = len(left) - 1
    placed = [0] * len(rows)
    solutions = 0
    stack = [(-1, 0)]  # moves: an empty cell, and the bit of its digit; the first one does nothing
    while stack:
        cell, bit = stack.pop()
        if cell >= 0:
            for unit in (rows[cell], columns[cell], boxes[cell]):
                used[unit] ^= placed[cell] ^ bit  # the digit of the move before goes
            placed[cell] = bit
            if bit == 0:
                continue
        best = -1
        fewest = len(left)
        free = 0
        for k in range(len(rows)):
            if placed[k] == 0:
                seen = used[rows[k]] | used[columns[k]] | used[boxes[k]]
                if left[seen] < fewest:
                    best = k
                    fewest = left[seen]
                    free = every ^ seen
        if best < 0:
            solutions += 1
            continue
        stack.append((best, 0))
        while free:
            stack.append((best, free & -free))
            free &= free - 1
    return solutions


def sequential(board: Board, counter: Callable[..., int] = backtrack) -> int:
    """Count the solutions of a board of at most 16 digits in this process."""
    return counter(*sets_of(board), numbers_left(board.n))


def fork(board: Board, cutoff: float) -> Iterator[Board]:
    """Split a board until no search space is above the cutoff; leave out dead boards."""
    used, *cells = sets_of(board)
    seen = [used[r] | used[c] | used[b] for r, c, b in zip(*cells, strict=True)]
    numbers = [numbers_left(board.n)[each] for each in seen]
    if not numbers or 0 < prod(numbers) <= cutoff:
        yield board
    elif all(numbers):
        best = numbers.index(min(numbers))
        for digit in range(1, board.n + 1):
            if not seen[best] >> digit - 1 & 1:
                grid = board.cells.copy()
                grid[np.flatnonzero(grid == 0)[best]] = digit
                yield from fork(Board.of_digits(grid, board.geometry), cutoff)


def fork_join(board: Board, workers: int, cutoff: float) -> int:
    """Count in processes, which take time to start. Ctrl-C ends them without a word."""
    with ProcessPoolExecutor(workers, initializer=signal, initargs=(SIGINT, SIG_DFL)) as pool:
        return sum(pool.map(sequential, fork(board, cutoff)))


def race(board: Board, jobs: int, cutoff: float, right: int) -> Iterator[list[str]]:
    """Yield a row of the table for every way, as soon as it has counted right."""
    compiled = njit(backtrack)
    words = partial(np.array, dtype=np.int64)
    first = 0.0
    ways = {
        "sequential, Python": partial(sequential, board),
        f"fork/join, Python, -j {jobs}": partial(fork_join, board, jobs, cutoff),
        "sequential, Numba": partial(sequential, board, lambda *s: compiled(*map(words, s))),
    }
    engines = {f"-j {threads}": make_engine(device="cpu", jobs=threads) for threads in (1, jobs)}
    if availability.unusable_because() is None:
        name = "simulated GPU" if availability.simulated() else "GPU"
        engines[name] = make_engine(device="cuda")
    for name, engine in engines.items():
        ways[f"gpusudoku, {name}"] = partial(count, board, engine=engine, method="search")
    for way, counter in ways.items():
        if "Python" not in way:
            counter()  # compiles
        start = time.perf_counter()
        found = int(counter())
        seconds = time.perf_counter() - start
        check(way, found, right)
        first = first or seconds
        yield [way, f"{seconds:.3g}", f"{found / seconds:,.0f}", f"{first / seconds:,.2f}"]


@command("classroom")
@click.argument("board", default="@1b")
@click.option("--cutoff", type=click.FloatRange(min=1), default=1e28, help="By default 1e28.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="By default all cores.")
def main(board: str, cutoff: float, jobs: int | None) -> None:
    """Count a BOARD of the collection in every way, check the counts, and print the times."""
    entry = collection.entry(board.removeprefix("@"))
    if entry.box.n > 16:
        raise InputError(f"@{entry.name}: expected a board of at most 16 digits")
    rows = race(collection.load(entry.name), jobs or usable_cores(), cutoff, entry.count)
    table(["way", "s", "solutions/s", "times the first"], rows)


if __name__ == "__main__":
    main()
