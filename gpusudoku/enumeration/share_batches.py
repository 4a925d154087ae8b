"""The shares of many boards, worked out together."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import in_blocks
from gpusudoku.board.geometry import is_nine
from gpusudoku.contraction.nine.shares import many_nine_shares
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.enumeration.index import shares_in
from gpusudoku.enumeration.shares import check_shares
from gpusudoku.enumeration.solution_set import Orders
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.watch import watching
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import Options
from gpusudoku.planning.batch import find_solutions
from gpusudoku.results import ResultBlock, numbers_of
from gpusudoku.search.frontier import Frontier

FEW = 64
"""The solutions of boards with fewer are listed, together."""
BLOCK_BOARDS = 1 << 10
"""Boards whose shares are in memory at a time."""


def share_batches(
    batches: Iterable[Batch], options: Options, engine: Engine | None = None
) -> Generator[ResultBlock, None, None]:
    """Work out the shares of every board in blocks, in their order and in constant memory.

    Boards that are too expensive have an error instead. An InputError of reading the batches is
    raised once all boards before it are done.
    """
    device = engine_for(options, engine)

    def work(block: Batch, alone: bool) -> Generator[ResultBlock, None, None]:
        with nullcontext() if len(block) == 1 else watching(None):
            found = share_block(block, options, device)
        yield found

    return in_blocks(batches, BLOCK_BOARDS, work)


def share_block(block: Batch, options: Options, engine: Engine) -> ResultBlock:
    """Work out the shares of boards of one geometry; see ``share_batches``."""
    geometry = block.geometry
    errors = np.full(len(block), None, object)
    shares = np.zeros((len(block), geometry.cells, geometry.n), object)
    limited = replace(options, limit=FEW)
    rows, roots, outcome = find_solutions(block, limited, CpuEngine(engine.threads))
    counts = np.bincount(roots, minlength=len(block))
    ordered = rows[np.argsort(roots, kind="stable")]
    ends = np.cumsum(counts)
    for index in np.flatnonzero(counts < FEW).tolist():
        found = ordered[ends[index] - counts[index] : ends[index]]
        shares[index] = shares_in(found, geometry.n)
    many = np.flatnonzero(counts >= FEW)
    if is_nine(geometry, block.candidates) and len(block) > 1:
        simplified = Frontier.of(block.chosen(counts >= FEW)).simplified(SearchSettings())
        shares[many] = many_nine_shares(simplified.candidates, engine.threads)
    else:
        for index in many.tolist():
            try:
                shares[index] = Orders(block[index], options, engine).shares
            except TooExpensive as error:
                errors[index] = error
    numbers = numbers_of([int(each[0].sum()) for each in shares])
    for each, count in zip(shares, numbers.tolist(), strict=True):
        check_shares(each, geometry, count)
    device, jobs, stats = "cpu", engine.threads, outcome.stats
    return ResultBlock(block, numbers, None, device, jobs, stats, shares=shares, errors=errors)
