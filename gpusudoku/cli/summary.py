"""The closing lines of a batch: how many boards, cells and hints, and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpusudoku.board.board import Board
from gpusudoku.cli.messages import tell

if TYPE_CHECKING:
    from gpusudoku.solving import Solved


class Summary:
    """Adds up a batch. Hints are candidates: n for every empty cell of the input."""

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

    def add_solved(self, solved: Solved) -> None:
        """Take in what was solved together."""
        before = solved.boards
        unsolved = before.chosen(solved.counts == 0)
        cells, clues = before.geometry.cells * len(before), before.clues
        self.boards += len(before)
        self.solved += len(before) - len(unsolved)
        self.cells += cells
        self.cells_before += clues
        self.cells_after += before.geometry.cells * (len(before) - len(unsolved)) + unsolved.clues
        self.hints_before += before.geometry.n * (cells - clues)
        self.seconds += solved.stats.seconds

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
