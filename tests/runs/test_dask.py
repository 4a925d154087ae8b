"""Dask clusters that are there: workers are threads of this process, or processes that die."""

from __future__ import annotations

import os
import re
import signal
import threading

import pytest

distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")

import gpusudoku  # noqa: E402
from gpusudoku import Cancelled, CancelToken, ClusterError  # noqa: E402
from gpusudoku.runs import cluster as clusters  # noqa: E402
from tests.boards import LINE_4X4, PUZZLE, puzzle  # noqa: E402
from tests.cli.checkpointed import Checkpointed  # noqa: E402
from tests.runs.clusters import cluster_here, cluster_of, texts  # noqa: E402
from tests.runs.stopped import BOARD, SEARCH, TOTAL  # noqa: E402
from tests.waiting import until  # noqa: E402

BOARDS = [LINE_4X4, "11" + "." * 14, *(str(puzzle("2x2", 5, seed)) for seed in range(40)), PUZZLE]
LONG = gpusudoku.collection.load("b8")
"""Whose search takes seconds."""
NO_END = "." * 81
SECONDS = re.compile(r"; [\d.,]+ s, [\d,]+ boards a second")


@pytest.fixture(scope="module")
def client():
    with cluster_here() as client:
        yield client


@pytest.fixture
def address(client):
    return client.scheduler.address


@pytest.fixture
def processes():
    """A client of two workers that are processes; if one dies, another takes its place."""
    with cluster_of(2) as client:
        yield client


@pytest.fixture
def loud(monkeypatch):
    """Let Dask's messages go where they go in tests."""
    monkeypatch.setattr(clusters, "silence_dask", lambda: None)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "boards.txt"
    path.write_text("".join(f"{board}\n" for board in BOARDS))
    return path


def test_a_count_and_a_batch_by_a_client_and_by_an_address(client, address):
    for cluster in (client, address):
        assert gpusudoku.count(BOARD, cluster=cluster, **SEARCH).count == TOTAL
        found = gpusudoku.count_many(BOARDS, cluster=cluster, device="cpu")
        assert texts(found) == texts(gpusudoku.count_many(BOARDS, device="cpu"))
    assert client.status == "running"  # it was not ours to close


def test_a_count_that_is_cancelled_leaves_workers_free(client):
    for call in (
        lambda **given: gpusudoku.count(NO_END, **given),
        lambda **given: gpusudoku.count_many([LINE_4X4, NO_END], **given).numbers(),
    ):
        token = CancelToken()
        thread = threading.Thread(
            target=lambda token=token: (
                until(lambda: any(client.processing().values())),
                token.cancel(),
            )
        )
        thread.start()
        with pytest.raises(Cancelled):
            call(cluster=client, cancel=token, **SEARCH)
        thread.join()
        until(lambda: not any(client.processing().values()))


def test_no_scheduler_there(monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=r"cluster 'tcp://127.0.0.1:1': no scheduler there"):
        gpusudoku.count(LINE_4X4, cluster="tcp://127.0.0.1:1")


@pytest.mark.usefixtures("loud")
@pytest.mark.parametrize(
    "options",
    [
        ("--format", "csv", "--limit", "2"),
        ("--only", "unique", "--stats"),
        ("--part", "1/3"),
    ],
    ids=" ".join,
)
def test_a_batch_is_answered_as_without_a_cluster(run, address, file, options):
    with file.open("a") as more:
        more.write("1" * 7 + "\n")
    command = ["count", file, "--keep-going", *options]
    status, out, err = run(*command)
    again, same, said = run(*command, "--cluster", address)
    assert (again, same) == (status, out)
    if "--stats" not in options:
        lines = [line for line in err.splitlines() if "device cpu" not in line]
        assert sorted(SECONDS.sub("", said).splitlines()) == sorted(
            SECONDS.sub("", line) for line in lines
        )
    assert ("7 cells make no board" in said) == ("1/3" not in options)


@pytest.mark.usefixtures("loud")
@pytest.mark.parametrize("began", ["here", "there"])
def test_a_batch_goes_on_with_or_without_a_cluster(run, address, tmp_path, limit_disk, began):
    cluster = ["--cluster", address]
    this = Checkpointed(run, tmp_path, ["count"], "".join(f"{board}\n" for board in BOARDS))
    wanted = this.run_without_checkpoint()[1]
    limit_disk(len(wanted) * 2 // 3)
    assert this(*(cluster if began == "there" else []))[0] == 1
    assert 0 < this.out.read_text().count("\n") < len(BOARDS)
    limit_disk(None)
    assert this.resume(*(cluster if began == "here" else []))[0] == 0
    assert this.out.read_text() == wanted


@pytest.mark.usefixtures("loud")
def test_what_is_no_count_does_not_go_on_there(run, address, file):
    out = file.with_name("out.txt")
    run_file = file.with_name("a.run")
    assert run("enumerate", file, "-o", out, "--checkpoint", run_file)[0] == 0
    why = f"gpusudoku: {run_file}: holds enumerate, and only count and solve run on a cluster\n"
    assert run("resume", run_file, "--cluster", address) == (2, "", why)


def pids(client):
    return list(client.run(os.getpid).values())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["search", "contraction"])
def test_a_worker_that_is_killed_in_the_middle_of_a_count_costs_time_only(processes, method):
    board = LONG if method == "search" else puzzle("2x4", 22, 1)
    victims = pids(processes)

    def kill(progress):
        if progress.count and len(victims) == 2:
            os.kill(victims.pop(), signal.SIGKILL)

    found = gpusudoku.count(board, cluster=processes, method=method, device="cpu", progress=kill)
    assert len(victims) == 1
    assert found.count == gpusudoku.count(board, device="cpu").count


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_of_a_batch_costs_time_only(processes):
    boards = BOARDS * 20
    victim = pids(processes)[0]
    found = gpusudoku.count_many(boards, cluster=processes, device="cpu")
    first = next(found)
    os.kill(victim, signal.SIGKILL)
    assert texts([first, *found]) == texts(gpusudoku.count_many(boards, device="cpu"))


class Deadly(distributed.WorkerPlugin):
    """Lets each worker die of the first work that it gets."""

    def setup(self, worker):
        from gpusudoku.runs import worker as functions

        functions._this_worker = lambda: os._exit(1)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_that_die_of_the_same_work_end_the_count(workers, tmp_path):
    path = tmp_path / "a.run"
    with cluster_of(workers) as client:
        client.register_plugin(Deadly())
        words = f"4 workers died of the same work, one after the other; 'gpusudoku resume {path}'"
        with pytest.raises(ClusterError, match=f"^{words} continues the run$"):
            gpusudoku.count(BOARD, cluster=client, checkpoint=path, **SEARCH)
    assert gpusudoku.resume(path).count == TOTAL
