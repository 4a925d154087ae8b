"""Counts that stop in the middle."""

from __future__ import annotations

from unittest.mock import patch

import gpusudoku
from gpusudoku import Cancelled, CancelToken
from gpusudoku.runs.store import RunStore
from tests.boards import puzzle

BOARD = puzzle("3x3", 22, 1)
TOTAL = 245_769
"""A board that a search counts in a tenth of a second, and what its contraction gives."""
SEARCH = {"method": "search", "device": "cpu"}


def stopped(path, **options):
    """Count a board until something is found and saved, and stop; the error that tells so."""
    save = RunStore.save
    while True:
        token = CancelToken()

        def saved(store, *arguments, token=token):
            save(store, *arguments)
            if store.state.count:
                token.cancel()

        try:
            with patch.object(RunStore, "save", saved):
                gpusudoku.count(BOARD, checkpoint=path, cancel=token, **{**SEARCH, **options})
        except Cancelled as error:
            if error.count < TOTAL:
                return error
        path.unlink()  # on a busy machine all may be counted in the first step
