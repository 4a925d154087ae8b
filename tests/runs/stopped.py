"""Counts that stop in the middle."""

from __future__ import annotations

import pytest

import gpusudoku
from gpusudoku import Cancelled, CancelToken
from tests.boards import puzzle

BOARD, TOTAL = puzzle("3x3", 22, 1), 245_769
"""A board that a search counts in a tenth of a second, and what its contraction gives."""
SEARCH = {"method": "search", "device": "cpu"}


def stopped(path, **options):
    """Count a board until something is found, and stop; the error that tells so."""
    while True:
        token = CancelToken()

        def stop(progress, token=token):
            if progress.count:
                token.cancel()

        given = {**SEARCH, "cancel": token, "progress": stop, **options}
        with pytest.raises(Cancelled) as error:
            gpusudoku.count(BOARD, checkpoint=path, **given)
        if error.value.count < TOTAL:
            return error.value
        path.unlink()  # on a busy machine all may be counted before anybody looks
