"""Batches cut and joined to blocks, whose size follows the time that they take.

Blocks may be worked on side by side: results come in order, as they would one after the other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from itertools import chain, islice
from types import SimpleNamespace

import numpy as np
import pytest

from gpusudoku.board import blocks
from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import BLOCK_SECONDS, FIRST_BOARDS, Deferred, in_blocks
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.jobs import ordered
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.ordered import AHEAD

MOST = 64
MANY = 1 << 14
THREADS = 3


class Clock:
    """The time by which blocks are measured; it passes as the tests say."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    process_time = perf_counter

    def work(self, seconds: float):  # type: ignore[no-untyped-def]
        """Work that gives every block as its result and takes so long."""

        def worked(block: Batch, by_one: bool) -> Generator[Batch, None, None]:
            self.now += seconds
            yield block

        return worked


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(blocks, "time", clock := Clock())
    return clock


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks are quick, however busy the machine is, and each is worth handing over."""
    monkeypatch.setattr(blocks, "QUICK_BLOCK_SECONDS", 1000.0)
    monkeypatch.setattr(blocks, "THREAD_SECONDS", 1000.0)
    monkeypatch.setattr(blocks, "SMALL_SECONDS", 0.0)


def numbered(start: int, end: int, shape: str = "2x2") -> Batch:
    """Make boards that tell their numbers by their cells."""
    cells = np.zeros((end - start, Geometry.parse(shape).cells), np.uint8)
    cells[:, :4] = np.arange(start, end, dtype="<u4").view(np.uint8).reshape(-1, 4)
    return Batch(Geometry.parse(shape), cells)


def numbers(block: Batch) -> list[int]:
    return np.ascontiguousarray(block.cells[:, :4]).view("<u4").ravel().tolist()


def batches_of(*sizes: int, shape: str = "2x2") -> list[Batch]:
    return [numbered(0, size, shape) for size in sizes]


def alone(block: Batch, by_one: bool) -> Generator[Batch, None, None]:
    """Work of one result and no time."""
    yield block


def work(block: Batch, by_one: bool) -> Generator[list[int] | Deferred[list[int]], None, None]:
    """The numbers; those of a board whose number ends in 77 are given by all threads."""
    some = numbers(block)
    if by_one and any(number % 100 == 77 for number in some):
        yield Deferred(part for part in (some[:1], some[1:]))
    else:
        yield some


@pytest.mark.parametrize(
    ("boards", "most", "seconds", "sizes"),
    [
        (700, 100, BLOCK_SECONDS / 2.01, [16, 32, 64, 100, 100, 100, 100, 100, 88]),
        (100, MANY, BLOCK_SECONDS / 2, [16] * 6 + [4]),
        (100, MANY, BLOCK_SECONDS * 2, [16] * 6 + [4]),
        (100, MANY, BLOCK_SECONDS * 5, [16, 8, 4, 2, *[1] * 70]),
    ],
)
def test_the_size_follows_the_time(
    clock: Clock, boards: int, most: int, seconds: float, sizes: list[int]
) -> None:
    batches = batches_of(*[7] * (boards // 7), boards % 7)
    assert list(map(len, in_blocks(batches, most, clock.work(seconds)))) == sizes


@pytest.mark.parametrize(
    ("size", "pauses", "found"),
    [(5, (0.0, 0.0, 1.0, 0.0, 1.0), [15, 10]), (1, (blocks.PAUSE_SECONDS * 0.9,) * 31, [16, 8, 7])],
)
def test_after_a_pause_none_waits_for_more(
    clock: Clock, size: int, pauses: tuple[float, ...], found: list[int]
) -> None:
    """A stream stops for a while: what came before, and the next, is worked on then."""

    def stream() -> Iterator[Batch]:
        for seconds in pauses:
            clock.now += seconds
            yield from batches_of(size)

    assert list(map(len, in_blocks(stream(), MANY, alone))) == found


def test_the_time_of_the_caller_does_not_count(clock: Clock) -> None:
    """Between the results of a block, and after its last; that of the work before each does."""
    seconds = 0.0

    def worked(block: Batch, by_one: bool) -> Generator[int, None, None]:
        for _ in range(4):
            clock.now += seconds
            yield len(block)

    found = []
    for size in in_blocks(batches_of(112), MANY, worked):
        found.append(size)
        clock.now += BLOCK_SECONDS * 100
    assert found == [16] * 4 + [96] * 4
    seconds = BLOCK_SECONDS
    found = list(in_blocks(batches_of(28), MANY, worked))
    assert found == [16] * 4 + [8] * 4 + [4] * 4


@pytest.mark.parametrize("error", [Interrupted("interrupted"), KeyboardInterrupt()])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_does_not_wait(error: BaseException, threads: int) -> None:
    def broken() -> Iterator[Batch]:
        yield from batches_of(5)
        raise error

    with pytest.raises(type(error)):
        next(in_blocks(broken(), MANY, alone, threads=threads))


def test_closing_ends_the_work() -> None:
    ended = []

    def worked(block: Batch, by_one: bool) -> Generator[int, None, None]:
        try:
            yield 1
            yield 2
        finally:
            ended.append(len(block))

    results = in_blocks(batches_of(100), MANY, worked)
    assert list(islice(results, 1)) == [1]
    results.close()
    assert ended == [FIRST_BOARDS]


@pytest.mark.parametrize("threads", [1, THREADS])
@pytest.mark.parametrize("error", [InputError, OSError])
def test_boards_stay_in_order_and_errors_come_in_their_turn(
    error: type[Exception], threads: int
) -> None:
    def mixed() -> Iterator[Batch]:
        yield from (numbered(start, start + 7) for start in range(0, 7000, 7))
        yield numbered(7000, 7003, "2x3")
        yield numbered(7003, 8005)
        raise error("no board")

    found: list[int] = []
    with pytest.raises(error, match="no board"):
        found.extend(chain.from_iterable(in_blocks(mixed(), MOST, work, threads=threads)))
    assert found == list(range(8005))


@pytest.mark.usefixtures("quick")
def test_each_thread_has_a_block_of_its_own() -> None:
    """All but the first."""
    meeting = threading.Barrier(THREADS)
    waited = False

    def meet(block: Batch, by_one: bool) -> Generator[tuple[int, int], None, None]:
        nonlocal waited
        if by_one and not waited:
            meeting.wait(200)
            waited = True
        yield len(block), threading.get_ident()

    found = list(in_blocks([numbered(0, 5000)], MOST, meet, THREADS))
    assert waited
    assert found[0] == (FIRST_BOARDS, threading.get_ident())
    assert sum(size for size, _ in found) == 5000
    assert len({thread for _, thread in found}) > 1


@pytest.mark.usefixtures("quick")
def test_a_block_that_takes_long_is_done_anew_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_THREAD_SECONDS", 0.02)
    by_all: list[int] = []

    def slow(block: Batch, by_one: bool) -> Generator[list[int], None, None]:
        some = numbers(block)
        if not by_one:
            by_all.extend(some)
        while by_one and 2000 in some:
            check_cancelled()
        yield some

    found = in_blocks([numbered(0, 5000)], MOST, slow, threads=THREADS)
    assert list(chain.from_iterable(found)) == list(range(5000))
    assert {0, 2000} <= set(by_all)
    assert len(by_all) < 1000


@pytest.mark.parametrize(("cores", "alone"), [(1, [False, False]), (0, [False, True])])
def test_slow_blocks_are_never_side_by_side(
    cores: int, alone: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But time that is not spent on cores makes no block slow: others may use these."""
    now = 0.0
    found = list[bool]()
    clock = SimpleNamespace(perf_counter=lambda: now, process_time=lambda: now * cores)
    monkeypatch.setattr(blocks, "time", clock)

    def slow(block: Batch, by_one: bool) -> Generator[int, None, None]:
        nonlocal now
        found.append(by_one)
        now += 1.1 * blocks.QUICK_BLOCK_SECONDS
        yield len(block)

    assert sum(in_blocks([numbered(0, 40)], MOST, slow, threads=THREADS)) == 40
    assert found == alone


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("slowdown", "side_by_side"), [(1.0, False), (50.0, True)])
def test_reading_is_slow_only_if_blocks_are_not_as_slow(
    slowdown: float, side_by_side: bool, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where threads wait for cores, the one that reads does, too, and its boards are there."""
    times = {"perf_counter": lambda: slowdown * time.thread_time()}
    times |= {"thread_time": time.thread_time, "monotonic": time.monotonic}
    monkeypatch.setattr(ordered, "time", SimpleNamespace(**times))
    measured = False
    slowly_read = list[bool]()

    def stream() -> Iterator[Batch]:
        for number in range(1000):
            clock.now += 10 * blocks.QUICK_BLOCK_SECONDS * measured
            yield numbered(number, number + 1)

    def note(block: Batch, by_one: bool) -> Generator[bool, None, None]:
        yield by_one

    for by_one in in_blocks(stream(), FIRST_BOARDS, note, THREADS):
        slowly_read += [by_one] * measured
        measured = measured or by_one
    assert slowly_read[-100:] == [side_by_side] * 100


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("threads", [1, THREADS])
def test_no_more_is_read_than_all_threads_need(threads: int) -> None:
    read = 0

    def endless() -> Iterator[Batch]:
        nonlocal read
        while True:
            read += 1
            yield numbered(read, read + 1)

    before = threading.active_count()
    found = in_blocks(endless(), MOST, work, threads=threads)
    given = len(next(found))
    assert given == read == FIRST_BOARDS
    for some in found:
        given += len(some)
        assert read <= given + AHEAD * threads * MOST
        if given > 3000:
            break
    found.close()
    assert threading.active_count() <= before
