"""Batches cut and joined to blocks, whose size follows the time that they take."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import chain, islice

import numpy as np
import pytest

from gpusudoku.board import blocks
from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import BLOCK_SECONDS, FIRST_BOARDS, PAUSE_SECONDS, in_blocks
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError, Interrupted
from tests.boards import puzzle

MOST = 1 << 14


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time by which blocks are measured; it passes as the tests say."""
    clock = Clock()
    monkeypatch.setattr(blocks, "time", clock)
    return clock


class Clock:
    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.now

    def work(self, seconds: float):  # type: ignore[no-untyped-def]
        """Work that gives every block as its result and takes so long."""

        def worked(block: Batch, by_one: bool) -> Generator[Batch, None, None]:
            self.now += seconds
            yield block

        return worked


def batches_of(*sizes: int, shape: str = "2x2") -> list[Batch]:
    geometry = Geometry.parse(shape)
    return [Batch(geometry, np.zeros((size, geometry.cells), np.uint8)) for size in sizes]


def alone(block: Batch, by_one: bool) -> Generator[Batch, None, None]:
    """Work of one result and no time."""
    yield block


@pytest.mark.parametrize(
    ("boards", "most", "seconds", "sizes"),
    [
        (700, 100, BLOCK_SECONDS / 2.01, [16, 32, 64, 100, 100, 100, 100, 100, 88]),
        (100, MOST, BLOCK_SECONDS / 2, [16] * 6 + [4]),
        (100, MOST, BLOCK_SECONDS * 2, [16] * 6 + [4]),
        (100, MOST, BLOCK_SECONDS * 5, [16, 8, 4, 2, *[1] * 70]),
    ],
)
def test_the_size_follows_the_time(
    clock: Clock, boards: int, most: int, seconds: float, sizes: list[int]
) -> None:
    batches = batches_of(*[7] * (boards // 7), boards % 7)
    assert list(map(len, in_blocks(batches, most, clock.work(seconds)))) == sizes


def test_after_a_pause_none_waits_for_more(clock: Clock) -> None:
    """A stream stops for a while: what came before, and the next, is worked on then."""

    def stream() -> Iterator[Batch]:
        for seconds in (0.0, 0.0, 1.0, 0.0, 1.0):
            clock.now += seconds
            yield from batches_of(5)

    assert list(map(len, in_blocks(stream(), MOST, alone))) == [15, 10]


def test_what_the_reading_takes_counts(clock: Clock) -> None:
    def slow() -> Iterator[Batch]:
        for batch in batches_of(*[1] * 31):
            clock.now += PAUSE_SECONDS * 0.9
            yield batch

    assert list(map(len, in_blocks(slow(), MOST, alone))) == [16, 8, 7]


def test_the_time_of_the_caller_does_not_count(clock: Clock) -> None:
    """Between the results of a block, and after its last."""
    results = 3

    def worked(block: Batch, by_one: bool) -> Generator[int, None, None]:
        for _ in range(results):
            yield len(block)

    found = []
    for size in in_blocks(batches_of(112), MOST, worked):
        found.append(size)
        clock.now += BLOCK_SECONDS * 100
    assert found == [size for size in (16, 32, 64) for _ in range(results)]


def test_the_time_between_results_counts(clock: Clock) -> None:
    def worked(block: Batch, by_one: bool) -> Generator[int, None, None]:
        for _ in range(4):
            clock.now += BLOCK_SECONDS
            yield len(block)

    found = list(in_blocks(batches_of(28), MOST, worked))
    assert found == [16] * 4 + [8] * 4 + [4] * 4


def test_order_is_kept() -> None:
    boards = [puzzle("2x3", 9, seed) for seed in range(60)]
    parts = [Batch.of(boards[a:b]) for a, b in [(0, 1), (1, 17), (17, 18), (18, 60)]]
    assert list(chain.from_iterable(in_blocks(parts, MOST, alone))) == boards


def test_a_block_has_one_geometry(clock: Clock) -> None:
    batches = [*batches_of(3, 3), *batches_of(2, shape="2x3"), *batches_of(20)]
    worked = in_blocks(batches, MOST, clock.work(BLOCK_SECONDS))
    found = [(block.geometry.n, len(block)) for block in worked]
    assert found == [(4, 6), (6, 2), (4, 16), (4, 4)]


def test_a_block_that_is_not_full_says_nothing_of_larger_ones(clock: Clock) -> None:
    """However quick it is: the geometry changed, and it is smaller than was wanted."""
    batches = [*batches_of(2), *batches_of(2, shape="2x3"), *batches_of(20)]
    found = in_blocks(batches, MOST, clock.work(0.0))
    assert list(map(len, found)) == [2, 2, 16, 4]


def test_an_error_comes_after_the_boards_before_it() -> None:
    for error in (InputError("no board"), OSError("no board")):

        def broken(error: Exception) -> Iterator[Batch]:
            yield from batches_of(5, 5)
            raise error

        found = []
        with pytest.raises(type(error), match="no board"):
            found.extend(map(len, in_blocks(broken(error), MOST, alone)))
        assert found == [10]


@pytest.mark.parametrize("error", [Interrupted("interrupted"), KeyboardInterrupt()])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_does_not_wait(error: BaseException, threads: int) -> None:
    def broken() -> Iterator[Batch]:
        yield from batches_of(5)
        raise error

    with pytest.raises(type(error)):
        next(in_blocks(broken(), MOST, alone, threads=threads))


def test_no_more_is_read_than_a_block_needs() -> None:
    read = 0

    def endless() -> Iterator[Batch]:
        nonlocal read
        while True:
            read += 1
            yield from batches_of(1)

    worked = in_blocks(endless(), MOST, alone)
    assert len(next(worked)) == read == FIRST_BOARDS


def test_closing_ends_the_work() -> None:
    """If no more results are taken, the work on their block is told."""
    ended = []

    def worked(block: Batch, by_one: bool) -> Generator[int, None, None]:
        try:
            yield 1
            yield 2
        finally:
            ended.append(len(block))

    results = in_blocks(batches_of(100), MOST, worked)
    assert list(islice(results, 1)) == [1]
    results.close()
    assert ended == [FIRST_BOARDS]
