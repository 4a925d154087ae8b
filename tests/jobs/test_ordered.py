"""Items worked on by several threads: in order, not too far ahead, stopped when all is over."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count, islice
from random import Random

import pytest

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import CancelToken, any_cancelled, check_cancelled
from gpusudoku.jobs.ordered import AHEAD, By, InOrder
from tests.jobs.test_job import wait_until

LONG = 1000.0
"""More patience than any test needs."""
THREADS = [2, 3, 16]


def wait_to_be_stopped() -> None:
    """Work until somebody stops it."""
    while not any_cancelled():
        time.sleep(0.001)
    check_cancelled()


def square(item: int) -> int:
    return item * item


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("number", [0, 1, 5, 300])
def test_order_is_kept(threads: int, number: int) -> None:
    random = Random(1)

    def work(item: int) -> int:
        time.sleep(random.random() / 1000)
        return item * item

    with closing(InOrder(range(number), work, threads, LONG)) as results:
        found = [(done.item, done.result) for done in results]
    assert found == [(item, item * item) for item in range(number)]


@pytest.mark.parametrize("threads", THREADS)
def test_no_more_threads_work_than_were_asked_for_and_all_of_these_do(threads: int) -> None:
    """The one that iterates among them."""
    meeting = threading.Barrier(threads)
    lock, at_work, most = threading.Lock(), set[int](), 0

    def work(item: int) -> None:
        nonlocal most
        with lock:
            at_work.add(threading.get_ident())
            most = max(most, len(at_work))
        meeting.wait(200)
        with lock:
            at_work.discard(threading.get_ident())

    before = set(threading.enumerate())
    with closing(InOrder(range(threads * 5), work, threads, LONG)) as results:
        assert next(results).item == 0
        assert len(set(threading.enumerate()) - before) == threads - 1
        assert len(list(results)) == threads * 5 - 1
    assert most == threads
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("threads", THREADS)
def test_nothing_is_read_too_early(threads: int) -> None:
    """However long whoever takes the results needs for them."""
    read = 0

    def endless() -> Iterator[int]:
        nonlocal read
        while True:
            read += 1
            yield read

    with closing(InOrder(endless(), square, threads, LONG)) as results:
        for given in range(1, 50):
            assert next(results).item == given
            assert read < given + AHEAD * threads
            if given == 20:
                time.sleep(0.05)
                assert read < given + AHEAD * threads


@pytest.mark.parametrize("threads", [1, *THREADS])
def test_what_is_not_worth_handing_over_is_done_by_whoever_reads_it(threads: int) -> None:
    """At once, whatever others work on; and without such others there are none."""
    ended, main = threading.Event(), threading.get_ident()
    before = threading.active_count()

    def work(item: int) -> int:
        if item == 0:
            assert ended.wait(200)
        elif item == AHEAD * threads - 1:
            ended.set()
        return threading.get_ident()

    def by(item: int) -> By:
        return By.READER if item else By.ANY

    with closing(InOrder(range(1, 100), work, threads, LONG, by)) as results:
        assert [done.result for done in results] == [main] * 99
        assert threading.active_count() <= before
    if threads > 1:
        ended.clear()
        with closing(InOrder(range(100), work, threads, LONG, by)) as results:
            first, *others = (done.result for done in results)
        assert first != main
        assert others == [main] * 99


@pytest.mark.parametrize("threads", [1, *THREADS])
def test_what_nobody_is_to_work_on_is_given_before_more_is_read(threads: int) -> None:
    read = -1

    def items() -> Iterator[int]:
        nonlocal read
        while read < 49:
            read += 1
            yield read

    def by(item: int) -> By:
        return By.NONE if item % 7 == 3 else By.ANY

    with closing(InOrder(items(), square, threads, LONG, by)) as results:
        for item, done in enumerate(results):
            assert done.item == item
            assert done.result == (None if item % 7 == 3 else item * item)
            assert read == item or item % 7 != 3
    assert item == 49


@pytest.mark.parametrize("threads", THREADS)
def test_an_error_of_an_item_comes_in_its_turn(threads: int) -> None:
    def work(item: int) -> int:
        if item == 7:
            raise ValueError("seven")
        time.sleep(0.001)
        return item

    found = []
    with (
        pytest.raises(ValueError, match="seven"),
        closing(InOrder(range(20), work, threads, LONG)) as results,
    ):
        found.extend(done.result for done in results)
    assert found == list(range(7))


def test_an_error_of_reading_comes_after_all_before_it() -> None:
    def broken() -> Iterator[int]:
        yield from range(3)
        raise ValueError("no more")

    found = []
    with (
        pytest.raises(ValueError, match="no more"),
        closing(InOrder(broken(), square, 2, LONG)) as results,
    ):
        found.extend(done.result for done in results)
    assert found == [0, 1, 4]


@pytest.mark.parametrize("threads", THREADS)
def test_what_takes_too_long_is_put_down(threads: int) -> None:
    """Only time on a core counts, and only that of its own thread."""

    def work(item: int) -> int:
        if item == 1:
            time.sleep(0.1)
        while item == 3:
            check_cancelled()
        return item

    with closing(InOrder(range(6), work, threads, 0.05)) as results:
        assert [done.result for done in results] == [0, 1, 2, None, 4, 5]


@pytest.mark.parametrize("threads", THREADS)
def test_closing_stops_what_is_under_way(threads: int) -> None:
    before, main = set(threading.enumerate()), threading.current_thread()
    begun = threading.Event()

    def work(item: int) -> int:
        if threading.current_thread() is main:  # which leaves some for the others
            return item if item == 0 else begun.wait(200)
        if item == 0:  # not before there is another item for this thread
            wait_until(lambda: len(results._pending) > 1)
            return item
        begun.set()
        wait_to_be_stopped()
        return item

    results = InOrder(count(), work, threads, LONG)
    assert next(results).item == 0
    assert begun.wait(200)
    results.close()
    assert set(threading.enumerate()) <= before


def test_at_its_end_python_waits_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has stopped all threads by then, and those hold what they held."""

    def work(item: int) -> None:
        wait_to_be_stopped()

    with closing(InOrder(range(6), work, 3, LONG, lambda item: By.ANY)) as results:
        results._read_one()
        wait_until(lambda: results._pending[0].token is not None)
        with monkeypatch.context() as changed:
            changed.setattr(sys, "is_finalizing", lambda: True)
            results.close()
            assert not results._pending[0].token.cancelled


def test_once_settled_no_other_thread_works() -> None:
    ended = []

    def work(item: int) -> int:
        time.sleep(0.01)
        ended.append(item)
        return item

    with closing(InOrder(range(40), work, 3, LONG)) as results:
        assert next(results).result == 0
        results.settle()
        assert sorted(ended) == list(range(3 * AHEAD))
        time.sleep(0.05)
        assert len(ended) == 3 * AHEAD
        assert [done.result for done in results] == list(range(1, 40))


@pytest.mark.parametrize("error", [KeyboardInterrupt, Interrupted("interrupted")])
def test_an_interrupt_does_not_wait_for_its_turn(error: BaseException) -> None:
    """It is met where the thread that iterates works on a later item."""
    main = threading.current_thread()

    def work(item: int) -> int:
        if threading.current_thread() is main:
            raise error
        wait_to_be_stopped()
        return item

    with (
        pytest.raises((KeyboardInterrupt, Interrupted)),
        closing(InOrder(count(), work, 2, LONG)) as results,
    ):
        list(islice(results, 5))


def test_the_tokens_of_who_makes_it_stop_all_threads() -> None:
    """Even while nobody takes anything."""
    token, working = CancelToken(), threading.Semaphore(0)
    stopped = threading.Semaphore(0)

    def work(item: int) -> int:
        if item == 0:
            return item
        working.release()
        try:
            wait_to_be_stopped()
        finally:
            stopped.release()
        return item

    with token, closing(InOrder(count(), work, 3, LONG)) as results:
        assert next(results).item == 0
        results._read_one()
        assert working.acquire(timeout=200)
        token.cancel()
        assert stopped.acquire(timeout=200)
        with pytest.raises(Cancelled):
            next(results)
