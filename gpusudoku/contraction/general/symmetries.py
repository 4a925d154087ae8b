"""Symmetries: orbits of entries, of solutions and of shares, and exact means over orbits.

A swap of two digits may leave all lists unchanged. Then entries that the swap takes to each other
have the same number of solutions. Lists do not distinguish the columns of a box (or its rows), so a
solution may need a permutation of these, too. A ``Symmetry`` includes it, and takes solutions to
solutions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.entry_lists import Bools, EntryList, Ints, number_rows, sort_sets
from gpusudoku.errors import MismatchError
from gpusudoku.jobs.cancel import check_cancelled


def divide_exactly(numbers: NDArray[Any], divisor: int | NDArray[np.object_]) -> NDArray[Any]:
    """Divide integers by a divisor of them all; MismatchError if a remainder is not 0."""
    quotients: NDArray[Any] = numbers // divisor
    if (quotients * divisor != numbers).any():
        raise MismatchError("shares that are no whole numbers: this is a bug")
    return quotients


def average_over_orbits(
    shares: NDArray[np.object_], images: Sequence[NDArray[np.intp]]
) -> NDArray[np.object_]:
    """Replace each share by the mean of the shares in its orbit.

    ``shares`` are sums over one representative of each orbit of solutions, times the size of the
    orbit. Symmetries take the members of an orbit to each other, so the mean over the shares to
    which they take a share counts every member. ``images`` has, for every symmetry, the index of
    the image of each share. A mean that is no integer raises MismatchError, as it shows a bug.
    """
    if not images:
        return shares
    representatives = find_least_members(images)
    # Add up each orbit at its least member, and give all members the mean.
    sums = np.zeros(len(shares), object)
    sizes = np.bincount(representatives, minlength=len(shares))
    np.add.at(sums, representatives, shares)
    return divide_exactly(sums[representatives], sizes[representatives].astype(object))


def find_free_swaps(lines_by_kind: Iterable[Bools]) -> list[tuple[int, int]]:
    """Find pairs of digits whose swap leaves every list unchanged; they generate all such swaps.

    ``lines_by_kind`` is from ``allowed_columns``, for the stacks and for the bands. A swap may also
    permute the columns of a stack: then it takes the maps of the stack to each other up to this
    permutation, which partitions do not show. Entries that are dropped later are dropped together
    with their images.
    """
    lines = [line for lines in lines_by_kind for line in lines]
    columns_of_lines = [_sorted_columns(line) for line in lines]

    def is_free(a: int, b: int) -> bool:
        for line, columns in zip(lines, columns_of_lines, strict=True):
            swapped = line.copy()
            swapped[[a, b]] = line[[b, a]]
            if _sorted_columns(swapped) != columns:
                return False
        return True

    # Digits that can be swapped form classes; one digit of each is enough to compare with.
    representatives: list[int] = []
    swaps = []
    for digit in range(len(lines[0])):
        for representative in representatives:
            if is_free(representative, digit):
                swaps.append((representative, digit))
                break
        else:
            representatives.append(digit)
    return swaps


def _sorted_columns(allowed: Bools) -> list[bytes]:
    """Sort the columns of a stack by the digits they allow."""
    return sorted(allowed[:, :, column].tobytes() for column in range(allowed.shape[2]))


def find_entry_images(line: EntryList, swap: tuple[int, int]) -> Ints:
    """Find the entry that every entry becomes when two digits are swapped: int64 (entries)."""
    a, b = np.array(swap, np.uint64)
    partition_images = []
    for sets, partition in zip(line.partitions, line.entries.T, strict=True):
        differ = (sets >> a ^ sets >> b) & np.uint64(1)
        # Flip both bits of the sets that have exactly one of the two digits.
        swapped_sets = sets ^ (differ << a | differ << b)
        # The first rows are distinct, so that they get the numbers 0, 1, .. of the partitions, and
        # an image gets the number of the partition that it equals. Likewise with entries below.
        ids, _ = number_rows(np.concatenate([sets, sort_sets(swapped_sets)]))
        images = ids[len(sets) :]
        partition_images.append(images[partition])
    entries = np.concatenate([line.entries, np.column_stack(partition_images)])
    ids, _ = number_rows(entries.astype(np.uint64))
    return ids[len(line.entries) :]


def find_pair_images(first_images: list[Ints], second_images: list[Ints]) -> list[Ints]:
    """Find the images of pairs of entries under every swap, from those of the entries.

    Pair (i, j) has the index i * (number of second entries) + j.
    """
    return [
        (first_image[:, None] * len(second_image) + second_image).ravel()
        for first_image, second_image in zip(first_images, second_images, strict=True)
    ]


def find_least_members(images: Sequence[NDArray[np.intp]]) -> Ints:
    """Find the least member of the orbit of each item under permutations of all items.

    ``images`` has for every permutation the images of items 0, 1, ..
    """
    # Each round passes the least known members on, until none becomes lower.
    least_members = np.arange(len(images[0]))
    changed = True
    while changed:
        changed = False
        for image in images:
            check_cancelled()
            lower = np.minimum(least_members, least_members[image])
            changed |= bool((lower < least_members).any())
            least_members = lower
    return least_members


class Symmetry(NamedTuple):
    """A relabelling of digits with a permutation of cells, which takes solutions to solutions."""

    cells: Ints
    """int64 (cells): the cell to which the digit of every cell moves."""
    digits: Ints
    """int64 (n): the digit that every digit becomes; both count from 0."""


class OrbitForest(NamedTuple):
    r"""The orbits of items under moves, each a tree rooted at its representative.

    ::

               representative
        move 0 /            \ move 2
            item            item
                               \ move 1
                               item
    """

    members: Ints
    """int64 (items): all items, orbit after orbit in the order of the representatives. The members
    of an orbit are in ascending order."""
    start: Ints
    """int64 (orbits + 1): where the members of every orbit begin; then their end."""
    parent: Ints
    """int64 (items): the item that a move takes to this one; a representative is its own parent."""
    move: Ints
    """int64 (items): the number of that move; -1 for representatives."""


def symmetry_of(
    swap: tuple[int, int], allowed: tuple[Bools, Bools], geometry: Geometry
) -> Symmetry:
    """Return the symmetry of a free swap; ``allowed`` is from ``allowed_in_lines``."""
    n = geometry.n
    digits = np.arange(n)
    digits[list(swap)] = swap[::-1]
    stacks, bands = allowed
    columns = _slot_images(stacks, digits)
    rows = _slot_images(bands, digits)
    assert len(columns) == len(rows) == n
    row, column = np.divmod(np.arange(geometry.cells), n)
    return Symmetry(rows[row] * n + columns[column], digits)


def _slot_images(lines: Bools, digits: Ints) -> Ints:
    """Map the columns of all stacks (or the rows of all bands) to their images: int64 (n).

    The image of a column allows the image of a digit exactly if the column allows the digit.
    """
    width = lines.shape[3]
    images = []
    for number, line in enumerate(lines):
        line_images = np.empty(width, np.int64)
        line_images[_order_of_columns(line)] = _order_of_columns(line[digits])
        images.append(number * width + line_images)
    return np.concatenate(images)


def _order_of_columns(allowed: Bools) -> list[int]:
    """Return the order in which ``_sorted_columns`` sorts the columns of a stack."""
    return sorted(range(allowed.shape[2]), key=lambda column: allowed[:, :, column].tobytes())


def find_orbits(representatives: Ints, moves: list[Ints], items: int) -> OrbitForest:
    """Find the orbit of every representative, breadth first.

    ``moves`` has for every move the images of all items.
    """
    parent = np.full(items, -1)
    move_to = np.full(items, -1)
    orbit = np.full(items, -1)
    parent[representatives] = representatives
    orbit[representatives] = np.arange(len(representatives))
    frontier = representatives
    while len(frontier):
        new_items = []
        for move, images in enumerate(moves):
            check_cancelled()
            # Of several items that a move takes to the same one, the first becomes its parent.
            reached, source = np.unique(images[frontier], return_index=True)
            is_new = parent[reached] < 0
            reached = reached[is_new]
            parent[reached] = frontier[source[is_new]]
            move_to[reached] = move
            orbit[reached] = orbit[parent[reached]]
            new_items.append(reached)
        frontier = np.concatenate(new_items) if new_items else representatives[:0]
    members = np.argsort(orbit, kind="stable")
    start = np.searchsorted(orbit[members], np.arange(len(representatives) + 1))
    return OrbitForest(members, start, parent, move_to)


def move_grids(
    grids: NDArray[np.uint8], items: Ints, orbits: OrbitForest, symmetries: list[Symmetry]
) -> None:
    """Take solutions of representatives, in place, to those of ``items`` of their orbits.

    Digits are from 0 on.
    """
    # The way up from the items to the representatives; it is walked back down with the grids.
    steps = []
    member = items
    while (orbits.move[member] >= 0).any():
        steps.append(orbits.move[member])
        member = orbits.parent[member]
    for moves in reversed(steps):
        for move in np.unique(moves[moves >= 0]).tolist():
            rows = np.flatnonzero(moves == move)
            symmetry = symmetries[move]
            grids[rows[:, None], symmetry.cells] = symmetry.digits[grids[rows]]


def average_shares(shares: NDArray[np.object_], symmetries: list[Symmetry]) -> NDArray[np.object_]:
    """Take the means of shares, object (cells, n), over orbits; see ``average_over_orbits``."""
    cells, n = shares.shape
    images = [(symmetry.cells[:, None] * n + symmetry.digits).ravel() for symmetry in symmetries]
    return average_over_orbits(shares.ravel(), images).reshape(cells, n)
