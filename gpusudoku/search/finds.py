"""The finds of techniques on a board, one at a time, with reasons: the steps that people take.

``kernels/search`` finds the same, all at once. Here a set of cells is an integer, bit c for cell c,
and the candidates of a board are one such set for every digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board, digit_masks


@dataclass(frozen=True)
class Step:
    """One find of a technique, and its effect on the board."""

    technique: str
    """Its name, as ``simplify`` takes it."""
    text: str
    """The step in one sentence; rows, columns and boxes count from 1."""
    placed: tuple[tuple[int, int], ...] = ()
    """Cells and the digits that are placed in them."""
    removed: tuple[tuple[int, int], ...] = ()
    """Cells and the candidates that the step strikes there; not those of a cell where a digit is
    placed, nor that digit in the cells that see it."""
    cells: tuple[int, ...] = ()
    """The cells that are the reason."""
    unit: int | None = None
    """The unit in which it is seen: row, column or box i is i, n + i or 2n + i; None if in none."""

    def __str__(self) -> str:
        return self.text

    def as_dict(self) -> dict[str, Any]:
        """Return the step as JSON types."""
        return {
            "technique": self.technique,
            "text": self.text,
            "placed": [list(each) for each in self.placed],
            "removed": [list(each) for each in self.removed],
            "cells": list(self.cells),
            "unit": self.unit,
        }


class Grid:
    """The candidates of a board, on which each technique looks for its next find.

    Digits count from 0 here, from 1 in steps. A cell that is fixed keeps its digit as its only
    candidate.
    """

    def __init__(self, board: Board) -> None:
        self._geometry = board.geometry
        n = board.n
        self._units: list[int] = [
            sum(1 << cell for cell in unit) for unit in board.geometry.units.tolist()
        ]
        self._order = [*range(2 * n, 3 * n), *range(2 * n)]
        """The units: boxes first, because people see them first."""
        self._unit_of: list[list[int]] = board.geometry.unit_of.tolist()
        masks = np.where(board.cells > 0, digit_masks(board.cells), board.candidates)
        digits = range(n)
        self._planes = [_set_of(masks >> np.uint64(d) & np.uint64(1) > 0) for d in digits]
        """The cells that may have each digit."""
        self._fixed = _set_of(board.cells > 0)

    def masks(self) -> NDArray[np.uint64]:
        """Return the candidates of every cell, as a ``Board`` has them."""
        masks = np.zeros(self._geometry.cells, np.uint64)
        for d, plane in enumerate(self._planes):
            masks[list(_members(plane))] |= np.uint64(1 << d)
        return masks

    def board(self) -> Board:
        """Return the board with the cells that are fixed."""
        cells = np.zeros(self._geometry.cells, np.uint8)
        for d, plane in enumerate(self._planes):
            cells[list(_members(plane & self._fixed))] = d + 1
        return Board(cells, self._geometry)

    def apply(self, step: Step) -> None:
        """Strike the candidates and place the digits of a step."""
        for cell, digit in step.removed:
            self._planes[digit - 1] &= ~(1 << cell)
        for cell, digit in step.placed:
            self._planes = [plane & ~(1 << cell) for plane in self._planes]
            self._planes[digit - 1] = self._planes[digit - 1] & ~self._peers(cell) | 1 << cell
            self._fixed |= 1 << cell

    def contradiction(self, by_places: bool) -> str:
        """Say why there is no solution; empty if nothing shows that."""
        everywhere = (1 << self._geometry.cells) - 1
        for cell in _members(everywhere & ~self._with_at_least(1)):
            return f"{self._geometry.cell_name(cell)} has no candidate left"
        for unit in self._order if by_places else ():
            for d, plane in enumerate(self._planes):
                if not plane & self._units[unit]:
                    return f"{d + 1} has no place left in {self._unit_name(unit)}"
        return ""

    def naked_single(self) -> Step | None:
        """Find a cell with one candidate."""
        for cell in _members(~self._with_at_least(2) & ~self._fixed & self._with_at_least(1)):
            [d] = self._candidates(cell)
            text = f"naked single: {self._geometry.cell_name(cell)} can only be {d + 1}"
            return Step("naked-single", text, placed=((cell, d + 1),), cells=(cell,))
        return None

    def hidden_single(self) -> Step | None:
        """Find a digit with one place in a unit."""
        for unit in self._order:
            for d, plane in enumerate(self._planes):
                places = plane & self._units[unit]
                if places & (places - 1) == 0 and places & ~self._fixed:
                    [cell] = _members(places)
                    where = f"{self._unit_name(unit)}: {self._geometry.cell_name(cell)}"
                    text = f"hidden single: {d + 1} has only one place in {where}"
                    return Step("hidden-single", text, ((cell, d + 1),), (), (cell,), unit)
        return None

    def locked_candidates(self) -> Step | None:
        """Find a digit whose places in a box are all in one line (pointing), or the reverse."""
        for unit in self._order:
            is_box = unit >= 2 * self._geometry.n
            for d, plane in enumerate(self._planes):
                places = plane & self._units[unit]
                if places & self._fixed:
                    continue
                row, column, box = self._unit_of[next(_members(places))]
                for other in (row, column) if is_box else (box,):
                    struck = plane & self._units[other] & ~self._units[unit]
                    if struck and not places & ~self._units[other]:
                        kind = "pointing" if is_box else "claiming"
                        why = (
                            f"locked candidates: all places of {d + 1} in"
                            f" {self._unit_name(unit)} are in {self._unit_name(other)} ({kind})"
                        )
                        return self._striking("locked-candidates", why, {d: struck}, places, unit)
        return None

    def naked_pair(self) -> Step | None:
        """Find two cells of a unit with the same two candidates."""
        pairs = self._with_at_least(2) & ~self._with_at_least(3)
        for first in _members(pairs):
            d, e = self._candidates(first)
            alike = self._planes[d] & self._planes[e] & pairs & self._peers(first)
            for second in _members(alike >> first << first):
                shared = self._peers(first) & self._peers(second)
                struck = {digit: self._planes[digit] & shared for digit in (d, e)}
                if any(struck.values()):
                    cells = 1 << first | 1 << second
                    unit = next(u for u in self._order if not cells & ~self._units[u])
                    why = f"naked pair: {self._names(cells)} can only be {d + 1} and {e + 1}"
                    return self._striking("naked-pair", why, struck, cells, unit)
        return None

    def hidden_pair(self) -> Step | None:
        """Find two digits with the same two places in a unit."""
        for unit in self._order:
            seen: dict[int, int] = {}
            for e, plane in enumerate(self._planes):
                places = plane & self._units[unit]
                if places.bit_count() != 2:
                    continue
                d = seen.setdefault(places, e)
                if d == e:
                    continue
                first, second = _members(places)
                shared = self._peers(first) & self._peers(second)
                struck = {
                    digit: candidates & (shared if digit in (d, e) else places)
                    for digit, candidates in enumerate(self._planes)
                }
                if any(struck.values()):
                    why = (
                        f"hidden pair: {d + 1} and {e + 1} have only two places in"
                        f" {self._unit_name(unit)}: {self._names(places)}"
                    )
                    return self._striking("hidden-pair", why, struck, places, unit)
        return None

    def _striking(
        self, technique: str, why: str, struck: dict[int, int], cells: int, unit: int
    ) -> Step:
        """Make the step that strikes digits from sets of cells."""
        removed = sorted((cell, d + 1) for d, where in struck.items() for cell in _members(where))
        alike: dict[tuple[int, ...], list[int]] = {}
        """The cells that lose the same digits."""
        for cell in dict.fromkeys(cell for cell, _ in removed):
            digits = tuple(digit for other, digit in removed if other == cell)
            alike.setdefault(digits, []).append(cell)
        name = self._geometry.cell_name
        what = (f"{_listed(lost)} from {_listed(map(name, who))}" for lost, who in alike.items())
        text = f"{why}, which strikes {'; '.join(what)}"
        return Step(technique, text, (), tuple(removed), tuple(_members(cells)), unit)

    def _with_at_least(self, number: int) -> int:
        """Return the cells with at least one, two or three candidates."""
        at_least = [0, 0, 0]
        for plane in self._planes:
            at_least[2] |= at_least[1] & plane
            at_least[1] |= at_least[0] & plane
            at_least[0] |= plane
        return at_least[number - 1]

    def _candidates(self, cell: int) -> list[int]:
        return [d for d, plane in enumerate(self._planes) if plane >> cell & 1]

    def _peers(self, cell: int) -> int:
        row, column, box = (self._units[unit] for unit in self._unit_of[cell])
        return (row | column | box) & ~(1 << cell)

    def _unit_name(self, unit: int) -> str:
        kind, index = divmod(unit, self._geometry.n)
        return f"{('row', 'column', 'box')[kind]} {index + 1}"

    def _names(self, cells: int) -> str:
        return _listed(map(self._geometry.cell_name, _members(cells)))


def _listed(things: Iterable[object]) -> str:
    """List things in words: ``1, 2 and 5``."""
    *others, last = map(str, things)
    return f"{', '.join(others)} and {last}" if others else last


def _members(cells: int) -> Iterator[int]:
    """Yield the cells of a set, in ascending order."""
    while cells:
        lowest = cells & -cells
        yield lowest.bit_length() - 1
        cells ^= lowest


def _set_of(chosen: NDArray[np.bool_]) -> int:
    """Return the set of the cells that are chosen, bool (cells)."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")
