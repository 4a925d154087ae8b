"""Samples, shares and parts that are kept track of: in the end they are as if nothing happened."""

from __future__ import annotations

import json

import pytest

from gpusudoku.orders import sampling
from gpusudoku.runs.kept import read_run
from tests.boards import LINE_4X4, PUZZLE
from tests.cli.kept import NONE, SOLVABLE, boards_for

pytestmark = pytest.mark.usefixtures("uncompiled")

EMPTY = "." * 16
ERROR = "cannot be written: No space left on device"


def stopped(this, full, room, *options):
    """Let the disk be full after so many bytes; the position that was saved."""
    full(room)
    status, out, err = this(*options)
    assert (status, out) == (1, "")
    assert err.endswith(f"gpusudoku: {this.out}: {ERROR}\n")
    full(None)
    return read_run(this.run_file)[0].state.position


def untimed(record):
    """A record without what took its time."""
    facts = json.loads(record.read_text())
    facts["stats"].pop("seconds")
    return facts | {"seal": None}


class TestSample:
    @pytest.fixture(autouse=True)
    def _small_blocks(self, monkeypatch):
        monkeypatch.setattr(sampling, "BLOCK", 32)

    @pytest.mark.parametrize(
        "options",
        [
            ["-n", "300", "--seed", "7"],
            ["-n", "300", "--seed", "7", "--format", "csv"],
            ["-n", "288", "--seed", "7", "--distinct", "--json"],
            ["-n", "300", "--seed", "7", "--part", "2/2", "--json"],
        ],
    )
    def test_one_board_goes_on_at_the_draw_where_it_was(self, kept, full, options):
        this = kept(["sample", *options], EMPTY)
        wanted = this.wanted()[1]
        before = stopped(this, full, len(wanted) // 2)
        assert 32 <= before.solutions < 200
        assert before.boards == 0
        assert this.resume("-j", "1") == (0, "", "")
        assert this.out.read_text() == wanted
        assert this.resume() == this() == (0, "", "")
        assert this.out.read_text() == wanted

    def test_a_seed_that_nobody_gave_stays(self, run, kept, full):
        this = kept(["sample", "-n", "300", "--json"], EMPTY)
        stopped(this, full, 300 * 70)
        assert this.resume()[0] == 0
        lines = [json.loads(line) for line in this.out.read_text().splitlines()]
        [seed] = {line["seed"] for line in lines}
        assert [line["draw"] for line in lines] == list(range(300))
        again = run("sample", this.boards, "-n", "300", "--seed", seed, "--json")[1]
        assert this.out.read_text() == again

    def test_boards_that_have_no_solution(self, kept, full):
        """They are told of again only if they come again, but the exit status is that of all."""
        this = kept(["sample", "-n", "30", "--seed", "1"], f"{NONE}\n{EMPTY}\n{LINE_4X4}\n")
        wanted = this.wanted()
        assert (wanted[0], wanted[2].count("no solution to draw")) == (1, 1)
        assert stopped(this, full, len(wanted[1]) - 20).boards == 2
        assert this.resume() == (1, "", "")
        assert this.out.read_text() == wanted[1]


class TestShares:
    def test_one_board(self, run, tmp_path):
        asked = ("shares", LINE_4X4, "-o", tmp_path / "out", "--checkpoint", tmp_path / "run")
        message = "--checkpoint is for batches here: shares of one board come all at once"
        for more in ((), ("--part", "1/2")):
            assert run(*asked, *more) == (2, "", f"gpusudoku: {message}\n")
        assert list(tmp_path.iterdir()) == []

    def test_a_table_stays_one_of_so_many_digits(self, kept, full):
        """Also where the boards with others come after the run was stopped."""
        this = kept(["shares", "--format", "csv"], f"{SOLVABLE}{PUZZLE}\n")
        status, _, err = this._run(*this.command)
        assert (status, "has 9 digits, but the boards before it have 4" in err) == (2, True)
        assert stopped(this, full, 5000).boards > 0
        status, _, again = this.resume()
        assert (status, again) == (2, err)


@pytest.mark.parametrize(
    "command",
    [
        ["count"],
        ["count", "--format", "csv"],
        ["solve", "--format", "pretty"],
        ["enumerate", "--json"],
        ["enumerate", "--sorted", "--format", "csv"],
        ["sample", "-n", "20", "--seed", "5", "--format", "csv"],
        ["shares", "--format", "csv"],
    ],
)
class TestPartOfABatch:
    def test_it_is_that_without_a_checkpoint(self, kept, full, tmp_path, command):
        """The file, and the record beside it, which is written when all is done."""
        this = kept([*command, "--part", "2/2"], boards_for(command))
        plain = tmp_path / "plain.txt"
        assert this._run(*this.command, "-o", plain, "-q")[0] == 0
        wanted, record = plain.read_text(), tmp_path / "out.txt.part.json"
        stopped(this, full, len(wanted) * 2 // 3)
        assert not record.exists()
        for again in (this.resume, this.resume, this):
            assert again() == (0, "", "")
            assert this.out.read_text() == wanted
            assert untimed(record) == untimed(tmp_path / "plain.txt.part.json")

    def test_a_record_that_was_there_before_is_not_replaced(self, kept, tmp_path, command):
        this = kept([*command, "--part", "2/2"], boards_for(command))
        record = tmp_path / "out.txt.part.json"
        record.write_text("mine")
        message = f"gpusudoku: {record}: exists already; --force overwrites it\n"
        assert this() == (2, "", message)
        assert record.read_text() == "mine"
        assert not this.run_file.exists()

    def test_another_part_is_another_run(self, kept, full, command):
        this = kept([*command, "--part", "1/2"], boards_for(command))
        stopped(this, full, 100)
        before = this.run_file.read_bytes()
        this.command[this.command.index("1/2")] = "2/2"
        words = "holds another run: part 1/2, not 2/2"
        assert this() == (2, "", f"gpusudoku: {this.run_file}: {words}\n")
        assert this.run_file.read_bytes() == before


class TestPartOfAListing:
    def test_a_search(self, run, kept, full, tmp_path):
        """It goes on after a full disk; with a part that has no checkpoint it is the whole list."""
        this = kept(["enumerate", "--method", "search", "--part", "1/2"], EMPTY)
        stopped(this, full, 1000)
        assert this.resume() == this() == (0, "", "")
        rest = tmp_path / "rest.txt"
        asked = ["enumerate", "--method", "search", "--part", "2/2", this.boards]
        assert run(*asked, "-o", rest)[0] == 0
        status, out, err = run("merge", this.out, rest)
        assert (status, err) == (0, "")
        whole = run("enumerate", this.boards, "--sorted")[1]
        assert sorted(out.splitlines()) == whole.splitlines()

    def test_a_board_that_may_be_searched(self, kept):
        this = kept(["enumerate", "--part", "1/2"], EMPTY)
        message = "--part of this board with --checkpoint needs --method search"
        assert this() == (2, "", f"gpusudoku: {message}\n")
