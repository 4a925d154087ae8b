"""Tokens that stop jobs from another thread: before, while and after they run."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Generator

import pytest

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import (
    CancelToken,
    Patience,
    any_cancelled,
    cancelling,
    cancelling_of,
    check_cancelled,
    tokens,
)
from gpusudoku.jobs.job import Job
from tests.jobs.test_job import Counter, UntilStopped, tasks, wait_until


def stopped_by(token: CancelToken) -> Job:
    """A job that is made where a token stops what is done."""
    with token:
        return Job(1)


def test_a_token_begins_uncancelled() -> None:
    token = CancelToken()
    assert not token.cancelled
    token.cancel()
    assert token.cancelled
    token.cancel()  # once more does no harm
    assert token.cancelled


def test_a_job_that_nobody_cancels_ends_by_itself() -> None:
    job = stopped_by(CancelToken())
    job.run(tasks(1, 2, 3), [Counter()])
    assert job.counts == [6]


def test_a_running_job_is_stopped_from_another_thread() -> None:
    token = CancelToken()
    job, workers = stopped_by(token), [UntilStopped(), UntilStopped()]

    def cancel() -> None:
        wait_until(lambda: job.counts == [6])
        token.cancel()

    before = threading.active_count()
    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Interrupted) as caught:
        job.run(tasks(1, 2), workers)
    thread.join()
    assert caught.value.count == 6
    assert all(worker.ended for worker in workers)
    assert job.flag[0] == 1
    assert threading.active_count() <= before


def test_a_token_that_was_cancelled_before_stops_at_once() -> None:
    token = CancelToken()
    token.cancel()
    job, worker = stopped_by(token), Counter()
    assert job.stopped
    with pytest.raises(Interrupted) as caught:
        job.run(tasks(1, 2, 3), [worker])
    assert caught.value.count == 0
    assert worker.taken == []


def test_all_jobs_of_a_token_are_stopped() -> None:
    token = CancelToken()
    jobs = [stopped_by(token) for _ in range(3)]
    other = stopped_by(CancelToken())
    token.cancel()
    assert [job.stopped for job in jobs] == [True] * 3
    assert not other.stopped
    assert stopped_by(token).stopped


def test_a_worker_that_waits_for_a_task_is_woken() -> None:
    token, waiting = CancelToken(), threading.Event()
    job = stopped_by(token)

    class Holder:
        """Takes a task and keeps it, unless the other has: so the other waits for one."""

        def __call__(self, job: Job) -> float:
            while (task := job.take()) is not None:
                if task.payload == 0:
                    continue
                wait_until(lambda: job.busy_workers == 1)
                waiting.set()
                wait_until(lambda: job.stopped)
            return 0.0

    thread = threading.Thread(target=lambda: (waiting.wait(200), token.cancel()))
    thread.start()
    with pytest.raises(Interrupted):
        job.run(tasks(1, 0), [Holder(), Holder()])
    thread.join()
    assert waiting.is_set()


def test_an_error_in_a_worker_comes_before_the_cancellation() -> None:
    token = CancelToken()

    class Failing:
        def __call__(self, job: Job) -> float:
            token.cancel()
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        stopped_by(token).run(tasks(1), [Failing()])


def test_a_cancellation_after_the_end_changes_nothing() -> None:
    token = CancelToken()
    job = stopped_by(token)
    job.run(tasks(4), [Counter()])
    token.cancel()
    assert job.counts == [4]


def test_a_token_keeps_no_job_alive() -> None:
    """One token may serve thousands of jobs, one after the other."""
    token = CancelToken()
    job = weakref.ref(stopped_by(token))
    gc.collect()
    assert job() is None
    token.cancel()


def test_a_token_may_be_cancelled_while_its_lock_is_held() -> None:
    """As by a signal that arrives in the middle of ``attach``."""
    token = CancelToken()
    with token._lock:
        token.cancel()
    assert token.cancelled


class TestTokensOfAThread:
    def test_they_are_those_of_all_blocks_around(self) -> None:
        outer, inner = CancelToken(), CancelToken()
        with outer, cancelling(inner, None):
            assert tokens() == (outer, inner)
            outer.cancel()
            with pytest.raises(Cancelled):
                check_cancelled()
        assert tokens() == ()
        check_cancelled()

    def test_a_cancelled_one_lets_nothing_begin(self) -> None:
        token = CancelToken()
        token.cancel()
        with pytest.raises(Cancelled), cancelling(token):
            raise AssertionError
        assert tokens() == ()

    def test_no_other_thread_has_them(self) -> None:
        found: list[object] = []
        with CancelToken():
            thread = threading.Thread(target=lambda: found.append(tokens()))
            thread.start()
            thread.join()
        assert found == [()]

    def test_they_stop_jobs_that_are_made_there(self) -> None:
        token = CancelToken()
        with token:
            job = Job(1)
        token.cancel()
        assert job.stopped

    def test_patience_does_not_hide_who_cancels(self) -> None:
        token = CancelToken()
        with token:
            with pytest.raises(Cancelled), cancelling(Patience(-1.0)):
                raise AssertionError
            check_cancelled()  # it was not the token
            token.cancel()
            with pytest.raises(Cancelled):
                check_cancelled()


class TestItemsOfAToken:
    def test_whoever_takes_them_has_no_token(self) -> None:
        made = []

        def items() -> Generator[int, None, None]:
            for number in range(1, 4):
                made.append(tokens())
                yield number

        token = CancelToken()
        for _ in cancelling_of(token, items()):
            assert tokens() == ()
        assert made == [(token,)] * 3

    def test_none_is_made_after_a_cancellation(self) -> None:
        token, closed = CancelToken(), []

        def items() -> Generator[int, None, None]:
            try:
                while True:
                    yield 1
            finally:
                closed.append(True)

        found = cancelling_of(token, items())
        assert next(found) == 1
        token.cancel()
        with pytest.raises(Cancelled):
            next(found)
        assert closed == [True]


class TestWorkers:
    """They have the tokens of their job, and one that it has of its own."""

    def test_a_token_stops_them_within_a_task(self) -> None:
        token, begun = CancelToken(), threading.Event()

        def work(job: Job) -> float:
            assert job.take() is not None
            begun.set()
            wait_until(any_cancelled)
            check_cancelled()
            raise AssertionError

        with token:
            job = Job(1)
        thread = threading.Thread(target=lambda: (begun.wait(200), token.cancel()))
        thread.start()
        with pytest.raises(Cancelled):
            job.run(tasks(1), [work])
        thread.join()

    def test_so_does_whatever_else_stops_the_job(self) -> None:
        def work(job: Job) -> float:
            assert job.take() is not None
            job.stop()
            check_cancelled()
            raise AssertionError

        Job(1).run(tasks(1), [work])

    def test_at_the_end_they_still_report_what_they_found(self) -> None:
        def work(job: Job) -> float:
            while job.take() is not None:
                pass
            wait_until(lambda: job.stopped)
            check_cancelled()
            job.report([(0, 7)])
            return 0.0

        job = Job(1)
        job.run(tasks(1, 2), [work])
        assert job.counts == [7]

    def test_a_job_within_a_job_is_stopped_with_it(self) -> None:
        inner: list[Job] = []

        def work(job: Job) -> float:
            assert job.take() is not None
            inner.append(Job(1))
            job.stop()
            inner[0].run(tasks(1), [UntilStopped()])
            raise AssertionError

        Job(1).run(tasks(1), [work])
        assert inner[0].stopped
