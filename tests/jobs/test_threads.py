"""Jobs start threads as they are wanted, and wait for every one of them."""

from __future__ import annotations

import _thread
import threading
import time
from contextlib import closing

import pytest

from gpusudoku.errors import Interrupted
from gpusudoku.jobs import threads
from gpusudoku.jobs.job import Job, Task
from gpusudoku.jobs.ordered import InOrder
from gpusudoku.jobs.threads import NoThread, start_thread
from tests.jobs.test_job import Counter, UntilStopped, tasks, wait_until


def test_threads_are_started_for_tasks_that_nobody_takes() -> None:
    called = []

    class Sharer:
        def __call__(self, job: Job) -> float:
            called.append(self)
            while (task := job.take()) is not None:
                if task.payload:
                    job.share([Task(0, 0.5)])
                    wait_until(lambda: len(called) == 2)
            return 1.0

    job = Job(1)
    job.run([Task(1, 1.0)], [Sharer() for _ in range(9)])
    assert len(called) == 2
    assert job.busy == [1.0] * 2 + [0.0] * 7


def test_the_longer_a_job_takes_the_more_threads_there_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    class Looker:
        def __call__(self, job: Job) -> float:
            while job.take() is not None:
                for seconds in (1e9, 1e-12):
                    monkeypatch.setattr(threads, "START_SECONDS", seconds)
                    seen.append(job.idle_workers)
            return 0.0

    Job(1).run(tasks(1), [Looker() for _ in range(9)])
    assert seen == [0, 8]


def test_a_thread_that_seems_to_have_ended_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one does whose join was interrupted, in some versions of Python."""

    class Vague(threading.Thread):
        def is_alive(self) -> bool:
            return False

        def join(self, timeout: float | None = None) -> None:
            pass

    class Slow(UntilStopped):
        def __call__(self, job: Job) -> float:
            wait_until(lambda: job.stopped)
            time.sleep(0.1)
            self.ended = True
            return 0.0

    class Interrupter:
        def __call__(self, job: Job) -> float:
            _thread.interrupt_main()
            return 0.0

    monkeypatch.setattr(threading, "Thread", Vague)
    workers = [Slow(), Slow()]
    with pytest.raises(Interrupted):
        Job(1).run(tasks(1, 2, 3), [*workers, Interrupter()])
    assert all(worker.ended for worker in workers)


class Limit:
    """No more than ``number`` further threads live at a time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number, self.refused = 0, threading.Event()
        started, start = list[threading.Thread](), threading.Thread.start

        def start_some(thread: threading.Thread) -> None:
            if sum(each.is_alive() for each in started) >= self.number:
                self.refused.set()
                raise RuntimeError("can't start new thread")
            start(thread)
            started.append(thread)

        monkeypatch.setattr(threading.Thread, "start", start_some)


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Limit:
    return Limit(monkeypatch)


@pytest.mark.parametrize("number", [1, 2])
def test_a_job_goes_on_with_the_threads_there_are(limit: Limit, number: int) -> None:
    limit.number = number

    class Late(Counter):
        def __call__(self, job: Job) -> float:
            limit.refused.wait()
            return super().__call__(job)

    job, workers = Job(1), [Late() for _ in range(9)]
    with pytest.warns(RuntimeWarning, match="no more threads can be started"):
        job.run(tasks(*range(1000)), workers)
    assert job.counts == [sum(range(1000))]
    assert sum(bool(worker.taken) for worker in workers) <= number


@pytest.mark.filterwarnings("ignore:no more threads")
def test_what_a_worker_gives_back_while_others_have_no_thread_is_not_forgotten(
    limit: Limit,
) -> None:
    limit.number = 1

    def resigns(job: Job) -> float:
        task = job.take()
        limit.refused.wait()
        job.resign(task, ValueError("broken"))
        return 0.0

    job = Job(1)
    with pytest.raises((NoThread, ValueError)):
        job.run(tasks(1, 2, 3), [resigns, resigns])
    assert len(job.left) == 3


def test_a_job_without_any_thread_is_refused(limit: Limit) -> None:
    with pytest.raises(NoThread, match="ulimit"):
        Job(1).run(tasks(1), [Counter()])


def test_a_thread_that_is_started_twice_is_a_fault() -> None:
    thread = threading.Thread()
    start_thread(thread)
    with pytest.raises(RuntimeError, match="once") as error:
        start_thread(thread)
    assert not isinstance(error.value, NoThread)


def test_items_in_order_on_fewer_threads(limit: Limit) -> None:
    limit.number = 1
    items = InOrder(range(100), lambda item: item + 1, 4, 60.0)
    with closing(items), pytest.warns(RuntimeWarning, match="no more threads"):
        assert [done.result for done in items] == list(range(1, 101))
