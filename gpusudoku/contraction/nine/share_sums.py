"""From the sums of the sweeps to exact shares, as Python integers. Special to 3x3 boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.means import divided
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.kernels.contraction.nine.arrays import Symmetries
from gpusudoku.kernels.contraction.nine.environments import LIMB, Found

SHARES = 9 * 81
"""Cells times digits: share 9 * cell + digit - 1 is that of a digit in a cell."""
INDICES = np.arange(SHARES).reshape(3, 3, 3, 3, 9)
"""The shares by band, row in it, stack, column in it, and digit."""


def exact(found: Found, factor: int) -> NDArray[np.object_]:
    """The shares of a box as Python integers (9, 3, 3), by digit and names."""
    total = np.zeros((9, 3, 3), object)
    for one, two in zip(*np.nonzero(found.written), strict=True):
        low, high = found.shares[one, two]
        most = (int(low.max()) + (int(high.max()) << LIMB)) * factor
        fits = np.int64 if most < 1 << 63 else object
        numbers = (low.astype(fits) + (high.astype(fits) << LIMB)) * factor
        total += divided(numbers, int(one * two))
    return total


def in_box(
    pivot: int, summed: int, shares: NDArray[np.object_]
) -> tuple[NDArray[np.intp], NDArray[np.object_]]:
    """The shares of the box where two lines cross: their indices, and what they are (81)."""
    if pivot < 3:  # a stack, whose names are columns
        shares, pivot, summed = shares.swapaxes(1, 2), summed, pivot
    places = INDICES[pivot - 3, :, summed].transpose(2, 0, 1)
    return places.ravel(), shares.ravel()


def image_of(symmetries: Symmetries, which: int) -> NDArray[np.intp]:
    """Where a symmetry takes every cell and digit: indices of shares (SHARES)."""
    names = tables().permutations[symmetries.names[which]]  # (6, 3)
    band, row, stack, column, digit = np.indices(INDICES.shape)
    to = band, names[3 + band, row], stack, names[stack, column], symmetries.digits[which][digit]
    found: NDArray[np.intp] = INDICES[to].ravel()
    return found
