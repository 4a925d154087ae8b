"""Output files: an old file is kept until there is something to write, and inputs are kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BOARD = "1....2....3....."


@pytest.mark.parametrize(
    "options",
    [
        ["--format", "hex"],  # not for this board, which shows once there is a solution
        ["--device", "cuda", "--gpu", "9"],
    ],
)
def test_an_old_file_outlives_a_failure(run, tmp_path, options):
    board, old = tmp_path / "board.txt", tmp_path / "old.txt"
    board.write_text(BOARD)
    old.write_text("precious\n")
    status, _, err = run("enumerate", board, "-o", old, "--force", *options)
    assert status > 0
    assert len(err.splitlines()) <= 2
    assert old.read_text() == "precious\n"


def test_no_results_are_an_empty_file(run, tmp_path):
    board, out = tmp_path / "board.txt", tmp_path / "out.txt"
    board.write_text("11" + "." * 14)
    assert run("enumerate", board, "-o", out)[0] == 0
    assert out.read_text() == ""


def test_standard_input_is_not_overwritten(tmp_path):
    board = tmp_path / "board.txt"
    board.write_text(BOARD)
    command = [sys.executable, "-m", "gpusudoku", "convert", "-", "-o", str(board), "--force"]
    with board.open() as stdin:
        done = subprocess.run(
            command, stdin=stdin, cwd=ROOT, capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert "is read, and cannot be written at the same time" in done.stderr
    assert board.read_text() == BOARD


def test_what_is_no_file_needs_no_force(run, tmp_path):
    board = tmp_path / "board.txt"
    board.write_text(BOARD)
    assert run("enumerate", board, "-o", "/dev/null")[0] == 0
