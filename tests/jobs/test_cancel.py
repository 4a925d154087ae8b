"""Tokens that stop work from another thread: before, while and after it is done."""

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
    Turns,
    any_cancelled,
    cancelling,
    cancelling_of,
    check_cancelled,
    tokens,
)
from gpusudoku.jobs.job import Job
from tests.jobs.workers import UntilStopped, counts, each, in_a_thread, tasks, wait_until


def stopped_by(token: CancelToken) -> Job:
    """Make a job where a token stops what is done."""
    with token:
        return Job(1)


class TestJobs:
    def test_a_running_one_is_stopped_from_another_thread(self) -> None:
        token = CancelToken()
        job, workers = stopped_by(token), [UntilStopped(), UntilStopped()]
        before = threading.active_count()
        thread = in_a_thread(lambda: (wait_until(lambda: job.counts == [6]), token.cancel()))
        with pytest.raises(Cancelled) as caught:
            job.run(tasks(1, 2), workers)
        thread.join()
        assert caught.value.count == 6
        assert isinstance(caught.value, Interrupted)
        assert all(worker.ended for worker in workers)
        assert threading.active_count() <= before

    def test_none_begins_with_a_cancelled_token(self) -> None:
        token = CancelToken()
        assert (token.cancelled, repr(token)) == (False, "<CancelToken>")
        token.cancel()
        assert (token.cancelled, repr(token)) == (True, "<CancelToken: cancelled>")
        job = stopped_by(token)
        assert job.flag[0] == 1
        with pytest.raises(Cancelled) as caught:
            job.run(tasks(1, 2, 3), [counts])
        assert caught.value.count == 0

    def test_all_of_a_token_are_stopped_and_no_others(self) -> None:
        token = CancelToken()
        jobs = [stopped_by(token) for _ in range(3)]
        other = stopped_by(CancelToken())
        for _ in range(2):  # once more, and after the end, changes nothing
            token.cancel()
            assert [job.stopped for job in jobs] == [True] * 3
        other.run(tasks(1, 2, 3), [counts])
        assert other.counts == [6]

    def test_a_worker_that_waits_for_a_task_is_woken(self) -> None:
        """By a token, while another worker keeps the only task."""
        token, waiting = CancelToken(), threading.Event()

        def hold(job: Job, payload: int) -> None:
            if payload:
                wait_until(lambda: job.busy_workers == 1)
                waiting.set()
                wait_until(lambda: job.stopped)

        in_a_thread(lambda: (waiting.wait(200), token.cancel()))
        with pytest.raises(Cancelled):
            stopped_by(token).run(tasks(1, 0), [each(hold)] * 2)

    def test_an_error_in_a_worker_comes_before_the_cancellation(self) -> None:
        token = CancelToken()

        def fail(job: Job) -> float:
            token.cancel()
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            stopped_by(token).run(tasks(1), [fail])

    def test_a_token_keeps_none_alive(self) -> None:
        """One token may serve thousands of jobs, one after the other."""
        token = CancelToken()
        job = weakref.ref(stopped_by(token))
        gc.collect()
        assert job() is None
        token.cancel()

    def test_a_token_may_be_cancelled_while_one_is_attached(self) -> None:
        """As by a signal that arrives in the middle of that."""
        token, stopped = CancelToken(), threading.Event()

        class Attached:
            def __hash__(self) -> int:
                token.cancel()
                return 1

            def stop(self) -> None:
                stopped.set()

        job = Attached()
        in_a_thread(lambda: token.attach(job))
        assert stopped.wait(200)


class TestTokensOfAThread:
    def test_they_are_those_of_all_blocks_around(self) -> None:
        outer, inner, elsewhere = CancelToken(), CancelToken(), []
        with outer, cancelling(inner, None):
            assert tokens() == (outer, inner)
            in_a_thread(lambda: elsewhere.append(tokens())).join()
            check_cancelled()
            outer.cancel()
            with pytest.raises(Cancelled, match=r"^cancelled$"):
                check_cancelled()
        assert (tokens(), elsewhere) == ((), [()])
        check_cancelled(inner)
        with pytest.raises(Cancelled):
            check_cancelled(outer)

    def test_a_cancelled_one_lets_nothing_begin(self) -> None:
        token = CancelToken()
        token.cancel()
        with pytest.raises(Cancelled), cancelling(token):
            raise AssertionError
        assert tokens() == ()

    def test_patience_does_not_hide_who_cancels(self) -> None:
        token, patience = CancelToken(), Patience(1000.0)
        with token:
            with pytest.raises(Cancelled), cancelling(Patience(-1.0)):
                raise AssertionError
            check_cancelled()  # it was not the token
            with cancelling(patience):
                assert not any_cancelled()
                in_a_thread(patience.cancel).join()
                assert any_cancelled()
            token.cancel()
            with pytest.raises(Cancelled):
                check_cancelled()

    def test_they_stop_who_makes_items_and_not_who_takes_them(self) -> None:
        token, made, closed = CancelToken(), [], []

        def items() -> Generator[int, None, None]:
            try:
                while True:
                    made.append(tokens())
                    yield 1
            finally:
                closed.append(True)

        found = cancelling_of(token, items())
        for item, _ in zip(found, range(3), strict=False):
            assert (item, tokens()) == (1, ())
        token.cancel()
        with pytest.raises(Cancelled):
            next(found)
        assert set(made) == {(token,)}
        assert closed == [True]
        assert list(cancelling_of(None, (item for item in [1, 2]))) == [1, 2]


class TestWorkers:
    """They have the tokens of their job, and one that it has of its own."""

    @pytest.mark.parametrize("how", ["token", "job"])
    def test_they_are_stopped_within_a_task(self, how: str) -> None:
        token, begun = CancelToken(), threading.Event()
        job = stopped_by(token)
        stop = token.cancel if how == "token" else job.stop

        def work(job: Job, payload: int) -> None:
            begun.set()
            wait_until(any_cancelled)
            check_cancelled()
            raise AssertionError

        in_a_thread(lambda: (begun.wait(200), stop()))
        if how == "token":
            with pytest.raises(Cancelled):
                job.run(tasks(1), [each(work)])
        else:
            job.run(tasks(1), [each(work)])

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

        def work(job: Job, payload: int) -> None:
            inner.append(Job(1))
            job.stop()
            inner[0].run(tasks(1), [UntilStopped()])
            raise AssertionError

        Job(1).run(tasks(1), [each(work)])
        assert inner[0].stopped


def test_waiting_for_a_turn_can_be_cancelled() -> None:
    """One thread may have several at once, and another none."""
    turns, token, inside, ended = Turns(), CancelToken(), threading.Event(), []

    def enter() -> None:
        with pytest.raises(Cancelled), token, turns:
            inside.set()
        ended.append(True)

    with turns:
        with turns:
            thread = in_a_thread(enter)
        assert not inside.wait(0.1)
        token.cancel()
        thread.join()
        assert (ended, inside.is_set()) == ([True], False)
    in_a_thread(lambda: turns.__enter__()).join()  # it is free again
