"""Counts that stop in the middle."""

from __future__ import annotations

import pytest

import gpusudoku
from gpusudoku import Cancelled, CancelToken
from tests.boards import puzzle

BOARD, TOTAL = puzzle("3x3", 22, 1), 245_769
"""A board that a search counts in a tenth of a second, and what its contraction gives."""
SEARCH = {"method": "search", "device": "cpu"}


def stopped(path, board=BOARD, **options):
    """Count a board until something is found, and stop; the error that tells so."""
    token = CancelToken()

    def stop(progress):
        if progress.count:
            token.cancel()

    with pytest.raises(Cancelled) as error:
        gpusudoku.count(
            board, checkpoint=path, cancel=token, progress=stop, **{**SEARCH, **options}
        )
    return error.value
