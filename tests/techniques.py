"""A reference implementation of the techniques, with sets of candidates: slow, obviously right."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.logic import Simplified

Candidates = list[set[int]]
"""The candidates of each cell, as digits from 1."""


class Contradiction(Exception):  # noqa: N818 - not an error
    """The board has no solution."""


def given_clues(board: Board) -> Candidates:
    """Return the given candidates, without those that a clue excludes.

    The cell of a clue has that digit only. Raises Contradiction if a unit has a clue twice.
    """
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
    """Apply techniques until nothing changes; raise Contradiction if they find one.

    ``blind`` is a kind of unit (rows, columns, boxes) to which the last technique is not applied.
    """
    names = techniques.split(",")
    grid = Grid(geometry, [set(candidates) for candidates in cells])
    previous: Candidates = []
    while previous != grid.cells:
        previous = [set(candidates) for candidates in grid.cells]
        if "naked-single" in names:
            grid.naked_singles()
        for unit, kind in zip(grid.units, grid.kinds, strict=True):
            unit_names = names[:-1] if kind == blind else names
            if "hidden-single" in unit_names:
                grid.hidden_singles(unit)
            if "locked-candidates" in unit_names:
                grid.locked_candidates(unit, kind)
            if "naked-pair" in unit_names:
                grid.naked_pairs(unit)
            if "hidden-pair" in unit_names:
                grid.hidden_pairs(unit)
        if not all(grid.cells):
            raise Contradiction
    return grid.cells


class Grid:
    """The candidates of all cells; each technique is a method that removes some of them."""

    def __init__(self, geometry: Geometry, cells: Candidates) -> None:
        self.cells = cells
        self.digits = range(1, geometry.n + 1)
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
        # Find the places of all digits before a cell loses candidates.
        digit_places = {digit: self.places(digit, unit) for digit in self.digits}
        for digit, places in digit_places.items():
            if not places:
                raise Contradiction
            if len(places) == 1:
                self.cells[places.pop()] &= {digit}

    def locked_candidates(self, unit: set[int], kind: str) -> None:
        for crossing_unit, crossing_kind in zip(self.units, self.kinds, strict=True):
            # Two cells are in both units only if one is a box, and the other a row or a column.
            if kind == crossing_kind or "boxes" not in (kind, crossing_kind):
                continue
            for digit in self.digits:
                places = self.places(digit, unit)
                if not places:
                    raise Contradiction
                if places <= crossing_unit:
                    self.remove({digit}, crossing_unit - unit)

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
    """Return the digits of a candidates mask: bit d - 1 is digit d."""
    return {digit for digit in range(1, n + 1) if mask >> digit - 1 & 1}


def candidates(simplified: Simplified) -> Candidates:
    """Return the candidates that remain after ``simplify`` or ``explain``."""
    return [digits_of(mask, simplified.board.n) for mask in simplified.candidates.tolist()]


def outcome(board: Board, techniques: str, blind: str = "") -> Candidates | None:
    """Return the candidates that remain after the techniques; None after a contradiction."""
    try:
        return reference(given_clues(board), board.geometry, techniques, blind)
    except Contradiction:
        return None
