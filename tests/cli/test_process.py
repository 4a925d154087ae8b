"""The command as a process: what it imports, signals, terminals, closed pipes, few threads."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from gpusudoku import Board
from gpusudoku.board.geometry import Geometry
from tests.boards import full_grid, puzzle
from tests.cli.conftest import ROOT
from tests.waiting import until

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and terminals are POSIX")
slow = pytest.mark.slow

SOLVED = str(Board(full_grid(Geometry(3, 3), 1), Geometry(3, 3)))
NO_THREADS = """
import sys, threading
start = threading.Thread.start
def refuse(thread):
    if "gpusudoku.jobs.job" in sys.modules:
        raise RuntimeError("can't start new thread")
    start(thread)
threading.Thread.start = refuse
"""


def ended_by(process, name):
    """Send a signal; check that it ends the process, and return what is on stderr."""
    number = getattr(signal, name)
    process.send_signal(number)
    assert process.wait(timeout=300) == 128 + number
    err = process.stderr.read() if process.stderr else ""
    assert "Traceback" not in err
    return err


def read(screen, until=None):
    """Return what a terminal shows until a pattern matches, or until it is closed."""
    screen_text = ""
    while until is None or not re.search(until, screen_text):
        try:
            chunk = os.read(screen, 1 << 12)
        except OSError:  # as Linux tells the end
            chunk = b""
        if not chunk:
            assert until is None, screen_text
            break
        screen_text += chunk.decode()
    return screen_text


def has_lines(output):
    return lambda: output.exists() and output.stat().st_size


@pytest.fixture
def screen():
    """Open a terminal; return its end to read from, and its end to write to."""
    shows, terminal = os.openpty()
    yield shows, terminal
    os.close(shows)
    with suppress(OSError):
        os.close(terminal)


RUNS = """
import os, sys
from gpusudoku.cli import main
COMPILING = False
def run(*arguments):
    sys.argv = ["gpusudoku", *arguments]
    try: main()
    except SystemExit as end: assert not end.code, end.code
    assert "numba" not in sys.modules or COMPILING, arguments
"""


def test_what_needs_no_numba_does_not_import_it():
    """Numba takes much longer to load than everything else."""
    code = """
for line in "--help;--version;count --help;info @2f;convert @2f;boards;devices".split(";"):
    run(*line.split())
os.environ["_GPUSUDOKU_COMPLETE"] = "fish_complete"
os.environ.update(COMP_WORDS="gpusudoku count @2", COMP_CWORD="@2")
run()
"""
    subprocess.run([sys.executable, "-c", RUNS + code], cwd=ROOT, check=True, capture_output=True)


def test_numba_is_imported_to_compile_and_for_nothing_else():
    """A process that finds all kernels on the disk does not import it."""
    code = """
COMPILING = bool(sys.argv.pop())
for line in (
    "count @a1 --device cpu;count --exit-code @a1 --device cpu;solve @a1 --device cpu;"
    "enumerate @1b --limit 3 --device cpu;simplify @a1;sample @1b -n 2;shares @1b --device cpu;"
    "count @1b --method contraction --device cpu"
).split(";"):
    run(*line.split())
"""
    for compiling in "yes", "":
        words = [sys.executable, "-c", RUNS + code, compiling]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("name", "method"), [("SIGINT", "search"), pytest.param("SIGHUP", "contraction", marks=slow)]
)
def test_a_count_stops_soon(start, file, hard, screen, name, method):
    """The signal comes when the progress line, which only a terminal has, shows solutions."""
    board = hard
    if method == "contraction":
        rows = puzzle("3x4", 40, 7).grid.tolist()
        board = file("\n".join(" ".join(map(str, row)) for row in rows))
    shows, terminal = screen
    process = start("count", board, "--method", method, stderr=terminal)
    os.close(terminal)
    screen_text = read(shows, until=r"[1-9][0-9,]* solutions  \d+ s")
    process.send_signal(getattr(signal, name))
    screen_text += read(shows)
    out, _ = process.communicate(timeout=300)  # the count itself takes minutes
    assert (process.returncode, out) == (128 + getattr(signal, name), "")
    last_line = screen_text.splitlines()[-1].rpartition("\x1b[K")[2]
    assert last_line.startswith("gpusudoku: interrupted: at least ")
    assert int(last_line.split()[4]) > 0
    assert "Traceback" not in screen_text


def test_a_terminal_is_not_flooded(start, file, screen, tmp_path):
    """The progress line is not rewritten for every board."""
    shows, terminal = screen
    preamble = "from gpusudoku.pipeline import progress\n"
    preamble += "progress.DELAY_SECONDS, progress.EVERY_SECONDS = 0, 1e9\n"
    options = ["--method", "contraction", "-o", tmp_path / "out"]
    start("count", file(f"{'.' * 16}\n" * 100), *options, setup_code=preamble, stderr=terminal)
    os.close(terminal)
    screen_text = read(shows)
    assert "100 boards: " in screen_text
    assert len(re.findall(r"solutions  \d+ s| boards, \d+ s", screen_text)) == 1


def test_a_batch_says_how_many_boards_are_done(start):
    """The first blocks are written before the input ends; an interrupt finds the rest."""
    process = start("count", "-", "-j", 1, stdin=subprocess.PIPE)
    process.stdin.write(f"{SOLVED}\n" * 200)
    process.stdin.flush()
    text = "".join(process.stdout.readline() for _ in range(16))
    process.send_signal(signal.SIGINT)
    text += process.stdout.read()
    err = process.stderr.read()
    assert process.wait() == 130
    boards = text.count("\n")
    assert text == f"{SOLVED}:1\n" * boards
    assert err.splitlines()[-1] == f"gpusudoku: interrupted: {boards:,} boards counted"


def test_what_nobody_reads_is_neither_logged_nor_told_of(start, file, tmp_path):
    boards = file(f"{SOLVED}\n" * 20000)
    log = tmp_path / "log"
    read_end, write_end = os.pipe()
    process = start("count", boards, "-j", 1, "--log", log, stdout=write_end)
    until(lambda: not select.select([], [write_end], [], 0)[1])  # the pipe is full
    err = ended_by(process, "SIGINT")
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        line_count = len(pipe.readlines())
    assert 0 < line_count < 20000
    assert err.splitlines()[-1] == f"gpusudoku: interrupted: {line_count:,} boards counted"
    assert len(log.read_text().splitlines()) == line_count


# Listing in ascending order is slow: the signal comes before the disk is full.
def test_a_file_has_whole_lines_only(start, hard, tmp_path):
    output = tmp_path / "out"
    process = start("enumerate", hard, "--sorted", "-o", output)
    until(has_lines(output))
    err = ended_by(process, "SIGTERM")
    lines = output.read_text().splitlines(keepends=True)
    assert {len(line) for line in lines} == {82}
    assert err.splitlines()[-1] == f"gpusudoku: interrupted: {len(lines)} lines written"


@slow
def test_what_it_was_told_to_ignore_does_not_end_it(start, hard, tmp_path):
    """``nohup`` has SIGHUP ignored, and a shell has Ctrl-C ignored by what runs behind it."""
    output = tmp_path / "out"
    process = start(
        *("enumerate", hard, "--sorted", "-o", output),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    until(has_lines(output))
    process.send_signal(signal.SIGHUP)
    size = output.stat().st_size
    until(lambda: output.stat().st_size > size + (1 << 22))
    ended_by(process, "SIGTERM")


def test_while_it_waits_for_its_input(start):
    process = start("count", "-", stdin=subprocess.PIPE)
    process.stdin.write("#\n" * (1 << 17))  # more than a pipe holds: it has begun to read
    assert ended_by(process, "SIGINT") == "gpusudoku: interrupted\n"


def test_a_solution_is_drawn_on_a_terminal(start, screen):
    shows, terminal = screen
    process = start("solve", "@a1", stdout=terminal)
    os.close(terminal)
    screen_text = read(shows)
    assert process.wait(timeout=300) == 0
    assert "the only solution, " in screen_text
    assert screen_text.count("=======") == 24  # the board, and its solution


@slow
def test_bench_shows_what_it_has(start, hard, tmp_path, screen):
    shows, terminal = screen
    table = tmp_path / "table.csv"
    process = start(
        *("bench", hard, "--method", "search", "--device", "cpu", "--patience", "1e300"),
        *("-j", "1,2", "--csv", table),
        stderr=terminal,
    )
    os.close(terminal)
    read(shows, until="> ")  # the table while it fills
    process.send_signal(signal.SIGTERM)
    assert "the results so far follow" in read(shows)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 143
    assert "search (min, singles)" in out
    assert "min,singles" in table.read_text()


def test_a_closed_pipe_ends_quietly(start, hard):
    process = start("enumerate", hard)
    assert len(process.stdout.readline()) > 81
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait(timeout=300)


def test_where_no_thread_can_be_started_is_one_line(start):
    process = start("count", "@2d", "-q", setup_code=NO_THREADS)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err.count("\n")) == (1, 1)
    assert err.startswith("gpusudoku: no thread can be started")


@slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_no_process_of_a_cluster_outlives_an_interrupt(start, hard, name):
    """As Ctrl-C does it, all processes of the terminal get it; SIGKILL only the first."""
    pytest.importorskip("distributed", reason="Dask distributed is not installed")
    psutil = pytest.importorskip("psutil")
    process = start(
        *("count", hard, "--method", "search", "--cluster", "local", "-j", 2),
        start_new_session=True,
    )
    assert "the search should take decades" in process.stderr.readline()
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    if name == "SIGKILL":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=300) == 130
        err = process.stderr.read()
        assert err.startswith("gpusudoku: interrupted")
        assert err.count("\n") == 1
    assert psutil.wait_procs(children, timeout=300)[1] == []
