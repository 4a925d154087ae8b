"""A run of numbers, cut into pieces for several workers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def pieces(whole: range, most: int) -> list[range]:
    """Cut a range of step 1 into at most ``most`` ranges of nearly the same size, none empty."""
    count = max(1, min(len(whole), most))
    ends = np.linspace(whole.start, whole.stop, count + 1, dtype=np.int64).tolist()
    return [range(start, end) for start, end in pairwise(ends)] if whole else []
