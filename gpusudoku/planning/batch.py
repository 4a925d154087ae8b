"""Counting a block of boards, together where that is quicker.

With method ``auto`` all are searched for a few solutions; of the boards with more, those of 9x9
cells are contracted and the others planned one by one.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.contraction.nine.batch import contract_cheap
from gpusudoku.contraction.prepare import NINE
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import TooExpensive
from gpusudoku.options import Options
from gpusudoku.planning.choose import only_searches
from gpusudoku.planning.plan import Outcome
from gpusudoku.planning.run import count_board, counts_of
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import ContractionStats, Count, Counts, SearchStats
from gpusudoku.search.frontier import Frontier

CONTRACTED_BOARDS = 1 << 10
"""The most boards in a block that may be contracted: those of a block may cost a hundred times
those before."""
SEARCHED_SOLUTIONS = 64
"""Boards of a batch with fewer solutions are not worth contracting."""


def most_boards(options: Options, engine: Engine) -> int:
    """The most boards that are worth planning together."""
    return engine.most_boards if only_searches(options) else CONTRACTED_BOARDS


def count_block(block: Batch, options: Options, engine: Engine) -> Generator[Counts, None, None]:
    """Count boards of one geometry; those that take long one by one, as they are asked for."""
    if only_searches(options):
        yield counts_of(block, search_block(block, options, engine), options, engine)
    elif options.method == "contraction":
        for index, count in enumerate(_contracted(block, options, engine)):
            yield Counts.of(block.part(index, index + 1), count, options.limit)
    else:
        yield from _mixed(block, options, engine)


def search_block(block: Batch, options: Options, engine: Engine) -> Outcome[SearchStats]:
    """Search all boards of a block as one frontier."""
    return SearchPlan(Frontier.of(block), options).run(engine)


def _mixed(block: Batch, options: Options, engine: Engine) -> Generator[Counts, None, None]:
    """Search for a few solutions of every board, then count those with more as suits each."""
    searched = search_block(block, replace(options, limit=SEARCHED_SOLUTIONS), engine)
    many = np.array(searched.counts) >= SEARCHED_SOLUTIONS
    if block.geometry == NINE and block.candidates is None and many.any():
        others = _contracted(block.chosen(many), options, engine)
    else:
        others = (count_board(board, options, engine) for board in block.chosen(many))
    changes = np.flatnonzero(many[1:] != many[:-1]) + 1
    for start, end in pairwise([0, *changes.tolist(), len(block)]):
        if many[start]:
            for index, count in zip(range(start, end), others, strict=False):
                yield Counts.of(block.part(index, index + 1), count, options.limit)
        else:
            few = Outcome(searched.counts[start:end], searched.stats)
            yield counts_of(block.part(start, end), few, options, engine)


def _contracted(block: Batch, options: Options, engine: Engine) -> Iterator[Count]:
    """Contract every board: cheap 9x9 boards each on one thread, others each on all."""
    counts, expensive, seconds = [0] * len(block), set(range(len(block))), 0.0
    if block.geometry == NINE and block.candidates is None:
        start = time.perf_counter()
        counts, left = contract_cheap(block, engine.threads, options.memory)
        expensive, seconds = set(left), time.perf_counter() - start
    cheap = Outcome(counts, ContractionStats(products=0, seconds=seconds, utilisation=()))
    alone = replace(options, method="contraction")
    for index, count in enumerate(counts_of(block, cheap, options, engine)):
        try:
            yield count_board(count.board, alone, engine) if index in expensive else count
        except TooExpensive as error:
            place = "" if block.places is None else f"{block.places.name(index)}: "
            raise TooExpensive(f"{place}{error}") from None
