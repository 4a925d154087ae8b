"""Output that is closed, full or the input: files have whole lines, and no count is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT

EMPTY = "." * 16  # has 288 solutions

pytestmark = pytest.mark.skipif(os.name == "nt", reason="descriptors and limits are POSIX")
full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.fixture
def empty(file):
    return file(EMPTY)


def limited(size):
    """Limit the size of the files that a process writes, as a full disk does.

    Without the environment variable, Python would keep incomplete compiled modules.
    """
    import resource

    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
    return {"preexec_fn": limit, "env": {"PYTHONDONTWRITEBYTECODE": "1"}}


def shell(command, *arguments):
    """Run the program in a shell, for its redirections; return status, stdout and stderr."""
    line = command.replace("gpusudoku", f'exec "{sys.executable}" -m gpusudoku', 1)
    process = subprocess.run(
        ["/bin/sh", "-c", line, "sh", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "GPUSUDOKU_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return process.returncode, process.stdout, process.stderr


def test_a_file_that_cannot_grow_ends_with_a_whole_line(start, empty, tmp_path):
    path = tmp_path / "out"
    old_text = "earlier\n" * 3
    path.write_text(old_text)
    with path.open("a") as stdout:
        process = start("enumerate", empty, stdout=stdout, **limited(1000))
    err = process.communicate(timeout=300)[1]
    assert process.returncode == 1
    assert "gpusudoku: stdout: cannot be written: File too large\n" in err
    text = path.read_text()
    assert text.startswith(old_text)
    assert {len(line) for line in text.removeprefix(old_text).splitlines(keepends=True)} == {17}
    assert len(text) > 1000 - 17


def test_half_a_count_is_no_count(start, empty, tmp_path):
    path = tmp_path / "out"
    path.write_text("5\n")
    with path.open("a") as stdout:
        process = start("count", empty, stdout=stdout, **limited(4))
    assert "stdout: cannot be written" in process.communicate(timeout=300)[1]
    assert process.returncode == 1
    assert path.read_text() == "5\n"


def test_a_file_without_a_line_is_removed(run, limit_disk, empty, tmp_path):
    limit_disk(10)
    status, _, err = run("enumerate", empty, "-o", tmp_path / "out")
    assert (status, "cannot be written: No space left on device" in err) == (1, True)
    assert not (tmp_path / "out").exists()


def test_stdout_is_not_appended_to_what_is_read(start, empty):
    with empty.open("ab") as stdout, empty.open("rb") as stdin:
        process = start("enumerate", "-", stdin=stdin, stdout=stdout, **limited(100_000))
    err = process.communicate(timeout=300)[1]
    reason = "is the input, so results cannot be appended to it: write to another file"
    assert (process.returncode, err) == (2, f"gpusudoku: <stdin>: {reason}\n")
    assert empty.read_text() == EMPTY


@full_device
def test_messages_that_cannot_be_written_are_dropped(empty):
    assert shell('gpusudoku simplify "$1" 2>/dev/full', empty)[::2] == (0, "")
    assert shell('gpusudoku count --nonsense "$1" 2>&-', empty) == (2, "", "")


@pytest.mark.parametrize(
    "command",
    [
        'count "$1" >&-',
        pytest.param('count "$1" >/dev/full', marks=full_device),
        pytest.param("boards >/dev/full", marks=full_device),
        pytest.param("--help >/dev/full", marks=full_device),
    ],
)
def test_a_result_that_cannot_be_written_is_an_error(empty, command):
    status, _, err = shell(f"gpusudoku {command}", empty)
    assert status == 1
    assert err.splitlines()[-1].startswith("gpusudoku: stdout: cannot be written: ")
    assert "Traceback" not in err
    assert "Exception" not in err


def test_no_file_takes_the_place_of_a_closed_stream(empty, tmp_path):
    out = tmp_path / "out"
    command = f'gpusudoku enumerate "$1" --stats -o "{out}" <&- >&- 2>&-'
    assert shell(command, empty) == (0, "", "")
    assert {len(line) for line in out.read_text().splitlines()} == {16}


@full_device
def test_a_full_log_costs_no_count(run, file):
    status, out, err = run("count", file(f"{EMPTY}\n" * 3), "--log", "/dev/full")
    assert (status, out) == (1, f"{EMPTY}:288\n" * 3)
    assert err == "gpusudoku: /dev/full: cannot be written: No space left on device\n"
