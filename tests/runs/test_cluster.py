"""Counts and batches on a cluster: a worker that is lost costs time, and never a count."""

from __future__ import annotations

from collections import Counter

import pytest

distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")

import gpusudoku  # noqa: E402
from gpusudoku import BadBoard, Cancelled, CancelToken, ClusterError, InputError  # noqa: E402
from gpusudoku.errors import TooExpensive  # noqa: E402
from gpusudoku.planning import batch  # noqa: E402
from gpusudoku.runs.cluster import batches, connect, crew, dealer, driver, worker  # noqa: E402
from tests.boards import LINE_4X4, puzzle  # noqa: E402
from tests.runs.stopped import BOARD, SEARCH, TOTAL, stopped  # noqa: E402
from tests.runs.workers import Workers  # noqa: E402

SLOW = "." * 16
"""A board that takes a worker long, where a test says so."""
SOME = [str(puzzle("2x2", clues, clues)) for clues in range(2, 12)] * 10
MANY = [*SOME, *(str(puzzle("2x3", 12, seed)) for seed in range(20)), *SOME]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Let there be many short steps, and workers be looked for all the time."""
    monkeypatch.setattr(driver, "PORTIONS", 10)
    monkeypatch.setattr(driver, "STEP_SECONDS", (0.01, 0.01))
    monkeypatch.setattr(crew, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(dealer, "WAIT_SECONDS", 0.01)


def texts(results):
    return [(str(result.board), str(result)) for result in results]


def here(boards, **options):
    return texts(gpusudoku.count_many(boards, device="cpu", **options))


def there(boards, workers, **options):
    return texts(gpusudoku.count_many(boards, cluster=workers, device="cpu", **options))


class TestOneBoard:
    @pytest.mark.parametrize("method", ["search", "contraction"])
    def test_is_counted_by_all(self, method):
        workers, told = Workers("abc"), []
        result = gpusudoku.count(
            BOARD, cluster=workers, method=method, device="cpu", progress=told.append
        )
        assert (result.count, result.exact, result.device) == (TOTAL, True, "cpu")
        assert result.jobs == 3
        assert set(workers.sent) == set("abc")
        assert [each.done for each in told] == sorted(each.done for each in told)
        assert (told[-1].done, told[-1].count) == (1, TOTAL)
        assert workers.status == "running"  # it was not ours to close
        assert len(result.stats.utilisation) == 3
        assert all(0 < share <= 1 for share in result.stats.utilisation)

    def test_in_parts(self, small_parts):
        board = puzzle("2x3", 6, 1)
        expected = gpusudoku.count(board, **SEARCH).count
        for method in ("auto", "contraction"):
            found = gpusudoku.count(board, cluster=Workers(), method=method, device="cpu")
            assert found.count == expected

    def test_without_solutions(self):
        assert gpusudoku.count("11" + "." * 14, cluster=Workers(), device="cpu") == 0

    def test_loses_nothing_with_workers_that_die(self):
        """Every third piece of work dies with its worker."""
        workers = Workers("ab")
        workers.before = lambda name: workers.die(name) if len(workers.sent) % 3 == 0 else None
        assert gpusudoku.count(BOARD, cluster=workers, **SEARCH).count == TOTAL
        assert len(workers.sent) > 6

    def test_goes_on_with_workers_that_come_and_rest_and_leave(self):
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

    def test_four_workers_that_die_of_the_same_work_end_it(self, path):
        workers = Workers()
        workers.before = lambda name: workers.die(name) if len(workers.sent) > 3 else None
        with pytest.raises(ClusterError) as error:
            gpusudoku.count(BOARD, cluster=workers, checkpoint=path, **SEARCH)
        assert str(error.value) == (
            "4 workers died of the same work, one after the other;"
            f" 'gpusudoku resume {path}' goes on"
        )
        assert len(workers.sent) >= 3 + 4
        assert gpusudoku.resume(path).count == TOTAL

    def test_a_result_that_does_not_come_is_fetched_again(self):
        workers = Workers()
        workers.fetches = iter([TimeoutError(), None, TimeoutError()])
        assert gpusudoku.count(BOARD, cluster=workers, **SEARCH).count == TOTAL

    @pytest.mark.parametrize(
        ("error", "words"),
        [
            (ValueError("it is broken"), "worker a: it is broken"),
            (ValueError(), "worker a: ValueError"),
            (OSError("gone"), "worker a: gone"),
        ],
    )
    def test_an_error_of_a_worker_ends_it(self, error, words, path):
        workers = Workers("a")
        workers.fetches = iter([error])
        with pytest.raises(ClusterError, match=f"^{words}; 'gpusudoku resume {path}' goes on$"):
            gpusudoku.count(BOARD, cluster=workers, checkpoint=path, **SEARCH)
        assert gpusudoku.resume(path).count == TOTAL

    @pytest.mark.parametrize("how", ["the client says so", "a future says so", "sending fails"])
    def test_the_scheduler_is_lost(self, how, path):
        workers, words = Workers(), "the scheduler of the cluster was lost"

        def lose(name):
            if len(workers.sent) < 3:
                return
            workers.status = "connecting"
            if how == "sending fails":
                raise OSError("no connection")

        workers.before = lose
        if how == "sending fails":
            words = "the cluster was lost: no connection"
        if how == "a future says so":
            workers.before = lambda name: None
            submit = workers.submit

            def cancelled(*arguments, **settings):
                future = submit(*arguments, **settings)
                if len(workers.sent) == 3:
                    future.add_done_callback = lambda tell: (future.cancel(), tell(future))
                return future

            workers.submit = cancelled
        with pytest.raises(ClusterError, match=f"^{words}; 'gpusudoku resume {path}' goes on$"):
            gpusudoku.count(BOARD, cluster=workers, checkpoint=path, **SEARCH)
        assert gpusudoku.resume(path).count == TOTAL

    @pytest.mark.parametrize("began", ["here", "there"])
    def test_goes_on_here_and_there(self, path, often, began):
        """The threads that it had here are no reason against a cluster."""
        options = {"jobs": 1} if began == "here" else {"cluster": Workers()}
        assert 0 < stopped(path, **options).count < TOTAL
        token = CancelToken()
        workers = Workers()
        workers.before = lambda name: token.cancel() if len(workers.sent) == 3 else None
        with pytest.raises(Cancelled):
            gpusudoku.resume(path, cluster=workers, cancel=token)
        assert gpusudoku.resume(path, cluster=Workers()).count == TOTAL
        assert gpusudoku.resume(path).count == TOTAL

    def test_a_cancelled_one_is_told_to_the_workers(self):
        workers, token, told = Workers(), CancelToken(), []
        workers.before = lambda name: token.cancel() if len(workers.sent) == 3 else None
        run = workers.run

        def tell(function, *arguments, **settings):
            told.append(function)
            return run(function, *arguments, **settings)

        workers.run = tell
        with pytest.raises(Cancelled):
            gpusudoku.count(BOARD, cluster=workers, cancel=token, **SEARCH)
        assert told[-1] is worker.dismiss

    def test_has_no_limit(self):
        with pytest.raises(InputError, match="limit 2: a count in tasks is of all solutions"):
            gpusudoku.count(LINE_4X4, cluster=Workers(), limit=2)


OTHERS = {
    "has gpusudoku 0.1, not": {**worker.versions(), "gpusudoku": "0.1"},
    "has Python 3.1, not 3": {**worker.versions(), "Python": "3.1"},
    "has NumPy 1, not ": {**worker.versions(), "NumPy": "1"},
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


def test_the_command_says_that_it_waits_and_who_gets_no_work(run, monkeypatch):
    workers, looks = Workers(""), iter(range(99))
    workers.has["c"] = OTHERS["has gpusudoku 0.1, not"]

    def facts(n_workers):
        names = ["", "", "ab"][min(next(looks), 2)] + "c" * (len(workers.sent) > 2)
        workers.here = dict.fromkeys(names, "running")
        return Workers.scheduler_info(workers, n_workers)

    workers.scheduler_info = facts
    # A class, as it is asked whether something is a client.
    kind = type("Client", (), {"__new__": lambda cls, *args, **options: workers})
    monkeypatch.setattr(connect, "hush", lambda: None)
    monkeypatch.setattr(distributed, "Client", kind)
    command = ["count", BOARD, "--method", "search", "--cluster", "tcp://127.0.0.1:1"]
    status, out, err = run(*command)
    assert (status, out) == (0, f"{TOTAL}\n")
    assert err.count("gpusudoku: the cluster has no workers: waiting for some\n") == 1
    assert err.count("gpusudoku: worker c has gpusudoku 0.1, not ") == 1
    assert "it gets no work" in err
    assert set(workers.sent) == {"a", "b"}
    assert workers.status == "closed"


class TestManyBoards:
    @pytest.mark.parametrize("names", ["a", "abc"])
    @pytest.mark.parametrize("limit", [None, 2])
    def test_come_in_their_order(self, names, limit):
        workers = Workers(names)
        assert there(MANY, workers, limit=limit) == here(MANY, limit=limit)
        assert len(workers.sent) < len(MANY)
        assert workers.status == "running"

    def test_loses_nothing_with_workers_that_die(self):
        workers = Workers("abc")
        workers.before = lambda name: workers.die(name) if len(workers.sent) in (1, 3, 4) else None
        assert there(MANY, workers) == here(MANY)

    def test_with_bad_boards(self):
        given = [*SOME[:30], None, *SOME, "12", LINE_4X4]
        found = list(gpusudoku.count_many(given, cluster=Workers(), device="cpu",
                                          on_error="record"))  # fmt: skip
        assert [at for at, each in enumerate(found) if isinstance(each, BadBoard)] == [30, 131]
        assert found[-1] == 6
        results, numbers = gpusudoku.count_many(given, cluster=Workers(), device="cpu"), []
        with pytest.raises(InputError, match=r"^board 30: "):
            numbers.extend(results)
        assert texts(numbers) == here(SOME[:30])

    @pytest.mark.parametrize("limit", [None, 2, 100])
    def test_that_take_a_worker_long_are_counted_by_all(self, monkeypatch, limit):
        """Here all do, since no worker has any time for one alone."""
        monkeypatch.setattr(batches, "MOST_SECONDS", 0.0)
        boards = [SLOW, LINE_4X4, "11" + "." * 14, SLOW, SLOW]
        assert there(boards, Workers(), limit=limit) == here(boards, limit=limit)

    def test_no_board_is_counted_twice_where_one_takes_long(self, monkeypatch):
        """Workers end before a board that they cannot count; those around it are counted once."""
        boards, counted, count_board = [SLOW, *SOME[:20], SLOW, *SOME], Counter(), batch.count_board
        expected = here(boards)

        def count(board, *arguments, **options):
            if str(board) == SLOW:
                raise TooExpensive("too expensive")
            counted[str(board)] += 1
            return count_board(board, *arguments, **options)

        monkeypatch.setattr(batch, "count_board", count)
        assert there(boards, Workers(), method="contraction") == expected
        assert counted == Counter(boards) - Counter([SLOW, SLOW])

    def test_what_nobody_can_count_is_an_error_after_all_before(self):
        boards = [*SOME[:5], "." * 100, *SOME]
        results, found = gpusudoku.count_many(
            boards, cluster=Workers(), device="cpu", method="contraction"
        ), []  # fmt: skip
        with pytest.raises(TooExpensive, match="too expensive to contract"):
            found.extend(results)
        assert len(found) == 5

    def test_no_more_is_read_than_a_few_blocks_for_each_worker(self):
        """As long as the first is not counted; what others count is kept until then."""
        workers, read = Workers("ab"), []
        workers.held = {"a"}

        def given():
            for board in SOME * 20:
                read.append(board)
                yield board

        def release(name):
            if len(workers.sent) == 6:
                workers.held.clear()

        workers.before = release
        results = gpusudoku.count_many(given(), cluster=workers, device="cpu")
        first = next(results)
        assert str(first.board) == SOME[0]
        assert len(read) < 500
        assert len(list(results)) == len(SOME * 20) - 1

    def test_stop_when_they_are_closed_or_cancelled(self):
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


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"cluster": 7}, "cluster 7: expected a client or an address"),
        ({"cluster": "tcp://127.0.0.1:1", "jobs": 2}, "jobs are for a local cluster"),
        ({"cluster": "local", "engine": object()}, "an engine is of this process"),
        ({"cluster": "nowhere:x"}, "cluster 'nowhere:x': expected an address such as tcp:"),
    ],
)
def test_what_is_no_cluster(options, why):
    for call in (
        gpusudoku.count,
        lambda board, **of: gpusudoku.count_many([board], **of).numbers(),
    ):
        with pytest.raises(InputError, match=why):
            call(LINE_4X4, **options)
