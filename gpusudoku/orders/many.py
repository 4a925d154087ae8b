"""The shares of many boards, worked out together."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import in_blocks
from gpusudoku.contraction.nine.share_batch import many_nine_shares
from gpusudoku.contraction.prepare import is_nine
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.watch import watching
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.options import Options
from gpusudoku.orders.choose import Orders
from gpusudoku.orders.index import shares_in
from gpusudoku.orders.shares import check_shares
from gpusudoku.planning.batch import find_solutions
from gpusudoku.search.frontier import Frontier

FEW = 64
"""The solutions of boards with fewer are listed, together."""
BLOCK_BOARDS = 1 << 10
"""Boards whose shares are in memory at a time."""


@dataclass(frozen=True)
class Shared:
    """Shares of consecutive boards, in their order."""

    boards: Batch
    shares: NDArray[Any]
    """object (B, cells, n): Python's integers; all of a board without solutions are 0."""
    refused: dict[int, TooExpensive]
    """Why those of some boards, by their indices, are not worked out, and are 0, too."""


def share_batches(
    batches: Iterable[Batch],
    options: Options,
    engine: Engine | None = None,
) -> Generator[Shared, None, None]:
    """Work out the shares of every board, in constant memory.

    An InputError that reading the batches raises is raised once all boards before it are done.
    """
    device = engine_for(options, engine)

    def work(block: Batch, alone: bool) -> Generator[Shared, None, None]:
        with watching(None):
            found = shared(block, options, device)
        yield found

    return in_blocks(batches, BLOCK_BOARDS, work)


def shared(block: Batch, options: Options, engine: Engine) -> Shared:
    """The shares of boards of one geometry; see ``share_batches``."""
    geometry = block.geometry
    refused: dict[int, TooExpensive] = {}
    shares = np.zeros((len(block), geometry.cells, geometry.n), object)
    limited = replace(options, limit=FEW)
    rows, roots, _ = find_solutions(block, limited, CpuEngine(engine.threads))
    counts = np.bincount(roots, minlength=len(block))
    ordered = rows[np.argsort(roots, kind="stable")]
    ends = np.cumsum(counts)
    for index in np.flatnonzero(counts < FEW).tolist():
        found = ordered[ends[index] - counts[index] : ends[index]]
        shares[index] = shares_in(found, geometry.n)
    many = np.flatnonzero(counts >= FEW)
    if is_nine(geometry, block.candidates):
        simplified = Frontier.of(block.chosen(counts >= FEW)).simplified(SearchSettings())
        shares[many] = many_nine_shares(simplified.candidates, engine.threads)
    else:
        for index in many.tolist():
            try:
                shares[index] = Orders(block[index], options, engine).shares
            except TooExpensive as error:
                refused[index] = error
    for each in shares:
        check_shares(each, geometry, int(each[0].sum()))
    return Shared(block, shares, refused)
