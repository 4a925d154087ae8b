"""Blocks worked on side by side: results in order, as they would be one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest

from gpusudoku.board import blocks
from gpusudoku.board.batch import Batch
from gpusudoku.board.blocks import FIRST_BOARDS, QUICK_SECONDS, Later, in_blocks
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.ordered import AHEAD

MOST, THREADS = 64, 3


def numbered(start: int, end: int, shape: str = "2x2") -> Batch:
    """Make boards that tell their numbers by their cells."""
    cells = np.zeros((end - start, Geometry.parse(shape).cells), np.uint8)
    cells[:, :4] = np.arange(start, end, dtype="<u4").view(np.uint8).reshape(-1, 4)
    return Batch(Geometry.parse(shape), cells)


def numbers(block: Batch) -> list[int]:
    return np.ascontiguousarray(block.cells[:, :4]).view("<u4").ravel().tolist()


def work(block: Batch, by_one: bool) -> Generator[list[int] | Later[list[int]], None, None]:
    """The numbers; those of a board whose number ends in 77 are given by all threads."""
    some = numbers(block)
    if by_one and any(number % 100 == 77 for number in some):
        yield Later(iter_of(some))
    else:
        yield some


def work_for(seconds: float) -> None:
    """Keep a core busy."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def iter_of(some: list[int]) -> Generator[list[int], None, None]:
    yield some[:1]
    yield some[1:]


def test_order_is_kept() -> None:
    batches = [numbered(start, start + 7) for start in range(0, 7000, 7)]
    found = in_blocks(batches, MOST, work, threads=THREADS)
    assert list(chain.from_iterable(found)) == list(range(7000))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks are quick, however busy the machine is, and each is worth handing over."""
    monkeypatch.setattr(blocks, "QUICK_SECONDS", 1000.0)
    monkeypatch.setattr(blocks, "THREAD_SECONDS", 1000.0)
    monkeypatch.setattr(blocks, "SMALL_SECONDS", 0.0)


@pytest.mark.usefixtures("quick")
def test_each_thread_has_a_block_of_its_own() -> None:
    """All but the first, and what is made of the results is made there."""
    meeting = threading.Barrier(THREADS)
    waited = False

    def meet(block: Batch, by_one: bool) -> Generator[int, None, None]:
        nonlocal waited
        if by_one and not waited:
            meeting.wait(200)
            waited = True
        yield len(block)

    def then(size: int) -> tuple[int, int]:
        return size, threading.get_ident()

    found = list(in_blocks([numbered(0, 5000)], MOST, meet, then, THREADS))
    assert waited
    assert found[0] == (FIRST_BOARDS, threading.get_ident())
    assert sum(size for size, _ in found) == 5000
    assert len({thread for _, thread in found}) > 1


@pytest.mark.usefixtures("quick")
def test_a_block_that_takes_long_is_done_anew_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "PATIENCE_SECONDS", 0.02)
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


def clocks(monkeypatch: pytest.MonkeyPatch, cores: float) -> list[float]:
    """Let time pass as the tests say, and so many cores work all the time; returns the time."""
    now = [0.0]
    time_of_blocks = SimpleNamespace(
        perf_counter=lambda: now[0], process_time=lambda: now[0] * cores
    )
    monkeypatch.setattr(blocks, "time", time_of_blocks)
    return now


@pytest.mark.parametrize(("cores", "alone"), [(1, [False, False]), (0, [False, True])])
def test_slow_blocks_are_never_side_by_side(
    cores: int, alone: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But time that is not spent on cores makes no block slow: others may use these."""
    now, found = clocks(monkeypatch, cores), list[bool]()

    def slow(block: Batch, by_one: bool) -> Generator[int, None, None]:
        found.append(by_one)
        now[0] += 1.1 * QUICK_SECONDS
        yield len(block)

    assert sum(in_blocks([numbered(0, 40)], MOST, slow, threads=THREADS)) == 40
    assert found == alone


def test_what_is_hardly_any_work_is_not_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever other shapes there are between, and their blocks have a thread each."""
    monkeypatch.setattr(blocks, "SMALL_SECONDS", 0.02)
    batches = [numbered(k, k + 1, shape) for k in range(30) for shape in ("2x2", "2x3", "3x3")]
    before, main = threading.active_count(), threading.get_ident()

    def worked(block: Batch, by_one: bool) -> Generator[int, None, None]:
        if block.geometry.n == 9:
            work_for(0.03 if by_one else 0.0)
        yield threading.get_ident()

    found = list(in_blocks(batches[::3], MOST, worked, threads=THREADS))
    assert set(found) == {main}
    assert threading.active_count() <= before
    found = list(in_blocks(batches[:30], MOST, worked, threads=THREADS))
    assert {*found[::3], *found[1::3]} == {main}
    assert len({*found[2::3]}) > 1


def test_a_result_does_not_wait_for_boards_that_come_slowly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is given before more is read than its block, once reading takes long."""
    now, read = clocks(monkeypatch, 0), 0

    def slow() -> Iterator[Batch]:
        nonlocal read
        yield numbered(0, FIRST_BOARDS)
        for read in range(FIRST_BOARDS, 1000):
            now[0] += 0.03 if read < 60 else 0
            yield numbered(read, read + 1)

    given = 0
    for some in in_blocks(slow(), MOST, work, threads=THREADS):
        if given < 40:
            assert read < given + 3 * FIRST_BOARDS
        given += len(some)
    assert given == 1000


@pytest.mark.usefixtures("quick")
def test_no_more_is_read_than_all_threads_need() -> None:
    read = 0

    def endless() -> Iterator[Batch]:
        nonlocal read
        while True:
            yield numbered(read, read + 1)
            read += 1

    before = threading.active_count()
    found = in_blocks(endless(), MOST, work, threads=THREADS)
    given = 0
    for some in found:
        given += len(some)
        assert read <= given + AHEAD * THREADS * MOST
        if given > 3000:
            break
    found.close()
    assert threading.active_count() <= before


@pytest.mark.parametrize("error", [InputError, OSError])
def test_other_boxes_and_errors_in_their_turn(error: type[Exception]) -> None:
    def mixed() -> Iterator[Batch]:
        yield numbered(0, 1000)
        yield numbered(1000, 1003, "2x3")
        yield numbered(1003, 2005)
        raise error("no board")

    found: list[int] = []
    with pytest.raises(error, match="no board"):
        found.extend(chain.from_iterable(in_blocks(mixed(), MOST, work, threads=THREADS)))
    assert found == list(range(2005))
