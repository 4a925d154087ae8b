"""Where answers go: files that are kept until there is something to write, logs, and terminals."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gpusudoku import checking, formats
from tests.boards import LINE_4X4, NONE, SEVERAL, UNIQUE
from tests.cli.conftest import ROOT

BATCH = f"{UNIQUE}\n{SEVERAL}\n{NONE}\n"


def steady(err):
    """Return the lines on stderr that are the same every time."""
    return [line for line in err.splitlines() if not re.search("compiling|a second", line)]


@pytest.mark.parametrize(
    "command",
    [
        ["count"],
        ["count", "--json"],
        ["count", "--only", "unique", "--exit-code"],
        ["solve"],
        ["solve", "--format", "tsv", "--exit-code"],
        ["solve", "--format", "pretty"],
    ],
)
def test_a_file_has_what_stdout_would_have(run, file, tmp_path, command):
    path, out = file(BATCH), tmp_path / "out.txt"
    status, shown, err = run(*command, path)
    status_to_file, rest, err_to_file = run(*command, path, "-o", out)
    assert (status_to_file, rest) == (status, "")
    assert out.read_text() == shown
    assert steady(err_to_file) == steady(err)
    out.write_text("precious\n")
    assert run(*command, path, "-o", out)[:2] == (2, "")
    assert out.read_text() == "precious\n"
    assert run(*command, path, "-o", out, "--force")[0] == status
    assert out.read_text() == shown


@pytest.mark.parametrize("command", ["count", "solve", "enumerate", "simplify", "info"])
def test_quiet_leaves_out_all_that_is_said_besides(run, file, command):
    for boards in (NONE, f"{UNIQUE}\n{NONE}\n{UNIQUE}\n"):
        path = file(boards)
        loud = run(command, path)
        stats = ["--stats"] * (command in ("count", "solve", "enumerate"))
        assert run(command, path, "-q", *stats) == (loud[0], loud[1], "")


@pytest.mark.parametrize("command", ["count", "solve"])
@pytest.mark.parametrize("stats", [[], ["--stats"]])
def test_the_log_has_what_json_prints(run, file, tmp_path, command, stats):
    path, log = file(f"{UNIQUE}\n{NONE}\n"), tmp_path / "log"
    plain = run(command, path, "-j", 1)[1]
    for _ in range(2):
        assert run(command, path, "-j", 1, "--log", log, *stats)[1] == plain
    printed = run(command, path, "-j", 1, "--json", *stats)[1].splitlines() * 2
    of_time = {"seconds", "expansion_seconds", "utilisation"}
    for line, other in zip(log.read_text().splitlines(), printed, strict=True):
        logged, shown = json.loads(line), json.loads(other)
        assert logged.keys() == shown.keys()
        assert [logged[k] for k in logged.keys() - of_time] == [
            shown[k] for k in logged.keys() - of_time
        ]


def test_statistics_of_a_batch_are_sums_of_those_of_its_boards(run, file):
    _, out, err = run("count", file(BATCH), "--stats", "--json", "-j", 1)
    for name in ("nodes", "boards_explored", "frontier_boards"):
        total = sum(json.loads(line)[name] for line in out.splitlines())
        assert f" {name.replace('_', ' ')}: {total:,}\n" in err


@pytest.mark.parametrize("boards", [LINE_4X4, f"{LINE_4X4}\n{LINE_4X4}"])
def test_a_second_count_that_differs_is_an_error(run, file, monkeypatch, boards):
    real = checking.run_plan
    monkeypatch.setattr(
        checking,
        "run_plan",
        lambda *arguments, **options: replace(real(*arguments, **options), count=0),
    )
    path = file(boards)
    status, _, err = run("count", path, "--cross-check")
    assert status == 1
    place = f"{path}:1: " if "\n" in boards else ""
    assert steady(err)[-1].startswith(f"gpusudoku: {place}cross-check failed: ")


def test_standard_input_is_not_overwritten(file):
    path = file(UNIQUE)
    command = [sys.executable, "-m", "gpusudoku", "convert", "-", "-o", str(path), "--force"]
    with path.open() as stdin:
        done = subprocess.run(command, stdin=stdin, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "is read, and cannot be written at the same time" in done.stderr
    assert path.read_text() == UNIQUE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device")
def test_a_full_disk_is_one_line(run, file):
    status, out, err = run("count", file(BATCH), "-o", "/dev/full", "-q")
    assert (status, out) == (1, "")
    assert err == "gpusudoku: /dev/full: cannot be written: No space left on device\n"
    assert run("count", file(BATCH), "-o", "/dev/null", "-q") == (0, "", "")


class TestTerminal:
    @pytest.mark.parametrize("board", [UNIQUE, NONE])
    def test_solve_shows_the_board_and_the_status(self, run, file, monkeypatch, board):
        plain = run("solve", file(board))[1]
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        status, out, err = run("solve", file(board))
        shown = f"{formats.write(formats.parse(board), 'pretty')}\n\n"
        if board == UNIQUE:
            shown += f"{plain}\n"
        found = "the only" if board == UNIQUE else "no"
        assert status == 0
        assert re.fullmatch(re.escape(shown) + rf"{found} solution, \d+\.\d{{6}} s\n", out)
        assert ("both hold 1" in err) == (board == NONE)

    def test_what_is_asked_for_comes_as_ever(self, run, file, monkeypatch):
        commands = [["solve", file(UNIQUE), "--format", "line"], ["solve", file(BATCH, "batch")]]
        plain = [run(*command)[:2] for command in commands]
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert [run(*command)[:2] for command in commands] == plain
