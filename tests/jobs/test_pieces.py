"""Ranges cut into pieces: all of them, in order, nearly the same size, none empty."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gpusudoku.jobs.pieces import part_of, pieces


@pytest.mark.parametrize(
    "whole", [range(0), range(3, 3), range(1), range(7), range(5, 69), range(100)]
)
@pytest.mark.parametrize("most", [0, 1, 2, 3, 8, 64, 1000])
def test_pieces_are_the_whole(whole: range, most: int) -> None:
    found = pieces(whole, most)
    assert [number for piece in found for number in piece] == list(whole)
    assert len(found) == min(len(whole), max(1, most))
    sizes = {len(piece) for piece in found}
    assert 0 not in sizes
    assert not sizes or max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("start", [0, 3, 10**30 + 1])
@pytest.mark.parametrize("size", [2**53 + 1, 2**64 - 1, 10**25 + 7])
def test_pieces_of_numbers_of_any_size(start: int, size: int) -> None:
    """Sizes that no float holds: not one number is left out, or in two pieces."""
    found = pieces(range(start, start + size), 7)
    assert [piece.start for piece in found[1:]] == [piece.stop for piece in found[:-1]]
    assert (found[0].start, found[-1].stop, len(found)) == (start, start + size, 7)
    sizes = {piece.stop - piece.start for piece in found}
    assert max(sizes) - min(sizes) == (1 if size % 7 else 0)


@pytest.mark.parametrize("whole", [0, 1, 2, 17, 10**30])
@pytest.mark.parametrize("parts", [1, 2, 3, 7, 100])
def test_parts_are_the_whole(whole, parts):
    found = [part_of(whole, number, parts) for number in range(1, parts + 1)]
    assert (found[0].start, found[-1].stop) == (0, whole)
    assert all(one.stop == other.start for one, other in pairwise(found))
    sizes = {part.stop - part.start for part in found}
    assert max(sizes) - min(sizes) <= 1
