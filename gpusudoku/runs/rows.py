"""The rows of a long run's file: sealed when they are written, and checked when they are read.

SQLite notices a torn file, but no bit that changed in it. So each row has a digest of itself. It
proves no origin: whatever is read is checked for its shape all the same, as if a stranger had
written it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np

from gpusudoku.planning.portion import Portion

Row = tuple[Any, ...]
"""Integers, texts and bytes, as SQLite has them."""

_DIGITS = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_SEAL_DIGITS = 32


def sealed(*values: str | int | bytes) -> Row:
    """A row with its seal behind."""
    return (*values, _seal(values))


def unsealed(row: Row) -> Row:
    """A row without its seal.

    Raises
    ------
    ValueError
        If that is not the seal of the row.
    """
    *values, seal = row
    if seal != _seal(values):
        raise ValueError("a row was changed")
    return tuple(values)


def number_of(text: str) -> int:
    """A number of any size; ``int`` refuses one of more than 4300 digits.

    Raises
    ------
    ValueError
        If the text is no number from 0 up.
    """
    if not _DIGITS.fullmatch(text):
        raise ValueError("not a number")
    return int(Decimal(text))


def row_of(portion: Portion) -> Row:
    """A portion as (runs, words, boards, task_of, seal)."""
    runs = [[run.start, run.stop] for run in portion.tasks]
    boards, task_of = portion.boards.astype("<u8"), portion.task_of.astype("<i8")
    return sealed(
        json.dumps(runs), int(portion.boards.shape[1]), boards.tobytes(), task_of.tobytes()
    )


def portion_of(row: Row, end: int) -> Portion:
    """The portion that was made such a row, all its tasks before ``end``.

    Raises
    ------
    ValueError
        If it cannot be one.
    """
    text, words, boards, numbers = unsealed(row)
    if not (isinstance(text, str) and isinstance(words, int)):
        raise ValueError("a portion is of another kind")
    if not (isinstance(boards, bytes) and isinstance(numbers, bytes)):
        raise ValueError("the boards of a portion are of another kind")
    runs = tuple(range(start, stop) for start, stop in json.loads(text))
    number, odd = divmod(len(numbers), 8)
    if odd or words < 0 or len(boards) != 8 * words * number or (number and not words):
        raise ValueError("the boards of a portion have another size")
    packed = np.frombuffer(boards, "<u8").reshape(number, words).astype(np.uint64)
    task_of = np.frombuffer(numbers, "<i8").astype(np.int64)
    begun = [range(task, task + 1) for task in np.unique(task_of).tolist()]
    pieces = sorted([*runs, *begun], key=lambda run: run.start)
    ends = [0, *(run.stop for run in pieces)]
    for before, run in zip(ends, pieces, strict=False):
        if not (before <= run.start < run.stop <= end):
            raise ValueError("the tasks of a portion do not follow each other")
    return Portion(runs, packed, task_of)


def _seal(values: Iterable[str | int | bytes]) -> str:
    made = hashlib.sha256()
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")
        made.update(b"%s %d:" % (type(value).__name__.encode(), len(data)))
        made.update(data)
    return made.hexdigest()[:_SEAL_DIGITS]
