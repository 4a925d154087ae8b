"""The techniques written with sets, on the candidates of every cell: slow and obviously right."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.logic import Simplified

Candidates = list[set[int]]


class Contradiction(Exception):  # noqa: N818 - not an error
    """No solution is left."""


def given_clues(board: Board) -> Candidates:
    """List the given candidates that the clues leave; a clue's cell has that digit alone."""
    if board.given_candidates is None:
        cells = [set(range(1, board.n + 1)) for _ in range(board.geometry.cells)]
    else:
        cells = [digits_of(mask, board.n) for mask in board.given_candidates.tolist()]
    for cell in np.flatnonzero(board.cells).tolist():
        digit = int(board.cells[cell])
        if any(int(board.cells[peer]) == digit for peer in board.geometry.peers[cell]):
            raise Contradiction
        cells[cell] = {digit}
        for peer in board.geometry.peers[cell].tolist():
            cells[peer] -= {digit}
    return cells


def reference(
    cells: Candidates, geometry: Geometry, techniques: str, blind: str = ""
) -> Candidates:
    """Apply techniques until nothing changes; raises Contradiction if that shows one.

    ``blind`` is a kind of unit (rows, columns, boxes) in which the last technique is not tried.
    """
    names = techniques.split(",")
    grid = Grid(geometry, [set(candidates) for candidates in cells])
    before: Candidates = []
    while before != grid.cells:
        before = [set(candidates) for candidates in grid.cells]
        if "naked-single" in names:
            grid.naked_singles()
        for unit, kind in zip(grid.units, grid.kinds, strict=True):
            tried = names[:-1] if kind == blind else names
            if "hidden-single" in tried:
                grid.hidden_singles(unit)
            if "locked-candidates" in tried:
                grid.locked_candidates(unit, kind)
            if "naked-pair" in tried:
                grid.naked_pairs(unit)
            if "hidden-pair" in tried:
                grid.hidden_pairs(unit)
        if not all(grid.cells):
            raise Contradiction
    return grid.cells


class Grid:
    """The candidates of all cells, and what each technique does to them."""

    def __init__(self, geometry: Geometry, cells: Candidates) -> None:
        self.cells, self.digits = cells, range(1, geometry.n + 1)
        self.units = [set(unit) for unit in geometry.units.tolist()]
        self.kinds = ["rows"] * geometry.n + ["columns"] * geometry.n + ["boxes"] * geometry.n
        self.peers = [set(peers.tolist()) for peers in geometry.peers]

    def places(self, digit: int, unit: set[int]) -> set[int]:
        return {cell for cell in unit if digit in self.cells[cell]}

    def remove(self, digits: set[int], cells: set[int]) -> None:
        for cell in cells:
            self.cells[cell] -= digits

    def remove_from_shared_units(self, digits: set[int], pair: set[int]) -> None:
        for unit in self.units:
            if pair <= unit:
                self.remove(digits, unit - pair)

    def naked_singles(self) -> None:
        for cell, peers in enumerate(self.peers):
            if len(self.cells[cell]) == 1:
                self.remove(self.cells[cell], peers)

    def hidden_singles(self, unit: set[int]) -> None:
        at_first = {digit: self.places(digit, unit) for digit in self.digits}
        for digit, places in at_first.items():
            if not places:
                raise Contradiction
            if len(places) == 1:
                self.cells[places.pop()] &= {digit}

    def locked_candidates(self, unit: set[int], kind: str) -> None:
        for other, other_kind in zip(self.units, self.kinds, strict=True):
            if kind == other_kind or "boxes" not in (kind, other_kind):
                continue
            for digit in self.digits:
                places = self.places(digit, unit)
                if not places:
                    raise Contradiction
                if places <= other:
                    self.remove({digit}, other - unit)

    def naked_pairs(self, unit: set[int]) -> None:
        for p, q in combinations(unit, 2):
            if len(self.cells[p]) == 2 and self.cells[p] == self.cells[q]:
                self.remove_from_shared_units(set(self.cells[p]), {p, q})

    def hidden_pairs(self, unit: set[int]) -> None:
        for d, e in combinations(self.digits, 2):
            places = self.places(d, unit)
            if len(places) == 2 and places == self.places(e, unit):
                for cell in places:
                    self.cells[cell] &= {d, e}
                self.remove_from_shared_units({d, e}, places)


def digits_of(mask: int, n: int) -> set[int]:
    """Read a bitmask of candidates."""
    return {digit for digit in range(1, n + 1) if mask >> digit - 1 & 1}


def candidates(simplified: Simplified) -> Candidates:
    """Read the candidates that ``simplify`` or ``explain`` leaves."""
    return [digits_of(mask, simplified.board.n) for mask in simplified.candidates.tolist()]


def outcome(board: Board, techniques: str, blind: str = "") -> Candidates | None:
    """Give what the techniques leave; None after a contradiction."""
    try:
        return reference(given_clues(board), board.geometry, techniques, blind)
    except Contradiction:
        return None
