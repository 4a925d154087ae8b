"""Exact means of integers over what symmetries take to each other.

----
Digits that can be swapped, and the entries that become each other when they are.

----
Swaps of digits as symmetries of solutions: what becomes of cells and digits.

The lists do not know the names of columns and rows, so a swap that leaves them as they are may also
exchange these names. Here it gets names, and takes solutions to solutions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.maps import Bools, Ints, Maps, grouped
from gpusudoku.errors import MismatchError
from gpusudoku.jobs.cancel import check_cancelled


def divided(numbers: NDArray[Any], divisor: int | NDArray[np.object_]) -> NDArray[Any]:
    """Integers divided by one that divides them all.

    Raises
    ------
    MismatchError
        If it does not: a number would be wrong.
    """
    quotients: NDArray[Any] = numbers // divisor
    if (quotients * divisor != numbers).any():
        raise MismatchError("shares that are no whole numbers: this is a bug")
    return quotients


def averaged(
    shares: NDArray[np.object_], images: Sequence[NDArray[np.intp]]
) -> NDArray[np.object_]:
    """What shares of one of each orbit, times its size, are for all of the orbit together.

    Symmetries take all of an orbit to each other, so each share becomes the mean of those that
    they take it to.

    Parameters
    ----------
    shares
        object (shares).
    images
        For every symmetry int64 (shares): where it takes each.

    Raises
    ------
    MismatchError
        If a mean is no whole number: a share would be wrong.
    """
    if not images:
        return shares
    least, before = np.arange(len(shares)), np.zeros(0, np.intp)
    while not np.array_equal(least, before):
        before = least
        for image in images:
            least = np.minimum(least, least[image])
            np.minimum.at(least, image, least.copy())
    sums, sizes = np.zeros(len(shares), object), np.bincount(least, minlength=len(shares))
    np.add.at(sums, least, shares)
    return divided(sums[least], sizes[least].astype(object))


def free_swaps(sides: Iterable[Bools]) -> list[tuple[int, int]]:
    """Pairs of digits whose swap leaves every list as it is; they generate all such swaps.

    Parameters
    ----------
    sides
        What ``allowed_columns`` returns for the stacks and for the bands. A swap may also permute
        the columns of a stack. Then it takes the maps of the stack to each other up to the names
        of the columns, and partitions do not have these. What is ruled out later goes for both of
        a pair of such maps.
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
    """What each column of a stack allows, in an order that does not depend on the columns'."""
    return sorted(allowed[:, :, c].tobytes() for c in range(allowed.shape[2]))


def images(maps: Maps, swap: tuple[int, int]) -> Ints:
    """int64 (entries): the entry that every entry becomes when two digits are swapped."""
    a, b = np.array(swap, np.uint64)
    one = np.uint64(1)
    columns = []
    for sets, which in zip(maps.partitions, maps.entries.T, strict=True):
        differ = (sets >> a ^ sets >> b) & one
        swapped = sets ^ (differ << a | differ << b)
        lowest = swapped & (~swapped + one)
        swapped = np.take_along_axis(swapped, np.argsort(lowest, axis=1), axis=1)
        ids, _ = grouped(np.concatenate([sets, swapped]))
        columns.append(ids[len(sets) :][which])
    entries = np.concatenate([maps.entries, np.column_stack(columns)]).astype(np.uint64)
    ids, _ = grouped(entries)
    return ids[len(maps.entries) :]


def orbits(first: list[Ints], second: list[Ints]) -> Ints:
    """Label the pairs of entries of two lists, alike where swaps take them to each other.

    Parameters
    ----------
    first, second
        The images of the entries of two lists under every swap.

    Returns
    -------
    int64 (first entries, second entries): the least pair of the orbit, pairs being numbered row by
    row.
    """
    return least_of_orbits(moves_of_pairs(first, second)).reshape(len(first[0]), len(second[0]))


def moves_of_pairs(first: list[Ints], second: list[Ints]) -> list[Ints]:
    """The images of pairs of entries, numbered row by row, under every swap; see ``orbits``."""
    return [
        (one[:, None] * len(other) + other).ravel()
        for one, other in zip(first, second, strict=True)
    ]


def least_of_orbits(moves: list[Ints]) -> Ints:
    """The least of those that moves take a thing to; given are the images under every move.

    Every move is its own inverse.
    """
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
    """What takes solutions to solutions."""

    cells: Ints
    """int64 (cells): where the digit of every cell goes."""
    digits: Ints
    """int64 (n): what every digit becomes; both are counted from 0."""


class OrbitForest(NamedTuple):
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


def orbits_of(leaders: Ints, moves: list[Ints], things: int) -> OrbitForest:
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
    return OrbitForest(
        members, np.searchsorted(leader[members], np.arange(len(leaders) + 1)), before, move
    )


def moved(
    grids: NDArray[np.uint8], things: Ints, orbits: OrbitForest, symmetries: list[Symmetry]
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
