"""Means over orbits: exact, or an error."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku.contraction.means import averaged
from gpusudoku.errors import MismatchError


def test_means_over_orbits() -> None:
    shares = np.array([3, 0, 6, 7, 1 << 70], object)
    cycle = np.array([1, 2, 0, 3, 4])
    assert averaged(shares, []) is shares
    assert averaged(shares, [cycle]).tolist() == [3, 3, 3, 7, 1 << 70]
    swap = np.array([0, 1, 2, 4, 3])
    with pytest.raises(MismatchError, match="no whole numbers"):
        averaged(shares, [cycle, swap])
