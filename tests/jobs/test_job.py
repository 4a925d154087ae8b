"""Jobs: each task runs once, shared tasks, counters and limits, errors, stops, progress."""

from __future__ import annotations

import threading
from math import inf

import numpy as np
import pytest

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs.cancel import CancelToken, Deadline
from gpusudoku.jobs.job import Job, Task
from gpusudoku.jobs.watch import Progress, reporting
from tests.jobs.workers import UntilStopped, add_payloads, tasks, worker_calling
from tests.waiting import until


@pytest.mark.parametrize("number", [1, 5])
def test_all_tasks_are_done_once(number: int) -> None:
    job = Job(1)
    payloads = []
    workers = [worker_calling(lambda job, payload: payloads.append(payload)) for _ in range(number)]
    job.run(tasks(*range(1000)), workers)
    assert sorted(payloads) == list(range(1000))
    assert job.busy_seconds == [1.0] * number
    assert job.utilisation == (1 / job.seconds,) * number
    assert (job.workers, job.remaining_tasks, job.stopped) == (number, [], True)
    Job(1).run([], workers)
    assert len(payloads) == 1000


def test_counters_are_exact_beyond_64_bits() -> None:
    job = Job(1)
    job.run(tasks(2**64 - 1, 2**64 - 1, 2**80), [add_payloads])
    assert job.counts == [job.total] == [2**65 - 2 + 2**80]


def test_counters_are_raised_all_at_once() -> None:
    job = Job(3, limit=5, dtype=np.uint64)
    job.report_all(np.array([4, 0, 7], np.uint64))
    job.report([(0, 1)])
    assert (job.counts, job.total, job.stopped) == ([5, 0, 7], 12, False)
    job.report_all(np.array([1, 5, 0], np.uint64))
    assert (job.counts, job.stopped) == ([6, 5, 7], True)


def test_a_job_stops_when_every_counter_has_reached_the_limit() -> None:
    for limit, task_count in (8, 2), (9, 3):
        job = Job(1, limit=limit)
        job.run(tasks(*[4] * 100), [add_payloads])
        assert (job.counts, len(job.remaining_tasks)) == ([4 * task_count], 100 - task_count)
    job = Job(3, limit=2)
    by_counter = worker_calling(lambda job, payload: job.report([(payload, 1)]))
    job.run(tasks(*[0] * 10, *[2] * 10, *[1] * 10), [by_counter])
    assert job.counts == [10, 2, 10]  # nothing is taken from 1's


def test_shared_tasks_are_taken() -> None:
    def split(job: Job, payload: int) -> None:
        if payload == 1:
            job.report([(0, 1)])
        else:
            job.share(tasks(payload // 2, payload - payload // 2))

    job = Job(1)
    job.run(tasks(777), [worker_calling(split)] * 3)
    assert job.counts == [777]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_deadline_suspends_a_job(workers: int) -> None:
    """It wakes waiting workers, and raises no error."""
    deadline = Deadline(inf)

    def hold(job: Job, payload: int) -> None:
        until(lambda: job.busy_workers == 1)
        deadline.cancel()
        assert (job.ending, job.stopped) == (True, False)
        job.return_task(Task(payload, 0.0))

    job = Job(1, deadline=deadline)
    job.run(tasks(5), [worker_calling(hold)] * workers)
    assert [task.payload for task in job.remaining_tasks] == [5]


def test_a_suspended_job_keeps_the_remaining_tasks() -> None:
    """Neither later nor already waiting workers get a task."""

    def suspend(job: Job, payload: int) -> None:
        if payload:
            until(lambda: job.busy_workers == 1)
            assert not job.ending
            job.suspend()
            assert (job.ending, job.stopped) == (True, False)
            job.share(tasks(5, 7))
            job.return_task(Task(payload - 1, 0.0))

    job = Job(1)
    job.run(tasks(0, 3), [worker_calling(suspend)] * 2)
    assert sorted(task.payload for task in job.remaining_tasks) == [2, 5, 7]


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_the_first_error_in_a_worker_is_raised_once_all_have_ended(error: type) -> None:
    """A worker without a task waits for a shared one, but stops waiting after an error."""

    def fail(job: Job, payload: int) -> None:
        if payload:
            until(lambda: job.stopped)
            job.report([(0, 1)])
        raise error(f"from {payload}")

    job = Job(1)
    threads_before = threading.active_count()
    with pytest.raises(error, match="from 0"):
        job.run(tasks(1, 0), [worker_calling(fail)] * 3)
    assert job.counts == [1]
    assert threading.active_count() <= threads_before


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_an_error_in_the_progress_is_raised(error: BaseException) -> None:
    def progress(state: Progress) -> None:
        if state.count == 6:
            raise error

    workers = [UntilStopped(), UntilStopped()]
    with reporting(progress):
        job = Job(1)
    with pytest.raises((ValueError, Interrupted)) as caught:
        job.run(tasks(1, 2), workers)
    assert caught.value is error or caught.value.count == 6
    assert all(worker.ended for worker in workers)


def test_a_stopped_job_hands_out_nothing() -> None:
    job = Job(1)
    job.stop()
    job.run(tasks(1, 2, 3), [add_payloads])
    assert (job.counts, len(job.remaining_tasks), job.flag[0]) == ([0], 3, 1)


def test_progress_is_reported_while_the_job_runs() -> None:
    """The finished share never exceeds 1."""
    reports: list[Progress] = []

    def progress(state: Progress) -> None:
        reports.append(state)
        if state.count == 15:
            job.stop()

    with reporting(progress):
        job = Job(1)
    job.run(tasks(*range(5)), [UntilStopped() for _ in range(5)])
    assert all(state.done == min(1.0, state.count / 12) for state in reports)
    assert (reports[-1].count, reports[-1].done) == (15, 1.0)
    assert 0 < reports[0].seconds <= reports[-1].seconds <= job.seconds


def test_one_worker_runs_in_the_calling_thread() -> None:
    job = Job(1)
    threads = []
    job.run_here(tasks(1, 2), worker_calling(lambda *_: threads.append(threading.current_thread())))
    assert threads == [threading.current_thread()] * 2
    assert (job.busy_seconds, job.stopped) == ([1.0], True)


def test_an_interrupt_in_the_calling_thread_is_raised_unchanged() -> None:
    def interrupted(job: Job) -> float:
        job.report([(0, 7)])
        raise KeyboardInterrupt

    job = Job(1)
    token = CancelToken()
    with pytest.raises(KeyboardInterrupt):
        job.run_here(tasks(1), interrupted)
    assert job.counts == [7]
    with token:
        job = Job(1)
    token.cancel()
    with pytest.raises(Cancelled):
        job.run_here(tasks(1), add_payloads)
