"""The solutions that ``enumerate`` lists by number."""

from __future__ import annotations

import pytest

import gpusudoku
from gpusudoku import collection
from gpusudoku.orders import choose, many
from tests.cli.test_numbers import ALL, EMPTY, MANY, WRONG
from tests.orders.short import short_lists


class TestEnumerate:
    @pytest.mark.parametrize(
        ("bounds", "expected"),
        [
            ((), ALL),
            (("--from", 280), ALL[280:]),
            (("--to", 3), ALL[:3]),
            (("--from", 7, "--to", 9), ALL[7:9]),
            (("--from", 7, "--to", 7), []),
            (("--to", 10**30), ALL),
            (("--from", 285, "--limit", 2), ALL[285:287]),
            (("--sorted", "--limit", 2), ALL[:2]),
        ],
    )
    def test_bounds(self, run, bounds, expected):
        status, out, _ = run("enumerate", EMPTY, *(bounds or ["--sorted"]))
        assert (status, out.splitlines()) == (0, expected)

    @pytest.mark.parametrize("first", [288, 10**30])
    def test_beyond_the_last(self, run, file, first):
        """As of a list nothing is there, but nobody takes that for an answer in silence."""
        status, out, err = run("enumerate", EMPTY, "--from", first)
        assert (status, out) == (0, "")
        assert f"no solution from number {first} on: there are 288\n" in err
        boards = file(f"{EMPTY}\n{ALL[0]}\n{WRONG}\n")
        status, out, err = run("enumerate", boards, "--from", 287)
        assert (status, out.split()) == (0, ALL[287:])
        assert "2 boards have no solution from number 287 on\n" in err
        for bounds in (["--from", 5, "--to", 5], ["--from", 0], ["--from", 280]):
            assert "no solution" not in run("enumerate", EMPTY, *bounds)[2]

    def test_the_board_that_is_too_expensive_is_named(self, run, file, monkeypatch):
        short_lists(monkeypatch)
        monkeypatch.setattr(choose, "MOST_SECONDS", 0.0)
        monkeypatch.setattr(choose, "contracted", lambda _: None)
        boards = file(f"{ALL[0]}\n{EMPTY}\n")
        status, out, err = run("enumerate", boards, "--from", 0, "--to", 9)
        assert (status, out.splitlines()) == (0, [ALL[0], *ALL[:9]])
        status, out, err = run("enumerate", boards, "--from", 9)
        assert (status, out) == (1, "")
        assert "board.txt:2: too expensive" in err

    @pytest.mark.parametrize(
        "command",
        [["sample", "--seed", 1], ["shares", "--format", "text"]],
    )
    def test_no_other_board_is_lost(self, run, file, monkeypatch, command):
        """One line for what is too expensive, and an exit status; all else as without it."""
        short_lists(monkeypatch)
        monkeypatch.setattr(choose, "MOST_SECONDS", 0.0)
        monkeypatch.setattr(choose, "contracted", lambda _: None)
        monkeypatch.setattr(many, "FEW", 2)
        few = "1234341221434..."
        wanted = run(*command, file(f"{ALL[0]}\n{few}\n"), "-q")[1].replace(":2:", ":3:")
        status, out, err = run(*command, file(f"{ALL[0]}\n{EMPTY}\n{few}\n"), "-q")
        assert (status, out) == (1, wanted)
        assert "board.txt:2: too expensive" in err
        assert err.count("\n") == 1
        instead = "; with more clues it can be sampled, and enumerate --limit N lists N"
        assert (instead in err) == (command[0] == "sample")
        bad = file(f"{ALL[0]}\n{EMPTY}\n{few}\n123\n")
        assert run(*command, bad, "-q", "--keep-going")[:2] == (2, wanted)

    def test_statistics_tell_what_was_done(self, run, file):
        """Few solutions are found by a search, whatever else could find them."""
        err = run("enumerate", EMPTY, "--from", 3, "--stats")[2]
        assert "listed by number: ascending order\n" in err
        err = run("enumerate", file(f"{EMPTY}\n{EMPTY}\n"), "--to", 3, "--stats")[2]
        assert "listed by number: 2 boards\n" in err
        assert "contract" not in err

    @pytest.mark.parametrize("parts", [1, 3, 7, 300])
    def test_parts(self, run, parts):
        found = [
            run("enumerate", EMPTY, "--part", f"{i}/{parts}")[1].splitlines()
            for i in {1, 2, parts // 2 + 1, parts} & {*range(1, parts + 1)}
        ]
        sizes = {len(part) for part in found}
        assert sizes <= {288 // parts, 288 // parts + 1}

    def test_parts_make_up_the_whole(self, run):
        board = "@1b"
        parts = [run("enumerate", board, "--part", f"{i}/5")[1] for i in range(1, 6)]
        assert "".join(parts) == run("enumerate", board)[1]
        assert len("".join(parts).splitlines()) == collection.entry("1b").count

    def test_of_each_board_of_a_batch(self, run, file):
        out = run("enumerate", file(f"{EMPTY}\n{WRONG}\n{EMPTY}\n"), "--from", 287)[1]
        assert out.splitlines() == [ALL[287]] * 2

    @pytest.mark.parametrize(
        "options",
        [
            *([["--part", part] for part in ("0/3", "4/3", "1", "1/0", "a/b", "-1/3", "")]),
            *([["--part", "1/2", *more] for more in (["--sorted"], ["--from", 1], ["--limit", 9])]),
            ["--from", 5, "--to", 4],
            ["--from", "x"],
        ],
    )
    def test_bad_numbers(self, run, options):
        status, out, err = run("enumerate", EMPTY, *options)
        assert (status, out, len(err.splitlines())) == (2, "", 1)

    def test_without_a_search(self, run):
        """The same solutions in any way, in the same order every time but by a search."""
        quick = run("enumerate", "@2d", "--to", 10**9)[1]
        assert run("enumerate", "@2d", "-j", 1)[1] == run("enumerate", "@2d", "-j", 2)[1]
        searched = run("enumerate", "@2d", "--method", "search")[1]
        assert sorted(searched.splitlines()) == quick.splitlines()

    def test_far_beyond_any_search(self, run):
        out = run("enumerate", MANY, "--from", 10**20, "--to", 10**20 + 5)[1].splitlines()
        ranks = run("rank", MANY, *out)[1].split()
        assert list(map(int, ranks)) == list(range(10**20, 10**20 + 5))

    def test_a_part_of_many(self, run):
        board = collection.load("2d")  # of 1014785 solutions
        out = run("enumerate", "@2d", "--part", "30000/65536")[1].splitlines()
        assert len(out) in (15, 16)
        assert all(line in gpusudoku.solutions(board, device="cpu") for line in out)
