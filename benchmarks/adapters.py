"""Programs that count all solutions of a board, ours among them, each behind the same methods.

An adapter models a board as the program's documents do, with default settings, on one thread. Only
``count`` is timed, which makes the model and counts; ``load`` comes before.
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

SMALL = Board([1, 2, 3, 4] + [0] * 12)
"""A board with 12 solutions."""


class Found(NamedTuple):
    """A program's answer for a board."""

    solutions: int | None
    """The number found in time; None if the program tells nothing before it is done."""
    complete: bool
    """Whether the number is that of all solutions."""
    seconds: float | None = None
    """The seconds that the program itself reports, if it does."""


class Program(ABC):
    """A program that counts solutions; this base class is for Python packages."""

    name = ""
    """The name in tables, which is also that of the package."""

    def unusable_because(self) -> str | None:
        """Why it cannot be measured here, None if it can."""
        try:
            self.version()
        except metadata.PackageNotFoundError:
            return "not installed; pip install '.[peers]' brings it"
        return None

    def version(self) -> str:
        """The version of the program."""
        return metadata.version(self.name)

    def takes(self, board: Board) -> bool:
        """Whether it can count boards of this shape."""
        return True

    def load(self, board: Board) -> None:
        """Import all that a count of the board needs, and compile it if need be."""
        self.count(SMALL, 1.0)

    @abstractmethod
    def count(self, board: Board, seconds: float) -> Found:
        """Count; give up after some seconds, if the program can be told to."""


class Own(Program):
    """Ours: a whole ``gpusudoku.count`` on the CPU, the second one of its process."""

    def __init__(self, name: str, **options: object) -> None:
        self.name = name
        self.options = {"device": "cpu", **options}

    def version(self) -> str:
        return gpusudoku.__version__

    def load(self, board: Board) -> None:
        self.count(board, 0)

    def count(self, board: Board, seconds: float) -> Found:
        return Found(gpusudoku.count(board, **self.options).count, True)


class Clingo(Program):
    """Answer sets: a choice of a digit for every cell, and of a cell for every digit of a unit."""

    name = "clingo"
    RULES = """
    1 { value(C, D) : digit(D) } 1 :- cell(C).
    1 { value(C, D) : in(C, U) } 1 :- unit(U), digit(D).
    """

    def count(self, board: Board, seconds: float) -> Found:
        import clingo

        n = board.n
        facts = [f"digit(1..{n}). cell(0..{n * n - 1}). unit(0..{3 * n - 1})."]
        for cell, units in enumerate(board.geometry.unit_of.tolist()):
            facts += [f"in({cell},{unit})." for unit in units]
        facts += [f"value({cell},{d})." for cell, d in enumerate(board.cells.tolist()) if d]
        control = clingo.Control(["-n", "0"])
        control.add("base", [], self.RULES + "".join(facts))
        control.ground([("base", [])])
        # Answer sets are counted inside clingo: handing each to Python would take time.
        with control.solve(async_=True) as handle:
            handle.wait(seconds)
            handle.cancel()
            complete = bool(handle.get().exhausted)
        return Found(int(control.statistics["summary"]["models"]["enumerated"]), complete)


class CpSat(Program):
    """OR-tools CP-SAT: an integer for every cell, all different in every unit, on one worker."""

    name = "ortools"

    def count(self, board: Board, seconds: float) -> Found:
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
        solver = cp_model.CpSolver()
        counter = Counter()
        solver.parameters.enumerate_all_solutions = True
        solver.parameters.num_workers = 1
        solver.parameters.max_time_in_seconds = seconds
        status = solver.solve(model, counter)
        return Found(counter.solutions, status in (cp_model.OPTIMAL, cp_model.INFEASIBLE))


def covering(board: Board) -> NDArray[np.bool_]:
    """A board as an exact cover.

    A row is a digit in a cell; it covers the cell, and the digit in each of the cell's units.

    Returns
    -------
    bool (rows, 4 * n * n)
    """
    n = board.n
    clues = board.cells[:, None]
    cells, digits = np.nonzero((clues == 0) | (clues == np.arange(1, n + 1)))
    rows = np.arange(cells.size)[:, None]
    covers = np.zeros((cells.size, 4 * n * n), np.bool_)
    covers[rows, cells[:, None]] = True
    covers[rows, n * n + board.geometry.unit_of[cells] * n + digits[:, None]] = True
    return covers


class ExactCover(Program):
    """Dancing links in C, which count without listing. They cannot be told to stop."""

    name = "exact-cover"

    def count(self, board: Board, seconds: float) -> Found:
        from exact_cover import get_solution_count

        return Found(int(get_solution_count(covering(board))), True)


class XCover(Program):
    """Dancing cells in Numba, which list one solution after the other.

    The package also has decision diagrams, which suit counting better; but it distinguishes
    subproblems by a hash of 32 bits, and so miscounts boards of a few thousand solutions.
    """

    name = "xcover"

    def count(self, board: Board, seconds: float) -> Found:
        from xcover import covers_bool

        end = time.perf_counter() + seconds
        found = 0
        for _ in covers_bool(covering(board)):
            found += 1
            if time.perf_counter() > end:
                return Found(found, False)
        return Found(found, True)


class QQWing(Program):
    """The program qqwing: techniques of human solvers, and guesses.

    The time is the one it reports itself, which excludes the start of the process.
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

    def takes(self, board: Board) -> bool:
        # Version 1.3.4 reports no solution for a full board.
        return str(board.geometry) == "3x3" and not board.is_full

    def count(self, board: Board, seconds: float) -> Found:
        # The order matters: --solve alone prints the solution.
        command = ["qqwing", "--solve", "--nosolution", "--count-solutions", "--csv", "--timer"]
        cells = "".join(str(clue) if clue else "." for clue in board.cells.tolist())
        try:
            run = subprocess.run(
                command, input=cells + "\n", capture_output=True, text=True, check=True,
                timeout=seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Found(None, False)
        # A line of heads, a line of values, a line of totals. Contradictory clues have no values.
        values = run.stdout.splitlines()[1].split(",")
        if len(values) == 1:
            return Found(0, True)
        return Found(int(values[0]), True, float(values[1]) / 1e3)


PACKAGES = [Clingo(), CpSat(), ExactCover(), XCover(), QQWing()]
"""All programs that a package manager brings; `built.py` has those that are built from source."""
