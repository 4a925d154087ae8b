"""Symmetries: orbits of entries, of solutions and of shares, and exact means over them.

A swap of two digits may leave all lists as they are. Then entries that it takes to each other count
alike. The lists do not know the names of columns and rows, so such a swap may also exchange these
names; a ``Symmetry`` has names, and takes solutions to solutions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.maps import Bools, Ints, Maps, by_lowest, group_rows
from gpusudoku.errors import MismatchError
from gpusudoku.jobs.cancel import check_cancelled


def divide(numbers: NDArray[Any], divisor: int | NDArray[np.object_]) -> NDArray[Any]:
    """Divide integers by one that divides them all; else a number would be wrong: MismatchError."""
    quotients: NDArray[Any] = numbers // divisor
    if (quotients * divisor != numbers).any():
        raise MismatchError("shares that are no whole numbers: this is a bug")
    return quotients


def average(shares: NDArray[np.object_], images: Sequence[NDArray[np.intp]]) -> NDArray[np.object_]:
    """Spread shares of the leaders of orbits, times the orbits' sizes, over all members.

    Symmetries take all of an orbit to each other, so each share becomes the mean of those that
    they take it to. ``images`` has for every symmetry the index that each share goes to. A mean
    that is no whole number raises MismatchError: a share would be wrong.
    """
    if not images:
        return shares
    least = least_of_orbits(images)
    sums = np.zeros(len(shares), object)
    sizes = np.bincount(least, minlength=len(shares))
    np.add.at(sums, least, shares)
    return divide(sums[least], sizes[least].astype(object))


def free_swaps(sides: Iterable[Bools]) -> list[tuple[int, int]]:
    """Find pairs of digits whose swap leaves every list as it is; they generate all such swaps.

    ``sides`` is from ``allowed_columns``, for the stacks and for the bands. A swap may also permute
    the columns of a stack. Then it takes the maps of the stack to each other up to the names of the
    columns, and partitions do not have these. Later, both or none of a pair of such maps are ruled
    out.
    """
    lines = [line for side in sides for line in side]
    columns = [_sorted_columns(line) for line in lines]

    def free(a: int, b: int) -> bool:
        for line, before in zip(lines, columns, strict=True):
            swapped = line.copy()
            swapped[[a, b]] = line[[b, a]]
            if _sorted_columns(swapped) != before:
                return False
        return True

    representatives: list[int] = []
    found = []
    for digit in range(len(lines[0])):
        for other in representatives:
            if free(other, digit):
                found.append((other, digit))
                break
        else:
            representatives.append(digit)
    return found


def _sorted_columns(allowed: Bools) -> list[bytes]:
    """Sort the columns of a stack by the digits they allow."""
    return sorted(allowed[:, :, c].tobytes() for c in range(allowed.shape[2]))


def images_of(maps: Maps, swap: tuple[int, int]) -> Ints:
    """Find the entry that every entry becomes when two digits are swapped: int64 (entries)."""
    a, b = np.array(swap, np.uint64)
    one = np.uint64(1)
    columns = []
    for sets, which in zip(maps.partitions, maps.entries.T, strict=True):
        differ = (sets >> a ^ sets >> b) & one
        swapped = sets ^ (differ << a | differ << b)
        ids, _ = group_rows(np.concatenate([sets, by_lowest(swapped)]))
        columns.append(ids[len(sets) :][which])
    entries = np.concatenate([maps.entries, np.column_stack(columns)]).astype(np.uint64)
    ids, _ = group_rows(entries)
    return ids[len(maps.entries) :]


def moves_of_pairs(first: list[Ints], second: list[Ints]) -> list[Ints]:
    """Find the images of pairs, numbered row by row, from those of entries, under every swap."""
    return [
        (one[:, None] * len(other) + other).ravel()
        for one, other in zip(first, second, strict=True)
    ]


def least_of_orbits(moves: Sequence[Ints]) -> Ints:
    """Find the least thing in the orbit of each, from the images under moves, all permutations."""
    labels = np.arange(len(moves[0]))
    changed = True
    while changed:
        changed = False
        for move in moves:
            check_cancelled()
            lower = np.minimum(labels, labels[move])
            changed |= bool((lower < labels).any())
            labels = lower
    return labels


class Symmetry(NamedTuple):
    """A map from solutions to solutions."""

    cells: Ints
    """int64 (cells): the cell to which the digit of every cell goes."""
    digits: Ints
    """int64 (n): the digit that every digit becomes; both count from 0."""


class OrbitForest(NamedTuple):
    """Things that moves take to each other, and the way to each from the first of its orbit."""

    members: Ints
    """int64: all things, those of an orbit together, in ascending order; orbits as they are led."""
    first: Ints
    """int64 (orbits + 1): where the members of every orbit begin."""
    before: Ints
    """int64 (things): the thing that a move takes to this one; a leader is its own."""
    move: Ints
    """int64 (things): the number of that move; -1 for leaders."""


def symmetry_of(
    swap: tuple[int, int], allowed: tuple[Bools, Bools], geometry: Geometry
) -> Symmetry:
    """Return the symmetry of one of the ``free_swaps``; ``allowed`` is from ``allowed_lines``."""
    height = geometry.box_rows
    width = geometry.box_columns
    n = geometry.n
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
    """Map the columns of a line so that they allow a digit's image where they allowed the digit."""
    before, after = (
        sorted(range(line.shape[2]), key=lambda c: one[:, :, c].tobytes())
        for one in (line, line[digits])
    )
    names = np.empty(line.shape[2], np.int64)
    names[before] = after
    return names


def find_orbits(leaders: Ints, moves: list[Ints], things: int) -> OrbitForest:
    """Find the orbit of every leader, breadth first, from the images of things under each move."""
    before, move, leader = (np.full(things, -1) for _ in range(3))
    before[leaders] = leaders
    leader[leaders] = np.arange(len(leaders))
    reached = leaders
    while len(reached):
        new = []
        for number, images in enumerate(moves):
            check_cancelled()
            fresh, place = np.unique(images[reached], return_index=True)
            unknown = before[fresh] < 0
            fresh = fresh[unknown]
            place = place[unknown]
            before[fresh] = reached[place]
            move[fresh] = number
            leader[fresh] = leader[before[fresh]]
            new.append(fresh)
        reached = np.concatenate(new) if new else leaders[:0]
    members = np.argsort(leader, kind="stable")
    return OrbitForest(
        members, np.searchsorted(leader[members], np.arange(len(leaders) + 1)), before, move
    )


def move_grids(
    grids: NDArray[np.uint8], things: Ints, orbits: OrbitForest, symmetries: list[Symmetry]
) -> None:
    """Take solutions of leaders, in place, to ``things`` of their orbits; digits are from 0 on."""
    ways = []
    at = things
    while (orbits.move[at] >= 0).any():
        ways.append(orbits.move[at])
        at = orbits.before[at]
    for way in reversed(ways):
        for number in np.unique(way[way >= 0]).tolist():
            rows = np.flatnonzero(way == number)
            symmetry = symmetries[number]
            grids[rows[:, None], symmetry.cells] = symmetry.digits[grids[rows]]


def average_shares(shares: NDArray[np.object_], symmetries: list[Symmetry]) -> NDArray[np.object_]:
    """Take the means of shares, object (cells, n), over orbits; see ``average``."""
    cells, n = shares.shape
    images = [(each.cells[:, None] * n + each.digits).ravel() for each in symmetries]
    return average(shares.ravel(), images).reshape(cells, n)
