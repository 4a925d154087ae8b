"""Signals end the command as a process: soon, wherever it is, and with whole lines in its file."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.terminal import read

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"]


def wait_for(condition):
    """Wait until something is so, and complain if it does not come to that."""
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ended_by(process, name):
    """Send a signal; returns what the process said on stderr, once it has ended as it should."""
    number = getattr(signal, name)
    process.send_signal(number)
    assert process.wait(timeout=300) == 128 + number
    said = process.stderr.read() if process.stderr else ""
    assert "Traceback" not in said
    return said


@pytest.fixture
def wide(tmp_path):
    """A board whose solutions are longer than what a pipe takes at once."""
    path = tmp_path / "wide.txt"
    path.write_text("\n".join(" ".join("0" * 64) for _ in range(64)))
    return path


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("deaf", [False, True], ids=["stdout", "stdout and stderr"])
def test_nobody_reads_a_line_longer_than_a_pipe_takes_at_once(start, wide, name, deaf):
    ours, theirs = os.pipe()
    stderr = theirs if deaf else subprocess.PIPE
    patience = 5 if deaf else 120  # what it says when it ends can wait for ever, too
    process = start(
        *("enumerate", wide, "--box", "8x8"), stdout=theirs, stderr=stderr, patience=patience
    )
    wait_for(lambda: not select.select([], [theirs], [], 0)[1])  # the pipe is full
    said = ended_by(process, name)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        *lines, rest = pipe.read().split(b"\n")
    lines = [line for line in lines if not line.startswith(b"gpusudoku: ")]
    assert {len(line.split(b",")) for line in lines} == {64 * 64}
    assert len(rest.split(b",")) < 64 * 64
    assert deaf or f"interrupted: {len(lines)} lines written" in said


def test_a_reader_that_goes_on_gets_its_whole_line(start, wide):
    process = start("enumerate", wide, "--box", "8x8", grace=60)
    assert process.stdout.read(100)
    process.send_signal(signal.SIGTERM)
    lines, said = process.communicate(timeout=300)
    assert process.returncode == 143
    assert lines.endswith("\n")
    assert "lines written" in said


# What is listed in ascending order comes so slowly that no disk is full before a signal comes.
@pytest.mark.parametrize("name", [*SIGNALS, "SIGQUIT", "SIGUSR1"])
def test_a_file_has_whole_lines_only(start, hard, tmp_path, name):
    output = tmp_path / "out"
    process = start("enumerate", hard, "--sorted", "-o", output)
    wait_for(lambda: output.exists() and output.stat().st_size)
    said = ended_by(process, name)
    lines = output.read_text().splitlines(keepends=True)
    assert {len(line) for line in lines} == {82}
    assert said.splitlines()[-1] == f"gpusudoku: interrupted: {len(lines)} lines written"


def test_more_signals_do_not_harm(start, hard, tmp_path):
    output = tmp_path / "out"
    process = start("enumerate", hard, "--sorted", "-o", output)
    wait_for(lambda: output.exists() and output.stat().st_size)
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    assert process.wait(timeout=300) == 130
    assert "Traceback" not in process.stderr.read()
    assert {len(line) for line in output.read_text().splitlines()} == {81}


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_what_it_was_told_to_ignore_does_not_end_it(start, hard, tmp_path, name):
    """``nohup`` has SIGHUP ignored, and a shell has Ctrl-C ignored by what runs behind it."""
    output, number = tmp_path / "out", getattr(signal, name)
    process = start(
        *("enumerate", hard, "--sorted", "-o", output),
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN),
    )
    wait_for(lambda: output.exists() and output.stat().st_size)
    process.send_signal(number)
    size = output.stat().st_size
    wait_for(lambda: output.stat().st_size > size + (1 << 22))
    ended_by(process, "SIGTERM")


@pytest.mark.parametrize("name", SIGNALS)
def test_while_it_waits_for_its_input(start, name):
    process = start("count", "-", stdin=subprocess.PIPE)
    process.stdin.write("#\n" * (1 << 17))  # more than a pipe holds: it has begun to read
    assert ended_by(process, name) == "gpusudoku: interrupted\n"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_while_it_compiles(start, hard, tmp_path, name):
    """One function alone takes longer than it has."""
    said = tmp_path / "said"
    with said.open("w") as stderr:
        process = start(
            *("solve", hard, "--propagate", "all"),
            env={"GPUSUDOKU_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_ENABLE_CUDASIM": "0"},
            stderr=stderr,
        )
    wait_for(lambda: "compiling" in said.read_text())
    ended_by(process, name)
    assert "Traceback" not in said.read_text()


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("heeded", [False, True], ids=["imports", "overlooked"])
def test_where_no_exception_can_end_it(name, heeded):
    """While modules are imported, and where somebody overlooks it: by force."""
    code = f"""
import os, signal, time
from gpusudoku.jobs.interrupts import catch_interrupts, heed_interrupts
catch_interrupts()
if {heeded}: heed_interrupts()
while True:
    try: os.kill(os.getpid(), signal.{name}); time.sleep(60)
    except KeyboardInterrupt: pass
"""
    number = getattr(signal, name)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=300)
    assert done.returncode == 128 + number
    assert done.stderr.endswith(b"gpusudoku: interrupted\n")


@pytest.mark.parametrize("name", SIGNALS)
def test_bench_shows_what_it_has(start, hard, tmp_path, name):
    """Ctrl-C skips a case, and twice within a second it ends the run."""
    screen, terminal = os.openpty()
    table = tmp_path / "table.csv"
    process = start(
        *("bench", hard, "--method", "search", "--device", "cpu", "--patience", "1e300"),
        *("-j", ",".join(map(str, range(1, 40))), "--csv", table),
        stderr=terminal,
    )
    os.close(terminal)
    shown = [read(screen, until="> ")]  # the table while it fills
    reader = threading.Thread(target=lambda: shown.append(read(screen)))
    reader.start()
    number = getattr(signal, name)
    process.send_signal(number)
    while name == "SIGINT" and process.poll() is None:  # till two come within a second
        time.sleep(0.3)
        process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
    out, _ = process.communicate(timeout=300)
    reader.join()
    os.close(screen)
    assert process.returncode == 128 + number
    assert "Traceback" not in "".join(shown)
    assert "the results so far follow" in shown[-1]
    assert "min singles" in out
    assert "min,singles" in table.read_text()
