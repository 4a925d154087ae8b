"""Output that is kept track of goes on, and in the end is as if nothing had happened."""

from __future__ import annotations

import os

import numpy as np
import pytest

from gpusudoku.cli import saving
from gpusudoku.cli.answering import _sum
from gpusudoku.cli.lines import WriteError
from gpusudoku.cli.output import Output
from gpusudoku.runs.kept import read_run
from tests.cli.kept import BATCH, boards_for

pytestmark = pytest.mark.usefixtures("uncompiled")

COMMANDS = [
    ["count"],
    ["count", "--format", "csv", "--limit", "3"],
    ["count", "--only", "unique"],
    ["solve", "--format", "pretty"],
    ["enumerate", "--format", "csv"],
    ["enumerate", "--json", "--sorted", "--limit", "70"],
    ["sample", "-n", "20", "--seed", "5", "--json"],
    ["sample", "-n", "1", "--seed", "5", "--distinct", "--format", "csv"],
    ["shares"],
    ["shares", "--format", "csv"],
]


@pytest.mark.parametrize("command", COMMANDS)
class TestGoingOn:
    def test_all_at_once(self, kept, command):
        """Done, it stays as it is, however often it is run again."""
        this = kept(command, boards_for(command))
        wanted = this.wanted()
        assert this() == (wanted[0], "", "")
        assert this.out.read_text() == wanted[1]
        assert this() == this.resume() == (wanted[0], "", "")
        assert this.out.read_text() == wanted[1]

    def test_after_a_full_disk(self, kept, full, command):
        """It may be full at any byte: one line, and what is there is whole and right."""
        this = kept(command, boards_for(command))
        wanted = this.wanted()[1]
        message = f"gpusudoku: {this.out}: cannot be written: No space left on device\n"
        for room in (len(wanted) * 9 // 10, 1):
            full(room)
            assert this() == (1, "", message)
            assert wanted.startswith(this.out.read_text())
        full(None)
        assert this.resume() == (0, "", "")
        assert this.out.read_text() == wanted


class TestWhole:
    def test_the_tally_and_the_status_are_those_of_the_whole_run(self, run, kept, full):
        this = kept(["count", "--exit-code"])
        full(330)
        command = [*this.command, "-o", this.out, "--checkpoint", this.run_file]
        assert run(*command)[0] == 1
        full(None)
        status, _, err = run("resume", this.run_file)
        assert status == 4
        assert "19 boards: 2 unique, 16 several, 1 none, 0 unreadable; " in err

    @pytest.mark.parametrize(
        "command",
        [["count"], ["enumerate"], ["solve"], ["count", "--format", "csv"], ["solve", "--json"]],
    )
    def test_bad_boards_are_told_of_again(self, kept, full, command):
        boards = boards_for(command)
        this = kept([*command, "--keep-going"], f"1x\n{boards}22x\n{boards}")
        wanted = this.wanted()
        full(300)
        assert this()[0] == 1
        full(None)
        status, out, err = this.resume()
        assert (status, out, err.count("\n")) == (2, "", 2)
        assert this.out.read_text() == wanted[1]

    def test_a_bad_board_ends_it_as_ever(self, kept):
        this = kept(["count"], BATCH + "1x\n" + BATCH)
        wanted = this.wanted()
        for _ in range(2):
            status, out, err = this()
            assert (status, out) == (2, "")
            assert err == wanted[2].splitlines(keepends=True)[-1]
            assert this.out.read_text() == wanted[1]

    def test_another_folder(self, kept, tmp_path, monkeypatch, full):
        """It goes on in the folder where it began, whatever its own folder is."""
        this = kept(["count"])
        monkeypatch.chdir(tmp_path)
        this.command, this.out = ["count", "boards.txt"], "out.txt"
        full(200)
        assert this()[0] == 1
        full(None)
        (tmp_path / "other").mkdir()
        monkeypatch.chdir(tmp_path / "other")
        assert this.resume()[0] == 0
        assert (tmp_path / "out.txt").read_text() == this._run("count", this.boards)[1]

    def test_a_folder_that_is_gone(self, kept, tmp_path, monkeypatch):
        this, folder = kept(["count"]), tmp_path / "folder"
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert this()[0] == 0
        monkeypatch.chdir(tmp_path)
        folder.rmdir()
        where = f"{this.run_file}: began in the folder {folder}"
        assert this.resume() == (2, "", f"gpusudoku: {where}: No such file or directory\n")

    def test_options_of_the_environment(self, kept, monkeypatch, full):
        this = kept(["count"])
        monkeypatch.setenv("GPUSUDOKU_COUNT_LIMIT", "2")
        wanted = this.wanted()[1]
        assert "2+" in wanted
        full(200)
        assert this()[0] == 1
        full(None)
        monkeypatch.setenv("GPUSUDOKU_COUNT_LIMIT", "3")
        status, _, err = this()
        assert (status, err) == (
            2,
            f"gpusudoku: {this.run_file}: holds another run: limit 2, not 3\n",
        )
        assert this.resume()[0] == 0
        assert this.out.read_text() == wanted


@pytest.mark.parametrize("command", [["count"], ["enumerate"], ["enumerate", "--sorted"]])
def test_what_status_tells(kept, command):
    this = kept(command)
    assert this()[0] == 0
    state = read_run(this.run_file)[0].state
    solutions = this._run("enumerate", this.boards)[1].count("\n")
    assert (state.count, state.finished, state.position.boards) == (solutions, True, 19)


def test_the_sum_of_any_numbers():
    assert _sum(np.array([2**62] * 5 + [3])) == 5 * 2**62 + 3
    assert _sum(np.array([2**90, 7], object)) == 2**90 + 7
    assert _sum(np.zeros(0, np.int64)) == 0


class TestHardlyBegun:
    """The process ended before it could save for the first time."""

    @pytest.fixture
    def begun(self, kept, monkeypatch):
        this = kept(["count"])

        def fail(self):
            raise WriteError("it ends here")

        with monkeypatch.context() as patch:
            patch.setattr(Output, "open", fail)
            assert this() == (1, "", "gpusudoku: it ends here\n")
        assert this.run_file.exists()
        assert not this.out.exists()
        return this

    @pytest.mark.parametrize("made", [False, True])
    def test_it_goes_on(self, begun, made):
        if made:
            begun.out.touch()
        assert begun.resume()[0] == 0
        assert begun.out.read_text() == begun.wanted()[1]

    def test_a_file_that_came_since_is_kept(self, begun):
        begun.out.write_text("precious\n")
        message = f"gpusudoku: {begun.out}: exists already; --force overwrites it\n"
        assert begun.resume() == (2, "", message)
        assert begun.out.read_text() == "precious\n"


@pytest.mark.filterwarnings("error")  # of a thread that ends with an exception
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (WriteError("x: cannot be written"), "x: cannot be written"),
        (MemoryError(), "out of memory"),
    ],
)
def test_a_save_that_fails_stops_the_work(kept, monkeypatch, error, message):
    """The work goes no further than what can be saved; later it goes on."""
    this = kept(["count"])

    def fail(self):
        raise error

    monkeypatch.setattr(saving, "EVERY_SECONDS", 0.0)
    real, times = Output.sync, []

    def sync(self):
        times.append(None)
        if len(times) > 1:  # the first is that of the empty file
            fail(self)
        real(self)

    with monkeypatch.context() as patch:
        patch.setattr(Output, "sync", sync)
        assert this() == (1, "", f"gpusudoku: {message}\n")
    assert this.resume()[0] == 0
    assert this.out.read_text() == this.wanted()[1]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written(kept, tmp_path):
    this = kept(["count"])
    tmp_path.chmod(0o500)
    try:
        status, out, err = this()
    finally:
        tmp_path.chmod(0o700)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert this()[0] == 0
