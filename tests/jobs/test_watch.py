"""Watches: which one receives progress, and how compiling is announced."""

from __future__ import annotations

import io
import logging
import sys
import threading
from types import SimpleNamespace

import pytest

from gpusudoku.jobs.job import Job, Task
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.jobs.watch import (
    Announcer,
    Progress,
    Silence,
    Watch,
    announcing,
    current_watch,
    reporting,
    watching,
)

SEARCH = SimpleNamespace(subject="the search")
SUM = SimpleNamespace(subject="the sum")


def work(job: Job) -> float:
    """Take all tasks, slowly enough for the waiting thread to report progress."""
    while (task := job.take()) is not None:
        job.report([(0, task.payload)], task.weight)
        threading.Event().wait(0.1)
    return 0.0


def told(progress: list[Progress], job: Job) -> int:
    """Run a job; return the number of its progress reports."""
    count_before = len(progress)
    job.run([Task(1, 0.5), Task(2, 0.5)], [work])
    return len(progress) - count_before


def test_a_job_tells_the_watch_of_whoever_made_it() -> None:
    reports: list[Progress] = []
    with reporting(reports.append):
        watched = Job(1)
        with reporting(None):
            still = Job(1)
        with watching(None):
            unwatched = Job(1)
    assert watched.is_attended
    assert not unwatched.is_attended
    assert told(reports, watched) > 0
    assert told(reports, still) > 0
    assert told(reports, unwatched) == told(reports, Job(1)) == 0
    assert not Job(1).is_attended
    assert Job(1, suspend_after=1.0).is_attended


def test_what_a_report_does_is_not_reported() -> None:
    inner: list[Watch] = []
    outer = current_watch()
    with reporting(lambda _: inner.append(current_watch())):
        current_watch().progress(Progress(0.0, 0, 0.0))
    assert inner == [outer]


def test_threads_inherit_the_watch() -> None:
    """But threads of a job do not report the progress of their own calls."""
    watches: list[Watch] = []

    def look(_: object) -> float:
        watches.append(current_watch())
        return 0.0

    watch = Watch()
    with watching(watch):
        Job(0).run([Task(None, 0.0)], [look])
        list(ordered_map(range(9), look, 3, 100.0))
    assert watches[0].around is watch
    assert set(watches[1:]) == {watch}


def test_a_job_suspends_itself() -> None:
    def until(job: Job) -> float:
        task = job.take()
        while not job.ending:
            threading.Event().wait(0.01)
        job.return_task(task)  # type: ignore[arg-type]
        return 0.0

    job = Job(1, suspend_after=0.05)
    job.run([Task(7, 1.0)], [until])
    assert [task.payload for task in job.remaining_tasks] == [7]
    assert job.seconds >= 0.05


def test_compiling_is_said_once_for_each_thing(caplog: pytest.LogCaptureFixture) -> None:
    """Other watches do not change that."""
    caplog.set_level(logging.INFO, "gpusudoku")
    with watching(Announcer()), watching(None), reporting(lambda _: None):
        for kernels in [SEARCH], [SEARCH, SUM, SUM], [SUM]:
            current_watch().compiling(kernels, 1.6, ", once (kept in ~/kept)")
    assert caplog.messages == [
        "compiling the search, about 2 s, once (kept in ~/kept)",
        "compiling the sum, about 2 s",
    ]


def test_all_threads_use_the_announcer_of_the_program(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Threads that answer requests use it, too; workers of a cluster announce nothing."""
    caplog.set_level(logging.INFO, "gpusudoku")
    texts: list[str] = []

    class Program(Announcer):
        def say(self, text: str, seconds: float = 0.0) -> None:
            texts.append(text)

    def work() -> None:
        current_watch().compiling([SEARCH], 2.0, "")
        with watching(Silence()):
            current_watch().compiling([SUM], 2.0, "")
            current_watch().not_cached("a full disk")

    with announcing(Program()):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert texts == ["compiling the search, about 2 s"]
    assert not caplog.messages


@pytest.mark.parametrize("seconds", [0.2, 2.6])
@pytest.mark.parametrize("where", ["terminal", "notebook", "pipe"])
def test_where_it_is_said(
    where: str, seconds: float, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is printed to stderr if a user sees it or has to wait, and logged otherwise."""
    caplog.set_level(logging.INFO, "gpusudoku")
    stderr = io.StringIO()
    monkeypatch.setattr(stderr, "isatty", lambda: where == "terminal")
    monkeypatch.setattr(sys, "stderr", stderr)
    shell = SimpleNamespace(kernel=object()) if where == "notebook" else SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    Announcer().compiling([SUM], seconds, ", once")
    text = f"compiling the sum, about {'1' if seconds < 1 else '3'} s, once"
    is_logged = where == "pipe" and seconds < 2
    assert stderr.getvalue() == ("" if is_logged else f"gpusudoku: {text}\n")
    assert caplog.messages == ([text] if is_logged else [])
