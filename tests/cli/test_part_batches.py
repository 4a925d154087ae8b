"""``--part I/N`` of a batch: whole boards, and all parts merged are what the command prints."""

from __future__ import annotations

import io
import json
import sys

import pytest

from tests.boards import LINE_4X4

EMPTY = "." * 16
WRONG = "11" + "." * 14
FULL = "1 2 3 4 3 4 1 2 2 1 4 3 4 3 2 1"
SOME = "1....2....3....."
BOARDS = [SOME, EMPTY, WRONG, FULL, LINE_4X4, "12" + "." * 14, SOME]


def record(path):
    return json.loads(path.read_text())


class TestBatch:
    @pytest.mark.parametrize(
        ("arguments", "ending"),
        [
            (["count"], "txt"),
            (["count", "--only", "multiple"], "txt"),
            (["count", "--limit", 3, "--format", "csv"], "csv"),
            (["count", "--json"], "jsonl"),
            (["solve"], "txt"),
            (["solve", "--format", "pretty"], "txt"),
            (["solve", "--format", "tsv"], "tsv"),
            (["solve", "--first", "--json"], "jsonl"),
            (["enumerate"], "txt"),
            (["enumerate", "--format", "csv", "--limit", 5], "csv"),
            (["enumerate", "--sorted", "--format", "grid"], "txt"),
            (["enumerate", "--from", 3, "--to", 9, "--json"], "jsonl"),
            (["shares"], "jsonl"),
            (["shares", "--format", "csv"], "csv"),
            (["shares", "--format", "text"], "txt"),
            (["shares", "--halving", 2], "txt"),
        ],
    )
    @pytest.mark.parametrize("parts", [1, 2, 3, 10])
    def test_is_all_of_it(self, run, parted, file, arguments, ending, parts):
        path = file("\n".join(BOARDS))
        command, *more = arguments
        whole = run(command, path, *more, "-j", 1)[1]
        assert parted(command, path, *more, parts=parts, ending=ending, jobs=[1]) == whole

    @pytest.mark.parametrize("parts", [2, 3, 10])
    def test_sample(self, run, parted, file, parts):
        path = file("\n".join(board for board in BOARDS if board != WRONG))
        for more in ([], ["--distinct", "--format", "csv"]):
            asked = ["sample", path, "-n", 1, "--seed", 3, *more]
            assert parted(*asked, parts=parts) == run(*asked)[1]

    def test_columns_beside(self, run, parted, file):
        """A part without any board has the header of all."""
        path = file(f"name,puzzle\na,{SOME}\nb,{FULL}\n", "boards.csv")
        asked = ["enumerate", path, "--sorted", "--format", "csv"]
        assert parted(*asked, parts=5) == run(*asked)[1]

    def test_whole_boards(self, run, file):
        """Contiguous ones, each part as large as the others but for one board."""
        path = file("\n".join([FULL, SOME, FULL, FULL, SOME]))
        sizes = [
            len(run("enumerate", path, "--part", f"{number}/3")[1].splitlines())
            for number in (1, 2, 3)
        ]
        assert sizes == [1, 7, 7]

    def test_the_record(self, run, file, tmp_path):
        out = tmp_path / "out.txt"
        run("enumerate", file("\n".join([FULL, SOME, FULL])), "--part", "2/2", "-o", out)
        found = record(tmp_path / "out.txt.part.json")
        assert found["part"] == {"number": 2, "of": 2, "tasks": [[1, 3]]}
        assert found["lines"]["bytes"] == out.stat().st_size
        assert found["lines"]["lines"] == 7
        assert found["identity"]["boards"]["boards"] == 3
        assert "partial" not in found

    def test_an_old_record_is_not_overwritten(self, run, file, tmp_path):
        out = tmp_path / "out.txt"
        beside = tmp_path / "out.txt.part.json"
        beside.write_text("mine")
        asked = ["enumerate", SOME, "--part", "1/2", "-o", out]
        status, _, err = run(*asked)
        assert (status, err.count("\n"), out.exists()) == (2, 1, False)
        assert run(*asked, "--force")[0] == 0
        assert record(beside)["kind"] == "gpusudoku part"

    def test_standard_input(self, run, monkeypatch):
        text = f"{SOME}\n{FULL}\n".encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        status, out, err = run("enumerate", "-", "--part", "1/2")
        assert (status, out, len(err.splitlines())) == (2, "", 1)
        assert "cannot be read twice" in err
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SOME.encode())))
        assert (
            run("enumerate", "-", "--part", "1/2")[:2]
            == run("enumerate", SOME, "--part", "1/2")[:2]
        )

    def test_bad_boards(self, run, file):
        """Without --keep-going every part refuses; with it one part tells."""
        path = file("\n".join([FULL, SOME, "z" * 16, FULL, SOME]))
        told = []
        for number in (1, 2):
            asked = ["enumerate", path, "--part", f"{number}/2", "-q"]
            status, out, err = run(*asked)
            assert (status, out, len(err.splitlines())) == (2, "", 1)
            status, out, err = run(*asked, "--keep-going")
            told.append((status, len(out.splitlines()), len(err.splitlines())))
        assert told == [(0, 7, 0), (2, 7, 1)]
