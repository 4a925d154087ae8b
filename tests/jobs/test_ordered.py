"""Items worked on by several threads: in order, not too far ahead, stopped when all is over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from itertools import count

import pytest

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import CancelToken, any_cancelled, check_cancelled
from gpusudoku.jobs.ordered import AHEAD, MappedItem, Schedule, ordered_map
from tests.waiting import until

LONG = 1000.0
"""More patience than any test needs."""
THREADS = [2, 16]


def square(item: int) -> int:
    return item * item


@pytest.mark.parametrize("threads", [1, *THREADS])
@pytest.mark.parametrize("number", [0, 1, 300])
def test_order_is_kept(threads: int, number: int) -> None:
    with closing(ordered_map(range(number), square, threads, LONG)) as results:
        found = [(done.item, done.result) for done in results]
    assert found == [(item, item * item) for item in range(number)]


@pytest.mark.parametrize("threads", THREADS)
def test_as_many_threads_work_as_were_asked_for(threads: int) -> None:
    """At the same time, and the one that iterates among them."""
    meeting = threading.Barrier(threads)
    workers = set()

    def work(item: int) -> None:
        workers.add(threading.current_thread())
        meeting.wait(200)

    before = set(threading.enumerate())
    with closing(ordered_map(range(threads * 5), work, threads, LONG)) as results:
        assert len(list(results)) == threads * 5
    assert len(workers) == threads
    assert threading.current_thread() in workers
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("threads", THREADS)
def test_nothing_is_read_too_early(threads: int) -> None:
    """But as much as all threads need."""
    read = 0
    all_read = threading.Event()

    def endless() -> Iterator[int]:
        nonlocal read
        while True:
            read += 1
            if read == AHEAD * threads:
                all_read.set()
            yield read

    def work(item: int) -> int:
        assert all_read.wait(200)
        return item

    with closing(ordered_map(endless(), work, threads, LONG)) as results:
        for given in range(1, 50):
            assert next(results).item == given
            assert read < given + AHEAD * threads


@pytest.mark.parametrize("threads", [1, *THREADS])
def test_what_is_not_worth_handing_over_is_done_by_the_reader(threads: int) -> None:
    """At once, whatever others work on."""
    ended = threading.Event()
    main = threading.get_ident()

    def work(item: int) -> int:
        if item == 0 and threads > 1:
            assert ended.wait(200)
        elif item == AHEAD * threads - 1:
            ended.set()
        return threading.get_ident()

    def where(item: int) -> Schedule:
        return Schedule.INLINE if item else Schedule.POOL

    with closing(ordered_map(range(100), work, threads, LONG, where)) as results:
        first, *others = [done.result for done in results]
    assert others == [main] * 99
    assert (first == main) == (threads == 1)


@pytest.mark.parametrize("threads", [1, *THREADS])
def test_what_nobody_is_to_work_on_is_given_before_more_is_read(threads: int) -> None:
    read = []

    def items() -> Iterator[int]:
        for item in range(50):
            read.append(item)
            yield item

    def where(item: int) -> Schedule:
        return Schedule.EXCLUSIVE if item % 7 == 3 else Schedule.POOL

    with closing(ordered_map(items(), square, threads, LONG, where)) as results:
        for item, done in enumerate(results):
            assert done.item == item
            assert done.result == (None if item % 7 == 3 else item * item)
            assert read[-1] == item or item % 7 != 3
    assert item == 49


def test_an_error_of_an_item_or_of_reading_comes_in_its_turn() -> None:
    failed = threading.Event()
    found = []

    def work(item: int) -> int:
        if item == 3:
            failed.set()
            raise ValueError("three")
        assert item > 3 or failed.wait(200)
        return item

    with closing(ordered_map(range(20), work, 4, LONG)) as results:  # noqa: SIM117
        with pytest.raises(ValueError, match="three"):
            found.extend(done.result for done in results)
    with closing(ordered_map((6 // (3 - item) for item in range(9)), square, 2, LONG)) as results:  # noqa: SIM117
        with pytest.raises(ZeroDivisionError):
            found.extend(done.result for done in results)
    assert found == [0, 1, 2, 4, 9, 36]


@pytest.mark.parametrize("threads", THREADS)
def test_what_takes_too_long_is_put_down(threads: int) -> None:
    """Only time on a core counts, and only that of its own thread."""
    busy = threading.Event()

    def work(item: int) -> int:
        if item == 1:  # waits, which takes no time on a core
            assert busy.wait(200)
        while item == 2:
            busy.set()
            check_cancelled()
        return item

    with closing(ordered_map(range(6), work, threads, 0.05)) as results:
        found = list(results)
    assert [done.result for done in found] == [0, 1, None, 3, 4, 5]
    assert found[1].seconds < 0.05 <= found[2].seconds


def under_way(work: Callable[[int], object]) -> Generator[MappedItem[int, object], None, None]:
    """Make an iterator that has given item 0, while another thread works on item 1."""
    begun = [threading.Event(), threading.Event()]
    main = threading.current_thread()

    def items() -> Iterator[int]:
        for item in count():
            yield item
            if item < 2:
                assert begun[item].wait(200)

    def some(item: int) -> object:
        if item < 2:
            begun[item].set()
        if item == 0:
            assert begun[1].wait(200)
        return item if item == 0 or threading.current_thread() is main else work(item)

    results = ordered_map(items(), some, 3, LONG)
    assert next(results).item == 0
    return results


@pytest.mark.parametrize("how", ["closed", "cancelled"])
def test_closing_and_tokens_stop_what_is_under_way(how: str) -> None:
    """A token even while nobody takes anything."""
    before = set(threading.enumerate())
    token = CancelToken()
    stopped = threading.Event()

    def work(item: int) -> None:
        until(any_cancelled)
        stopped.set()
        check_cancelled()

    with token, closing(under_way(work)) as results:
        if how == "cancelled":
            token.cancel()
            assert stopped.wait(200)
            with pytest.raises(Cancelled):
                next(results)
    assert stopped.is_set()
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("error", [KeyboardInterrupt, Interrupted("interrupted")])
def test_an_interrupt_does_not_wait_for_its_turn(error: BaseException) -> None:
    """It is met where the thread that iterates works on a later item."""
    main = threading.current_thread()
    begun = threading.Event()

    def items() -> Iterator[int]:
        yield 0
        assert begun.wait(200)
        yield from count(1)

    def work(item: int) -> None:
        if threading.current_thread() is main:
            raise error
        begun.set()
        until(any_cancelled)

    results = ordered_map(items(), work, 2, LONG)
    with closing(results), pytest.raises((KeyboardInterrupt, Interrupted)):
        next(results)
