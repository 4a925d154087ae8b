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
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import Later
from gpusudoku.contraction.nine.batch import contract_cheap
from gpusudoku.contraction.prepare import is_nine
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.options import Options
from gpusudoku.planning.choose import FEW_SOLUTIONS, only_searches
from gpusudoku.planning.plan import Outcome
from gpusudoku.planning.run import count_board, counts_of
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import ContractionStats, Count, Counts, SearchStats, numbers_of
from gpusudoku.search.frontier import Frontier

CONTRACTED_BOARDS = 1 << 10
"""The most boards that are contracted together: those of a block may cost a hundred times those
before."""
MIXED_BOARDS = 1 << 14
"""The most boards in a block of which some may be contracted."""
CountsOne = Callable[[Batch, Options], Count]
"""Counts the board of a batch of one; whoever gives one can show how that goes."""
SEARCHED_SOLUTIONS = 64
"""Boards of a batch with fewer solutions are not worth contracting."""


def most_boards(options: Options, engine: Engine) -> int:
    """The most boards that are worth planning together."""
    if only_searches(options):
        return engine.most_boards
    return CONTRACTED_BOARDS if options.method == "contraction" else MIXED_BOARDS


def side_by_side(options: Options, engine: Engine) -> int:
    """How many blocks are counted at a time: one on each thread, where that is worth it."""
    return 1 if options.method == "contraction" else engine.side_by_side


def count_block(
    block: Batch,
    options: Options,
    engine: Engine,
    one: CountsOne | None = None,
    alone: bool = False,
) -> Generator[Counts | Later[Counts], None, None]:
    """Count boards of one geometry; those that take long one by one, as they are asked for.

    If the thread that calls is to work on them alone, it leaves those for later.
    """
    one = one or (lambda board, chosen: count_board(board[0], chosen, engine))
    if options.method == "contraction":
        for index, count in enumerate(_contracted(block, options, engine, one)):
            yield Counts.of(block.part(index, index + 1), count, options.limit)
    elif options.limit is not None and options.limit <= FEW_SOLUTIONS:
        found = search_block(block, options, _by(engine, alone))
        yield counts_of(block, found, options, engine)
    else:
        few = FEW_SOLUTIONS if options.method == "search" else SEARCHED_SOLUTIONS
        searched = search_block(block, replace(options, limit=few), _by(engine, alone))
        many = searched.numbers >= few
        rest = _mixed(block, searched, many, options, engine, one)
        if alone and many.any():
            yield Later(rest)
        else:
            yield from rest


def search_block(block: Batch, options: Options, engine: Engine) -> Outcome[SearchStats]:
    """Search all boards of a block as one frontier."""
    return SearchPlan(Frontier.of(block), options).run(engine)


def find_solutions(
    block: Batch, options: Options, engine: Engine, *, alone: bool = False
) -> tuple[NDArray[np.uint8], NDArray[np.int64], SearchStats]:
    """Search the boards of a block together, up to a limit that is set or a little beyond.

    All threads of the engine do, or the one that calls alone.

    Returns
    -------
    The solutions, uint8 (k, n * n), and the indices of their boards, int64 (k), both in the order
    in which they were found, and what was done.
    """
    found: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = [
        (np.empty((0, block.geometry.cells), np.uint8), np.empty(0, np.int64))
    ]
    plan = SearchPlan(Frontier.of(block), options)
    stats = plan.run(
        _by(engine, alone), on_solutions=lambda *solutions: found.append(solutions)
    ).stats
    rows, roots = zip(*found, strict=True)
    return np.concatenate(rows), np.concatenate(roots), stats


def _by(engine: Engine, alone: bool) -> Engine:
    """The engine, or the thread that calls alone."""
    return CpuEngine(1) if alone else engine


def _mixed(
    block: Batch,
    searched: Outcome[SearchStats],
    many: NDArray[np.bool_],
    options: Options,
    engine: Engine,
    one: CountsOne,
) -> Generator[Counts, None, None]:
    """Take the counts of boards with few solutions, and count the others as suits each."""
    contractible = is_nine(block.geometry, block.candidates)
    if contractible and options.method != "search" and many.any():
        others = _contracted(block.chosen(many), options, engine, one)
    else:
        others = (one(block.part(i, i + 1), options) for i in np.flatnonzero(many).tolist())
    changes = np.flatnonzero(many[1:] != many[:-1]) + 1
    continued = False
    for start, end in pairwise([0, *changes.tolist(), len(block)]):
        if many[start]:
            for index, count in zip(range(start, end), others, strict=False):
                yield Counts.of(block.part(index, index + 1), count, options.limit)
        else:
            done = Outcome(searched.numbers[start:end], searched.stats)
            counts = counts_of(block.part(start, end), done, options, engine)
            yield replace(counts, continued=continued)
            continued = True


def _contracted(block: Batch, options: Options, engine: Engine, one: CountsOne) -> Iterator[Count]:
    """Contract every board: cheap 9x9 boards each on one thread, others each on all."""
    alone = replace(options, method="contraction")
    contractible = is_nine(block.geometry, block.candidates)
    for first in range(0, len(block), CONTRACTED_BOARDS):
        boards = block.part(first, first + CONTRACTED_BOARDS)
        counts, expensive, seconds = [0] * len(boards), set(range(len(boards))), 0.0
        if contractible:
            start = time.perf_counter()
            counts, left = contract_cheap(boards, engine.threads, options.memory)
            expensive, seconds = set(left), time.perf_counter() - start
        stats = ContractionStats(products=0, seconds=seconds, utilisation=())
        cheap = Outcome(numbers_of(counts), stats)
        for index, count in enumerate(counts_of(boards, cheap, options, engine)):
            yield one(boards.part(index, index + 1), alone) if index in expensive else count
