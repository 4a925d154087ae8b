"""Ranges cut into pieces: all of them, in order, nearly the same size, none empty."""

from __future__ import annotations

import pytest

from gpusudoku.jobs.pieces import pieces


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
