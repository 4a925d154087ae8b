"""A run of numbers, cut into pieces for several workers."""

from __future__ import annotations

from itertools import pairwise


def pieces(whole: range, most: int) -> list[range]:
    """Cut a range of step 1 into at most ``most`` ranges of nearly the same size, none empty."""
    start, size = whole.start, max(0, whole.stop - whole.start)
    count = min(size, max(1, most))
    ends = [start + size * piece // count for piece in range(count + 1)] if size else []
    return [range(first, end) for first, end in pairwise(ends)]
