"""Workers that can do nothing any more give their tasks to others, and nobody waits for them."""

from __future__ import annotations

import threading
import time

import pytest

from gpusudoku.jobs.job import Job, Task

BROKEN = RuntimeError("broken")


def works(job: Job) -> float:
    """Counts what it is given, task by task."""
    while (task := job.take()) is not None:
        job.report([(0, task.payload)], task.weight)
    return 0.0


def resigns(job: Job) -> float:
    """Takes a task, can do nothing, and gives it back."""
    job.resign(job.take(), BROKEN)
    return 0.0


def tasks(number: int) -> list[Task]:
    return [Task(10**k, 1 / number) for k in range(number)]


@pytest.mark.parametrize("number", [1, 2, 5])
def test_others_do_its_task(number: int) -> None:
    """Also those that have no thread yet."""
    for place in range(3):
        job, workers = Job(1), [works, works]
        workers.insert(place, resigns)
        job.run(tasks(number), workers)
        assert job.total == int("1" * number)
        assert job.left == []


def test_nobody_is_left() -> None:
    """What there is to do is not forgotten: that is an error."""
    before, job = threading.active_count(), Job(1)
    with pytest.raises(RuntimeError, match="broken"):
        job.run(tasks(3), [resigns, resigns])
    assert threading.active_count() <= before
    assert (job.total, len(job.left)) == (0, 3)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_the_last_enlists_others(number: int) -> None:
    resigned = []

    def enlists(job: Job) -> float:
        task = job.take()
        resigned.append(task)
        if len(resigned) == 2 or number == 1:
            job.enlist([works] * 3)
        job.resign(task, BROKEN)
        return 0.0

    job = Job(1)
    job.run(tasks(number), [enlists, enlists])
    assert job.total == int("1" * number)
    assert len(job.utilisation) == 2  # as many as it began with


def test_who_waits_for_the_last_is_told() -> None:
    """A worker waits, as another one could share; that one resigns without a task."""
    job, each_has_one = Job(1), threading.Barrier(2)

    def waiting(job: Job) -> float:
        assert job.take() is not None
        each_has_one.wait()
        assert job.take() is None
        return 0.0

    def without(job: Job) -> float:
        assert job.take() is not None
        each_has_one.wait()
        while job.busy_workers > 1:
            time.sleep(0.001)
        job.resign(None, BROKEN)
        return 0.0

    job.run(tasks(2), [waiting, without])
    assert job.busy_workers <= 0


def test_who_has_resigned_is_not_idle() -> None:
    """Nobody shares with it for ever."""
    job, seen = Job(1), []
    gone = threading.Event()

    def leaves(job: Job) -> float:
        task = job.take()
        job.resign(task, BROKEN)
        gone.set()
        return 0.0

    def looks(job: Job) -> float:
        assert gone.wait(200)
        while (task := job.take()) is not None:
            seen.append((job.idle_workers, job.busy_workers))
            job.report([(0, task.payload)])
        return 0.0

    job.run(tasks(2), [leaves, looks])
    assert job.total == 11
    assert seen == [(-1, 1), (0, 1)]


def test_in_a_suspended_job_its_task_is_left() -> None:
    def suspends(job: Job) -> float:
        task = job.take()
        job.suspend()
        job.resign(task, BROKEN)
        return 0.0

    job = Job(1)
    job.run(tasks(3), [suspends])
    assert job.total == 0
    assert sorted(task.payload for task in job.left) == [1, 10, 100]
