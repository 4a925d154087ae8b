"""Ordered maps: results in order, bounded reading ahead, all threads stopped at the end."""

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
        pairs = [(result.item, result.result) for result in results]
    assert pairs == [(item, item * item) for item in range(number)]


@pytest.mark.parametrize("threads", THREADS)
def test_as_many_threads_work_as_were_asked_for(threads: int) -> None:
    """All threads work at the same time, the iterating thread included."""
    meeting = threading.Barrier(threads)
    workers = set()

    def work(item: int) -> None:
        workers.add(threading.current_thread())
        meeting.wait(200)

    threads_before = set(threading.enumerate())
    with closing(ordered_map(range(threads * 5), work, threads, LONG)) as results:
        assert len(list(results)) == threads * 5
    assert len(workers) == threads
    assert threading.current_thread() in workers
    assert set(threading.enumerate()) <= threads_before


@pytest.mark.parametrize("threads", THREADS)
def test_nothing_is_read_too_early(threads: int) -> None:
    """But enough is read for all threads."""
    read_count = 0
    all_read = threading.Event()

    def endless() -> Iterator[int]:
        nonlocal read_count
        while True:
            read_count += 1
            if read_count == AHEAD * threads:
                all_read.set()
            yield read_count

    def work(item: int) -> int:
        assert all_read.wait(200)
        return item

    with closing(ordered_map(endless(), work, threads, LONG)) as results:
        for results_taken in range(1, 50):
            assert next(results).item == results_taken
            assert read_count < results_taken + AHEAD * threads


@pytest.mark.parametrize("threads", [1, *THREADS])
def test_inline_items_are_computed_by_the_reader(threads: int) -> None:
    """The reader computes them at once, while other threads work."""
    all_started = threading.Event()
    main = threading.get_ident()

    def work(item: int) -> int:
        if item == 0 and threads > 1:
            assert all_started.wait(200)
        elif item == AHEAD * threads - 1:
            all_started.set()
        return threading.get_ident()

    def where(item: int) -> Schedule:
        return Schedule.INLINE if item else Schedule.POOL

    with closing(ordered_map(range(100), work, threads, LONG, where)) as results:
        first_thread, *other_threads = [result.result for result in results]
    assert other_threads == [main] * 99
    assert (first_thread == main) == (threads == 1)


@pytest.mark.parametrize("threads", [1, *THREADS])
def test_exclusive_items_are_returned_before_more_are_read(threads: int) -> None:
    items_read = []

    def items() -> Iterator[int]:
        for item in range(50):
            items_read.append(item)
            yield item

    def where(item: int) -> Schedule:
        return Schedule.EXCLUSIVE if item % 7 == 3 else Schedule.POOL

    with closing(ordered_map(items(), square, threads, LONG, where)) as results:
        for item, result in enumerate(results):
            assert result.item == item
            assert result.result == (None if item % 7 == 3 else item * item)
            assert items_read[-1] == item or item % 7 != 3
    assert item == 49


def test_errors_of_items_and_of_reading_are_raised_in_order() -> None:
    failed = threading.Event()
    values = []

    def work(item: int) -> int:
        if item == 3:
            failed.set()
            raise ValueError("three")
        assert item > 3 or failed.wait(200)
        return item

    with closing(ordered_map(range(20), work, 4, LONG)) as results:  # noqa: SIM117
        with pytest.raises(ValueError, match="three"):
            values.extend(result.result for result in results)
    with closing(ordered_map((6 // (3 - item) for item in range(9)), square, 2, LONG)) as results:  # noqa: SIM117
        with pytest.raises(ZeroDivisionError):
            values.extend(result.result for result in results)
    assert values == [0, 1, 2, 4, 9, 36]


@pytest.mark.parametrize("threads", THREADS)
def test_items_that_take_too_long_are_given_up(threads: int) -> None:
    """Only processor time of the item's own thread counts."""
    second_started = threading.Event()

    def work(item: int) -> int:
        if item == 1:  # waits, which takes no time on a core
            assert second_started.wait(200)
        while item == 2:
            second_started.set()
            check_cancelled()
        return item

    with closing(ordered_map(range(6), work, threads, 0.05)) as results:
        result_list = list(results)
    assert [result.result for result in result_list] == [0, 1, None, 3, 4, 5]
    assert result_list[1].seconds < 0.05 <= result_list[2].seconds


def under_way(work: Callable[[int], object]) -> Generator[MappedItem[int, object], None, None]:
    """Return an iterator that has yielded item 0, while another thread works on item 1."""
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
def test_closing_and_tokens_stop_running_items(how: str) -> None:
    """A token stops them even if no result is requested."""
    threads_before = set(threading.enumerate())
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
    assert set(threading.enumerate()) <= threads_before


@pytest.mark.parametrize("error", [KeyboardInterrupt, Interrupted("interrupted")])
def test_an_interrupt_does_not_wait_for_its_turn(error: BaseException) -> None:
    """The iterating thread raises it while it works on a later item."""
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
