"""Jobs with workers that do no Sudoku: tasks, limits, errors, stops and interrupts."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from gpusudoku.errors import GpusudokuError, Interrupted
from gpusudoku.jobs.job import Job, Progress, Task

PATIENCE = 200.0
"""Seconds after which something that was to happen has not."""


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


class Counter:
    """Adds the payload of every task to counter 0."""

    def __init__(self) -> None:
        self.taken: list[int] = []

    def __call__(self, job: Job) -> float:
        while (task := job.take()) is not None:
            self.taken.append(task.payload)
            job.report([(0, task.payload)], task.weight)
        return 1.0


def tasks(*payloads: int) -> list[Task]:
    return [Task(payload, 1 / len(payloads)) for payload in payloads]


@pytest.mark.parametrize("number", [1, 2, 5])
def test_all_tasks_are_done_once(number: int) -> None:
    job = Job(1)
    workers = [Counter() for _ in range(number)]
    job.run(tasks(*range(1000)), workers)
    assert job.counts == [sum(range(1000))]
    assert sorted(taken for worker in workers for taken in worker.taken) == list(range(1000))
    assert job.busy == [1.0] * number
    assert job.seconds > 0
    assert job.stopped


def test_without_tasks_a_job_ends() -> None:
    job = Job(3)
    job.run([], [Counter(), Counter()])
    assert job.counts == [0, 0, 0]


def test_counts_are_exact_beyond_64_bits() -> None:
    job = Job(1)
    job.run(tasks(2**64 - 1, 2**64 - 1, 2**80), [Counter()])
    assert job.counts == [2**65 - 2 + 2**80]


@pytest.mark.parametrize("dtype", [object, np.uint64])
def test_all_counters_at_once(dtype: type) -> None:
    job = Job(3, limit=5, dtype=dtype)
    job.report_all(np.array([4, 0, 7], np.uint64))
    job.report([(0, 1)])
    assert not job.stopped
    assert (job.counts, job.total) == ([5, 0, 7], 12)
    job.report_all(np.array([1, 5, 0], np.uint64))
    assert job.stopped
    assert job.counts == [6, 5, 7]


def test_shared_tasks_are_taken() -> None:
    class Splitter:
        def __call__(self, job: Job) -> float:
            while (task := job.take()) is not None:
                if task.payload == 1:
                    job.report([(0, 1)], task.weight)
                else:
                    half = task.payload // 2
                    parts = [half, task.payload - half]
                    weight = task.weight / task.payload
                    job.share(Task(part, weight * part) for part in parts)
            return 0.0

    job = Job(1)
    job.run([Task(777, 1.0)], [Splitter(), Splitter(), Splitter()])
    assert job.counts == [777]


def test_who_has_too_much_sees_that_others_wait() -> None:
    """Whoever gets the only task works until the other waits, and hands it the half."""
    first = threading.Event()
    threads = []

    class Sharer:
        def __call__(self, job: Job) -> float:
            while (task := job.take()) is not None:
                threads.append(threading.get_ident())
                if not first.is_set():
                    first.set()
                    wait_until(lambda: job.idle_workers == 1)
                    job.share([Task(5, 0.5)])
                    assert job.idle_workers <= 0
                    wait_until(lambda: len(threads) == 2)  # it is the other that takes it
                    job.report([(0, 2)], 0.5)
                else:
                    job.report([(0, task.payload)], 0.5)
            return 0.0

    job = Job(1)
    job.run([Task(7, 1.0)], [Sharer(), Sharer()])
    assert job.counts == [7]
    assert len(set(threads)) == 2


def test_nobody_is_idle_while_tasks_wait() -> None:
    seen = []

    class Looker:
        def __call__(self, job: Job) -> float:
            while job.take() is not None:
                seen.append(job.idle_workers > 0)
            return 0.0

    Job(1).run(tasks(1, 2, 3), [Looker()])
    assert seen == [False] * 3


def test_a_limit_stops_the_job() -> None:
    job, worker = Job(1, limit=10), Counter()
    job.run(tasks(*[4] * 100), [worker])
    assert worker.taken == [4, 4, 4]
    assert job.counts == [12]


def test_a_limit_that_is_met_exactly_stops_the_job() -> None:
    job, worker = Job(1, limit=8), Counter()
    job.run(tasks(*[4] * 100), [worker])
    assert job.counts == [8]


def test_every_counter_has_to_reach_the_limit() -> None:
    class ByCounter:
        def __call__(self, job: Job) -> float:
            while (task := job.take()) is not None:
                job.report([(task.payload, 1)])
            return 0.0

    job = Job(3, limit=2)
    job.run(tasks(*[0] * 10, *[2] * 10, *[1] * 10), [ByCounter()])
    assert job.counts == [10, 2, 10]  # nothing is taken from 1's
    job = Job(2, limit=5)
    job.run(tasks(*[0] * 10, *[1] * 4), [ByCounter()])
    assert job.counts == [10, 4]


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), MemoryError()])
def test_an_error_in_a_worker_is_raised(error: BaseException) -> None:
    class Failing:
        def __call__(self, job: Job) -> float:
            job.take()
            raise error

    before = threading.active_count()
    job = Job(1)
    # The others find no task and wait for one to be shared, but not for ever.
    with pytest.raises(type(error)) as caught:
        job.run([Task(1, 1.0)], [Failing(), Failing(), Failing()])
    assert caught.value is error
    assert threading.active_count() <= before


def test_an_error_in_the_progress_is_raised() -> None:
    def progress(state: Progress) -> None:
        raise ValueError("no")

    before = threading.active_count()
    with pytest.raises(ValueError, match="no"):
        Job(1).run(tasks(1), [UntilStopped()], progress)
    assert threading.active_count() <= before


class UntilStopped:
    """Finds 3 and works on until it is told to stop."""

    ended = False

    def __call__(self, job: Job) -> float:
        job.report([(0, 3)], 0.25)
        wait_until(lambda: job.stopped)
        self.ended = True
        return 0.0


def test_a_job_can_be_stopped_by_another_thread() -> None:
    job, workers = Job(1), [UntilStopped(), UntilStopped()]

    class Stopper:
        def __call__(self, job: Job) -> float:
            wait_until(lambda: job.counts == [6])
            job.stop()
            return 0.0

    job.run(tasks(1, 2, 3), [*workers, Stopper()])
    assert job.counts == [6]
    assert all(worker.ended for worker in workers)


def test_a_stopped_job_hands_out_nothing() -> None:
    job, worker = Job(1), Counter()
    job.stop()
    job.run(tasks(1, 2, 3), [worker])
    assert (job.counts, worker.taken) == ([0], [])


def test_progress_is_told_while_the_job_runs() -> None:
    told: list[Progress] = []
    job = Job(1)

    def progress(state: Progress) -> None:
        told.append(state)
        if len(told) == 3:
            job.stop()

    job.run(tasks(1, 2), [UntilStopped(), UntilStopped()], progress)
    assert told[-1].done == 0.5
    assert told[-1].count == 6
    assert [state.seconds for state in told] == sorted(state.seconds for state in told)


def test_the_share_done_never_passes_1() -> None:
    told: list[Progress] = []
    job = Job(1)

    def progress(state: Progress) -> None:
        told.append(state)
        job.stop()

    job.run(tasks(*range(9)), [UntilStopped() for _ in range(9)], progress)
    assert told[-1].done == 1.0


def test_an_interrupt_in_the_main_thread_stops_the_workers() -> None:
    workers = [UntilStopped(), UntilStopped()]

    def progress(state: Progress) -> None:
        if state.count == 6:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(Interrupted) as caught:
        Job(1).run(tasks(1, 2), workers, progress)
    assert caught.value.count == 6
    assert isinstance(caught.value, GpusudokuError)
    assert all(worker.ended for worker in workers)
    assert threading.active_count() <= before


def test_a_signal_stops_the_workers() -> None:
    workers = [UntilStopped(), UntilStopped()]

    class Interrupter:
        def __call__(self, job: Job) -> float:
            wait_until(lambda: job.counts == [6])
            _thread.interrupt_main()
            return 0.0

    with pytest.raises(Interrupted) as caught:
        Job(1).run(tasks(1, 2, 3), [*workers, Interrupter()])
    assert caught.value.count == 6
    assert all(worker.ended for worker in workers)
