"""A count that is stopped in the middle."""

from __future__ import annotations

from unittest.mock import patch

import gpusudoku
from gpusudoku import Cancelled, CancelToken
from gpusudoku.runs.store import RunStore
from tests.boards import puzzle

BOARD = puzzle("3x3", 22, 1)
"""A board that a search counts in a tenth of a second."""
TOTAL = 245_769
"""The number of its solutions, from a contraction."""
SEARCH = {"method": "search", "device": "cpu"}


def count_partly(path, **options):
    """Count BOARD with a checkpoint until the first solutions are saved; return the Cancelled."""
    save = RunStore.save
    while True:
        token = CancelToken()

        def save_and_cancel(store, *arguments, token=token):
            save(store, *arguments)
            if store.state.count:
                token.cancel()

        try:
            with patch.object(RunStore, "save", save_and_cancel):
                gpusudoku.count(BOARD, checkpoint=path, cancel=token, **{**SEARCH, **options})
        except Cancelled as error:
            if error.count < TOTAL:
                return error
        path.unlink()  # on a busy machine the first step may have counted everything
