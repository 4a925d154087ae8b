"""Batches and files of runs on a cluster that is there: its workers are threads of this process."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")

import gpusudoku  # noqa: E402
from gpusudoku.cli.saving import SavedJournal  # noqa: E402
from gpusudoku.errors import Cancelled, InputError  # noqa: E402
from gpusudoku.jobs.cancel import CancelToken  # noqa: E402
from gpusudoku.options import Options  # noqa: E402
from gpusudoku.runs.cluster import batches, connect  # noqa: E402
from gpusudoku.runs.cluster.machine import OnCluster  # noqa: E402
from gpusudoku.runs.ledger import Ledger  # noqa: E402
from tests.boards import LINE_4X4, PUZZLE, puzzle  # noqa: E402

BOARDS = [
    LINE_4X4,
    "11..............",
    *(str(puzzle("2x2", 5, seed)) for seed in range(40)),
    PUZZLE,
]
SECONDS = re.compile(r"; [\d.,]+ s, [\d,]+ boards a second")


def cluster_of(workers, **settings):
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=":0",
        memory_limit=0,
        silence_logs=logging.CRITICAL,
        **settings,
    )


@pytest.fixture(scope="module")
def address():
    with cluster_of(2, processes=False, protocol="tcp") as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def loud(monkeypatch):
    """Let Dask's messages go where they go in tests."""
    monkeypatch.setattr(connect, "hush", lambda: None)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "boards.txt"
    path.write_text("".join(f"{board}\n" for board in BOARDS))
    return path


UNFINISHED = """
import distributed
import gpusudoku
cluster = distributed.LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
)
results = gpusudoku.count_many(
    ["1....2....3....."] * 100, cluster=cluster.scheduler_address, device="cpu"
)
print(next(results).count)
"""


def wait_for(condition, seconds=50):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def texts(results):
    return [(str(result.board), str(result)) for result in results]


def test_half_of_the_workers_die_in_the_middle_of_a_batch():
    boards = BOARDS * 20
    with (
        cluster_of(2) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=50)
        victim = client.run(os.getpid).popitem()[1]
        found = gpusudoku.count_many(boards, cluster=client, device="cpu")
        first = next(found)
        os.kill(victim, signal.SIGKILL)
        assert texts([first, *found]) == texts(gpusudoku.count_many(boards, device="cpu"))
        assert client.status == "running"  # it was not ours to close


@pytest.mark.parametrize("limit", [None, 2, 100])
def test_boards_that_take_long_are_counted_by_all(address, monkeypatch, limit):
    """Here all do, since no worker has any time for one alone."""
    monkeypatch.setattr(batches, "MOST_SECONDS", 0.0)
    boards, options = [LINE_4X4, "...." * 4, "11.............."], {"device": "cpu", "limit": limit}
    found = gpusudoku.count_many(boards, cluster=address, **options)
    assert texts(found) == texts(gpusudoku.count_many(boards, **options))


def test_all_stop_at_a_limit_of_the_board_that_they_count(address):
    """Its solutions have no end."""
    board, options = gpusudoku.parse("." * 81), Options(device="cpu", method="search", limit=1000)
    with distributed.Client(address, set_as_default=False) as client:
        found = batches.count_by_all(board, options, OnCluster(client))
    assert (found.count, found.exact) == (1000, False)


def test_a_script_may_end_in_the_middle():
    done = subprocess.run([sys.executable, "-c", UNFINISHED], stdout=subprocess.PIPE, timeout=90)
    assert (done.returncode, done.stdout) == (0, b"6\n")


def test_a_cancelled_batch_leaves_workers_free(address):
    token, hard = CancelToken(), "." * 81
    with distributed.Client(address, set_as_default=False) as client:

        def cancel():
            wait_for(lambda: any(client.processing().values()))
            token.cancel()

        found = gpusudoku.count_many(
            [LINE_4X4, hard], cluster=client, device="cpu", method="search", cancel=token
        )
        assert next(found).count == 6
        thread = threading.Thread(target=cancel)
        thread.start()
        with pytest.raises(Cancelled):
            next(found)
        thread.join()
        wait_for(lambda: not any(client.processing().values()))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"cluster": 7}, "cluster 7: expected a client or an address"),
        ({"cluster": "local", "engine": object()}, "an engine is of this process"),
    ],
)
def test_what_is_no_cluster(options, why):
    with pytest.raises(InputError, match=why):
        gpusudoku.count_many([LINE_4X4], **options).numbers()


@pytest.mark.usefixtures("loud")
@pytest.mark.parametrize(
    "options",
    [
        ("--format", "csv", "--limit", "2"),
        ("--format", "jsonl", "--exit-code"),
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
        told = [line for line in err.splitlines() if "device cpu" not in line]
        assert sorted(SECONDS.sub("", said).splitlines()) == sorted(
            SECONDS.sub("", line) for line in told
        )
    assert ("7 cells make no board" in said) == ("1/3" not in options)


@pytest.mark.usefixtures("loud")
@pytest.mark.parametrize("began", ["here", "there"])
def test_a_batch_goes_on_with_or_without_a_cluster(run, address, file, monkeypatch, began):
    out, kept = file.with_name("out.txt"), file.with_name("a.run")
    cluster = ["--cluster", address]
    with monkeypatch.context() as patch:
        advance = SavedJournal.advance

        def interrupted(self, **done):
            advance(self, **done)
            if done:
                raise KeyboardInterrupt

        patch.setattr(SavedJournal, "advance", interrupted)
        command = ["count", file, "-o", out, "--checkpoint", kept, "-q"]
        more = cluster if began == "there" else ["-j", "2"]
        status, _, err = run(*command, *more)
    assert status == 130
    assert re.search(r"interrupted: (\d+) boards counted; 'gpusudoku resume", err)
    assert 0 < out.read_text().count("\n") < len(BOARDS)
    more = cluster if began == "here" else []
    assert run("resume", kept, "-q", *more)[0] == 0
    assert out.read_text() == run("count", file)[1]


@pytest.mark.usefixtures("loud")
@pytest.mark.parametrize("began", ["here", "there"])
def test_a_count_goes_on_with_or_without_a_cluster(run, address, tmp_path, monkeypatch, began):
    """The threads that it had here are no reason against a cluster."""
    board, kept = str(puzzle("3x3", 24, 1)), tmp_path / "run.sqlite"
    cluster = ["--cluster", address]
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "save", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        command = ["count", board, "--method", "search", "--checkpoint", kept]
        assert run(*command, *(cluster if began == "there" else ["-j", "2"]))[0] == 130
    status, out, err = run("resume", kept, *(cluster if began == "here" else []))
    assert (status, out) == (0, f"{gpusudoku.count(board, device='cpu').count}\n")
    assert "goes on" in err
    assert run("resume", kept, "-q", *cluster)[1] == out


@pytest.mark.usefixtures("loud")
def test_what_resume_refuses(run, address, file):
    out, kept = file.with_name("out.txt"), file.with_name("a.run")
    assert run("solve", file, "-o", out, "--checkpoint", kept)[0] == 0
    for more, why in [
        ([], f"{kept}: holds solve, and only counts run on a cluster"),
        (["-j", "2"], f"{kept}: holds solve, and only counts run on a cluster"),
    ]:
        assert run("resume", kept, "--cluster", address, *more) == (2, "", f"gpusudoku: {why}\n")
    out.unlink()
    kept.unlink()
    assert run("count", LINE_4X4, "--checkpoint", kept)[0] == 0
    status, said, err = run("resume", kept, "--cluster", address, "-j", "2")
    assert (status, said) == (2, "")
    assert "jobs are for a local cluster" in err


@pytest.mark.usefixtures("loud")
@pytest.mark.parametrize("command", ["solve", "enumerate", "shares", "sample"])
def test_other_commands_have_no_cluster(run, command):
    status, out, err = run(command, LINE_4X4, "--cluster", "local")
    assert (status, out) == (2, "")
    assert err.startswith("gpusudoku: ")
    assert "--cluster" in err
    assert err.count("\n") == 1
