"""Programs that count all solutions of a board, gpusudoku among them, with a common interface.

An adapter models a board as the program's documentation does, with default settings, on one thread.
Only ``count`` is timed, which builds the model and counts. ``load`` is called before it.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from importlib import metadata
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import gpusudoku
from gpusudoku import Board

SMALL_BOARD = Board([1, 2, 3, 4] + [0] * 12)
"""A 4x4 board with 12 solutions."""


class Answer(NamedTuple):
    """A program's answer for a board."""

    solutions: int | None
    """The number of solutions so far; None if the program was stopped and reports no number."""
    complete: bool
    """Whether ``solutions`` is the number of all solutions."""
    seconds: float | None = None
    """The time that the program itself reports, if it does."""


class Program(ABC):
    """A program that counts solutions; this base class is for Python packages."""

    name = ""
    """The name in tables, which is also the name of the package."""

    def unusable_because(self) -> str | None:
        """Return why the program cannot be measured here, or None if it can."""
        try:
            self.version()
        except metadata.PackageNotFoundError:
            return "not installed; pip install '.[peers]' brings it"
        return None

    def version(self) -> str:
        """Return the version of the program."""
        return metadata.version(self.name)

    def can_count(self, board: Board) -> bool:
        """Return whether the program can count boards like this one."""
        return True

    def load(self, board: Board) -> None:
        """Import and compile everything that is needed to count the board."""
        self.count(SMALL_BOARD, 1.0)

    @abstractmethod
    def count(self, board: Board, seconds: float) -> Answer:
        """Count the solutions; stop after ``seconds`` if the program has such a limit."""


class Gpusudoku(Program):
    """A call of ``gpusudoku.count`` on the CPU, the second one of its process."""

    def __init__(self, name: str, **options: object) -> None:
        self.name = name
        self.options = {"device": "cpu", **options}

    def version(self) -> str:
        return gpusudoku.__version__

    def load(self, board: Board) -> None:
        self.count(board, 0)

    def count(self, board: Board, seconds: float) -> Answer:
        return Answer(gpusudoku.count(board, **self.options).count, True)


class Clingo(Program):
    """Answer set programming: every cell has one digit, every unit has one cell for each digit."""

    name = "clingo"
    RULES = """
    1 { value(C, D) : digit(D) } 1 :- cell(C).
    1 { value(C, D) : in(C, U) } 1 :- unit(U), digit(D).
    """

    def count(self, board: Board, seconds: float) -> Answer:
        import clingo

        n = board.n
        facts = [f"digit(1..{n}). cell(0..{n * n - 1}). unit(0..{3 * n - 1})."]
        for cell, units in enumerate(board.geometry.unit_of.tolist()):
            facts += [f"in({cell},{unit})." for unit in units]
        for cell, clue in enumerate(board.cells.tolist()):
            if clue:
                facts.append(f"value({cell},{clue}).")
        control = clingo.Control(["-n", "0"])
        control.add("base", [], self.RULES + "".join(facts))
        control.ground([("base", [])])
        # clingo counts the answer sets itself: passing each of them to Python would take time.
        with control.solve(async_=True) as handle:
            handle.wait(seconds)
            handle.cancel()
            complete = bool(handle.get().exhausted)
        solutions = int(control.statistics["summary"]["models"]["enumerated"])
        return Answer(solutions, complete)


class CpSat(Program):
    """OR-tools CP-SAT: an integer for every cell, all different in each unit; on one worker."""

    name = "ortools"

    def count(self, board: Board, seconds: float) -> Answer:
        from ortools.sat.python import cp_model

        class Counter(cp_model.CpSolverSolutionCallback):
            solutions = 0

            def on_solution_callback(self) -> None:
                self.solutions += 1

        model = cp_model.CpModel()
        values = [
            model.new_constant(clue) if clue else model.new_int_var(1, board.n, "")
            for clue in board.cells.tolist()
        ]
        for unit in board.geometry.units.tolist():
            model.add_all_different([values[cell] for cell in unit])

        counter = Counter()
        solver = cp_model.CpSolver()
        solver.parameters.enumerate_all_solutions = True
        solver.parameters.num_workers = 1
        solver.parameters.max_time_in_seconds = seconds
        status = solver.solve(model, counter)
        complete = status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
        return Answer(counter.solutions, complete)


def exact_cover(board: Board) -> NDArray[np.bool_]:
    """Model a board as an exact cover problem.

    A row stands for a digit in a cell. It covers four columns: the cell, and the digit in the
    cell's row, column and box.

        columns   0 ... n*n-1    cells
                  n*n ...        n columns for each of the 3n units, one for each digit

    Returns
    -------
    bool (rows, 4 * n * n)
    """
    n = board.n
    clues = board.cells[:, None]
    digits = np.arange(1, n + 1)
    # Digits are numbered from 0 here. A clue leaves a cell one digit.
    cells, digit_indices = np.nonzero((clues == 0) | (clues == digits))
    units = board.geometry.unit_of[cells]
    rows = np.arange(cells.size)[:, None]
    covers = np.zeros((cells.size, 4 * n * n), np.bool_)
    covers[rows, cells[:, None]] = True
    covers[rows, n * n + units * n + digit_indices[:, None]] = True
    return covers


class ExactCover(Program):
    """Dancing links in C, which count solutions without listing them and have no time limit."""

    name = "exact-cover"

    def count(self, board: Board, seconds: float) -> Answer:
        from exact_cover import get_solution_count

        return Answer(int(get_solution_count(exact_cover(board))), True)


class XCover(Program):
    """Dancing cells in Numba, which list one solution after the other.

    The package also has decision diagrams, which suit counting better. It identifies subproblems by
    a hash of 32 bits, however, and therefore miscounts boards with a few thousand solutions.
    """

    name = "xcover"

    def count(self, board: Board, seconds: float) -> Answer:
        from xcover import covers_bool

        deadline = time.perf_counter() + seconds
        solution_count = 0
        for _ in covers_bool(exact_cover(board)):
            solution_count += 1
            if time.perf_counter() > deadline:
                return Answer(solution_count, False)
        return Answer(solution_count, True)


class QQWing(Program):
    """The program qqwing, which applies techniques of human solvers and guesses.

    It reports its time itself, without the start of the process.
    """

    name = "qqwing"

    def unusable_because(self) -> str | None:
        return None if shutil.which("qqwing") else "not on the path"

    def version(self) -> str:
        command = ["qqwing", "--version"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        return run.stdout.split()[-1]

    def load(self, board: Board) -> None:
        pass

    def can_count(self, board: Board) -> bool:
        # Version 1.3.4 reports no solution for a full board.
        return str(board.geometry) == "3x3" and not board.is_full

    def count(self, board: Board, seconds: float) -> Answer:
        # The order matters: --nosolution has to follow --solve, which prints the solution.
        command = ["qqwing", "--solve", "--nosolution", "--count-solutions", "--csv", "--timer"]
        line = "".join(str(clue) if clue else "." for clue in board.cells.tolist())
        try:
            run = subprocess.run(
                command, input=line + "\n", capture_output=True, text=True, check=True,
                timeout=seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Answer(None, False)
        # It prints a line of heads, a line of values and a line of totals. If clues contradict each
        # other, the line of values has one field.
        values = run.stdout.splitlines()[1].split(",")
        if len(values) == 1:
            return Answer(0, True)
        milliseconds = float(values[1])
        return Answer(int(values[0]), True, milliseconds / 1e3)


PACKAGES = [Clingo(), CpSat(), ExactCover(), XCover(), QQWing()]
"""The programs that package managers install; `built.py` has those that are built from source."""
