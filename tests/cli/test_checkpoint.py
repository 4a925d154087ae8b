"""``--checkpoint`` and ``resume``: a resumed run has the same output as one without a break."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter

import pytest

from gpusudoku.enumeration import sampling
from gpusudoku.runs import store
from gpusudoku.runs.store import RunStore, read_run
from tests.boards import UNIQUE
from tests.waiting import until

BOARD = "1....2....3....."
STEPS = f"import {store.__name__} as it; it.FIRST_SECONDS = it.MAX_SECONDS = 0.1\n"
"""Lets a count be saved often."""

EMPTY = "." * 16

pytestmark = pytest.mark.usefixtures("uncompiled")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.run"


def stop(saved_run, limit_disk, room):
    """Run until the disk is full after ``room`` bytes; return what ``status`` prints then."""
    limit_disk(room)
    status, out, err = saved_run()
    assert (status, out) == (1, "")
    assert err.endswith(f"gpusudoku: {saved_run.out}: cannot be written: No space left on device\n")
    limit_disk(None)
    return json.loads(saved_run._run("status", saved_run.run_file, "--json")[1])


@pytest.mark.parametrize(
    "command",
    [
        "count --format csv --limit 3",
        "solve --format pretty",
        "enumerate --format csv -j 1",
        "enumerate --json --sorted --limit 70",
        "shares --format jsonl",
        "shares --unique --pairs --format csv",
        "shares --candidates --format csv",
    ],
)
def test_after_a_full_disk(checkpointed, limit_disk, command):
    """The disk may be full at any byte: there is one message, and the output has whole lines."""
    saved_run = checkpointed(command.split())
    expected = saved_run.run_without_checkpoint()[1]
    for room in (len(expected) * 9 // 10, 1):
        stop(saved_run, limit_disk, room)
        assert expected.startswith(saved_run.out.read_text())
    assert saved_run.resume() == (0, "", "")
    assert saved_run.out.read_text() == expected
    assert saved_run() == saved_run.resume() == (0, "", "")
    assert saved_run.out.read_text() == expected


@pytest.mark.parametrize("command", [["count"], ["solve", "--json"]])
def test_bad_boards_are_told_of_again(checkpointed, limit_disk, command):
    boards = checkpointed(command).boards.read_text()
    saved_run = checkpointed([*command, "--keep-going"], f"1x\n{boards}22x\n{boards}")
    expected = saved_run.run_without_checkpoint()[1]
    stop(saved_run, limit_disk, 300)
    status, out, err = saved_run.resume()
    assert (status, out, err.count("\n")) == (2, "", 2)
    assert saved_run.out.read_text() == expected


def test_in_the_folder_and_the_environment_in_which_it_began(
    checkpointed, tmp_path, monkeypatch, limit_disk
):
    monkeypatch.chdir(tmp_path)
    saved_run = checkpointed(["count"])
    saved_run.command = ["count", "boards.txt"]
    saved_run.out = "out.txt"
    monkeypatch.setenv("GPUSUDOKU_COUNT_LIMIT", "2")
    expected = saved_run.run_without_checkpoint()[1]
    assert "2+" in expected
    stop(saved_run, limit_disk, 200)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    monkeypatch.setenv("GPUSUDOKU_COUNT_LIMIT", "3")
    assert saved_run.resume()[0] == 0
    assert (tmp_path / "out.txt").read_text() == expected


def test_an_output_that_is_not_as_it_was(checkpointed, limit_disk):
    """It is refused; the run can be resumed once the file is restored."""
    saved_run = checkpointed(["enumerate", "--sorted"])
    expected = saved_run.run_without_checkpoint()[1]
    stop(saved_run, limit_disk, len(expected) - 5)
    saved = saved_run.out.read_bytes()
    changes = {
        "has 1 bytes, not the ": lambda: saved_run.out.write_bytes(b"1"),
        "does not exist any more": saved_run.out.unlink,
        "is not a regular file, as --checkpoint requires": lambda: os.mkfifo(saved_run.out),
        "is a folder, and cannot be": lambda: (saved_run.out.unlink(), saved_run.out.mkdir()),
    }
    for message, change in changes.items():
        change()
        for rerun in (saved_run, saved_run.resume):
            status, out, err = rerun()
            assert (status, out, err.count("\n")) == (2, "", 1)
            assert err.startswith(f"gpusudoku: {saved_run.out}: {message}")
    saved_run.out.rmdir()
    saved_run.out.write_bytes(saved)
    assert saved_run()[0] == 0
    assert saved_run.out.read_text() == expected


@pytest.mark.filterwarnings("error")  # of a thread that ends with an exception
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError()])
def test_a_save_that_fails_stops_the_work(checkpointed, monkeypatch, error):
    """The work stops at the first save that fails; it can be resumed later."""
    saved_run = checkpointed(["count"])
    monkeypatch.setattr(store, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(store, "MAX_SECONDS", 0.0)
    fsync = os.fsync
    saves = []

    def failing(descriptor):
        saves.append(descriptor)
        if len(saves) > 2:  # the first are those of the empty file and its folder
            raise error
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        status, out, err = saved_run()
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.endswith((": No space left on device\n", "out of memory\n"))
    assert saved_run.resume()[0] == 0
    assert saved_run.out.read_text() == saved_run.run_without_checkpoint()[1]


@pytest.mark.parametrize("failing", [3, 4])
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("method", ["search", "auto"])
def test_a_sync_that_fails_once(checkpointed, monkeypatch, failing, error, method):
    """The lines before it are neither lost nor written twice."""
    saved_run = checkpointed(["enumerate", "--method", method], EMPTY)
    expected = sorted(saved_run.run_without_checkpoint()[1].splitlines())
    monkeypatch.setattr(store, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(store, "MAX_SECONDS", 0.0)
    fsync = os.fsync
    synced = []

    def once(descriptor):
        synced.append(descriptor)
        if len(synced) == failing:
            raise error
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", once)
        assert saved_run()[0] in (1, 130)
    assert len(synced) >= failing
    assert saved_run.resume()[0] == 0
    assert sorted(saved_run.out.read_text().splitlines()) == expected


def test_the_output_and_its_folder_are_on_the_disk_before_a_save(checkpointed, monkeypatch):
    """A loss of power leaves no checkpoint ahead of its file; a folder is synced once."""
    saved_run = checkpointed(["count"])
    monkeypatch.setattr(store, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(store, "MAX_SECONDS", 0.0)
    fsync = os.fsync
    synced = Counter()

    def recording(descriptor):
        synced[os.fstat(descriptor).st_ino] += 1
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", recording)
        assert saved_run()[0] == 0
    assert synced[saved_run.out.stat().st_ino] > 1
    assert synced[saved_run.out.parent.stat().st_ino] == 1


def test_the_output_of_one_board_is_written_again(run, path, tmp_path, file):
    table = file("name,board\nA,1....2....3.....\n", "boards.csv")
    expected = run("count", table, "--format", "csv")[1]
    output = tmp_path / "out.csv"
    assert run("count", table, "--format", "csv", "--checkpoint", path, "-o", output)[0] == 0
    assert output.read_text() == expected
    table.unlink()
    output.unlink()
    assert run("resume", path) == (0, "", f"gpusudoku: {path}: was already finished\n")
    assert output.read_text() == expected
    assert run("resume", path)[0] == 0
    output.write_text("mine\n")
    status, _, err = run("resume", path, "-q")
    assert (status, err.count("\n")) == (2, 1)
    assert "exists already; move it" in err


def test_a_signal_saves_and_says_how_to_go_on(start, run, path):
    """Meanwhile ``status`` names the working process, and a second process is refused."""
    arguments = ("count", "." * 81, "--method", "search", "--checkpoint", path)
    process = start(*arguments, setup_code=STEPS)
    saved(path, process)
    out = run("status", path)[1]
    assert f"process {process.pid} on" in out
    assert "running since" in out
    facts = json.loads(run("status", path, "--json")[1])
    assert (facts["working"], facts["exact"], facts["finished"]) == (True, False, False)
    assert int(facts["count"]) > 0
    for command in (arguments, ("resume", path)):
        status, _, err = run(*command)
        assert (status, err.count("\n")) == (2, 1)
        assert f"{path}: process {process.pid} on" in err
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 143
    count = json.loads(run("status", path, "--json")[1])["count"]
    how = f"'gpusudoku resume {path}' continues the run"
    last_line = err.splitlines()[-1]
    assert last_line == f"gpusudoku: interrupted: at least {count} solutions; {how}"
    assert "not running" in run("status", path)[1]


def saved(path, process):
    """Wait until some solutions are found and saved."""

    def has_solutions():
        assert process.poll() is None, process.communicate()
        return path.exists() and path.stat().st_size and read_run(path).state.count

    until(has_solutions)


@pytest.mark.parametrize("options", [[], ["--part", "2/3"]], ids=["whole", "part"])
def test_a_run_that_goes_on_before_its_first_save(run, path, monkeypatch, options):
    """It resumes the same part, and writes the same record as a run without an interrupt."""

    def interrupted(*_):
        raise KeyboardInterrupt

    arguments = ["count", BOARD, "--method", "search", *options]
    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "save", interrupted)
        status, out, err = run(*arguments, "--checkpoint", path)
    assert (status, out) == (130, "")
    assert f"'gpusudoku resume {path}' continues the run" in err
    status, resumed, err = run("resume", path)
    assert status == 0
    whole = run(*arguments)[1]
    for record in ("part", "partial", "digest", "identity") if options else ():
        assert json.loads(resumed)[record] == json.loads(whole)[record]
    assert options or resumed == whole == "6\n"


def untimed(record):
    """Return a record without its times."""
    facts = json.loads(record.read_text())
    facts["stats"].pop("seconds")
    return facts | {"seal": None}


@pytest.mark.parametrize(
    "options",
    ["-n 288 --seed 7 --distinct --json", "--seed 7 --part 2/2 --format csv"],
)
def test_a_sample_of_one_board(checkpointed, limit_disk, monkeypatch, options):
    """A resumed sample continues with the next draw."""
    monkeypatch.setattr(sampling, "MAX_BLOCK", 32)
    saved_run = checkpointed(["sample", "-n", "300", *options.split()], EMPTY)
    expected = saved_run.run_without_checkpoint()[1]
    facts = stop(saved_run, limit_disk, len(expected) // 2)
    assert 32 <= int(facts["solutions_done"]) < 200
    assert facts["boards_done"] == 0
    assert saved_run.resume("-j", "1") == saved_run() == (0, "", "")
    assert saved_run.out.read_text() == expected


def test_a_seed_that_nobody_gave_stays(run, checkpointed, limit_disk, monkeypatch):
    monkeypatch.setattr(sampling, "MAX_BLOCK", 32)
    saved_run = checkpointed(["sample", "-n", "300", "--json"], EMPTY)
    stop(saved_run, limit_disk, 300 * 70)
    assert saved_run.resume()[0] == 0
    lines = [json.loads(line) for line in saved_run.out.read_text().splitlines()]
    [seed] = {line["seed"] for line in lines}
    repeated = run("sample", saved_run.boards, "-n", "300", "--seed", seed, "--json")[1]
    assert saved_run.out.read_text() == repeated


@pytest.mark.parametrize(
    "command", ["count --format csv", "enumerate --sorted", "sample -n 20 --seed 5 --format csv"]
)
def test_a_part_of_a_batch(checkpointed, limit_disk, tmp_path, command):
    """It has a file, and a record in a second file, which is written at the end."""
    saved_run = checkpointed([*command.split(), "--part", "2/2"])
    plain = tmp_path / "plain.txt"
    record = tmp_path / "out.txt.part.json"
    assert saved_run._run(*saved_run.command, "-o", plain, "-q")[0] == 0
    expected = plain.read_text()
    stop(saved_run, limit_disk, len(expected) * 2 // 3)
    assert not record.exists()
    for rerun in (saved_run.resume, saved_run.resume, saved_run):
        assert rerun() == (0, "", "")
        assert saved_run.out.read_text() == expected
        assert untimed(record) == untimed(tmp_path / "plain.txt.part.json")


@pytest.mark.parametrize("moment", ["before the record is kept", "after it is kept"])
def test_a_part_overwrites_an_old_record_although_it_was_killed(
    checkpointed, tmp_path, monkeypatch, moment
):
    """The process is killed when all boards are finished, and only the record is missing."""
    saved_run = checkpointed(["count", "--part", "2/2", "--force"])
    record = tmp_path / "out.txt.part.json"
    keep = RunStore.save_facts
    record.write_text("of an older run")

    def interrupted(store, facts):
        if moment == "after it is kept":
            keep(store, facts)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "save_facts", interrupted)
        assert saved_run()[0] == 130
    for _ in range(2):
        assert saved_run.resume() == (0, "", "")
        assert json.loads(record.read_text())["stats"]["status"] == 0
    record.write_text("of another program")
    status, _, error = saved_run.resume()
    assert (status, error.count("exists already"), record.read_text()) == (
        2,
        1,
        "of another program",
    )


@pytest.mark.parametrize(
    ("command", "share", "is_pipe"),
    [("solve --format grid", 0.97, False), ("count --format csv", 0.0, False),
     ("solve --format grid", 0.5, False), ("count --format csv", 0.5, True)],
)  # fmt: skip
def test_an_interrupt_within_a_block(checkpointed, monkeypatch, tmp_path, command, share, is_pipe):
    """It leaves whole lines and a log of the same boards; a resumed run loses nothing."""
    boards = f"{UNIQUE}\n" * 60 + "bad\n" * 3 + f"{UNIQUE}\n" * 60
    saved_run = checkpointed([*command.split(), "--keep-going"], boards)
    plain = tmp_path / "plain"
    log = tmp_path / "log"
    write = os.write
    signals = []
    saved_run._run(*saved_run.command, "-o", plain, "-q")
    expected = plain.read_text()
    logged = []
    if is_pipe:
        os.mkfifo(log)
        reader = threading.Thread(target=lambda: logged.extend(log.read_text().splitlines()))
        reader.start()

    def interrupted(descriptor, data):
        out = saved_run.out
        is_output = out.exists() and os.path.samestat(os.fstat(descriptor), out.stat())
        if not is_output or signals or len(data) < 500:
            return write(descriptor, data)
        signals.append(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return write(descriptor, bytes(data)[: int(len(data) * share)])

    monkeypatch.setattr(os, "write", interrupted)
    assert saved_run._run(*saved_run.command, "-o", saved_run.out, "--log", log, "-q")[0] == 130
    text = saved_run.out.read_text() if saved_run.out.exists() else ""
    if is_pipe:
        reader.join()
    else:
        logged = log.read_text().splitlines()
    assert expected.startswith(text)
    grids = len([grid for grid in text.split("\n\n") if len(grid.split()) == 4])
    assert len(logged) == (grids if "grid" in command else max(0, len(text.splitlines()) - 1))
    saved_run.out.unlink(missing_ok=True)
    signals.clear()
    assert saved_run()[0] == 130
    assert len(signals) == 1
    assert saved_run.resume()[0] == 2  # because of the bad boards
    assert saved_run.out.read_text() == expected
