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


@pytest.fixture
def loud(monkeypatch):
    """Let Dask's messages go where they go in tests."""
    monkeypatch.setattr(connect, "hush", lambda: None)


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
    assert (status, answer, said.count("\n")) == (1, "", 1)
    assert said.startswith("gpusudoku: cluster 'tcp://127.0.0.1:1': no scheduler there: ")


@pytest.mark.slow
class TestProcesses:
    @pytest.fixture(autouse=True)
    def _dask(self):
        pytest.importorskip("distributed", reason="Dask distributed is not installed")

    def test_a_count_on_this_machine_says_nothing_else(self, start):
        process = start("count", LINE_4X4, "--cluster", "local", "-j", 2)
        answer, said = process.communicate(timeout=300)
        assert (process.returncode, answer, said) == (0, "6\n", "")

    @pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
    @pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
    def test_no_process_outlives_an_interrupt(self, start, hard, name):
        """As Ctrl-C does it, all processes of the terminal get it; SIGKILL only the first."""
        psutil = pytest.importorskip("psutil")
        process = start(
            *("count", hard, "--method", "search", "--cluster", "local", "-j", 2),
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

    def test_a_killed_run_goes_on_without_a_cluster(self, start, run, tmp_path):
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
        assert 0 < read_run(file)[0].state.count < count
        assert run("resume", file, "-q") == (0, f"{count}\n", "")
