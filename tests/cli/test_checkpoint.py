"""``count --checkpoint`` of one board, ``resume`` and ``status``."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time

import pytest

from gpusudoku.runs import local
from gpusudoku.runs.kept import Position, read_run
from gpusudoku.runs.ledger import Ledger
from tests.runs.fakes import IDENTITY, SETUP, FakePlan, worked

BOARD = "1....2....3....."
posix = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


def test_a_count_and_its_file(run, path):
    """The same command again, and ``resume``, print the count at once."""
    status, out, err = run("count", BOARD, "--checkpoint", path)
    assert (status, out, err) == (0, "6\n", "")
    kept = path.read_bytes()
    status, out, err = run("count", BOARD, "--checkpoint", path)
    assert (status, out, err) == (0, "6\n", f"gpusudoku: {path}: finished before\n")
    status, out, err = run("resume", path, "-j", "1", "--device", "cpu")
    assert (status, out, err) == (0, "6\n", f"gpusudoku: {path}: finished before\n")
    status, out, err = run("resume", path, "--quiet")
    assert (status, out, err) == (0, "6\n", "")
    assert len(path.read_bytes()) == len(kept)


@pytest.mark.parametrize("clues", ["11..2....3......", "1..............."], ids=["none", "many"])
def test_boards_without_anything_to_do_and_others(run, path, clues):
    expected = run("count", clues)[1]
    assert run("count", clues, "--checkpoint", path)[1] == expected
    assert run("resume", path)[1] == expected


def test_resume_writes_what_the_command_would_have(run, path, tmp_path, file):
    table = file("name,board\nA,1....2....3.....\n", "boards.csv")
    expected = run("count", table, "--format", "csv")[1]
    output = tmp_path / "out.csv"
    assert run("count", table, "--format", "csv", "--checkpoint", path, "-o", output)[0] == 0
    assert output.read_text() == expected
    table.unlink()
    output.unlink()
    assert run("resume", path) == (0, "", f"gpusudoku: {path}: finished before\n")
    assert output.read_text() == expected
    assert run("resume", path)[0] == 0  # it is its own


def test_a_board_on_standard_input_is_in_the_file(start, path):
    process = start("count", "-", "--checkpoint", path, "--json", stdin=subprocess.PIPE)
    first, _ = process.communicate(BOARD)
    again, _ = start("resume", path, stdin=subprocess.DEVNULL).communicate()
    told = [json.loads(text) for text in (first, again)]
    assert told[0]["count"] == told[1]["count"] == "6"
    assert told[0]["source"] == told[1]["source"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--limit", "3"], "--limit cannot be combined with --checkpoint of one board"),
        (["--only", "unique"], "--only cannot be combined with --checkpoint of one board"),
        (["--exit-code"], "--exit-code cannot be combined with --checkpoint of one board"),
        (["--cross-check"], "--cross-check cannot be combined with --checkpoint"),
        (
            ["--method", "contraction"],
            "run.sqlite: holds another run: method search, not contraction",
        ),
        (
            ["--method", "search", "--cutoff", "9"],
            "run.sqlite: holds another run: cutoff none, not 9.0",
        ),
    ],
)
def test_refusals(run, path, arguments, words):
    run("count", BOARD, "--method", "search", "--checkpoint", path)
    kept = path.read_bytes()
    status, out, err = run("count", BOARD, *arguments, "--checkpoint", path)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert words in err
    assert path.read_bytes() == kept


def test_other_boards_and_files_are_refused(run, path, tmp_path, file):
    run("count", BOARD, "--checkpoint", path)
    output = file("mine", "out.txt")
    other = file("53..7....", "other")
    for arguments, words in {
        ("count", "1...............", "--checkpoint", path): "holds another run: another board",
        ("count", BOARD, "--checkpoint", tmp_path): "is a folder",
        ("count", BOARD, "--checkpoint", tmp_path / "no" / "x"): "there is no folder",
        ("count", BOARD, "--checkpoint", other): "not made by --checkpoint",
        ("count", BOARD, "--checkpoint", path, "-o", output): "exists already; move it, or",
        ("count", BOARD, "--checkpoint", tmp_path / "new", "-o", output): "exists already",
        ("resume", other): "not made by --checkpoint",
        ("resume", tmp_path / "missing"): "no such file",
        ("status", other): "not made by --checkpoint",
        ("status", tmp_path / "missing"): "no such file",
        ("status", "/dev/null"): "is no ordinary file",
    }.items():
        status, out, err = run(*arguments)
        assert (status, out) == (2, ""), arguments
        assert len(err.splitlines()) == 1
        assert words in err
    assert output.read_text() == "mine"
    assert other.read_text() == "53..7...."
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other", "out.txt", "run.sqlite"]


def test_setups_that_no_command_makes(run, tmp_path):
    for index, setup in enumerate(
        [
            {"kind": "\x1b[2J"},
            {"kind": "count"},
            {"kind": "count", "options": {}, "place": {}},
            {"kind": "count", "options": {"gpus": 3}, "place": []},
            {"kind": "count", "options": {"gpus": None, "jobs": "x"}, "place": {}},
            {"kind": "count", "options": {"gpus": None, "other": 1}, "place": {}},
            {"kind": "count", "options": {"gpus": None}, "place": {}, "form": "../x"},
            {"kind": "count", "options": {"gpus": None}, "place": {}, "verify": 2},
        ]
    ):
        path = tmp_path / f"{index}"
        with Ledger(path) as ledger:
            ledger.begin(IDENTITY, setup, FakePlan().part())
        kept = path.read_bytes()
        status, out, err = run("resume", path)
        assert (status, out) == (2, ""), setup
        assert len(err.splitlines()) == 1
        assert err[:-1].isprintable()
        assert path.read_bytes() == kept


def test_status_of_a_run(run, path):
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP, FakePlan().part())
        assert "process" in run("status", path)[1]
        worked(ledger, FakePlan(calls=60), 4)
        status, out, err = run("status", path)
        assert (status, err) == (0, "")
        assert f"process {os.getpid()} on" in out
        assert "works at it since" in out
        assert f"at least {ledger.count}" in out
        assert "solutions a second" in out
        told = json.loads(run("status", path, "--json")[1])
        assert told["working"] is True
        assert told["count"] == str(ledger.count)
        assert (told["exact"], told["finished"]) == (False, False)
        assert told["tasks"] == 40
        assert told["tasks_finished"] / 40 == pytest.approx(told["done"])
        assert told["seconds"] == 4
    assert "nobody works at it; last saved at" in run("status", path)[1]
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP)
        worked(ledger, FakePlan(calls=300))
    status, out, _ = run("status", path)
    assert "finished at" in out
    assert "left" not in out
    assert json.loads(run("status", path, "--json")[1])["exact"] is True


def test_status_of_a_listing(run, path):
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP)
        ledger.move(Position(3, 10**30, 12345), count=10**31, seconds=9.0, done=0.25)
    out = run("status", path)[1]
    assert "25.0%, 3 boards, 12,345 bytes written" in out
    assert "about 27 s" in out
    told = json.loads(run("status", path, "--json")[1])
    assert told["solutions_done"] == str(10**30)


def test_status_of_a_run_whose_clock_was_wrong(run, path, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1e300)
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP, FakePlan().part())
    assert "last saved at an unknown time" in run("status", path)[1]


STEPS = f"import {local.__name__} as local; local.FIRST_SECONDS = local.MOST_SECONDS = 0.1\n"


def saved(path, process):
    """Wait until something is found and saved."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and path.stat().st_size and read_run(path)[0].state.count:
            return
        time.sleep(0.02)
    raise AssertionError(process.communicate())


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_saves_and_says_how_to_go_on(start, path, name):
    number = getattr(signal, name)
    process = start("count", "." * 81, "--method", "search", "--checkpoint", path, before=STEPS)
    saved(path, process)
    assert read_run(path)[1] is True
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 128 + number
    kept, working = read_run(path)
    assert not working
    last = err.splitlines()[-1]
    count = kept.state.count
    assert last == (
        f"gpusudoku: interrupted: at least {count} solutions; 'gpusudoku resume {path}' goes on"
    )
    process = start("resume", path, "-j", "1", before=STEPS)
    deadline = time.monotonic() + 300
    while read_run(path)[0].state.count <= count:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    assert f"{path}: goes on; " in process.communicate()[1]


@posix
def test_a_second_process_is_refused(start, path):
    arguments = ("." * 81, "--method", "search", "--checkpoint", path)
    first = start("count", *arguments, before=STEPS)
    saved(path, first)
    for again in (("count", *arguments), ("resume", path)):
        _, err = (second := start(*again)).communicate(timeout=300)
        assert second.returncode == 2
        assert f"{path}: process {first.pid} on" in err
        assert "Traceback" not in err
    assert first.poll() is None


@posix
def test_a_full_disk(start, run, path):
    """A quota for real: the run stops with one line, and goes on where there is room."""
    import resource

    def quota():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, 1 << 15))

    process = start(
        *("count", "@b8", "--method", "search", "--checkpoint", path),
        before=STEPS.replace("0.1", "0.01"),
        preexec_fn=quota,
    )
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (1, "")
    assert "cannot be saved: reading or writing failed" in err
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1
    assert read_run(path)[0].state.count < 18107827
    assert run("resume", path)[1] == "18107827\n"


def test_steps_in_any_number_of_threads(run, path, monkeypatch):
    """With other threads in each run, which stops after a random number of steps."""
    monkeypatch.setattr(local, "FIRST_SECONDS", 0.02)
    monkeypatch.setattr(local, "MOST_SECONDS", 0.02)
    chance, save, steps = random.Random(1), Ledger.save, [0]

    def interrupted(ledger, *arguments):
        save(ledger, *arguments)
        steps[0] -= 1
        if steps[0] == 0 and not ledger.finished:
            raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "save", interrupted)
    status, runs = 130, 0
    while status == 130:
        steps[0], runs = chance.randint(1, 2), runs + 1
        status, out, _ = run(
            *("count", "@b8", "--method", "search", "--checkpoint", path),
            *("-j", chance.randint(1, 5)),
        )
    assert (status, out) == (0, "18107827\n")
    assert runs > 1
