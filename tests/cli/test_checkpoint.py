"""``--checkpoint`` and ``resume``: whatever ended a run, in the end all is as if nothing had."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from gpusudoku import collection
from gpusudoku.checking import Checker
from gpusudoku.cli import saving
from gpusudoku.errors import MismatchError
from gpusudoku.runs import local
from gpusudoku.runs.kept import read_run
from gpusudoku.runs.ledger import Ledger
from tests.boards import PUZZLE
from tests.runs.fakes import IDENTITY, FakePlan
from tests.runs.kills import Killing

BOARD = "1....2....3....."
STEPS = f"import {local.__name__} as local; local.FIRST_SECONDS = local.MOST_SECONDS = 0.1\n"
"""Lets a count be saved often."""

slow = pytest.mark.slow


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.run"


@pytest.mark.usefixtures("uncompiled")
class TestGoingOn:
    @pytest.mark.parametrize(
        "command",
        [
            "count --format csv --limit 3",
            "solve --format pretty",
            "enumerate --format csv",
            "enumerate --json --sorted --limit 70",
            "shares",
        ],
    )
    def test_after_a_full_disk(self, kept, full, command):
        """It may be full at any byte: one line, and what is there is whole and right."""
        this = kept(command.split())
        wanted = this.wanted()[1]
        message = f"gpusudoku: {this.out}: cannot be written: No space left on device\n"
        for room in (len(wanted) * 9 // 10, 1):
            full(room)
            assert this() == (1, "", message)
            assert wanted.startswith(this.out.read_text())
        full(None)
        assert this.resume() == (0, "", "")
        assert this.out.read_text() == wanted
        assert this() == this.resume() == (0, "", "")  # it stays as it is
        assert this.out.read_text() == wanted

    def test_the_tally_and_the_status_are_those_of_the_whole_run(self, run, kept, full):
        this = kept(["count", "--exit-code"])
        full(330)
        command = [*this.command, "-o", this.out, "--checkpoint", this.run_file]
        assert run(*command)[0] == 1
        full(None)
        status, _, err = run("resume", this.run_file)
        assert status == 4
        assert "19 boards: 2 unique, 16 several, 1 none, 0 unreadable; " in err

    @pytest.mark.parametrize("command", [["count"], ["solve", "--json"]])
    def test_bad_boards_are_told_of_again(self, kept, full, command):
        boards = kept(command).boards.read_text()
        this = kept([*command, "--keep-going"], f"1x\n{boards}22x\n{boards}")
        wanted = this.wanted()[1]
        full(300)
        assert this()[0] == 1
        full(None)
        status, out, err = this.resume()
        assert (status, out, err.count("\n")) == (2, "", 2)
        assert this.out.read_text() == wanted

    def test_in_the_folder_and_the_environment_in_which_it_began(
        self, kept, tmp_path, monkeypatch, full
    ):
        monkeypatch.chdir(tmp_path)
        this = kept(["count"])
        this.command, this.out = ["count", "boards.txt"], "out.txt"
        monkeypatch.setenv("GPUSUDOKU_COUNT_LIMIT", "2")
        wanted = this.wanted()[1]
        assert "2+" in wanted
        full(200)
        assert this()[0] == 1
        full(None)
        (tmp_path / "other").mkdir()
        monkeypatch.chdir(tmp_path / "other")
        monkeypatch.setenv("GPUSUDOKU_COUNT_LIMIT", "3")
        assert this.resume()[0] == 0
        assert (tmp_path / "out.txt").read_text() == wanted

    def test_an_output_that_is_not_as_it_was(self, kept, full):
        """It is refused, and goes on once it is put back."""
        this = kept(["enumerate", "--sorted"])
        wanted = this.wanted()[1]
        full(len(wanted) - 5)
        assert this()[0] == 1
        full(None)
        saved = this.out.read_bytes()
        changes = {
            "has 1 bytes, not the ": lambda: this.out.write_bytes(b"1"),
            "is not there any more": this.out.unlink,
            "is no file, and --checkpoint needs": lambda: os.mkfifo(this.out),
            "is a folder, and cannot be": lambda: (this.out.unlink(), this.out.mkdir()),
        }
        for message, change in changes.items():
            change()
            for again in (this, this.resume):
                status, out, err = again()
                assert (status, out, err.count("\n")) == (2, "", 1)
                assert err.startswith(f"gpusudoku: {this.out}: {message}")
        this.out.rmdir()
        this.out.write_bytes(saved)
        assert this()[0] == 0
        assert this.out.read_text() == wanted

    def test_a_file_that_came_since_is_kept(self, kept, monkeypatch):
        """The process ended before it could save for the first time."""
        this = kept(["count"])

        def fail(descriptor):
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            assert this()[0] == 1
        this.out.write_text("precious\n" * 100)
        assert this.resume()[0] == 2
        assert this.out.read_text() == "precious\n" * 100
        this.out.unlink()
        assert this.resume()[0] == 0
        assert this.out.read_text() == this.wanted()[1]

    @pytest.mark.filterwarnings("error")  # of a thread that ends with an exception
    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (OSError(28, "No space left on device"), "cannot be written: No space left on device"),
            (MemoryError(), "out of memory"),
        ],
    )
    def test_a_save_that_fails_stops_the_work(self, kept, monkeypatch, error, message):
        """The work goes no further than what can be saved; later it goes on."""
        this = kept(["count"])
        monkeypatch.setattr(saving, "EVERY_SECONDS", 0.0)
        fsync, saves = os.fsync, []

        def failing(descriptor):
            saves.append(descriptor)
            if len(saves) > 2:  # the first are those of the empty file and its folder
                raise error
            fsync(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing)
            status, out, err = this()
        assert (status, out, err.count("\n")) == (1, "", 1)
        assert err.endswith(f"{message}\n")
        assert this.resume()[0] == 0
        assert this.out.read_text() == this.wanted()[1]


class TestOneBoard:
    def test_the_output_is_written_again(self, run, path, tmp_path, file):
        table = file("name,board\nA,1....2....3.....\n", "boards.csv")
        expected = run("count", table, "--format", "csv")[1]
        output = tmp_path / "out.csv"
        assert run("count", table, "--format", "csv", "--checkpoint", path, "-o", output)[0] == 0
        assert output.read_text() == expected
        table.unlink()
        output.unlink()
        assert run("resume", path) == (0, "", f"gpusudoku: {path}: finished before\n")
        assert output.read_text() == expected
        assert run("resume", path)[0] == 0
        output.write_text("mine\n")
        status, _, err = run("resume", path, "-q")
        assert (status, err.count("\n")) == (2, 1)
        assert "is not what was written, and nothing is left to do" in err

    def test_setups_that_no_command_makes(self, run, tmp_path):
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
            before = path.read_bytes()
            status, out, err = run("resume", path)
            assert (status, out, err.count("\n")) == (2, "", 1), setup
            assert err[:-1].isprintable()
            assert path.read_bytes() == before

    def test_a_signal_saves_and_says_how_to_go_on(self, start, run, path):
        """Meanwhile ``status`` tells who works at it, and a second process is refused."""
        asked = ("count", "." * 81, "--method", "search", "--checkpoint", path)
        process = start(*asked, before=STEPS)
        saved(path, process)
        out = run("status", path)[1]
        assert f"process {process.pid} on" in out
        assert "works at it since" in out
        told = json.loads(run("status", path, "--json")[1])
        assert (told["working"], told["exact"], told["finished"]) == (True, False, False)
        assert int(told["count"]) > 0
        for again in (asked, ("resume", path)):
            status, _, err = run(*again)
            assert (status, err.count("\n")) == (2, 1)
            assert f"{path}: process {process.pid} on" in err
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=300)
        assert process.returncode == 143
        count = json.loads(run("status", path, "--json")[1])["count"]
        how = f"'gpusudoku resume {path}' goes on"
        last = err.splitlines()[-1]
        assert last == f"gpusudoku: interrupted: at least {count} solutions; {how}"
        assert "nobody works at it" in run("status", path)[1]
        process = start("resume", path, "-j", "1", before=STEPS)
        saved(path, process, int(count) + 1)
        process.kill()
        assert f"{path}: goes on; " in process.communicate()[1]

    @slow
    def test_a_full_disk(self, start, run, path):
        """A quota for real: the run stops with one line, and goes on where there is room."""
        import resource

        process = start(
            *("count", "@b8", "--method", "search", "--checkpoint", path),
            before=STEPS.replace("0.1", "0.01"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, 1 << 15)),
        )
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out, err.count("\n")) == (1, "", 1)
        assert "cannot be saved: reading or writing failed" in err
        assert run("resume", path)[1] == "18107827\n"


def saved(path, process, least=1):
    """Wait until so many solutions are found and saved."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and path.stat().st_size and read_run(path)[0].state.count >= least:
            return
        time.sleep(0.02)
    raise AssertionError(process.communicate())


class TestVerified:
    @pytest.mark.parametrize("more", [[], ["--part", "2/3"]], ids=["whole", "part"])
    def test_a_run_that_goes_on_is_verified(self, run, path, monkeypatch, more):
        """It is the part that it was, and its record that of one that was never interrupted."""

        def interrupted(*_):
            raise KeyboardInterrupt

        asked = ["count", BOARD, "--method", "search", "--verify-sample", "1", *more]
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "save", interrupted)
            status, out, err = run(*asked, "--checkpoint", path)
        assert (status, out) == (130, "")
        assert f"'gpusudoku resume {path}' goes on" in err
        status, resumed, err = run("resume", path)
        assert status == 0
        assert "tasks counted again by strategy first: the same count" in err
        whole = run(*asked)[1]
        for record in ("part", "partial", "digest", "identity") if more else ():
            assert json.loads(resumed)[record] == json.loads(whole)[record]
        assert more or resumed == whole == "6\n"
        assert "no task came to its end now" in run("resume", path)[2]

    def test_a_mismatch_stops_the_run(self, run, path, tmp_path, monkeypatch):
        """Nothing of the step is kept, so that it is counted again."""

        def differ(*_):
            raise MismatchError("cross-check failed: 1 solutions, but 2 by magic")

        monkeypatch.chdir(tmp_path)
        asked = ["count", BOARD, "--method", "search", "--verify-sample", "1"]
        with monkeypatch.context() as patch:
            patch.setattr(Checker, "check", differ)
            status, out, err = run(*asked)
            assert (status, out, err.count("\n")) == (1, "", 1)
            [file] = tmp_path.iterdir()
            assert f"but 2 by magic; its board is in {file.name}" in err
            assert json.loads(file.read_text())["board"]["box"] == "2x2"
            assert run(*asked, "--checkpoint", path)[0] == 1
        status, out, err = run("resume", path)
        assert (status, out) == (0, "6\n")
        assert "the same count" in err

    def test_a_sample_of_a_batch(self, run, file):
        boards = file(f"{BOARD}\n" * 3)
        status, out, err = run("count", boards, "--verify-sample", "1")
        assert (status, out) == (0, f"{BOARD}:6\n" * 3)
        assert "the same count, 3 of 3 boards" in err


KILLED = {
    "ascending": ("enumerate @2c --sorted --json", 0.4),
    "from": ("enumerate @1f --from 100000 --to 130000 --format csv", 0.4),
    "search": ("enumerate @1c --method search", 0.4),
    "many": ("enumerate BOARDS --format csv", 0.6),
    "count": ("count BATCH", 0.3),
    "solve": ("solve PUZZLES --format csv", 0.3),
    "sample": ("sample DRAWN -n 9 --seed 3", 0.5),
    "sample-one": ("sample @1c -n 30000 --seed 3 --json", 0.4),
    "shares": ("shares BATCH", 0.3),
    "part": ("count BATCH --part 2/2 --force", 0.3),
}
"""Commands, and how many seconds a run lives at most."""


@pytest.mark.skipif(os.name == "nt", reason="no forks")
@pytest.mark.parametrize("name", [pytest.param(name, marks=slow) for name in KILLED])
def test_killed_at_random_moments(tmp_path, name):
    arguments, seconds = KILLED[name]
    puzzles = [PUZZLE, str(collection.load("1a")), str(collection.load("2a"))]
    some = [*puzzles, str(collection.load("2b")), "11" + "." * 79, str(collection.load("1b"))]
    files = {
        "BOARDS": [*some, str(collection.load("2c")), *some] * 2,
        "BATCH": some * 200,
        "PUZZLES": puzzles * 4000,
        "DRAWN": [*puzzles, str(collection.load("1c"))] * 20,
    }
    for each, boards in files.items():
        (tmp_path / each).write_text("".join(f"{board}\n" for board in boards))
    out, kept = str(tmp_path / "out.txt"), str(tmp_path / "a.run")
    own = [str(tmp_path / each) if each in files else each for each in arguments.split()]
    first = [*own, "-o", out, "--checkpoint", kept, "-q"]
    commands = [first, [*first, "-j", "1"], [*first, "-j", "2"], ["resume", kept]]
    told = Killing(commands, out, kept, 8, seconds, in_order=name != "search").run()
    assert told["killed"] == 8
    assert told["done"] > 0
