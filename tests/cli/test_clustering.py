"""``--cluster``: counting on a Dask cluster, from the command line."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

import gpusudoku
from gpusudoku.runs.cluster import connect
from gpusudoku.runs.kept import read_run
from tests.boards import LINE_4X4, puzzle
from tests.cli.conftest import HARD


@pytest.fixture
def loud(monkeypatch):
    """Let Dask's messages go where they go in tests."""
    monkeypatch.setattr(connect, "hush", lambda: None)


def test_a_count_on_this_machine_says_nothing_else(start):
    pytest.importorskip("distributed", reason="Dask distributed is not installed")
    process = start("count", LINE_4X4, "--cluster", "local", "-j", 2)
    answer, said = process.communicate(timeout=300)
    assert (process.returncode, answer, said) == (0, "6\n", "")


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_no_process_outlives_an_interrupt(start, name):
    """As Ctrl-C does it, all processes of the terminal get the signal; SIGKILL only the first."""
    pytest.importorskip("distributed", reason="Dask distributed is not installed")
    psutil = pytest.importorskip("psutil")
    process = start(
        *("count", HARD, "--method", "search", "--cluster", "local", "-j", 2),
        start_new_session=True,
    )
    assert "the search should take decades" in process.stderr.readline()
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    number = getattr(signal, name)
    if name == "SIGKILL":
        process.send_signal(number)
    else:
        os.killpg(process.pid, number)
        assert process.wait(timeout=300) == 128 + number
        said = process.stderr.read()
        assert said.startswith("gpusudoku: interrupted")
        assert said.count("\n") == 1
    assert psutil.wait_procs(children, timeout=300)[1] == []


def test_a_killed_run_goes_on_without_a_cluster(start, run, tmp_path):
    pytest.importorskip("distributed", reason="Dask distributed is not installed")
    file, board = tmp_path / "run.sqlite", puzzle("3x3", 20, 1)
    process = start(
        *("count", str(board), "--method", "search", "--checkpoint", file),
        *("--cluster", "local", "-j", 2),
    )
    deadline = time.monotonic() + 300
    while not (file.exists() and file.stat().st_size and read_run(file)[0].state.count):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    count = gpusudoku.count(board, method="search", device="cpu").count
    found = read_run(file)[0].state.count
    assert 0 < found < count
    assert run("resume", file, "-q") == (0, f"{count}\n", "")


def test_the_extra_is_named_that_is_not_installed(run, monkeypatch, loud):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run("count", LINE_4X4, "--cluster", "local") == (
        *(1, ""),
        "gpusudoku: a cluster needs Dask distributed: pip install '.[cluster]' in a checkout of"
        " gpusudoku\n",
    )


def test_no_scheduler_is_there(run, monkeypatch, loud):
    pytest.importorskip("distributed", reason="Dask distributed is not installed")
    monkeypatch.setattr(connect, "CONNECT_SECONDS", 0.5)
    status, answer, said = run("count", LINE_4X4, "--cluster", "tcp://127.0.0.1:1")
    assert (status, answer) == (1, "")
    assert said.startswith("gpusudoku: cluster 'tcp://127.0.0.1:1': no scheduler there: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([LINE_4X4, LINE_4X4, "--cross-check"], "--cross-check cannot be combined with --cluster"),
        ([LINE_4X4, LINE_4X4, "-j", 2], "jobs are for a local cluster: other workers have threads"),
        ([LINE_4X4, "--limit", 2], "--limit cannot be combined with --cluster of one board"),
        ([LINE_4X4, "-j", 2], "jobs are for a local cluster: other workers have threads of their"),
    ],
)
def test_what_is_not_for_a_cluster(run, loud, arguments, why):
    status, answer, said = run("count", *arguments, "--cluster", "tcp://127.0.0.1:1")
    assert (status, answer) == (2, "")
    assert said.startswith(f"gpusudoku: {why}")
