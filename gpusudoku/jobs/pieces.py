"""A run of numbers, cut into pieces for several workers."""

from __future__ import annotations

from itertools import pairwise


def pieces(whole: range, most: int) -> list[range]:
    """Cut a range of step 1 into at most ``most`` ranges of nearly the same size, none empty."""
    start, size = whole.start, max(0, whole.stop - whole.start)
    count = min(size, max(1, most))
    ends = [start + size * piece // count for piece in range(count + 1)] if size else []
    return [range(first, end) for first, end in pairwise(ends)]


def part_of(whole: int, number: int, parts: int) -> range:
    """Which of so many things are part ``number``, from 1 on, of so many parts; it may be none.

    Their sizes differ by one at most, and one after the other they are the whole.
    """
    return range(whole * (number - 1) // parts, whole * number // parts)
