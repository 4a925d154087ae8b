"""What is known of a whole input once it was read: how many boards it has, and what they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.errors import InputError


class Survey(NamedTuple):
    """What is known of a whole input once it was read."""

    boards: int
    """How many can be read."""
    sha256: str
    """Of all that they are: shapes, cells and candidates; hexadecimal digits."""


def surveyed(found: Iterable[Batch | InputError], keep_going: bool) -> Survey:
    """Number and digest of all boards, however they come together in batches.

    Raises
    ------
    InputError
        The first of those that are found, if the command is not to keep going.
    """
    boards, shape = 0, None
    cells, candidates = hashlib.sha256(), hashlib.sha256()
    for batch in found:
        if isinstance(batch, InputError):
            if not keep_going:
                raise batch
            continue
        if batch.geometry != shape:
            shape = batch.geometry
            cells.update(f"{boards}:{shape};".encode())
        cells.update(np.ascontiguousarray(batch.cells).data)
        if batch.candidates is not None:
            for index in np.flatnonzero(
                (batch.candidates != shape.all_digits).any(axis=1)
            ).tolist():
                candidates.update(f"{boards + index}:".encode())
                candidates.update(batch.candidates[index].astype("<u8").tobytes())
        boards += len(batch)
    cells.update(candidates.digest())
    return Survey(boards, cells.hexdigest())
