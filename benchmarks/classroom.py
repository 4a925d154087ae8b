"""Race gpusudoku against two textbook counters in plain Python: backtracking, and fork/join.

The two counters follow the pseudo-codes in the README of simonepri/sudoku-solver, a Java program:

* ``sequential`` follows "Sequential Backtracking", with a stack of moves instead of recursion. A
  move fills an empty cell or empties it again. As in the README's "Implementation details", every
  row, column and box has the set of its digits, and the next cell to fill is one with the fewest
  candidates. The blog post "Solving Sudoku Puzzles" chooses the same cell with its rule 3.
* ``fork_join`` follows "Parallel Backtracking". The search space of a board is the product of the
  numbers of candidates of its empty cells. While it is above the cutoff, the board is split into
  one board for each candidate of a cell (fork). A board below the cutoff is a task, which one
  process counts sequentially. The counts are added (join). In Java every task can fork; here only
  the first process does. The report "Exploratory Decomposition" forks in the same way. The program
  of Tarhini and Hajj does not: there, all cores fill the same board and lock the units of a cell.

    python benchmarks/classroom.py @2c -j 8 --cutoff 1e25   by default @1b, all cores, 1e28
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from math import prod
from signal import SIG_DFL, SIGINT, signal
from typing import NamedTuple

import click
import numpy as np
from numba import njit
from script import check_count, command, print_table

from gpusudoku import Board, InputError, collection, count, make_engine
from gpusudoku.engines.cuda import availability
from gpusudoku.jobs.threads import usable_cores

NO_CELL = -1
"""The cell of a move that does nothing."""


class DigitSets(NamedTuple):
    """A board as sets of digits.

    A set of digits is an integer with a bit for each digit; digit d is bit d - 1. On a 9x9 board:

        bit     8 7 6 5 4 3 2 1 0
        digit   9 8 7 6 5 4 3 2 1
        mask    0 0 0 1 0 0 0 0 1   the set of 1 and 5
    """

    used_digits: list[int]
    """The set of digits in each row, then in each column, then in each box."""
    rows: list[int]
    """For each empty cell, the index of its row in ``used_digits``."""
    columns: list[int]
    """For each empty cell, the index of its column in ``used_digits``."""
    boxes: list[int]
    """For each empty cell, the index of its box in ``used_digits``."""


@cache
def candidate_count_table(digit_count: int) -> list[int]:
    """Return a table: for every set of digits, how many digits are not in it."""
    return [digit_count - used.bit_count() for used in range(1 << digit_count)]


def digit_sets(board: Board) -> DigitSets:
    """Convert a board; if clues contradict each other, return one cell without any candidate."""
    used_digits = [0] * (3 * board.n)
    is_clue = board.cells > 0
    units_of_cells = board.geometry.unit_of  # (cells, 3): the indices of row, column and box
    clues = board.cells[is_clue].tolist()
    units_of_clues = units_of_cells[is_clue].tolist()
    for digit, (row, column, box) in zip(clues, units_of_clues, strict=True):
        bit = 1 << digit - 1
        if (used_digits[row] | used_digits[column] | used_digits[box]) & bit:
            all_digits = 2**board.n - 1
            return DigitSets([all_digits], [0], [0], [0])
        for unit in (row, column, box):
            used_digits[unit] |= bit
    rows, columns, boxes = units_of_cells[~is_clue].T.tolist()
    return DigitSets(used_digits, rows, columns, boxes)


def backtrack(used_digits, rows, columns, boxes, candidate_counts):
    """Count the solutions of a board: its DigitSets, and the table for its number of digits.

    ``used_digits`` changes during the search. The race also compiles this function with Numba,
    unchanged; the lists are arrays then.
    """
    all_digits = len(candidate_counts) - 1
    digit_bits = [0] * len(rows)  # the digit in each empty cell; 0 while there is none
    solution_count = 0

    # A move puts a digit into a cell; digit bit 0 empties the cell again. The last move is next.
    moves = [(NO_CELL, 0)]
    while moves:
        cell, bit = moves.pop()
        if cell != NO_CELL:
            # Remove the cell's old digit from its units and add the new one: both may be 0.
            change = digit_bits[cell] ^ bit
            for unit in (rows[cell], columns[cell], boxes[cell]):
                used_digits[unit] ^= change
            digit_bits[cell] = bit
            if bit == 0:
                continue

        # Choose an empty cell with the fewest candidates.
        best_cell = NO_CELL
        fewest_candidates = len(candidate_counts)
        candidates = 0
        for k in range(len(rows)):
            if digit_bits[k] == 0:
                seen_digits = used_digits[rows[k]] | used_digits[columns[k]] | used_digits[boxes[k]]
                if candidate_counts[seen_digits] < fewest_candidates:
                    best_cell = k
                    fewest_candidates = candidate_counts[seen_digits]
                    candidates = all_digits ^ seen_digits
        if best_cell == NO_CELL:  # all cells are filled
            solution_count += 1
            continue

        # Try all its candidates; the move that empties the cell comes after them.
        moves.append((best_cell, 0))
        while candidates:
            lowest_bit = candidates & -candidates
            moves.append((best_cell, lowest_bit))
            candidates ^= lowest_bit
    return solution_count


def sequential(board: Board, counter: Callable[..., int] = backtrack) -> int:
    """Count the solutions of a board of at most 16 digits in this process."""
    return counter(*digit_sets(board), candidate_count_table(board.n))


def fork(board: Board, cutoff: float) -> Iterator[Board]:
    """Split a board until no search space is above the cutoff; leave out dead boards."""
    used_digits, rows, columns, boxes = digit_sets(board)
    seen_digits = [
        used_digits[row] | used_digits[column] | used_digits[box]
        for row, column, box in zip(rows, columns, boxes, strict=True)
    ]
    counts = [candidate_count_table(board.n)[digits] for digits in seen_digits]
    if 0 in counts:
        return  # a cell has no candidate, so there is no solution
    if prod(counts) <= cutoff:
        yield board
        return
    best = counts.index(min(counts))
    best_cell = np.flatnonzero(board.cells == 0)[best]
    for digit in range(1, board.n + 1):
        if not seen_digits[best] & 1 << digit - 1:
            cells = board.cells.copy()
            cells[best_cell] = digit
            yield from fork(Board.of_digits(cells, board.geometry), cutoff)


def fork_join(board: Board, workers: int, cutoff: float) -> int:
    """Count the solutions of a board in processes; starting them is part of the time."""
    # With its default action, Ctrl-C ends the workers without printing their tracebacks.
    with ProcessPoolExecutor(workers, initializer=signal, initargs=(SIGINT, SIG_DFL)) as pool:
        return sum(pool.map(sequential, fork(board, cutoff)))


def make_counters(board: Board, jobs: int, cutoff: float) -> dict[str, Callable[[], int]]:
    """Return a function for each row of the table, which counts the board's solutions."""
    compiled = njit(backtrack)

    def backtrack_compiled(*lists: list[int]) -> int:
        return compiled(*(np.array(integers, np.int64) for integers in lists))

    counters: dict[str, Callable[[], int]] = {
        "sequential, Python": partial(sequential, board),
        f"fork/join, Python, -j {jobs}": partial(fork_join, board, jobs, cutoff),
        "sequential, Numba": partial(sequential, board, backtrack_compiled),
    }

    engines = {f"-j {threads}": make_engine(device="cpu", jobs=threads) for threads in (1, jobs)}
    if availability.unusable_because() is None:
        gpu = "simulated GPU" if availability.simulated() else "GPU"
        engines[gpu] = make_engine(device="cuda")
    for device, engine in engines.items():
        counters[f"gpusudoku, {device}"] = partial(count, board, engine=engine, method="search")
    return counters


def race(board: Board, jobs: int, cutoff: float, expected: int) -> Iterator[list[str]]:
    """Yield a row of the table for each counter; raise a MismatchError after a wrong count."""
    first_seconds = None
    for name, counter in make_counters(board, jobs, cutoff).items():
        if "Python" not in name:
            counter()  # compile before the clock starts

        start = time.perf_counter()
        solution_count = int(counter())
        seconds = time.perf_counter() - start

        check_count(name, solution_count, expected)
        if first_seconds is None:
            first_seconds = seconds
        rate = solution_count / seconds
        speed_up = first_seconds / seconds
        yield [name, f"{seconds:.3g}", f"{rate:,.0f}", f"{speed_up:,.2f}"]


@command("classroom")
@click.argument("board", default="@1b")
@click.option("--cutoff", type=click.FloatRange(min=1), default=1e28, help="By default 1e28.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="By default all cores.")
def main(board: str, cutoff: float, jobs: int | None) -> None:
    """Count a BOARD of the collection with every counter, check the counts, print the times."""
    entry = collection.entry(board.removeprefix("@"))
    if entry.box.n > 16:  # the table of candidate counts has 2^n entries
        raise InputError(f"@{entry.name}: expected a board of at most 16 digits")
    rows = race(collection.load(entry.name), jobs or usable_cores(), cutoff, entry.count)
    print_table(["counter", "s", "solutions/s", "speed-up"], rows)


if __name__ == "__main__":
    main()
