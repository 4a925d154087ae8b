"""Counts and batches on a cluster: a worker that is lost costs time, and never a count."""

from __future__ import annotations

from contextlib import suppress

import pytest

distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")

import gpusudoku  # noqa: E402
from gpusudoku import BadBoard, Cancelled, CancelToken, ClusterError, InputError  # noqa: E402
from gpusudoku.runs import cluster, dispatcher, worker  # noqa: E402
from tests.boards import LINE_4X4, puzzle  # noqa: E402
from tests.runs.clusters import WorkItemCounter, cluster_here, texts  # noqa: E402
from tests.runs.stopped import BOARD, SEARCH, TOTAL, count_partly  # noqa: E402

SOME = [str(puzzle("2x2", clues, clues)) for clues in range(2, 12)] * 10
MANY = [*SOME, *(str(puzzle("2x3", 12, seed)) for seed in range(20)), *SOME]


@pytest.fixture(scope="module")
def client():
    with cluster_here(2) as client:
        yield client


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Let there be many short steps, and workers be looked for all the time."""
    monkeypatch.setattr(cluster, "PORTIONS_PER_WORKER", 4)
    monkeypatch.setattr(cluster, "MIN_STEP_SECONDS", 0.01)
    monkeypatch.setattr(cluster, "MAX_STEP_SECONDS", 0.01)
    monkeypatch.setattr(dispatcher, "UPDATE_SECONDS", 0.0)
    monkeypatch.setattr(dispatcher, "WAIT_SECONDS", 0.01)


def leave(client, workers=1):
    """Let workers be gone in the middle of what they do, and as many others come."""
    mine = client.cluster
    for name in list(mine.workers)[:workers]:
        client.sync(mine.workers[name].close, reason="a test", nanny=False)
        mine.workers.pop(name, None)


def here(boards, **options):
    return texts(gpusudoku.count_many(boards, device="cpu", **options))


def there(boards, client, **options):
    return texts(gpusudoku.count_many(boards, cluster=client, device="cpu", **options))


@pytest.mark.parametrize("method", ["search", "contraction"])
def test_a_count_is_made_by_all(client, method, monkeypatch):
    reports = []
    counter = WorkItemCounter(monkeypatch, lambda number: None)
    result = gpusudoku.count(
        BOARD, cluster=client, method=method, device="cpu", progress=reports.append
    )
    assert (result.count, result.exact, result.device) == (TOTAL, True, "cpu")
    assert result.jobs == 2
    assert len(counter.workers) == len(result.stats.utilisation) == 2
    assert [each.done for each in reports] == sorted(each.done for each in reports)
    assert (reports[-1].done, reports[-1].count) == (1, TOTAL)
    assert client.status == "running"  # it was not ours to close
    assert all(0 < share <= 1 for share in result.stats.utilisation)


def test_a_count_in_parts(client, small_parts):
    board = puzzle("2x3", 6, 1)
    expected = gpusudoku.count(board, **SEARCH).count
    for method in ("auto", "contraction"):
        found = gpusudoku.count(board, cluster=client, method=method, device="cpu")
        assert found.count == expected


def test_an_error_of_a_worker_ends_the_count(client, path, monkeypatch):
    def fail(number):
        if number > 2:
            raise ValueError("it is broken")

    with monkeypatch.context() as patch:
        WorkItemCounter(patch, fail)
        words = f"^a worker failed: it is broken; 'gpusudoku resume {path}' continues the run$"
        with pytest.raises(ClusterError, match=words):
            gpusudoku.count(BOARD, cluster=client, checkpoint=path, **SEARCH)
    assert gpusudoku.resume(path).count == TOTAL


@pytest.mark.parametrize("error", [None, OSError("no connection")])
def test_the_scheduler_is_lost(client, path, monkeypatch, error):
    """Its client says so, or sending fails."""
    submit = client.submit
    sent = []

    def fail(*arguments, **settings):
        sent.append(None)
        if len(sent) > 3 and error is not None:
            raise error
        if len(sent) == 3:
            monkeypatch.setattr(client, "status", "connecting" if error is None else "running")
        return submit(*arguments, **settings)

    monkeypatch.setattr(client, "submit", fail)
    words = "scheduler of the cluster was lost" if error is None else f"cluster was lost: {error}"
    with pytest.raises(
        ClusterError, match=f"^the {words}; 'gpusudoku resume {path}' continues the run$"
    ):
        gpusudoku.count(BOARD, cluster=client, checkpoint=path, **SEARCH)
    assert gpusudoku.resume(path).count == TOTAL


@pytest.mark.parametrize("began", ["here", "there"])
def test_a_count_goes_on_here_and_there(client, path, frequent_saves, began, monkeypatch):
    """The threads that it had here are no reason against a cluster."""
    options = {"jobs": 1} if began == "here" else {"cluster": client}
    assert count_partly(path, **options).count > 0
    token = CancelToken()
    with monkeypatch.context() as patch, suppress(Cancelled):  # unless little was left
        WorkItemCounter(patch, lambda number: token.cancel() if number == 3 else None)
        gpusudoku.resume(path, cluster=client, cancel=token)
    assert gpusudoku.resume(path, cluster=client).count == TOTAL
    assert gpusudoku.resume(path).count == TOTAL


OTHERS = {
    "has gpusudoku 0.1, not": {**worker.versions(), "gpusudoku": "0.1"},
    "has Python 3.1, not 3": {**worker.versions(), "Python": "3.1"},
    "has no gpusudoku": ModuleNotFoundError(name="gpusudoku"),
    "has another gpusudoku, not": AttributeError(),
}


@pytest.mark.parametrize("why", OTHERS)
def test_a_worker_of_another_version_is_refused_and_gets_no_work_later(client, why, monkeypatch):
    run = client.run
    odd = [*client.scheduler_info()["workers"]][:1]

    def answer(function, *arguments, **settings):
        found = run(function, *arguments, **settings)
        if function is worker.versions:
            found |= {name: OTHERS[why] for name in odd if name in found}
        return found

    monkeypatch.setattr(client, "run", answer)
    with pytest.raises(ClusterError, match=f"^worker {odd[0]} {why}"):
        gpusudoku.count(BOARD, cluster=client, **SEARCH)
    first = odd[0]
    odd[:] = []
    info = client.scheduler_info
    looks = []

    def late(n_workers):
        looks.append(None)
        found = info(n_workers)
        if len(looks) < 3:
            found["workers"].pop(first, None)  # the client may give the same dict twice
        else:
            odd[:] = [first]
        return found

    monkeypatch.setattr(client, "scheduler_info", late)
    counter = WorkItemCounter(monkeypatch, lambda number: None)
    assert gpusudoku.count(BOARD, cluster=client, **SEARCH).count == TOTAL
    assert len(looks) > 3
    assert first not in counter.workers


@pytest.mark.parametrize("limit", [None, 2])
def test_boards_come_in_their_order(client, limit, monkeypatch):
    counter = WorkItemCounter(monkeypatch, lambda number: None)
    assert there(MANY, client, limit=limit) == here(MANY, limit=limit)
    assert counter.item_count < len(MANY)
    assert client.status == "running"


def test_boards_are_solved(client):
    boards = [*SOME, "11" + "." * 14]
    found = gpusudoku.solve_many(boards, cluster=client, device="cpu")
    mine = gpusudoku.solve_many(boards, device="cpu")
    for one, other in zip(found, mine, strict=True):
        assert (one.puzzle, str(one)) == (other.puzzle, str(other))
        if other.unique:
            assert one.board == other.board


def test_workers_that_come_and_leave(monkeypatch):
    """All that are there at first leave, one after the other, in the middle of their work."""
    with cluster_here() as client:
        WorkItemCounter(monkeypatch, lambda n: client.cluster.scale(3) if n == 2 else None)
        assert gpusudoku.count(BOARD, cluster=client, **SEARCH).count == TOTAL
        assert there(MANY, client) == here(MANY)
        leave(client, 2)
        assert gpusudoku.count(BOARD, cluster=client, **SEARCH).count == TOTAL
        assert there(MANY, client) == here(MANY)


def test_a_batch_with_bad_boards(client):
    given = [*SOME[:30], None, *SOME, "12", LINE_4X4]
    options = {"device": "cpu", "cluster": client}
    found = list(gpusudoku.count_many(given, on_error="record", **options))
    assert [at for at, each in enumerate(found) if isinstance(each, BadBoard)] == [30, 131]
    assert found[-1] == 6
    results = gpusudoku.count_many(given, **options)
    numbers = []
    with pytest.raises(InputError, match=r"^board 30: "):
        numbers.extend(results)
    assert texts(numbers) == here(SOME[:30])


@pytest.mark.parametrize("limit", [None, 2, 100])
def test_boards_that_take_a_worker_long_are_answered_by_all(client, monkeypatch, limit):
    """Here all do, since no worker has any time for one alone."""
    answers = cluster.Cluster.answers

    def hasty(self, batches, answer, options, seconds=0.0):
        return answers(self, batches, answer, options, seconds)

    monkeypatch.setattr(cluster.Cluster, "answers", hasty)
    slow = "." * 16
    boards = [slow, LINE_4X4, "11" + "." * 14, slow, slow]
    assert there(boards, client, limit=limit) == here(boards, limit=limit)
    found = gpusudoku.solve_many(boards, cluster=client, device="cpu")
    assert [each.solvable for each in found] == [True, True, False, True, True]


def test_a_batch_stops_when_it_is_closed_or_cancelled(client, monkeypatch):
    counter = WorkItemCounter(monkeypatch, lambda number: None)
    token = CancelToken()
    results = gpusudoku.count_many(MANY, cluster=client, device="cpu", cancel=token)
    next(results)
    token.cancel()
    with pytest.raises(Cancelled):
        list(results)
    results = gpusudoku.count_many(MANY, cluster=client, device="cpu")
    next(results)
    results.close()
    sent = counter.item_count
    assert next(results, None) is None
    assert counter.item_count == sent


def test_what_is_no_cluster():
    for why, options in {
        "cluster 7: expected a client or an address": {"cluster": 7},
        "jobs are for a local cluster": {"cluster": "tcp://127.0.0.1:1", "jobs": 2},
        "an engine is of this process": {"cluster": "local", "engine": object()},
        "cluster 'nowhere:x': expected an address such as tcp:": {"cluster": "nowhere:x"},
    }.items():
        with pytest.raises(InputError, match=why):
            gpusudoku.count(LINE_4X4, **options)
        for many in (gpusudoku.count_many, gpusudoku.solve_many):
            with pytest.raises(InputError, match=why):
                list(many([LINE_4X4], **options))
