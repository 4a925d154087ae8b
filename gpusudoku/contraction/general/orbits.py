"""Digits that can be swapped, and the maps that become each other when they are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpusudoku.contraction.general.maps import Bools, Ints, Maps, grouped


def swaps(sides: Iterable[Bools]) -> list[tuple[int, int]]:
    """Pairs of digits whose swap leaves every list of maps as it is; they generate all others.

    Parameters
    ----------
    sides
        ``allowed`` of the stacks and of the bands. If a swap permutes the columns of a stack there
        it maps the stack's maps to each other, up to the names of the columns; and these are
        forgotten in partitions. What is ruled out later goes for both of a pair of such maps.
    """
    stacks = [one for side in sides for one in side]
    columns = [_columns(one) for one in stacks]

    def alike(a: int, b: int) -> bool:
        for one, was in zip(stacks, columns, strict=True):
            swapped = one.copy()
            swapped[[a, b]] = one[[b, a]]
            if _columns(swapped) != was:
                return False
        return True

    classes: list[int] = []
    found = []
    for digit in range(len(stacks[0])):
        for other in classes:
            if alike(other, digit):
                found.append((other, digit))
                break
        else:
            classes.append(digit)
    return found


def _columns(allowed: Bools) -> list[bytes]:
    """What the columns of a stack allow, whatever their order."""
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
    """Number the pairs of entries that swaps make from each other alike.

    Parameters
    ----------
    first, second
        The images of the entries of two lists under every swap.

    Returns
    -------
    int64 (first entries, second entries): the least pair, numbered row by row, of every orbit.
    """
    shape = len(first[0]), len(second[0])
    labels = np.arange(shape[0] * shape[1]).reshape(shape)
    changed = True
    while changed:
        changed = False
        for one, other in zip(first, second, strict=True):
            lower = np.minimum(labels, labels[one[:, None], other])
            changed |= bool((lower < labels).any())
            labels = lower
    return labels
