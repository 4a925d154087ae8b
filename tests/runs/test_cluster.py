"""Runs on a Dask cluster of this machine, whose workers die, join and leave."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections import Counter
from functools import partial
from unittest.mock import Mock

import pytest

distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")

import gpusudoku  # noqa: E402
from gpusudoku.contraction.general import parts  # noqa: E402
from gpusudoku.engines.cpu import CpuEngine  # noqa: E402
from gpusudoku.errors import Cancelled, ClusterError, InputError  # noqa: E402
from gpusudoku.jobs.cancel import CancelToken  # noqa: E402
from gpusudoku.options import Options  # noqa: E402
from gpusudoku.planning.choose import choose_alike  # noqa: E402
from gpusudoku.planning.portion import Portion  # noqa: E402
from gpusudoku.runs.cluster import connect, worker  # noqa: E402
from gpusudoku.runs.cluster import driver as driving  # noqa: E402
from gpusudoku.runs.cluster.dealer import Dealer, _Sent  # noqa: E402
from gpusudoku.runs.cluster.driver import Driver, Piece  # noqa: E402
from gpusudoku.runs.cluster.machine import OnCluster  # noqa: E402
from gpusudoku.runs.cluster.worker import Run  # noqa: E402
from gpusudoku.runs.counting import How, count_in_tasks  # noqa: E402
from gpusudoku.runs.keeper import InMemory  # noqa: E402
from tests.boards import LINE_4X4, puzzle  # noqa: E402
from tests.runs.piecework import Piecework, in_small_parts  # noqa: E402

TASKS = 40
PIECES = TASKS * (TASKS + 1) // 2


class Recording(InMemory):
    """Knows what was found of every task."""

    def __init__(self, portion: Portion) -> None:
        super().__init__(portion)
        self.found = Counter[int]()
        self.shares: list[float] = []

    def save(self, number, step):
        super().save(number, step)
        self.shares.append(self.done)
        for found in step.found:
            self.found[found.tasks.start] += found.solutions


@pytest.fixture(scope="module")
def local():
    """A cluster of two workers; who dies is replaced."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


@pytest.fixture
def client(local):
    local.scale(2)
    with distributed.Client(local, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=300)
        yield client


@pytest.fixture
def piecework(tmp_path):
    """Make a driver of a run of pieces, and who keeps what it finds."""

    def make(client, seconds=0.002, deadly=(), note=None, tasks=TASKS):
        make_plan = partial(Piecework, tasks, seconds, str(tmp_path), deadly)
        keeper = Recording(make_plan().part(1, 1))
        run = Run(f"{tmp_path.name}{deadly}", make_plan, tasks, Options(device="cpu"))
        return Driver(Dealer(client, run.key, note), run, keeper), keeper

    return make


def whole(keeper):
    """Whether all was found, and nothing twice."""
    return keeper.found == {task: task + 1 for task in range(TASKS)} and keeper.count == PIECES


def wait_for(condition, seconds=300):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_every_task_is_counted_once_by_all_workers(client, piecework, tmp_path):
    driver, keeper = piecework(client)
    told = []
    driver.drive(told.append)
    assert whole(keeper)
    assert len(list(tmp_path.glob("at-*"))) == len(driver.utilisation) == 2
    assert all(0 < share <= 1 for share in driver.utilisation)
    assert keeper.shares[-1] == 1
    assert told[-1].done == 1
    assert told[-1].count == PIECES
    assert [each.done for each in told] == sorted(each.done for each in told)


def test_half_of_the_workers_die_in_the_middle(client, piecework, tmp_path):
    driver, keeper = piecework(client)

    def kill(progress):
        if progress.count and not killed:
            killed.append(int(next(tmp_path.glob("at-*")).name.removeprefix("at-")))
            os.kill(killed[0], signal.SIGKILL)

    killed: list[int] = []
    driver.drive(kill)
    assert killed
    assert whole(keeper)


def test_a_result_that_does_not_come_holds_up_nothing_else():
    """Its worker may be gone, which is only seen if somebody looks who is there."""
    future = Mock(status="finished")
    future.result.side_effect = [TimeoutError]
    dealer = Dealer[Piece](None, "a key")
    dealer._sent["a worker"] = _Sent(Piece(0, Portion.of([range(1)])), future)
    dealer._came.put("a worker")
    assert list(dealer.take()) == []
    assert dealer.busy == 1


REAL = {
    "search": partial(choose_alike, puzzle("3x3", 20, 1), Options(method="search")),
    "hybrid": partial(in_small_parts, puzzle("2x3", 6, 1)),
}


@pytest.mark.parametrize("name", REAL)
def test_half_of_the_workers_die_in_the_middle_of_a_count(client, name, monkeypatch):
    """What is found of every task is what is found of it alone."""
    make, engine, pids = REAL[name], CpuEngine(1), client.run(os.getpid)
    for contents in (("PART_MAPS", 10), ("TASK_LISTINGS", 1)):
        monkeypatch.setattr(parts, *contents)
    plan = make()
    keeper = Recording(plan.part(1, 1))
    alone = Recording(plan.part(1, 1))
    [(number, portion)] = alone.deal().items()
    alone.save(number, plan.step(engine, portion))
    run = Run(name, make, plan.tasks(), Options(device="cpu"))
    driver = Driver(Dealer(client, name), run, keeper)

    def kill(progress):
        if progress.count and len(pids) == 2:
            os.kill(pids.popitem()[1], signal.SIGKILL)

    driver.drive(kill)
    assert len(pids) == 1
    assert alone.count > 1000
    assert keeper.found == alone.found
    stats = plan.stats(keeper.tally, keeper.seconds, driver.utilisation)
    assert (stats.nodes if name == "search" else stats.products) > 0


def test_workers_that_die_of_a_task_end_the_run_and_nothing_is_lost(client, piecework, tmp_path):
    driver, keeper = piecework(client, deadly=(7,))
    with pytest.raises(ClusterError, match="4 workers died of the same work"):
        driver.drive()
    assert 0 < keeper.count < PIECES
    plan = Piecework(TASKS, 0, str(tmp_path))
    for portion in keeper.deal().values():
        step = plan.step(None, portion)
        assert not step.left
        for found in step.found:
            keeper.found[found.tasks.start] += found.solutions
    assert keeper.found == {task: task + 1 for task in range(TASKS)}


def test_workers_join_and_leave(local, piecework, tmp_path):
    local.scale(0)
    with distributed.Client(local, set_as_default=False) as client:
        wait_for(lambda: not client.nthreads())
        notes: list[str] = []
        driver, keeper = piecework(client, seconds=0.05, note=notes.append)
        sizes = {0: 1, 1: 2, 2: 1}

        def scale(progress):
            """Have one worker; once it works, two; once both have worked, one again."""
            size = sizes.pop(min(2, len(list(tmp_path.glob("at-*")))), None)
            if size == 1 and not sizes:
                (tmp_path / "hurry").touch()
            if size is not None:
                local.scale(size)
                wait_for(lambda: len(client.nthreads()) == size)

        driver.drive(scale)
    assert sizes == {}
    assert whole(keeper)
    assert notes == ["the cluster has no workers: waiting for some"]


def test_a_cancelled_run_leaves_workers_free_at_once(client, piecework, tmp_path, monkeypatch):
    monkeypatch.setattr(driving, "STEP_SECONDS", (60.0, 60.0))
    driver, keeper = piecework(client, seconds=0.05)
    token = CancelToken()
    thread = threading.Thread(
        target=lambda: (wait_for(lambda: len(list(tmp_path.glob("at-*"))) == 2), token.cancel())
    )
    thread.start()
    with token, pytest.raises(Cancelled):
        driver.drive()
    thread.join()
    wait_for((tmp_path / "cancelled").exists)
    wait_for(lambda: not any(client.processing().values()))
    assert keeper.count == 0  # nothing is counted of a future that was cancelled


def test_the_scheduler_is_lost(piecework):
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        client = distributed.Client(cluster, set_as_default=False)
        driver, keeper = piecework(client, seconds=0.01)
        closing = threading.Thread(target=cluster.close)

        def close(progress):
            if progress.count and not closing.ident:
                closing.start()

        with pytest.raises(ClusterError, match="lost"):
            driver.drive(close)
        closing.join()
        client.close(timeout=1)
    left = sum(len(portion) for portion in keeper.deal().values())
    assert 0 < keeper.count < PIECES
    assert left


def test_real_workers_are_asked_for_their_versions(client, piecework, monkeypatch):
    monkeypatch.setattr(worker, "__version__", "0.0")
    driver, _ = piecework(client)
    with pytest.raises(ClusterError, match=r"worker tcp://.* has gpusudoku .*, not 0\.0"):
        driver.drive()


def test_a_board_is_counted_by_whatever_cluster_is_given(client):
    for cluster in (client, client.scheduler.address):
        result = gpusudoku.count(LINE_4X4, cluster=cluster, device="cpu")
        assert (result.count, result.exact, result.device) == (6, True, "cpu")
    assert client.status == "running"  # it was not ours to close
    assert gpusudoku.count("11..............", cluster=client, device="cpu").count == 0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"cluster": 7}, "cluster 7: expected a client or an address"),
        ({"cluster": "tcp://127.0.0.1:1", "jobs": 2}, "jobs are for a local cluster"),
        ({"cluster": "local", "engine": object()}, "an engine is of this process"),
    ],
)
def test_what_is_no_cluster(options, why):
    with pytest.raises(InputError, match=why):
        gpusudoku.count(LINE_4X4, **options)


def test_a_part_of_many_is_counted_with_as_many_tasks_as_they_need(client):
    board, how = puzzle("3x3", 24, 1), How(part=(3, 40))
    options = Options(method="search", device="cpu")
    here = count_in_tasks(board, options, CpuEngine(1), how)
    there = count_in_tasks(board, options, OnCluster(client), how)
    assert there.identity == here.identity
    assert there.count.count == here.count.count > 0
    assert len(here.portion) > 128 / 40


def test_a_limit_is_not_for_a_cluster(client):
    with pytest.raises(InputError, match="limit 2: a count in tasks is of all solutions"):
        gpusudoku.count(LINE_4X4, cluster=client, limit=2)


def test_no_scheduler_there(monkeypatch):
    monkeypatch.setattr(connect, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=r"cluster 'tcp://127.0.0.1:1': no scheduler there"):
        gpusudoku.count(LINE_4X4, cluster="tcp://127.0.0.1:1")
    with pytest.raises(InputError, match=r"cluster 'nowhere:x': expected an address such as tcp:"):
        gpusudoku.count(LINE_4X4, cluster="nowhere:x")
