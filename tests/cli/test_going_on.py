"""Samples, and parts of batches and listings, that go on: in the end as if nothing had been."""

from __future__ import annotations

import json

import pytest

from gpusudoku.orders import sampling
from tests.boards import LINE_4X4
from tests.cli.kept import NONE

pytestmark = pytest.mark.usefixtures("uncompiled")

EMPTY = "." * 16


def stop(this, full, room):
    """Let the disk be full after so many bytes; return how far it came, as ``status`` tells it."""
    full(room)
    status, out, err = this()
    assert (status, out) == (1, "")
    assert err.endswith(f"gpusudoku: {this.out}: cannot be written: No space left on device\n")
    full(None)
    return json.loads(this._run("status", this.run_file, "--json")[1])


def untimed(record):
    """Return a record without what took its time."""
    facts = json.loads(record.read_text())
    facts["stats"].pop("seconds")
    return facts | {"seal": None}


@pytest.mark.parametrize(
    "options",
    ["--seed 7 --format csv", "-n 288 --seed 7 --distinct --json", "--seed 7 --part 2/2 --json"],
)
def test_a_sample_of_one_board(kept, full, monkeypatch, options):
    """It goes on at the draw where it was."""
    monkeypatch.setattr(sampling, "BLOCK", 32)
    this = kept(["sample", "-n", "300", *options.split()], EMPTY)
    wanted = this.wanted()[1]
    told = stop(this, full, len(wanted) // 2)
    assert 32 <= int(told["solutions_done"]) < 200
    assert told["boards_done"] == 0
    assert this.resume("-j", "1") == this() == (0, "", "")
    assert this.out.read_text() == wanted


def test_a_seed_that_nobody_gave_stays(run, kept, full, monkeypatch):
    monkeypatch.setattr(sampling, "BLOCK", 32)
    this = kept(["sample", "-n", "300", "--json"], EMPTY)
    stop(this, full, 300 * 70)
    assert this.resume()[0] == 0
    lines = [json.loads(line) for line in this.out.read_text().splitlines()]
    [seed] = {line["seed"] for line in lines}
    again = run("sample", this.boards, "-n", "300", "--seed", seed, "--json")[1]
    assert this.out.read_text() == again


def test_boards_that_have_no_solution_to_draw(kept, full):
    """They are told of again only if they come again, but the exit status is that of all."""
    this = kept(["sample", "-n", "30", "--seed", "1"], f"{NONE}\n{EMPTY}\n{LINE_4X4}\n")
    wanted = this.wanted()
    assert (wanted[0], wanted[2].count("no solution to draw")) == (1, 1)
    assert stop(this, full, len(wanted[1]) - 20)["boards_done"] == 2
    assert this.resume() == (1, "", "")
    assert this.out.read_text() == wanted[1]


@pytest.mark.parametrize(
    "command", ["count --format csv", "enumerate --sorted", "sample -n 20 --seed 5 --format csv"]
)
def test_a_part_of_a_batch(kept, full, tmp_path, command):
    """The file, and the record beside it, which is written when all is done."""
    this = kept([*command.split(), "--part", "2/2"])
    plain, record = tmp_path / "plain.txt", tmp_path / "out.txt.part.json"
    assert this._run(*this.command, "-o", plain, "-q")[0] == 0
    wanted = plain.read_text()
    stop(this, full, len(wanted) * 2 // 3)
    assert not record.exists()
    for again in (this.resume, this.resume, this):
        assert again() == (0, "", "")
        assert this.out.read_text() == wanted
        assert untimed(record) == untimed(tmp_path / "plain.txt.part.json")


def test_a_record_that_was_there_before_is_not_replaced(kept, tmp_path):
    this = kept(["count", "--part", "2/2"])
    record = tmp_path / "out.txt.part.json"
    record.write_text("mine")
    assert this() == (2, "", f"gpusudoku: {record}: exists already; --force overwrites it\n")
    assert record.read_text() == "mine"
    assert not this.run_file.exists()


def test_a_part_of_a_search_for_all(run, kept, full, tmp_path):
    """With a part that has no checkpoint it is the whole list."""
    this, rest = kept(["enumerate", "--method", "search", "--part", "1/2"], EMPTY), tmp_path / "b"
    stop(this, full, 1000)
    assert this.resume() == this() == (0, "", "")
    run("enumerate", "--method", "search", "--part", "2/2", this.boards, "-o", rest)
    out = run("merge", this.out, rest)[1]
    assert sorted(out.splitlines()) == run("enumerate", this.boards, "--sorted")[1].splitlines()
