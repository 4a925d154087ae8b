"""Jobs start threads as they are wanted, and wait for every one of them."""

from __future__ import annotations

import _thread
import threading
import time

import pytest

from gpusudoku.errors import Interrupted
from gpusudoku.jobs import threads
from gpusudoku.jobs.job import Job, Task
from tests.jobs.test_job import UntilStopped, tasks, wait_until


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
