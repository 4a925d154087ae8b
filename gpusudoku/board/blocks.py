"""Batches, cut and joined to blocks that are worth an engine's while."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import TypeVar

from gpusudoku.board.batch import Batch
from gpusudoku.errors import InputError
from gpusudoku.jobs.pace import Pace

FIRST_BOARDS = 16
"""Boards in the first block: whoever streams boards that take long sees the first results soon."""
BLOCK_SECONDS = 0.5
"""A block should take about this long to read and to work on."""

Result = TypeVar("Result")


def in_blocks(
    batches: Iterable[Batch],
    most: int,
    work: Callable[[Batch], Generator[Result, None, None]],
) -> Generator[Result, None, None]:
    """Work on boards in blocks, and give what comes of each.

    A block has one geometry and FIRST_BOARDS boards at first. Blocks grow while they are quick;
    the time in which the caller handles results does not count. Fewer boards come where the
    geometry changes, at the end, and before an InputError, which is raised once all boards before
    it were worked on.

    Parameters
    ----------
    batches
        Read as they are needed.
    most
        The number of boards in a block, at most.
    work
        Gives the results of a block.
    """
    pace = Pace(FIRST_BOARDS, BLOCK_SECONDS, most)
    blocks = _blocks(batches, pace)
    start = time.perf_counter()
    for block in blocks:
        seconds, size = 0.0, pace.size
        with closing(work(block)) as results:
            for result in results:
                seconds += time.perf_counter() - start
                yield result
                start = time.perf_counter()
        seconds += time.perf_counter() - start
        pace.took(seconds, full=len(block) == size)
        start = time.perf_counter()


def _blocks(batches: Iterable[Batch], pace: Pace) -> Iterator[Batch]:
    """Cut and join batches to blocks of the size that is wanted when each is asked for."""
    held: list[Batch] = []
    boards = 0
    error = None
    try:
        for batch in batches:
            if held and batch.geometry != held[0].geometry:
                yield Batch.joined(held)
                held, boards = [], 0
            start = 0
            while boards + len(batch) - start >= pace.size:
                end = start + pace.size - boards
                yield Batch.joined([*held, batch.part(start, end)])
                held, boards, start = [], 0, end
            if start < len(batch):
                held.append(batch.part(start, len(batch)))
                boards += len(batch) - start
    except InputError as caught:
        error = caught
    if held:
        yield Batch.joined(held)
    if error is not None:
        raise error
