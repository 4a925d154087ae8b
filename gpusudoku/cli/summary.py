"""The closing lines of a batch: what became of its boards, and how long that took."""

from __future__ import annotations

import time

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.cli.messages import note, tell
from gpusudoku.results import Counts

SEVERAL, NONE = 3, 4
"""What --exit-code makes of boards that are no puzzles: the status of a batch is the largest."""


class Tally:
    """How many boards have one solution, several, or none."""

    def __init__(self) -> None:
        self.boards = 0
        self._one = self._several = self._none = 0
        self._hidden = False
        """Whether nobody looked for a second solution."""
        self._start = time.perf_counter()

    def add(self, results: Counts) -> None:
        """Take in boards that were worked on together."""
        counts = np.array(results.counts)
        self.boards += len(results)
        self._one += int((counts == 1).sum())
        self._several += int((counts > 1).sum())
        self._none += int((counts == 0).sum())
        self._hidden = results.limit == 1

    @property
    def status(self) -> int:
        """What --exit-code exits with."""
        return NONE if self._none else SEVERAL if self._several else 0

    def show(self, unreadable: int) -> None:
        """Print the line on stderr; ``unreadable`` boards were read in vain."""
        seconds = time.perf_counter() - self._start
        some = (
            f"{self._one:,} solvable"
            if self._hidden
            else f"{self._one:,} unique, {self._several:,} several"
        )
        note(
            f"{self.boards + unreadable:,} boards: {some}, {self._none:,} none, "
            f"{unreadable:,} unreadable; {seconds:,.2f} s, "
            f"{self.boards / seconds:,.0f} boards a second"
        )


class Summary:
    """Adds up a batch that is simplified.

    Hints are candidates: n for every empty cell of the input.
    """

    def __init__(self) -> None:
        self.boards = self.solved = 0
        self.cells_before = self.cells_after = self.cells = 0
        self.hints_before = self.hints_after = 0
        self.seconds = 0.0

    def add(self, before: Board, after: Board | None, seconds: float, hints: int = 0) -> None:
        """Take in one board and what became of it (None: found to have no solution)."""
        result = after or before
        self.boards += 1
        self.solved += after is not None and after.is_full
        self.cells += before.geometry.cells
        self.cells_before += before.clues
        self.cells_after += result.clues
        self.hints_before += before.n * before.empty_cells
        self.hints_after += hints
        self.seconds += seconds

    def show(self) -> None:
        """Print the lines on stderr."""
        milliseconds = 1e3 * self.seconds
        for label, text in {
            "Solved": f"{self.solved}/{self.boards}",
            "Solved Cells": f"{self.cells_before}(input) {self.cells_after}(finally)"
            f" {self.cells}(expected)",
            "Cell Hints": f"{self.hints_before}(input) {self.hints_after}(finally)",
            "Time Taken": f"{milliseconds:.3f} milli-seconds",
            "Avg time": f"{milliseconds / max(1, self.boards):.6f} milli-seconds",
        }.items():
            tell(f"{label:<13}:  {text}")
