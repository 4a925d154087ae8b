"""The command as a process of its own: signals, pipes, start-up, the cache of compiled code."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from gpusudoku.runs.ledger import Ledger
from tests.boards import LINE_4X4, puzzle
from tests.cli.terminal import read

MANY = 20
"""Boards that are too many to be simplified without compiling."""

ROOT = Path(__file__).resolve().parents[2]
FEW_THREADS = """
import sys, threading
start, started = threading.Thread.start, []
def start_some(thread):
    if "gpusudoku.jobs.job" not in sys.modules:
        return start(thread)
    if sum(each.is_alive() for each in started) >= %d:
        raise RuntimeError("can't start new thread")
    start(thread)
    started.append(thread)
threading.Thread.start = start_some
"""
"""Lets no more than so many threads live at a time, besides those from before jobs are known."""


@pytest.mark.parametrize("arguments", [
    ["--help"], ["--version"], ["count", "--help"], ["info", "@2f"], ["convert", "@2f"],
    ["boards"], ["devices"],
], ids=" ".join)  # fmt: skip
def test_what_needs_no_numba_does_not_import_it(arguments):
    code = (
        "import sys; from gpusudoku.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert 'numba' not in sys.modules, 'numba was imported'"
    )
    run = [sys.executable, "-c", code, *arguments]
    subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture
def long(tmp_path, hard):
    """Per method a board that takes it minutes."""
    board = puzzle("3x4", 40, 7)
    path = tmp_path / "long.txt"
    path.write_text("\n".join(" ".join(map(str, row)) for row in board.grid.tolist()))
    return {"search": hard, "contraction": path}


@pytest.mark.skipif(os.name == "nt", reason="signals and terminals are POSIX")
@pytest.mark.parametrize("method", ["search", "contraction"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_stops_a_count_soon(start, long, name, method):
    """Once the line of progress, which only a terminal sees, tells of solutions."""
    screen, terminal = os.openpty()
    process = start("count", str(long[method]), "--method", method, stderr=terminal)
    os.close(terminal)
    shown = read(screen, until=r"[1-9][0-9,]* solutions")
    number = getattr(signal, name)
    process.send_signal(number)
    shown += read(screen)
    out, _ = process.communicate(timeout=300)  # the count itself takes minutes
    os.close(screen)
    assert (process.returncode, out) == (128 + number, "")
    last = shown.splitlines()[-1].rpartition("\x1b[K")[2]
    assert last.startswith("gpusudoku: interrupted: at least ")
    assert int(last.split()[4]) > 0
    assert "Traceback" not in shown


@pytest.mark.skipif(os.name == "nt", reason="pipes are POSIX")
@pytest.mark.parametrize("command", [["enumerate"], ["sample", "-n", 10**9]])
def test_a_closed_pipe_ends_quietly(start, hard, command):
    process = start(*command, str(hard))
    assert len(process.stdout.readline()) == 82
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait(timeout=300)


def test_a_second_process_compiles_nothing(start, tmp_path):
    board = tmp_path / "board.txt"
    board.write_text("." * 16)
    said = []
    for _ in range(2):
        process = start("count", str(board), env={"GPUSUDOKU_CACHE_DIR": str(tmp_path / "cache")})
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out) == (0, "288\n")
        said.append("compiling" in err)
    assert said == [True, False]


def test_without_a_cache_folder_it_works_all_the_same(start, tmp_path):
    board, blocked = tmp_path / "board.txt", tmp_path / "file"
    board.write_text(f"{LINE_4X4}\n" * MANY)
    blocked.write_text("not a folder")
    command = ["simplify", str(board), "--technique", "none"]  # which compiles the least
    process = start(*command, env={"GPUSUDOKU_CACHE_DIR": str(blocked)})
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, f"{LINE_4X4}\n" * MANY)
    assert "no folder can be written" in err


def test_what_is_compiled_is_said_once(start, tmp_path):
    board = tmp_path / "board.txt"
    board.write_text("." * 16)
    kept = {"GPUSUDOKU_CACHE_DIR": str(tmp_path / "cache")}
    process = start("count", str(board), "--method", "search", env=kept)
    _, err = process.communicate(timeout=300)
    [said] = [line for line in err.splitlines() if "compiling" in line]
    start_ = "gpusudoku: compiling the search of 4x4 boards, about "
    assert said.startswith(start_)
    assert said.endswith(f" s, once (kept in {tmp_path / 'cache'})")
    process = start("count", str(board), "--method", "search", "-q", env=kept)
    assert process.communicate(timeout=300) == ("288\n", "")


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_ctrl_c_does_not_wait_for_the_compiler(start, tmp_path, hard):
    """What was being compiled when it came is not there afterwards, so nobody waited for it."""
    cache = tmp_path / "cache"
    process = start("count", str(hard), "--method", "search",
                    env={"GPUSUDOKU_CACHE_DIR": str(cache)})  # fmt: skip
    while "compiling" not in (line := process.stderr.readline()):
        assert line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, "")
    assert err.startswith("gpusudoku: interrupted")
    assert not list(cache.glob("*/search.run*"))


def test_cuda_without_a_gpu_is_one_line(start, tmp_path):
    from gpusudoku.engines.cuda import availability

    if availability.gpu_names():
        pytest.skip("there is a GPU")
    board = tmp_path / "board.txt"
    board.write_text("." * 16)
    process = start("count", str(board), "--device", "cuda", env={"NUMBA_ENABLE_CUDASIM": "0"})
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert "CUDA cannot be used" in err


def test_cuda_simulator_from_the_command_line(start, tmp_path):
    board = tmp_path / "board.txt"
    board.write_text("1...............")
    process = start("count", str(board), "--device", "cuda", env={"NUMBA_ENABLE_CUDASIM": "1"})
    out, _ = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, "72\n")


@pytest.mark.parametrize(("error", "message"), [
    (MemoryError(), "out of memory"),
    (SystemError("null"), "out of memory, or a fault of a library: null"),
])  # fmt: skip
def test_no_memory_is_one_line(run, tmp_path, monkeypatch, error, message):
    """And what was kept before can be gone on with."""
    path = tmp_path / "run.sqlite"
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "save", Mock(side_effect=error))
        asked = "count", "1....2....3.....", "--checkpoint", path
        assert run(*asked) == (1, "", f"gpusudoku: {message}\n")
    assert run("resume", path)[1] == "6\n"


@pytest.mark.parametrize("most", [1, 2])
def test_a_count_goes_on_with_the_threads_there_are(start, most):
    process = start("count", "@2d", "--method", "search", "-j", 8, before=FEW_THREADS % most)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, "1014785\n")
    assert err.count("no more threads can be started") == 1
    assert "Traceback" not in err
    assert all(line.startswith("gpusudoku: ") for line in err.splitlines())


@pytest.mark.parametrize("command", [["count", "@2d", "-j", "2"], ["shares", "@2d"], ["serve"]])
def test_where_no_thread_can_be_started_is_one_line(start, command):
    if command == ["serve"]:
        pytest.importorskip("uvicorn", reason="the server needs the extra web")
    process = start(*command, "-q", before=FEW_THREADS % 0)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert err.startswith("gpusudoku: no thread can be started")
    assert err.count("\n") == 1


def test_a_run_that_gets_no_thread_can_be_resumed(start, run, tmp_path):
    path = tmp_path / "run.sqlite"
    asked = "count", "@2d", "--method", "search", "--checkpoint", path
    process = start(*asked, "-q", before=FEW_THREADS % 0)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err.count("\n")) == (1, "", 1)
    assert run("resume", path)[1] == "1014785\n"
