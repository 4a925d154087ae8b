"""The output: files that are kept until there is something to write, logs, and terminals."""

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
        ["solve", "-j", "1"],  # several threads may find another solution the next time
        ["solve", "--format", "tsv", "--exit-code", "-j", "1"],
        ["solve", "--format", "pretty", "-j", "1"],
    ],
)
def test_a_file_has_what_stdout_would_have(run, file, tmp_path, command):
    path = file(BATCH)
    out = tmp_path / "out.txt"
    status, stdout, err = run(*command, path)
    status_to_file, stdout_with_file, err_to_file = run(*command, path, "-o", out)
    assert (status_to_file, stdout_with_file) == (status, "")
    assert out.read_text() == stdout
    assert steady(err_to_file) == steady(err)
    out.write_text("precious\n")
    assert run(*command, path, "-o", out)[:2] == (2, "")
    assert out.read_text() == "precious\n"
    assert run(*command, path, "-o", out, "--force")[0] == status
    assert out.read_text() == stdout


COMMANDS = {
    "count": ["count", "1.3.3..2.1....21"],
    "solve": ["solve", "1.3.3..2.1....21"],
    "enumerate": ["enumerate", "1....2....3.....", "--sorted"],
    "sample": ["sample", "1....2....3.....", "--seed", "1", "-n", "3"],
    "nth": ["nth", "1....2....3.....", "0", "5"],
    "minimise": ["minimise", "1.3.3..2.1....21", "--seed", "1"],
    "neighbours": ["neighbours", "1.3.3..2.1....21"],
    "canonical": ["canonical", "1.3.3..2.1....21"],
    "shares": ["shares", "1....2....3....."],
    "generate": ["generate", "--box", "2x2", "--seed", "1"],
    "convert": ["convert", "1.3.3..2.1....21"],
}
"""Commands whose output has a form."""
FORMS = [
    (name, ending)
    for name in COMMANDS
    for ending in ("csv", "tsv", "jsonl", "ndjson", "txt", "sdk", "dat")
    if not (name == "shares" and ending in ("tsv", "sdk"))
    and not (name == "convert" and ending in ("jsonl", "ndjson"))
    and not (name == "count" and ending == "sdk")
]


def without_times(text):
    return re.sub(r'"[a-z_]*(seconds|estimate|utilisation)": [^}]*', "", text)


@pytest.mark.parametrize(("name", "ending"), FORMS)
def test_the_name_of_a_file_chooses_the_form(run, tmp_path, name, ending):
    form = {"ndjson": "jsonl", "txt": None, "dat": None}.get(ending, ending)
    out = tmp_path / f"out.{ending}"
    command = COMMANDS[name]
    expected = run(*command, *(["--format", form] if form else []))[1]
    assert run(*command, "-o", out)[:2] == (0, "")
    assert without_times(out.read_text()) == without_times(expected)


@pytest.mark.parametrize("name", [*COMMANDS, "rank", "merge"])
@pytest.mark.parametrize("ending", ["npy", "parquet", "json", "csv.gz", "xlsx", "JSON"])
def test_a_form_that_is_not_written_is_refused(run, tmp_path, name, ending):
    """Before anything is computed, or a file is overwritten."""
    part = tmp_path / "part.json"
    out = tmp_path / f"out.{ending}"
    run("count", "1....2....3.....", "--part", "1/1", "-o", part)
    more_commands = {
        "rank": ["rank", "1....2....3.....", "1342421324313124"],
        "merge": ["merge", part],
    }
    out.write_text("mine")
    status, stdout, err = run(*{**COMMANDS, **more_commands}[name], "-o", out, "--force")
    assert (status, stdout, out.read_text()) == (2, "", "mine")
    expected = "leave out .gz" if ending == "csv.gz" else "expected a name that ends in ."
    assert err.startswith(f"gpusudoku: {out}: ")
    assert expected in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize(("name", "ending"), [each for each in FORMS if each[1] != "dat"])
def test_a_symbolic_link_is_written_through(run, tmp_path, name, ending, dangling):
    (tmp_path / "folder").mkdir()
    link = tmp_path / f"link.{ending}"
    target = tmp_path / "folder" / "target"
    link.symlink_to(target)
    if not dangling:
        target.write_text("old")
    assert run(*COMMANDS[name], "-o", link, "--force", "-q")[:2] == (0, "")
    assert link.is_symlink()
    assert target.read_text() not in ("", "old")


@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize("name", ["count", "solve", "enumerate", "sample", "minimise", "generate"])
def test_a_symbolic_link_is_written_through_with_a_checkpoint(run, tmp_path, name, dangling):
    link, target, saved = (tmp_path / name for name in ("link.csv", "target", "a.run"))
    link.symlink_to(target)
    if not dangling:
        target.write_text("old")
    arguments = [*COMMANDS[name], "-o", link, "--checkpoint", saved, "--force", "-q"]
    assert run(*arguments)[:2] == (0, "")
    assert target.read_text().count(",") > 3
    text = target.read_text()
    assert run("resume", saved, "-q")[:2] == (0, "")
    assert (link.is_symlink(), target.read_text()) == (True, text)


def test_an_interrupted_run_continues_through_a_link(checkpointed, limit_disk, tmp_path):
    saved_run = checkpointed(["solve"])
    target = tmp_path / "target"
    expected = saved_run.run_without_checkpoint()[1]
    saved_run.out.symlink_to(target)
    limit_disk(len(expected) // 2)
    assert saved_run()[0] == 1
    limit_disk(None)
    assert 0 < len(target.read_text()) < len(expected)
    assert saved_run.resume()[1:] == ("", "")
    assert (saved_run.out.is_symlink(), target.read_text()) == (True, expected)


def test_a_part_does_not_overwrite_a_record_of_the_user(run, file, tmp_path):
    """A resumed part writes its record again, but not over another file."""
    path = file(BATCH)
    out = tmp_path / "part.txt"
    saved = tmp_path / "a.run"
    record = tmp_path / "part.txt.part.json"
    arguments = ["count", path, "--part", "1/2", "-o", out, "--checkpoint", saved, "-q"]
    assert run(*arguments) == (0, "", "")
    for _ in range(2):
        assert run("resume", saved, "-q") == (0, "", "")
        assert json.loads(record.read_text())
    record.write_text("mine")
    assert run("resume", saved, "-q") == (
        2, "", f"gpusudoku: {record}: exists already; --force overwrites it\n"
    )  # fmt: skip
    assert record.read_text() == "mine"


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
    path = file(f"{UNIQUE}\n{NONE}\n")
    log = tmp_path / "log"
    plain = run(command, path, "-j", 1)[1]
    for _ in range(2):
        assert run(command, path, "-j", 1, "--log", log, *stats)[1] == plain
    printed = run(command, path, "-j", 1, "--json", *stats)[1].splitlines() * 2
    time_fields = {"seconds", "expansion_seconds", "utilisation"}
    for line, printed_line in zip(log.read_text().splitlines(), printed, strict=True):
        logged = json.loads(line)
        printed_record = json.loads(printed_line)
        assert logged.keys() == printed_record.keys()
        assert [logged[k] for k in logged.keys() - time_fields] == [
            printed_record[k] for k in logged.keys() - time_fields
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
        process = subprocess.run(command, stdin=stdin, cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 2
    assert "is read, and cannot be written at the same time" in process.stderr
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
        grids = f"{formats.write(formats.parse(board), 'pretty')}\n\n"
        if board == UNIQUE:
            grids += f"{plain}\n"
        subject = "the only" if board == UNIQUE else "no"
        assert status == 0
        assert re.fullmatch(re.escape(grids) + rf"{subject} solution, \d+\.\d{{6}} s\n", out)
        assert ("both hold 1" in err) == (board == NONE)

    def test_what_is_asked_for_comes_as_ever(self, run, file, monkeypatch):
        commands = [["solve", file(UNIQUE), "--format", "line"], ["solve", file(BATCH, "batch")]]
        plain = [run(*command)[:2] for command in commands]
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert [run(*command)[:2] for command in commands] == plain
