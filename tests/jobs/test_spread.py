"""Work that is spread over threads: its results, its errors, and interrupts."""

from __future__ import annotations

import _thread
import threading
from typing import Any

import pytest

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.spread import called, spread
from tests.jobs.test_job import wait_until


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_in_the_order_of_the_items(threads: int) -> None:
    used: list[list[int]] = [[] for _ in range(threads)]

    def work(item: int, scratch: list[int], stop: Any) -> int:
        assert threading.current_thread() is not threading.main_thread()
        assert stop[0] == 0
        scratch.append(item)
        return item * item

    assert spread(work, range(100), used) == [item * item for item in range(100)]
    assert sorted(item for each in used for item in each) == [*range(100)]
    assert spread(work, [], used) == []


def test_an_error_stops_the_others() -> None:
    def work(item: int, scratch: None, stop: Any) -> None:
        if item == 0:
            raise ValueError("said for a test")
        wait_until(lambda: stop[0] != 0)

    with pytest.raises(ValueError, match="said for a test"):
        spread(work, [0, 1], [None, None])


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_stops_all(threads: int) -> None:
    stopped = []

    def work(item: int, scratch: None, stop: Any) -> None:
        if item == 0:
            _thread.interrupt_main()
        wait_until(lambda: stop[0] != 0)
        stopped.append(item)

    with pytest.raises(Interrupted):
        spread(work, range(9), [None] * threads)
    wait_until(lambda: 0 in stopped)
    assert len(stopped) <= threads


@pytest.mark.parametrize("number", [1, 2, 50])
def test_calls_are_made_on_threads_until_they_are_cancelled(number: int) -> None:
    token, made = CancelToken(), []

    def call() -> int:
        made.append(1)
        return len(made)

    assert sorted(called([call] * number, 3)) == [*range(1, number + 1)]
    token.cancel()
    with token, pytest.raises(Cancelled):
        called([call] * number, 3)
    assert len(made) == number
