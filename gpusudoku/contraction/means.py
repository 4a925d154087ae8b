"""Exact means of integers over what symmetries take to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import MismatchError


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
