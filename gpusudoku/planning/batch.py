"""Counting a block of boards, together where that is quicker.

All are searched for a few solutions, and boards with more are counted one by one, so that no other
waits for them. With method ``auto`` those of 9x9 cells are contracted, and the others planned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.contraction.nine.batch import contract_cheap
from gpusudoku.contraction.prepare import NINE
from gpusudoku.engines.engine import Engine
from gpusudoku.options import Options
from gpusudoku.planning.choose import FEW_SOLUTIONS, only_searches
from gpusudoku.planning.plan import Outcome
from gpusudoku.planning.run import count_board, counts_of
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import ContractionStats, Count, Counts, SearchStats
from gpusudoku.search.frontier import Frontier

CONTRACTED_BOARDS = 1 << 10
"""The most boards in a block that may be contracted: those of a block may cost a hundred times
those before."""
CountsOne = Callable[[Batch, Options], Count]
"""Counts the board of a batch of one; whoever gives one can show how that goes."""
SEARCHED_SOLUTIONS = 64
"""Boards of a batch with fewer solutions are not worth contracting."""


def most_boards(options: Options, engine: Engine) -> int:
    """The most boards that are worth planning together."""
    return engine.most_boards if only_searches(options) else CONTRACTED_BOARDS


def count_block(
    block: Batch, options: Options, engine: Engine, one: CountsOne | None = None
) -> Generator[Counts, None, None]:
    """Count boards of one geometry; those that take long one by one, as they are asked for."""
    one = one or (lambda board, chosen: count_board(board[0], chosen, engine))
    if options.method == "contraction":
        for index, count in enumerate(_contracted(block, options, engine, one)):
            yield Counts.of(block.part(index, index + 1), count, options.limit)
    elif options.limit is not None and options.limit <= FEW_SOLUTIONS:
        yield counts_of(block, search_block(block, options, engine), options, engine)
    else:
        yield from _mixed(block, options, engine, one)


def search_block(block: Batch, options: Options, engine: Engine) -> Outcome[SearchStats]:
    """Search all boards of a block as one frontier."""
    return SearchPlan(Frontier.of(block), options).run(engine)


def _mixed(
    block: Batch, options: Options, engine: Engine, one: CountsOne
) -> Generator[Counts, None, None]:
    """Search for a few solutions of every board, then count those with more as suits each."""
    searching = options.method == "search"
    few = FEW_SOLUTIONS if searching else SEARCHED_SOLUTIONS
    searched = search_block(block, replace(options, limit=few), engine)
    many = np.array(searched.counts) >= few
    contractible = block.geometry == NINE and block.candidates is None and not searching
    if contractible and many.any():
        others = _contracted(block.chosen(many), options, engine, one)
    else:
        others = (one(block.part(i, i + 1), options) for i in np.flatnonzero(many).tolist())
    changes = np.flatnonzero(many[1:] != many[:-1]) + 1
    for start, end in pairwise([0, *changes.tolist(), len(block)]):
        if many[start]:
            for index, count in zip(range(start, end), others, strict=False):
                yield Counts.of(block.part(index, index + 1), count, options.limit)
        else:
            done = Outcome(searched.counts[start:end], searched.stats)
            yield counts_of(block.part(start, end), done, options, engine)


def _contracted(block: Batch, options: Options, engine: Engine, one: CountsOne) -> Iterator[Count]:
    """Contract every board: cheap 9x9 boards each on one thread, others each on all."""
    counts, expensive, seconds = [0] * len(block), set(range(len(block))), 0.0
    if block.geometry == NINE and block.candidates is None:
        start = time.perf_counter()
        counts, left = contract_cheap(block, engine.threads, options.memory)
        expensive, seconds = set(left), time.perf_counter() - start
    cheap = Outcome(counts, ContractionStats(products=0, seconds=seconds, utilisation=()))
    alone = replace(options, method="contraction")
    for index, count in enumerate(counts_of(block, cheap, options, engine)):
        yield one(block.part(index, index + 1), alone) if index in expensive else count
