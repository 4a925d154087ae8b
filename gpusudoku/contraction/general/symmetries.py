"""Swaps of digits as symmetries of solutions: what becomes of cells and digits.

The lists do not know the names of columns and rows, so a swap that leaves them as they are may also
exchange these names. Here it gets names, and takes solutions to solutions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.maps import Bools, Ints
from gpusudoku.contraction.means import averaged
from gpusudoku.jobs.cancel import check_cancelled


class Symmetry(NamedTuple):
    """What takes solutions to solutions."""

    cells: Ints
    """int64 (cells): where the digit of every cell goes."""
    digits: Ints
    """int64 (n): what every digit becomes; both are counted from 0."""


class Orbits(NamedTuple):
    """Things that moves take to each other, and the way to each from the first of its orbit."""

    members: Ints
    """int64: all things, those of an orbit together, in ascending order; orbits as they are led."""
    first: Ints
    """int64 (orbits + 1): where the members of every orbit begin."""
    before: Ints
    """int64 (things): what a move takes to this thing; a leader is its own."""
    move: Ints
    """int64 (things): which move does; -1 for leaders."""


def named(swap: tuple[int, int], allowed: tuple[Bools, Bools], geometry: Geometry) -> Symmetry:
    """The symmetry of a swap of digits that leaves all lists as they are.

    Parameters
    ----------
    swap
        As ``free_swaps`` gives it.
    allowed
        What ``allowed_lines`` gives: by these the columns and rows are told that change places.
    geometry
        The shape of the board.
    """
    height, width, n = geometry.box_rows, geometry.box_columns, geometry.n
    digits = np.arange(n)
    digits[list(swap)] = swap[::-1]
    stacks, bands = (
        np.concatenate([k * line.shape[2] + _names(line, digits) for k, line in enumerate(side)])
        for side in allowed
    )
    assert len(stacks) == len(bands) == n == height * width
    row, column = np.divmod(np.arange(geometry.cells), n)
    return Symmetry(bands[row] * n + stacks[column], digits)


def _names(line: Bools, digits: Ints) -> Ints:
    """What the columns of a line become, so that they allow a digit's image what they did it."""
    before, after = (
        sorted(range(line.shape[2]), key=lambda c: one[:, :, c].tobytes())
        for one in (line, line[digits])
    )
    names = np.empty(line.shape[2], np.int64)
    names[before] = after
    return names


def orbits_of(leaders: Ints, moves: list[Ints], things: int) -> Orbits:
    """Find the orbit of every leader, breadth first.

    Parameters
    ----------
    leaders
        int64: one thing of every orbit.
    moves
        For each int64 (things), its images.
    things
        How many there are.
    """
    before, move, leader = (np.full(things, -1) for _ in range(3))
    before[leaders], leader[leaders] = leaders, np.arange(len(leaders))
    reached = leaders
    while len(reached):
        new = []
        for number, images in enumerate(moves):
            check_cancelled()
            fresh, place = np.unique(images[reached], return_index=True)
            unknown = before[fresh] < 0
            fresh, place = fresh[unknown], place[unknown]
            before[fresh], move[fresh] = reached[place], number
            leader[fresh] = leader[before[fresh]]
            new.append(fresh)
        reached = np.concatenate(new) if new else leaders[:0]
    members = np.argsort(leader, kind="stable")
    return Orbits(
        members, np.searchsorted(leader[members], np.arange(len(leaders) + 1)), before, move
    )


def moved(
    grids: NDArray[np.uint8], things: Ints, orbits: Orbits, symmetries: list[Symmetry]
) -> None:
    """Take solutions of the leaders of orbits to those of other members, in place.

    Parameters
    ----------
    grids
        uint8 (k, cells): digits from 0 on.
    things
        int64 (k): the member each is taken to.
    orbits, symmetries
        The symmetry that belongs to every move.
    """
    ways, at = [], things
    while (orbits.move[at] >= 0).any():
        ways.append(orbits.move[at])
        at = orbits.before[at]
    for way in reversed(ways):
        for number in np.unique(way[way >= 0]).tolist():
            rows, symmetry = np.flatnonzero(way == number), symmetries[number]
            grids[rows[:, None], symmetry.cells] = symmetry.digits[grids[rows]]


def evened(shares: NDArray[np.object_], symmetries: list[Symmetry]) -> NDArray[np.object_]:
    """The means of shares, object (cells, n), over what symmetries take to each other.

    Raises
    ------
    MismatchError
        If one is no whole number: a share would be wrong.
    """
    cells, n = shares.shape
    images = [(each.cells[:, None] * n + each.digits).ravel() for each in symmetries]
    return averaged(shares.ravel(), images).reshape(cells, n)
