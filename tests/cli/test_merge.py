"""``gpusudoku merge``: what it refuses, and that nothing is printed then."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from gpusudoku.runs.identity import Identity
from gpusudoku.runs.parts import files
from gpusudoku.runs.parts.records import seal_of

SOME = "1....2....3....."
OTHER = "1....2....4....."


@pytest.fixture
def shares(run, tmp_path):
    """Make the parts of shares; returns their files."""

    def make(parts=3, board=SOME, name="s", more=()):
        paths = [tmp_path / f"{name}{number}.json" for number in range(1, parts + 1)]
        for number, path in enumerate(paths, 1):
            asked = ["shares", board, *more, "--part", f"{number}/{parts}", "-o", path]
            assert run(*asked)[0] == 0
        return paths

    return make


@pytest.fixture
def lines(run, tmp_path):
    """Make the parts of a list; returns the files of lines."""

    def make(parts=3, more=()):
        paths = [tmp_path / f"list{number}.txt" for number in range(1, parts + 1)]
        for number, path in enumerate(paths, 1):
            asked = ["enumerate", SOME, *more, "--part", f"{number}/{parts}", "-o", path]
            assert run(*asked)[0] == 0
        return paths

    return make


@pytest.fixture
def refused(run):
    """Merge what cannot be; returns what is said, in one line."""

    def merge(*arguments):
        status, out, err = run("merge", *arguments)
        assert (status, out, len(err.splitlines())) == (2, "", 1)
        assert err.isprintable() or err[:-1].isprintable()
        return err

    return merge


def change(path, **facts):
    """Change a record, and let its digest and its seal still fit."""
    record = json.loads(path.read_text()) | facts
    identity = Identity.parse(json.dumps(record["identity"]))
    record |= {} if "digest" in facts else {"digest": identity.digest}
    path.write_text(json.dumps(record | {"seal": seal_of(record)}))


class TestNotAll:
    def test_missing(self, shares, refused):
        paths = shares(9)
        assert refused(*paths[:-1]) == "gpusudoku: part 9 of 9 is missing\n"
        some = [paths[index] for index in (2, 4, 8)]
        assert refused(*some) == "gpusudoku: parts 1 to 2, 4, 6 to 8 of 9 are missing\n"

    def test_many_are_missing(self, run, tmp_path, refused):
        """They are not counted one by one."""
        path = tmp_path / "a.json"
        run("shares", SOME, "--part", "7/65536", "-o", path)
        assert "parts 1 to 6, 8 to 65536 of 65536 are missing" in refused(path)

    def test_twice(self, shares, refused, tmp_path):
        paths = shares(2)
        copy = tmp_path / "copy.json"
        copy.write_bytes(paths[0].read_bytes())
        err = refused(*paths, copy)
        assert f"{paths[0]} and {copy}: both are part 1 of 2" in err

    def test_the_same_file_twice_is_one(self, run, lines):
        paths = lines()
        both = [*paths, *map(files.record_path, paths)]
        assert run("merge", *both)[1] == run("enumerate", SOME, "--part", "1/1")[1]

    def test_overlapping_tasks(self, shares, refused):
        paths = shares(2)
        record = json.loads(paths[1].read_text())
        first, last = record["part"]["tasks"][0]
        record["part"]["tasks"] = [[first - 1, last]]
        change(paths[1], part=record["part"])
        assert f"{paths[0]} and {paths[1]}: both have task {first - 1}" in refused(*paths)
        record["part"]["tasks"] = [[first + 1, last]]
        change(paths[1], part=record["part"])
        assert f"task {first} is in no part" in refused(*paths)


class TestOfAnother:
    @pytest.mark.parametrize(
        ("other", "word"),
        [
            ({"board": OTHER}, "another board"),
            ({"more": ["--json"]}, "format jsonl, not none"),
            ({"parts": 3}, "parts 3, not 2"),
        ],
    )
    def test_run(self, shares, refused, other, word):
        mine, theirs = shares(2), shares(**{"parts": 2, "name": "t", **other})
        err = refused(mine[0], theirs[1])
        assert f"{theirs[1]}: of another run than {mine[0]}: {word}" in err

    def test_version(self, shares, refused):
        paths = shares(2)
        identity = json.loads(paths[1].read_text())["identity"]
        change(paths[1], identity={**identity, "version": "0.1"})
        assert "version 0.1, not " in refused(*paths)

    def test_command(self, shares, lines, refused):
        assert "command enumerate, not shares" in refused(shares()[0], lines()[1])

    def test_other_boards_of_a_batch(self, run, file, tmp_path, refused):
        for number, last in ((1, SOME), (2, OTHER)):
            path = file(f"{SOME}\n{last}\n", f"{number}.txt")
            out = tmp_path / f"out{number}"
            assert run("enumerate", path, "--part", f"{number}/2", "-o", out)[0] == 0
        assert "other boards" in refused(tmp_path / "out1", tmp_path / "out2")


class TestDamaged:
    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"\n\n",
            b"{",
            b"[]",
            b"17",
            b'"text"',
            b"null",
            b"\xff\xfe",
            b"\0",
            b"[" * 100_000,
            b"1" * 5000,
            b'{"kind": "another"}',
            b'{"kind": "gpusudoku part"}',
            b'{"kind": "gpusudoku part", "schema": 2}',
            b'{"kind": "gpusudoku part", "schema": 1}',
            SOME.encode(),
        ],
    )
    def test_no_record(self, refused, file, text):
        path = file(text, "a.json")
        assert str(path) in refused(path)

    @pytest.mark.parametrize(
        "facts",
        [
            {"digest": "0" * 64},
            {"partial": "x"},
            {"partial": "-1"},
            {"partial": 6},
            {"partial": "1" * (1 << 18)},
            {"partial": None},
            {"partial": []},
            {"partial": [["1"], ["1", "2"]]},
            {"partial": [["1"]]},
            {"partial": "6"},
            {"part": {"number": 0, "of": 2, "tasks": []}},
            {"part": {"number": True, "of": 2, "tasks": []}},
            {"part": {"number": 1, "of": 3, "tasks": []}},
            {"part": {"number": 1, "of": 2, "tasks": [[0, 10**9]]}},
            {"part": {"number": 1, "of": 2, "tasks": [["0", "1"]]}},
            {"part": {"number": 1, "of": 2, "tasks": 5}},
            {"part": None},
            {"identity": None, "digest": ""},
            {"identity": {"command": "\x1b[31m"}, "digest": ""},
            {"stats": None},
            {"place": None},
            {"place": {}},
            {"place": {"source": 1, "line": 1, "columns": [], "beside": []}},
            {"place": {"source": "a", "line": -1, "columns": [], "beside": []}},
            {"place": {"source": "a", "line": 1, "columns": ["a"], "beside": []}},
            {"lines": {}},
            {"lines": 5},
        ],
    )
    def test_record(self, shares, refused, facts):
        paths = shares(2)
        try:
            change(paths[0], **facts)
        except (ValueError, TypeError):  # no identity any more
            record = json.loads(paths[0].read_text())
            paths[0].write_text(json.dumps(record | facts))
        assert str(paths[0]) in refused(*paths)

    @pytest.mark.parametrize("name", ["boards", "options"])
    @pytest.mark.parametrize("value", [{}, None, [], "x", {"parts": 2, "tasks": 6}, {"box": 17}])
    def test_identity(self, shares, refused, name, value):
        paths = shares(2)
        for path in paths:
            identity = {**json.loads(path.read_text())["identity"], name: value}
            try:
                change(path, identity=identity)
            except (ValueError, TypeError):
                path.write_text("{}")
        assert str(paths[0]) in refused(*paths)

    def test_lines_that_changed(self, lines, refused):
        paths = lines()
        text = paths[1].read_bytes()
        for other in (text[:-1], text + b"\n", text[:-2] + b"9\n", b""):
            paths[1].write_bytes(other)
            assert str(paths[1]) in refused(*paths)
        paths[1].unlink()
        assert str(paths[1]) in refused(*paths)
        paths[1].mkdir()
        assert str(paths[1]) in refused(*paths)

    def test_lines_without_their_record(self, lines, refused):
        paths = lines()
        files.record_path(paths[1]).unlink()
        assert f"{paths[1]}:1: no record of a part" in refused(*paths)

    def test_records_without_their_lines(self, lines, refused, tmp_path):
        together = tmp_path / "all.json"
        together.write_text("".join(files.record_path(path).read_text() for path in lines()))
        assert "are not beside it" in refused(together)

    def test_a_header_that_is_another(self, lines, refused):
        paths = lines(more=["--format", "csv"])
        text = paths[1].read_bytes().replace(b"puzzle", b"PUZZLE", 1)
        paths[1].write_bytes(text)
        record = json.loads(files.record_path(paths[1]).read_text())
        header = text.partition(b"\n")[0] + b"\n"
        change(files.record_path(paths[1]), lines=asdict(files.lines_in(paths[1], header)))
        assert record["lines"]["header"] == len(header)
        assert "has another header" in refused(*paths)

    def test_no_control_characters_are_shown(self, shares, refused):
        paths = shares(2)
        identity = json.loads(paths[1].read_text())["identity"]
        for evil in ("\x1b[31mred", "a\nb", "x" * 10**6):
            change(paths[1], identity={**identity, "version": evil})
            err = refused(*paths)
            assert "\x1b" not in err
            assert len(err) < 1000


class TestFiles:
    def test_none(self, run, tmp_path, refused):
        assert run("merge")[0] == 2
        assert "nobody.json" in refused(tmp_path / "nobody.json")
        assert str(tmp_path) in refused(tmp_path)
        refused("a\0b")
        refused("x" * 5000)

    def test_a_loop_of_links(self, tmp_path, refused):
        path = tmp_path / "loop"
        path.symlink_to(path)
        assert str(path) in refused(path)

    def test_output(self, run, shares, lines, tmp_path):
        for paths in (shares(), lines()):
            out = tmp_path / "out"
            assert run("merge", *paths, "-o", out)[:2] == (0, "")
            assert out.read_text() == run("merge", *paths)[1]
            status, _, err = run("merge", *paths, "-o", out)
            assert (status, err.count("\n")) == (2, 1)
            assert run("merge", *paths, "-o", out, "--force")[0] == 0
            out.unlink()

    def test_no_input_is_overwritten(self, lines, refused):
        paths = lines()
        before = paths[0].read_bytes()
        refused(*paths, "-o", paths[0], "--force")
        refused(*paths, "-o", files.record_path(paths[0]), "--force")
        assert paths[0].read_bytes() == before

    def test_renamed_files(self, run, lines, tmp_path):
        """A file and its record stay together by their names alone."""
        paths = lines()
        for path in paths:
            files.record_path(path).rename(tmp_path / f"x{path.name}.part.json")
            path.rename(tmp_path / f"x{path.name}")
        assert (
            run("merge", *tmp_path.glob("x*.txt"))[1] == run("enumerate", SOME, "--part", "1/1")[1]
        )

    def test_small_pieces(self, run, lines, monkeypatch):
        paths = lines(more=["--format", "csv"])
        whole = run("merge", *paths)[1]
        monkeypatch.setattr(files, "PIECE", 7)
        assert run("merge", *paths)[1] == whole
