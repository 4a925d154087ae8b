"""Tokens that stop jobs from another thread: before, while and after they run."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from gpusudoku.errors import Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.job import Job
from tests.jobs.test_job import Counter, UntilStopped, tasks, wait_until


def test_a_token_begins_uncancelled() -> None:
    token = CancelToken()
    assert not token.cancelled
    token.cancel()
    assert token.cancelled
    token.cancel()  # once more does no harm
    assert token.cancelled


def test_a_job_that_nobody_cancels_ends_by_itself() -> None:
    job = Job(1, cancel=CancelToken())
    job.run(tasks(1, 2, 3), [Counter()])
    assert job.counts == [6]


def test_a_running_job_is_stopped_from_another_thread() -> None:
    token = CancelToken()
    job, workers = Job(1, cancel=token), [UntilStopped(), UntilStopped()]

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
    assert threading.active_count() == before


def test_a_token_that_was_cancelled_before_stops_at_once() -> None:
    token = CancelToken()
    token.cancel()
    job, worker = Job(1, cancel=token), Counter()
    assert job.stopped
    with pytest.raises(Interrupted) as caught:
        job.run(tasks(1, 2, 3), [worker])
    assert caught.value.count == 0
    assert worker.taken == []


def test_all_jobs_of_a_token_are_stopped() -> None:
    token = CancelToken()
    jobs = [Job(1, cancel=token) for _ in range(3)]
    other = Job(1, cancel=CancelToken())
    token.cancel()
    assert [job.stopped for job in jobs] == [True] * 3
    assert not other.stopped
    assert Job(1, cancel=token).stopped


def test_a_worker_that_waits_for_a_task_is_woken() -> None:
    token, waiting = CancelToken(), threading.Event()
    job = Job(1, cancel=token)

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

    thread = threading.Thread(target=lambda: (waiting.wait(20), token.cancel()))
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
        Job(1, cancel=token).run(tasks(1), [Failing()])


def test_a_cancellation_after_the_end_changes_nothing() -> None:
    token = CancelToken()
    job = Job(1, cancel=token)
    job.run(tasks(4), [Counter()])
    token.cancel()
    assert job.counts == [4]


def test_a_token_keeps_no_job_alive() -> None:
    """One token may serve thousands of jobs, one after the other."""
    token = CancelToken()
    job = weakref.ref(Job(1, cancel=token))
    gc.collect()
    assert job() is None
    token.cancel()


def test_a_token_may_be_cancelled_while_its_lock_is_held() -> None:
    """As by a signal that arrives in the middle of ``attach``."""
    token = CancelToken()
    with token._lock:
        token.cancel()
    assert token.cancelled
