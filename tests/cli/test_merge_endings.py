"""``gpusudoku merge`` ends as the whole command would, and parts of nothing are none."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from gpusudoku.runs.parts import files
from tests.cli.test_merge import change

SOME, UNIQUE, NONE = "1....2....3.....", "123434122143432.", "11" + "." * 14
BOARDS = "\n".join([UNIQUE, "no board", SOME, SOME, "z" * 16, UNIQUE, "1x", ""])
TIME = re.compile(r"; [0-9,.]+ s, [0-9,]+ boards a second")


def closing(err):
    """The closing line without its times, if there is one."""
    assert "Traceback" not in err
    return [TIME.sub("", line) for line in err.splitlines() if TIME.search(line)]


class TestEnding:
    @pytest.fixture
    def parts(self, run, tmp_path):
        """Run the parts of a command; returns the files of lines."""

        def make(*asked, parts=3):
            paths = [tmp_path / f"part{number}" for number in range(1, parts + 1)]
            for number, path in enumerate(paths, 1):
                run(*asked, "--part", f"{number}/{parts}", "-o", path)
                assert files.record_path(path).is_file()
            return paths

        return make

    @pytest.mark.parametrize("count", [1, 3, 10])
    @pytest.mark.parametrize(
        ("command", "wanted"),
        [
            (["count"], "7 boards: 2 unique, 2 several, 0 none, 3 unreadable"),
            (["solve"], "7 boards: 2 unique, 2 several, 0 none, 3 unreadable"),
            (["count", "--format", "csv"], "7 boards: 2 unique, 2 several, 0 none, 3 unreadable"),
            (["solve", "--first"], "7 boards: 4 solvable, 0 none, 3 unreadable"),
            (["enumerate"], None),
            (["shares"], None),
            (["sample", "--seed", "1"], None),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_bad_boards(self, run, file, parts, command, wanted, count):
        asked = [command[0], file(BOARDS), *command[1:], "--keep-going"]
        status, out, err = run(*asked)
        assert status == 2
        told, paths = closing(err), parts(*asked, parts=count)
        assert told == ([] if wanted is None else [f"gpusudoku: {wanted}"])
        status, merged, err = run("merge", *paths)
        assert (status, closing(err)) == (2, told)
        assert err.count("\n") == 1
        assert run("merge", *paths, "-q") == (2, merged, "")
        if "--first" not in command:  # which may find others
            assert merged == out

    def test_the_status_of_the_counts(self, run, file, parts):
        asked = ["count", file(f"{UNIQUE}\n{NONE}\n{SOME}\n"), "--exit-code"]
        assert run(*asked)[0] == run("merge", *parts(*asked))[0] == 4
        asked = ["count", file(f"{UNIQUE}\n{SOME}\n"), "--exit-code", "--force"]
        assert run(*asked)[0] == run("merge", *parts(*asked))[0] == 3

    def test_boards_without_an_answer(self, run, file, parts):
        asked = ["sample", file(f"{UNIQUE}\n{NONE}\n{SOME}\n"), "--seed", "1"]
        status, out, _ = run(*asked)
        assert run("merge", *parts(*asked))[:2] == (status, out)
        assert status == 1

    def test_all_is_well(self, run, file, parts):
        assert run("merge", *parts("enumerate", file(f"{UNIQUE}\n{SOME}\n")))[::2] == (0, "")

    @pytest.mark.parametrize(
        "facts",
        [
            {"status": 2},
            {"status": "2", "unreadable": 0},
            {"status": 0, "unreadable": -1},
            {"status": 0, "unreadable": 10**4000},
            {"status": 0, "unreadable": 0, "tally": {"boards": 1.5}},
            {"status": 0, "unreadable": 0, "tally": [1]},
            {"status": 0, "unreadable": 0, "tally": {"boards": 1}},
            {"status": 0, "unreadable": 0, "seconds": float("nan")},
            {"status": 0, "unreadable": 0, "seconds": -1e300},
            {"status": 0, "unreadable": 0, "seconds": 10**400},
            {"status": 0, "unreadable": 0, "more": 1},
        ],
    )
    def test_a_damaged_one(self, run, file, parts, tmp_path, facts):
        paths = parts("count", file(BOARDS), "--keep-going")
        change(files.record_path(paths[1]), stats=facts)
        status, out, err = run("merge", *paths, "-o", tmp_path / "out")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "a damaged record of a part" in err
        assert not (tmp_path / "out").exists()


@pytest.fixture
def binary(tmp_path):
    path = tmp_path / "in.gz"
    path.write_bytes(gzip.compress(b"# no board\nbad line\x1b[31m here\n"))
    return path


@pytest.mark.parametrize("command", [["count"], ["solve"], ["enumerate"], ["shares"], ["sample"]])
class TestNothingIsRead:
    """With --keep-going as without it: nothing is written that tells of an end."""

    def test_parts(self, run, tmp_path, binary, command):
        for number in (1, 2, 3):
            more = ["--keep-going", "--part", f"{number}/3", "-o", tmp_path / "out"]
            more += ["--seed", "1"] if command == ["sample"] else []
            status, out, err = run(*command, binary, *more)
            assert (status, out) == (2, "")
            assert err.endswith("in.gz:2: binary data (byte 0x1b), expected text\n")
            assert list(tmp_path.iterdir()) == [binary]

    def test_two_inputs(self, run, tmp_path, binary, command):
        more = ["--keep-going", "--part", "1/2", "-o", tmp_path / "out", "-q"]
        more += ["--seed", "1"] if command == ["sample"] else []
        status, out, err = run(*command, binary, tmp_path / "nobody", *more)
        assert (status, out) == (2, "")
        assert err == "gpusudoku: no board can be read, so that there are no parts\n"
        assert list(tmp_path.iterdir()) == [binary]

    def test_a_checkpoint(self, run, tmp_path, binary, command):
        more = ["--keep-going", "-o", tmp_path / "out", "--checkpoint", tmp_path / "a.run"]
        status, out, err = run(*command, binary, *more)
        assert (status, out) == (2, "")
        assert err.endswith("in.gz:2: binary data (byte 0x1b), expected text\n")
        assert list(tmp_path.iterdir()) == [binary]


@pytest.mark.parametrize(
    "text", ["1" * 5000, '{"kind": "gpusudoku part", "schema": ' + "1" * 5000 + "}"]
)
def test_a_number_of_too_many_digits(run, file, text):
    """Python's own words about it help nobody."""
    path = file(text, "record.json")
    assert run("merge", path) == (2, "", f"gpusudoku: {path}:1: no record of a part\n")


def test_too_many_parts(run, tmp_path):
    asked = ["shares", SOME, "-o", tmp_path / "out", "--part"]
    for part in ("1/65537", "1/99999999999999999999", f"1/{'9' * 5000}"):
        status, out, err = run(*asked, part)
        assert (status, out) == (2, "")
        assert "N at most 65536" in err.splitlines()[-1]
    assert run(*asked, "65536/65536")[0] == 0
    assert json.loads((tmp_path / "out").read_text())["part"]["of"] == 65536


def test_a_file_that_is_named_twice_counts_once(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("count", SOME, "--part", "1/1", "-o", "a.json")
    assert run("merge", "a.json", "./a.json", tmp_path / "a.json") == (0, "6\n", "")
