"""Apply techniques to a board one step at a time, with reasons, as people do.

``kernels/search`` has the same techniques, for all cells at once. Here a set of cells is an integer
in which bit c is cell c, in reading order. The candidates of a board are one set for every digit,
its *plane*. On a 4x4 board, for example, 1 << 5 is this set:

    .  .  .  .
    .  1  .  .
    .  .  .  .
    .  .  .  .
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
    """One application of a technique, and its effect on the board.

    Rows, columns, boxes and digits count from 1 in ``text``; digits count from 1 everywhere.
    """

    technique: str
    """Its name, as ``simplify`` accepts it."""
    text: str
    """The step in one sentence."""
    placed: tuple[tuple[int, int], ...] = ()
    """Cells, and the digits placed in them."""
    removed: tuple[tuple[int, int], ...] = ()
    """Cells, and the candidates removed from them. Candidates that are removed because a digit is
    placed, from its cell and its peers, are not listed."""
    cells: tuple[int, ...] = ()
    """The cells that are the reason."""
    unit: int | None = None
    """The unit that is the reason: row, column or box i is i, n + i or 2n + i; None if no unit is.
    """

    def __str__(self) -> str:
        return self.text

    def as_dict(self) -> dict[str, Any]:
        """Return the step as JSON types."""
        return {
            "technique": self.technique,
            "text": self.text,
            "placed": [list(placement) for placement in self.placed],
            "removed": [list(candidate) for candidate in self.removed],
            "cells": list(self.cells),
            "unit": self.unit,
        }


class Grid:
    """The candidates of a board. Each technique finds its next step on them.

    Digits count from 0 here, but from 1 in steps. A cell is *fixed* if its digit is a clue or has
    been placed by a step. A fixed cell has its digit as its only candidate.
    """

    def __init__(self, board: Board) -> None:
        self._geometry = board.geometry
        n = board.n
        self._units: list[int] = [
            sum(1 << cell for cell in unit) for unit in board.geometry.units.tolist()
        ]
        self._order = [*range(2 * n, 3 * n), *range(2 * n)]
        """The order in which units are searched: boxes first, because people see them first."""
        self._unit_of: list[list[int]] = board.geometry.unit_of.tolist()
        masks = np.where(board.cells > 0, digit_masks(board.cells), board.candidates)
        digits = range(n)
        self._planes = [_set_of(masks >> np.uint64(d) & np.uint64(1) > 0) for d in digits]
        """The cells that have each digit as a candidate."""
        self._fixed = _set_of(board.cells > 0)

    def masks(self) -> NDArray[np.uint64]:
        """Return the candidates mask of every cell, as a ``Board`` has it."""
        masks = np.zeros(self._geometry.cells, np.uint64)
        for d, plane in enumerate(self._planes):
            masks[list(_members(plane))] |= np.uint64(1 << d)
        return masks

    def board(self) -> Board:
        """Return the board whose clues are the digits of the fixed cells."""
        cells = np.zeros(self._geometry.cells, np.uint8)
        for d, plane in enumerate(self._planes):
            cells[list(_members(plane & self._fixed))] = d + 1
        return Board(cells, self._geometry)

    def apply(self, step: Step) -> None:
        """Remove the candidates and place the digits of a step."""
        for cell, digit in step.removed:
            self._planes[digit - 1] &= ~(1 << cell)
        for cell, digit in step.placed:
            bit = 1 << cell
            self._planes = [plane & ~bit for plane in self._planes]
            self._planes[digit - 1] = self._planes[digit - 1] & ~self._peers(cell) | bit
            self._fixed |= bit

    def contradiction(self, by_places: bool) -> str:
        """Return why there is no solution, in words; empty if nothing shows that.

        Digits without a place in a unit are only looked for with ``by_places``.
        """
        everywhere = (1 << self._geometry.cells) - 1
        for cell in _members(everywhere & ~self._with_at_least(1)):
            return f"{self._geometry.cell_name(cell)} has no candidate left"
        if not by_places:
            return ""
        for unit in self._order:
            for d, plane in enumerate(self._planes):
                if not plane & self._units[unit]:
                    return f"{d + 1} has no place left in {self._unit_name(unit)}"
        return ""

    def naked_single(self) -> Step | None:
        """Find a cell with one candidate."""
        singles = self._with_at_least(1) & ~self._with_at_least(2)
        for cell in _members(singles & ~self._fixed):
            [d] = self._candidates(cell)
            text = f"naked single: {self._geometry.cell_name(cell)} can only be {d + 1}"
            return Step("naked-single", text, placed=((cell, d + 1),), cells=(cell,))
        return None

    def hidden_single(self) -> Step | None:
        """Find a digit with one place in a unit."""
        for unit in self._order:
            for d, plane in enumerate(self._planes):
                places = plane & self._units[unit]
                # At most one place, and one that is not fixed: exactly one.
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
            kind = "pointing" if is_box else "claiming"
            for d, plane in enumerate(self._planes):
                places = plane & self._units[unit]
                if places & self._fixed:
                    continue
                # If another unit has all places, it has the first one.
                row, column, box = self._unit_of[next(_members(places))]
                crossing_units = (row, column) if is_box else (box,)
                for crossing in crossing_units:
                    is_locked = not places & ~self._units[crossing]
                    removed = plane & self._units[crossing] & ~self._units[unit]
                    if is_locked and removed:
                        reason = (
                            f"locked candidates: all places of {d + 1} in"
                            f" {self._unit_name(unit)} are in {self._unit_name(crossing)} ({kind})"
                        )
                        return self._removal(
                            "locked-candidates", reason, {d: removed}, places, unit
                        )
        return None

    def naked_pair(self) -> Step | None:
        """Find two cells of a unit with the same two candidates."""
        pair_cells = self._with_at_least(2) & ~self._with_at_least(3)
        for first_cell in _members(pair_cells):
            d, e = self._candidates(first_cell)
            partners = pair_cells & self._planes[d] & self._planes[e] & self._peers(first_cell)
            later_partners = partners >> first_cell << first_cell  # each pair only once
            for second_cell in _members(later_partners):
                shared_peers = self._peers(first_cell) & self._peers(second_cell)
                removed = {digit: self._planes[digit] & shared_peers for digit in (d, e)}
                if any(removed.values()):
                    cells = 1 << first_cell | 1 << second_cell
                    unit = next(u for u in self._order if not cells & ~self._units[u])
                    reason = f"naked pair: {self._names(cells)} can only be {d + 1} and {e + 1}"
                    return self._removal("naked-pair", reason, removed, cells, unit)
        return None

    def hidden_pair(self) -> Step | None:
        """Find two digits with the same two places in a unit."""
        for unit in self._order:
            digit_of_places: dict[int, int] = {}
            for e, plane in enumerate(self._planes):
                places = plane & self._units[unit]
                if places.bit_count() != 2:
                    continue
                d = digit_of_places.setdefault(places, e)
                if d == e:  # the first digit with these places
                    continue
                first_cell, second_cell = _members(places)
                shared_peers = self._peers(first_cell) & self._peers(second_cell)
                removed = {}
                for digit, candidates in enumerate(self._planes):
                    cleared = shared_peers if digit in (d, e) else places
                    removed[digit] = candidates & cleared
                if any(removed.values()):
                    reason = (
                        f"hidden pair: {d + 1} and {e + 1} have only two places in"
                        f" {self._unit_name(unit)}: {self._names(places)}"
                    )
                    return self._removal("hidden-pair", reason, removed, places, unit)
        return None

    def _removal(
        self, technique: str, reason: str, removed: dict[int, int], cells: int, unit: int
    ) -> Step:
        """Make the step that removes digits from sets of cells."""
        removed_candidates = sorted(
            (cell, d + 1) for d, places in removed.items() for cell in _members(places)
        )
        digits_of_cells: dict[int, list[int]] = {}
        for cell, digit in removed_candidates:
            digits_of_cells.setdefault(cell, []).append(digit)
        # Cells that lose the same digits are named together.
        cells_by_digits: dict[tuple[int, ...], list[int]] = {}
        for cell, digits in digits_of_cells.items():
            cells_by_digits.setdefault(tuple(digits), []).append(cell)
        phrases = []
        for digits_removed, cells_of_digits in cells_by_digits.items():
            names = map(self._geometry.cell_name, cells_of_digits)
            phrases.append(f"{_in_words(digits_removed)} from {_in_words(names)}")
        text = f"{reason}, which strikes {'; '.join(phrases)}"
        return Step(technique, text, (), tuple(removed_candidates), tuple(_members(cells)), unit)

    def _with_at_least(self, min_count: int) -> int:
        """Return the cells with at least this number of candidates: 1, 2 or 3."""
        at_least = [0, 0, 0]
        for plane in self._planes:
            # The highest first, so that this plane counts once.
            at_least[2] |= at_least[1] & plane
            at_least[1] |= at_least[0] & plane
            at_least[0] |= plane
        return at_least[min_count - 1]

    def _candidates(self, cell: int) -> list[int]:
        return [d for d, plane in enumerate(self._planes) if plane >> cell & 1]

    def _peers(self, cell: int) -> int:
        row, column, box = (self._units[unit] for unit in self._unit_of[cell])
        return (row | column | box) & ~(1 << cell)

    def _unit_name(self, unit: int) -> str:
        kind, index = divmod(unit, self._geometry.n)
        return f"{('row', 'column', 'box')[kind]} {index + 1}"

    def _names(self, cells: int) -> str:
        return _in_words(map(self._geometry.cell_name, _members(cells)))


def _in_words(things: Iterable[object]) -> str:
    """Return a list in words: ``1, 2 and 5``."""
    words = [*map(str, things)]
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _members(cells: int) -> Iterator[int]:
    """Yield the cells of a set, in ascending order."""
    while cells:
        lowest = cells & -cells
        yield lowest.bit_length() - 1
        cells ^= lowest


def _set_of(is_member: NDArray[np.bool_]) -> int:
    """Return the set of the cells for which an array, bool (cells), is True."""
    return int.from_bytes(np.packbits(is_member, bitorder="little").tobytes(), "little")
