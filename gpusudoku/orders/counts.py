"""The solutions of a board with one more cell fixed, for each of its digits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board, digit_masks
from gpusudoku.contraction.prepare import is_nine
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import MismatchError
from gpusudoku.options import Options
from gpusudoku.planning.batch import count_block
from gpusudoku.results import Counts


def counts_of_digits(
    board: Board,
    cell: int,
    digits: Sequence[int],
    options: Options,
    engine: Engine,
    most_seconds: float,
    whole: int | None = None,
) -> Iterator[int]:
    """Count the solutions of a board for each of some digits in an empty cell, in their order.

    They are counted as they are asked for, some at a time to keep all threads busy. With ``auto``
    boards of 9x9 cells are contracted at once, because who asks expects many solutions. Digits that
    the board does not have yet are alike, and counted once. If all digits together have a known
    number of solutions, ``whole``, the last ones that are alike have what the others leave of it.

    Raises
    ------
    TooExpensive
        If one of the counts should take more than ``most_seconds`` on one core.
    MismatchError
        If the others leave no number of solutions for the last ones.
    """
    alike = {} if board.given_candidates is not None else _absent(board)
    kinds = [alike.get(digit, digit) for digit in digits]
    counted = list(dict.fromkeys(kinds))
    if whole is not None:
        counted.pop()
    known: dict[int, int] = {}
    block = _with_digits(board, cell, counted)
    if options.method == "auto" and is_nine(block.geometry, block.candidates):
        options = replace(options, method="contraction")

    coming = (
        count
        for first in range(0, len(block), engine.threads)
        for counts in count_block(
            block.part(first, first + engine.threads), options, engine, most_seconds=most_seconds
        )
        for count in cast(Counts, counts).counts  # later is nothing, without a token
    )
    for kind in kinds:
        if kind in known:
            pass
        elif whole is None or len(known) < len(counted):
            known[kind] = next(coming)
        else:
            others = sum(known[each] for each in kinds if each != kind)
            known[kind], rest = divmod(whole - others, kinds.count(kind))
            if rest or known[kind] < 0:
                raise MismatchError(
                    f"{others} of {whole} solutions leave no number for each of"
                    f" {kinds.count(kind)} digits: this is a bug"
                )
        yield known[kind]


def _absent(board: Board) -> dict[int, int]:
    """For each digit that is in no cell the least of them."""
    absent = sorted(set(range(1, board.n + 1)) - set(board.cells.tolist()))
    return dict.fromkeys(absent, absent[0]) if absent else {}


def _with_digits(board: Board, cell: int, digits: Sequence[int]) -> Batch:
    """The board once for every digit, with that in the cell."""
    cells = np.tile(board.cells, (len(digits), 1))
    cells[:, cell] = digits
    if board.given_candidates is None:
        return Batch(board.geometry, cells)
    candidates = np.tile(board.given_candidates, (len(digits), 1))
    candidates[:, cell] = digit_masks(cells[:, cell])
    return Batch(board.geometry, cells, candidates)
