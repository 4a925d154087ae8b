"""Threads of jobs: started on demand, limited by the system, and workers that withdraw."""

from __future__ import annotations

import threading
from contextlib import closing
from types import SimpleNamespace

import pytest

from gpusudoku.jobs.job import Job
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.jobs.threads import ThreadStartError
from tests.jobs.workers import add_payloads, tasks, worker_calling
from tests.waiting import until

BROKEN = RuntimeError("broken")


def test_a_thread_is_started_for_a_waiting_task() -> None:
    payloads = []

    def share(job: Job, payload: int) -> None:
        payloads.append(payload)
        if payload:
            job.share(tasks(0))
            until(lambda: len(payloads) == 2)

    job = Job(1)
    job.run(tasks(1), [worker_calling(share)] * 9)
    assert job.busy_seconds == [1.0] * 2 + [0.0] * 7


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Allow no more than ``number`` further threads at a time."""
    limit = SimpleNamespace(number=0, refused=threading.Event())
    threads = list[threading.Thread]()
    start = threading.Thread.start

    def start_some(thread: threading.Thread) -> None:
        if sum(thread.is_alive() for thread in threads) >= limit.number:
            limit.refused.set()
            raise RuntimeError("can't start new thread")
        start(thread)
        threads.append(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    return limit


def test_a_job_continues_with_fewer_threads(limit: SimpleNamespace) -> None:
    limit.number = 2
    thread_of = {}

    def work(job: Job, payload: int) -> None:
        limit.refused.wait()
        thread_of[payload] = threading.get_ident()

    with pytest.warns(RuntimeWarning, match="no more threads can be started"):
        Job(1).run(tasks(*range(1000)), [worker_calling(work)] * 9)
    assert len(thread_of) == 1000
    assert len(set(thread_of.values())) <= 2


def test_a_job_without_any_thread_is_an_error(limit: SimpleNamespace) -> None:
    with pytest.raises(ThreadStartError, match="ulimit"):
        Job(1).run(tasks(1), [add_payloads])


def test_items_stay_in_order_with_fewer_threads(limit: SimpleNamespace) -> None:
    limit.number = 1
    items = ordered_map(range(100), lambda item: item + 1, 4, 60.0)
    with closing(items), pytest.warns(RuntimeWarning, match="no more threads"):
        assert [result.result for result in items] == list(range(1, 101))


def withdraws(job: Job) -> float:
    """Take a task and withdraw."""
    job.withdraw(job.take(), BROKEN)
    return 0.0


@pytest.mark.parametrize("number", [1, 5])
def test_other_workers_take_the_task_of_a_worker_that_withdraws(number: int) -> None:
    """Workers whose threads have not started yet can take it, too."""
    for workers in [withdraws, add_payloads, add_payloads], [add_payloads, add_payloads, withdraws]:
        job = Job(1)
        job.run(tasks(*[1] * number), workers)
        assert (job.total, job.remaining_tasks) == (number, [])


def test_a_job_whose_workers_all_resign_is_an_error() -> None:
    """The tasks remain."""
    threads_before = threading.active_count()
    job = Job(1)
    with pytest.raises(RuntimeError, match="broken"):
        job.run(tasks(1, 2, 3), [withdraws, withdraws])
    assert threading.active_count() <= threads_before
    assert (job.total, len(job.remaining_tasks)) == (0, 3)


def test_who_waits_for_the_last_is_woken() -> None:
    """As another one could share; that one withdraws without a task."""
    job = Job(1)
    each_has_one = threading.Barrier(2)

    def wait_or_withdraw(job: Job) -> float:
        task = job.take()
        assert task is not None
        each_has_one.wait(200)
        if task.payload:
            until(lambda: job.busy_workers == 1)
            job.withdraw(None, BROKEN)
        else:
            assert job.take() is None
        return 0.0

    job.run(tasks(0, 1), [wait_or_withdraw] * 2)
    assert job.busy_workers <= 0


def test_a_task_is_left_in_a_suspended_job() -> None:
    def suspend(job: Job) -> float:
        task = job.take()
        job.suspend()
        job.withdraw(task, BROKEN)
        return 0.0

    job = Job(1)
    job.run(tasks(1, 2, 3), [suspend])
    assert sorted(task.payload for task in job.remaining_tasks) == [1, 2, 3]
