"""Digits that can be swapped, and the entries that become each other when they are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpusudoku.contraction.general.maps import Bools, Ints, Maps, grouped
from gpusudoku.jobs.cancel import check_cancelled


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
