"""Tokens that stop work from another thread: before it, during it and after it."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import (
    CancelToken,
    Deadline,
    any_cancelled,
    cancelling,
    check_cancelled,
    deadlines_paused,
    tokens,
)
from gpusudoku.jobs.job import Job
from tests.jobs.workers import UntilStopped, start_thread, tasks, worker_calling
from tests.waiting import until


def stopped_by(token: CancelToken) -> Job:
    """Return a job that a token stops."""
    with token:
        return Job(1)


def test_a_running_job_is_stopped_from_another_thread() -> None:
    token = CancelToken()
    job = stopped_by(token)
    workers = [UntilStopped(), UntilStopped()]
    threads_before = threading.active_count()
    thread = start_thread(lambda: (until(lambda: job.counts == [6]), token.cancel()))
    with pytest.raises(Cancelled) as caught:
        job.run(tasks(1, 2), workers)
    thread.join()
    assert caught.value.count == 6
    assert isinstance(caught.value, Interrupted)
    assert all(worker.ended for worker in workers)
    assert threading.active_count() <= threads_before


def test_a_worker_that_waits_for_a_task_is_woken() -> None:
    """A token wakes it while another worker has the only task."""
    token = CancelToken()
    waiting = threading.Event()

    def hold(job: Job, payload: int) -> None:
        if payload:
            until(lambda: job.busy_workers == 1)
            waiting.set()
            until(lambda: job.stopped)

    start_thread(lambda: (waiting.wait(200), token.cancel()))
    with pytest.raises(Cancelled):
        stopped_by(token).run(tasks(1, 0), [worker_calling(hold)] * 2)


def test_a_deadline_does_not_count_the_time_of_a_pause() -> None:
    clock = [0.0]
    deadline, short_deadline = (Deadline(seconds, lambda: clock[0]) for seconds in (5, 1))
    with deadline, short_deadline, deadlines_paused():
        clock[0] += 100
    assert (deadline.cancelled, deadline.seconds_left, short_deadline.seconds_left) == (False, 5, 1)
    with deadline.paused():
        clock[0] += 100
    assert (deadline.seconds_left, short_deadline.cancelled, short_deadline.seconds_left) == (
        5,
        True,
        0,
    )
    clock[0] += 6
    assert deadline.cancelled


def test_an_error_in_a_worker_comes_before_the_cancellation() -> None:
    token = CancelToken()

    def fail(job: Job) -> float:
        token.cancel()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        stopped_by(token).run(tasks(1), [fail])


def test_a_token_keeps_no_job_alive() -> None:
    """A token may be used for thousands of jobs."""
    token = CancelToken()
    job = weakref.ref(stopped_by(token))
    gc.collect()
    assert job() is None
    token.cancel()


def test_a_token_may_be_cancelled_while_a_job_is_attached() -> None:
    """A signal can arrive at that moment."""
    token = CancelToken()
    stopped = threading.Event()

    class Attached:
        def __hash__(self) -> int:
            token.cancel()
            return 1

        def stop(self) -> None:
            stopped.set()

    job = Attached()
    start_thread(lambda: token.attach(job))
    assert stopped.wait(200)


def test_tokens_are_those_of_all_blocks_around() -> None:
    outer = CancelToken()
    inner = CancelToken()
    elsewhere = []
    with outer, cancelling(inner, None):
        assert tokens() == (outer, inner)
        start_thread(lambda: elsewhere.append(tokens())).join()
        check_cancelled()
        outer.cancel()
        with pytest.raises(Cancelled, match=r"^cancelled$"):
            check_cancelled()
    assert (tokens(), elsewhere) == ((), [()])
    check_cancelled(inner)
    with pytest.raises(Cancelled):
        check_cancelled(outer)


def test_workers_are_stopped_within_a_task() -> None:
    token = CancelToken()
    begun = threading.Event()

    def work(job: Job, payload: int) -> None:
        begun.set()
        until(any_cancelled)
        check_cancelled()
        raise AssertionError

    start_thread(lambda: (begun.wait(200), token.cancel()))
    with pytest.raises(Cancelled):
        stopped_by(token).run(tasks(1), [worker_calling(work)])


def test_at_the_end_workers_still_report_what_they_found() -> None:
    def work(job: Job) -> float:
        while job.take() is not None:
            pass
        until(lambda: job.stopped)
        check_cancelled()
        job.report([(0, 7)])
        return 0.0

    job = Job(1)
    job.run(tasks(1, 2), [work])
    assert job.counts == [7]


def test_a_job_within_a_job_is_stopped_with_it() -> None:
    inner: list[Job] = []

    def work(job: Job, payload: int) -> None:
        inner.append(Job(1))
        job.stop()
        inner[0].run(tasks(1), [UntilStopped()])
        raise AssertionError

    Job(1).run(tasks(1), [worker_calling(work)])
    assert inner[0].stopped


def test_a_deadline_stops_a_job_by_the_clock() -> None:
    with Deadline(0.05):
        job = Job(1)
    with pytest.raises(Cancelled):
        job.run(tasks(1, 2), [UntilStopped(), UntilStopped()])
    with Deadline(1000.0) as later:
        check_cancelled()
        later.cancel()
        with pytest.raises(Cancelled):
            check_cancelled()


def test_several_threads_pause_a_deadline() -> None:
    """It is extended by the time from the start of the first pause to the end of the last."""
    time = [0.0]
    deadline = Deadline(10.0, clock=lambda: time[0])
    time[0] = 4.0
    first_pause = deadline.paused()
    second_pause = deadline.paused()
    first_pause.__enter__()
    time[0] = 7.0
    second_pause.__enter__()
    time[0] = 12.0
    first_pause.__exit__(None, None, None)
    assert not deadline.cancelled
    assert deadline.seconds_left == 6.0
    time[0] = 24.0
    second_pause.__exit__(None, None, None)
    assert deadline.seconds_left == 6.0
    time[0] = 30.5
    assert deadline.cancelled
