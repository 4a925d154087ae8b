"""Counts and batches on a cluster: a worker that is lost costs time, and never a count."""

from __future__ import annotations

from contextlib import suppress

import pytest

distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")

import gpusudoku  # noqa: E402
from gpusudoku import BadBoard, Cancelled, CancelToken, ClusterError, InputError  # noqa: E402
from gpusudoku.runs.cluster import batches, machine, worker  # noqa: E402
from tests.boards import LINE_4X4, puzzle  # noqa: E402
from tests.runs.stopped import BOARD, SEARCH, TOTAL, stopped  # noqa: E402
from tests.runs.workers import Workers, texts  # noqa: E402

SLOW = "." * 16
"""A board that takes a worker long, where a test says so."""
SOME = [str(puzzle("2x2", clues, clues)) for clues in range(2, 12)] * 10
MANY = [*SOME, *(str(puzzle("2x3", 12, seed)) for seed in range(20)), *SOME]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Let there be many short steps, and workers be looked for all the time."""
    monkeypatch.setattr(machine, "PORTIONS", 10)
    monkeypatch.setattr(machine, "STEP_SECONDS", (0.01, 0.01))
    monkeypatch.setattr(machine, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(machine, "WAIT_SECONDS", 0.01)


def here(boards, **options):
    return texts(gpusudoku.count_many(boards, device="cpu", **options))


def there(boards, workers, **options):
    return texts(gpusudoku.count_many(boards, cluster=workers, device="cpu", **options))


@pytest.mark.parametrize("method", ["search", "contraction"])
def test_a_count_is_made_by_all(method):
    workers, reports = Workers("abc"), []
    result = gpusudoku.count(
        BOARD, cluster=workers, method=method, device="cpu", progress=reports.append
    )
    assert (result.count, result.exact, result.device) == (TOTAL, True, "cpu")
    assert result.jobs == 3
    assert set(workers.sent) == set("abc")
    assert [each.done for each in reports] == sorted(each.done for each in reports)
    assert (reports[-1].done, reports[-1].count) == (1, TOTAL)
    assert workers.status == "running"  # it was not ours to close
    assert len(result.stats.utilisation) == 3
    assert all(0 < share <= 1 for share in result.stats.utilisation)


def test_a_count_in_parts(small_parts):
    board = puzzle("2x3", 6, 1)
    expected = gpusudoku.count(board, **SEARCH).count
    for method in ("auto", "contraction"):
        found = gpusudoku.count(board, cluster=Workers(), method=method, device="cpu")
        assert found.count == expected


def test_a_count_loses_nothing_with_workers_that_die():
    """Three do, which may be of the same work: of one more the count would end."""
    workers = Workers("ab")
    workers.before = lambda name: workers.die(name) if len(workers.sent) in (3, 6, 9) else None
    assert gpusudoku.count(BOARD, cluster=workers, **SEARCH).count == TOTAL
    assert len(workers.sent) > 9


def test_workers_that_come_and_rest_and_leave():
    workers = Workers("ab")

    def change(name):
        sent = len(workers.sent)
        if sent == 2:
            workers.here |= {"c": "running", "d": "running"}
        if sent == 8:
            workers.here["c"] = "paused"
        if sent == 12:
            del workers.here["d"]

    workers.before = change
    assert gpusudoku.count(BOARD, cluster=workers, **SEARCH).count == TOTAL
    assert set(workers.sent) == set("abcd")
    assert "c" not in workers.sent[12:]
    assert "d" not in workers.sent[16:]


def test_four_workers_that_die_of_the_same_work_end_it(path):
    workers = Workers()
    workers.before = lambda name: workers.die(name) if len(workers.sent) > 3 else None
    words = f"4 workers died of the same work, one after the other; 'gpusudoku resume {path}'"
    with pytest.raises(ClusterError, match=f"^{words} goes on$"):
        gpusudoku.count(BOARD, cluster=workers, checkpoint=path, **SEARCH)
    assert len(workers.sent) >= 3 + 4
    assert gpusudoku.resume(path).count == TOTAL


def test_a_result_that_does_not_come_is_fetched_again_and_an_error_ends_the_count(path):
    workers = Workers("a")
    workers.fetches = iter([TimeoutError(), None, TimeoutError()])
    assert gpusudoku.count(BOARD, cluster=workers, **SEARCH).count == TOTAL
    goes_on = f"; 'gpusudoku resume {path}' goes on"
    for error, words in [
        (ValueError("it is broken"), "it is broken"),
        (ValueError(), "ValueError"),
        (OSError("gone"), "gone"),
    ]:
        workers.fetches = iter([error])
        with pytest.raises(ClusterError, match=f"^worker a: {words}{goes_on}$"):
            gpusudoku.count(BOARD, cluster=workers, checkpoint=path, **SEARCH)
    assert gpusudoku.resume(path).count == TOTAL


@pytest.mark.parametrize("error", [None, OSError("no connection")])
def test_the_scheduler_is_lost(error, path):
    """Sending fails, or the client says so."""
    workers = Workers()

    def lose(name):
        if len(workers.sent) > 2:
            workers.status = "connecting"
            if error is not None:
                raise error

    workers.before = lose
    words = "scheduler of the cluster was lost" if error is None else f"cluster was lost: {error}"
    with pytest.raises(ClusterError, match=f"^the {words}; 'gpusudoku resume {path}' goes on$"):
        gpusudoku.count(BOARD, cluster=workers, checkpoint=path, **SEARCH)
    assert gpusudoku.resume(path).count == TOTAL


@pytest.mark.parametrize("began", ["here", "there"])
def test_a_count_goes_on_here_and_there(path, often, began):
    """The threads that it had here are no reason against a cluster."""
    options = {"jobs": 1} if began == "here" else {"cluster": Workers()}
    assert stopped(path, **options).count > 0
    token = CancelToken()
    workers = Workers()
    workers.before = lambda name: token.cancel() if len(workers.sent) == 3 else None
    with suppress(Cancelled):  # unless less than three pieces were left
        gpusudoku.resume(path, cluster=workers, cancel=token)
    assert gpusudoku.resume(path, cluster=Workers()).count == TOTAL
    assert gpusudoku.resume(path).count == TOTAL


OTHERS = {
    "has gpusudoku 0.1, not": {**worker.versions(), "gpusudoku": "0.1"},
    "has Python 3.1, not 3": {**worker.versions(), "Python": "3.1"},
    "has no gpusudoku": ModuleNotFoundError(name="gpusudoku"),
    "has another gpusudoku, not": AttributeError(),
}


@pytest.mark.parametrize("why", OTHERS)
def test_a_worker_of_another_version_is_refused_and_gets_no_work_later(why):
    workers = Workers()
    workers.has["a"] = OTHERS[why]
    with pytest.raises(ClusterError, match=f"^worker a {why}"):
        gpusudoku.count(BOARD, cluster=workers, **SEARCH)
    workers.has["a"] = worker.versions()

    def join(name):
        if len(workers.sent) == 2:
            workers.has |= {"c": OTHERS[why], "d": OSError()}
            workers.here |= {"c": "running", "d": "running", "e": "running"}

    workers.before = join
    assert gpusudoku.count(BOARD, cluster=workers, **SEARCH).count == TOTAL
    assert set(workers.sent) == set("abe")


@pytest.mark.parametrize("names", ["a", "abc"])
@pytest.mark.parametrize("limit", [None, 2])
def test_boards_come_in_their_order(names, limit):
    workers = Workers(names)
    assert there(MANY, workers, limit=limit) == here(MANY, limit=limit)
    assert len(workers.sent) < len(MANY)
    assert workers.status == "running"


def test_a_batch_loses_nothing_with_workers_that_die():
    workers = Workers("abc")
    workers.before = lambda name: workers.die(name) if len(workers.sent) in (1, 3, 4) else None
    assert there(MANY, workers) == here(MANY)


def test_a_batch_with_bad_boards():
    given = [*SOME[:30], None, *SOME, "12", LINE_4X4]
    options = {"device": "cpu", "cluster": Workers()}
    found = list(gpusudoku.count_many(given, on_error="record", **options))
    assert [at for at, each in enumerate(found) if isinstance(each, BadBoard)] == [30, 131]
    assert found[-1] == 6
    results, numbers = gpusudoku.count_many(given, **options), []
    with pytest.raises(InputError, match=r"^board 30: "):
        numbers.extend(results)
    assert texts(numbers) == here(SOME[:30])


@pytest.mark.parametrize("limit", [None, 2, 100])
def test_boards_that_take_a_worker_long_are_counted_by_all(monkeypatch, limit):
    """Here all do, since no worker has any time for one alone."""
    monkeypatch.setattr(batches, "MOST_SECONDS", 0.0)
    boards = [SLOW, LINE_4X4, "11" + "." * 14, SLOW, SLOW]
    assert there(boards, Workers(), limit=limit) == here(boards, limit=limit)


def test_a_batch_stops_when_it_is_closed_or_cancelled():
    workers, token = Workers(), CancelToken()
    results = gpusudoku.count_many(MANY, cluster=workers, device="cpu", cancel=token)
    next(results)
    token.cancel()
    with pytest.raises(Cancelled):
        list(results)
    results = gpusudoku.count_many(MANY, cluster=workers, device="cpu")
    next(results)
    results.close()
    sent = len(workers.sent)
    assert next(results, None) is None
    assert len(workers.sent) == sent


def test_what_is_no_cluster():
    for why, options in {
        "cluster 7: expected a client or an address": {"cluster": 7},
        "jobs are for a local cluster": {"cluster": "tcp://127.0.0.1:1", "jobs": 2},
        "an engine is of this process": {"cluster": "local", "engine": object()},
        "cluster 'nowhere:x': expected an address such as tcp:": {"cluster": "nowhere:x"},
    }.items():
        with pytest.raises(InputError, match=why):
            gpusudoku.count(LINE_4X4, **options)
        with pytest.raises(InputError, match=why):
            gpusudoku.count_many([LINE_4X4], **options).numbers()
