"""Answers for the next program: tables and JSON lines, of ``count`` and of ``solve``."""

from __future__ import annotations

import csv
import errno
import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from gpusudoku import Board, formats
from gpusudoku.board.batch import Batch
from gpusudoku.board.fields import Fields
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin, Places
from gpusudoku.cli import lines as output_lines
from gpusudoku.cli.objects import JsonLines
from gpusudoku.cli.records import Answers, distinct
from gpusudoku.cli.tables import COLUMNS, Table
from gpusudoku.results import ContractionStats, Counts, numbers_of
from tests import naive
from tests.boards import full_grid

UNIQUE, MANY, NONE = "123434122143432.", "." * 16, "11" + "." * 14
SOLUTION = "1234341221434321"
LINES = f"{UNIQUE}\n\n{MANY}\n{NONE}\n"
DELIMITERS = {"csv": ",", "tsv": "\t"}


def table(text: str, form: str = "csv") -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text), delimiter=DELIMITERS[form], strict=True))


def records(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def boards(file, uncompiled):
    """A file with a board of each kind."""
    return file(LINES, "boards.txt")


class TestTables:
    @pytest.mark.parametrize("form", list(DELIMITERS))
    def test_count(self, run, boards, form):
        rows = table(run("count", boards, "--format", form)[1], form)
        assert list(rows[0]) == list(COLUMNS)
        assert [list(row.values()) for row in rows] == [
            [str(boards), "1", UNIQUE, "1", "true"],
            [str(boards), "3", MANY, "288", "false"],
            [str(boards), "4", NONE, "0", "false"],
        ]

    @pytest.mark.parametrize("form", list(DELIMITERS))
    def test_solve(self, run, boards, form):
        rows = table(run("solve", boards, "--format", form)[1], form)
        assert [row["count"] for row in rows] == ["1", "2+", "0"]
        assert [row["unique"] for row in rows] == ["true", "false", "false"]
        assert rows[0]["solution"] == SOLUTION
        assert tuple(map(int, rows[1]["solution"])) in naive.solutions(Board.empty(Geometry(2, 2)))
        assert rows[2]["solution"] == ""

    @pytest.mark.parametrize(
        ("limit", "shown"),
        [(1, [("1+", ""), ("1+", ""), ("0", "false")]),
         (2, [("1", "true"), ("2+", "false"), ("0", "false")])],
    )  # fmt: skip
    def test_what_a_limit_hides_is_left_out(self, run, boards, limit, shown):
        rows = table(run("count", boards, "--limit", limit, "--format", "csv")[1])
        assert [(row["count"], row["unique"]) for row in rows] == shown
        objects = records(run("count", boards, "--limit", limit, "--json")[1])
        truth = {"": None, "true": True, "false": False}
        assert [(o["count"], o["exact"], o["unique"]) for o in objects] == [
            (count.removesuffix("+"), "+" not in count, truth[unique]) for count, unique in shown
        ]

    def test_a_board_that_comes_with_the_program_has_no_line(self, run):
        [row] = table(run("solve", "@box2x2-few", "--format", "csv")[1])
        assert (row["source"], row["line"]) == ("@box2x2-few", "")

    def test_only(self, run, boards):
        rows = table(run("count", boards, "--only", "none", "--format", "csv")[1])
        assert [row["puzzle"] for row in rows] == [NONE]
        [record] = records(run("count", boards, "--only", "multiple", "--json")[1])
        assert (record["board"], record["count"], record["exact"]) == (MANY, "2", False)

    def test_no_rows_have_a_header_all_the_same(self, run, file, uncompiled):
        path = file(f"{UNIQUE}\n{UNIQUE}\n")
        status, out, _ = run("count", path, "--only", "none", "--format", "csv")
        assert (status, out) == (0, ",".join(COLUMNS) + "\n")

    def test_commas_are_quoted(self, run, file):
        """Boards of more than 35 digits are numbers with commas."""
        board = Board(full_grid(Geometry(6, 6), 1), Geometry(6, 6))
        [row] = table(run("solve", file(f"{board}\n"), "--format", "csv")[1])
        assert row["puzzle"] == row["solution"] == str(board)


class TestOtherColumns:
    INPUT = f'id,puzzle,solution,note\n7,{UNIQUE},mine,"a, ""b"""\n8,{MANY},,Ünïcödé\n'

    def test_they_stand_behind_ours(self, run, file, uncompiled):
        out = run("count", file(self.INPUT), "--format", "csv")[1]
        rows = table(out)
        assert list(rows[0]) == [*COLUMNS, "id", "solution", "note"]
        others = [(row["id"], row["solution"], row["note"]) for row in rows]
        assert others == [("7", "mine", 'a, "b"'), ("8", "", "Ünïcödé")]
        assert [row["line"] for row in rows] == ["2", "3"]

    def test_in_json_they_are_an_object(self, run, file, uncompiled):
        first, _ = records(run("count", file(self.INPUT), "--json")[1])
        assert first["columns"] == {"id": "7", "solution": "mine", "note": 'a, "b"'}
        assert "columns" not in records(run("count", file(LINES), "--json")[1])[0]

    def test_what_is_written_is_read_again(self, run, file, uncompiled):
        """Every column survives; those that were ours are the input's now."""
        out = run("count", file(self.INPUT), "--format", "csv")[1]
        again = run("count", file(out, "again.csv"), "--format", "csv")[1]
        assert list(table(again)[0])[len(COLUMNS) :] == [
            "input_source", "input_line", "input_count", "input_unique", "id", "solution", "note",
        ]  # fmt: skip
        for row, before in zip(table(again), table(out), strict=True):
            assert row["input_source"] == before["source"]
            assert [row[name] for name in ("puzzle", "count", "id", "note")] == [
                before[name] for name in ("puzzle", "count", "id", "note")
            ]

    def test_half_a_character_is_replaced_where_it_cannot_be_written(self, run, file, uncompiled):
        path = file(f'{{"board": "{UNIQUE}", "note": "x\\ud800y"}}\n' * 2)
        assert [row["note"] for row in table(run("count", path, "--format", "csv")[1])] == [
            "x\ufffdy"
        ] * 2
        assert [record["columns"] for record in records(run("count", path, "--json")[1])] == [
            {"note": "x\ud800y"}
        ] * 2

    def test_a_name_like_a_comment_is_quoted(self, run, file, uncompiled, monkeypatch, tmp_path):
        file(LINES, "#1.txt")
        monkeypatch.chdir(tmp_path)
        out = run("count", "#1.txt", "--format", "csv")[1]
        again = run("count", file(out, "again.csv"), "--format", "csv")[1]
        assert [row["puzzle"] for row in table(again)] == [UNIQUE, MANY, NONE]

    def test_equal_names_are_told_apart(self):
        assert distinct(["a", "a", "line", "input_line"], COLUMNS) == [
            "a", "input_a", "input_line", "input_input_line"
        ]  # fmt: skip
        assert distinct(["a", "line", "a"]) == ["a", "line", "input_a"]

    @pytest.mark.parametrize("command", ["count", "solve"])
    def test_files_whose_columns_differ_are_no_table(self, run, file, uncompiled, command):
        first = file(f"puzzle,id\n{UNIQUE},1\n{MANY},2\n", "a.csv")
        second = file(f"puzzle,name\n{UNIQUE},x\n", "b.csv")
        status, out, err = run(command, first, second, "--format", "csv")
        assert status == 2
        assert [row["id"] for row in table(out)] == ["1", "2"]
        assert err.splitlines()[-1].startswith(f"gpusudoku: {second}: has the column name, but ")
        status, out, _ = run(command, first, second, "--format", "jsonl")
        assert status == 0
        assert [record["columns"] for record in records(out)] == [
            {"id": "1"}, {"id": "2"}, {"name": "x"}
        ]  # fmt: skip

    def test_files_whose_columns_agree_are_one(self, run, file, uncompiled):
        paths = [file(f"id,puzzle\n{n},{UNIQUE}\n", f"{n}.csv") for n in (1, 2)]
        rows = table(run("count", *paths, "--format", "csv")[1])
        assert [(row["source"], row["id"]) for row in rows] == [
            (str(path), str(n)) for n, path in enumerate(paths, 1)
        ]


class TestUnreadable:
    """With ``--keep-going`` every line has its record, in the order of the input."""

    INPUT = (
        f"id,puzzle,solution,error\n1,{UNIQUE},mine,x\n2,12.,mine,\n3,,,\n4,{MANY}Z,,\n"
        f"5,{MANY},,\n6,{NONE}\n7,{UNIQUE},,\n8,1x,,y\n"
    )
    REASONS: ClassVar = {
        3: "3 cells make no board, the nearest is 4x4 with 16",
        4: "column 2 is empty, expected a board",
        5: "17 cells make no board, the nearest is 4x4 with 16",
        7: "2 fields, expected 4",
        9: "2 cells make no board, the nearest is 4x4 with 16",
    }

    @pytest.mark.parametrize("form", list(DELIMITERS))
    @pytest.mark.parametrize(
        ("command", "more"),
        [
            (["count"], ["error", "id", "solution", "input_error"]),
            (["count", "--solution"], ["solution", "error", "id", "input_solution", "input_error"]),
            (["solve"], ["solution", "error", "id", "input_solution", "input_error"]),
        ],
    )
    def test_rows(self, run, file, uncompiled, command, more, form):
        path = file(self.INPUT)
        status, out, err = run(*command, path, "--format", form, "--keep-going", "-q")
        rows = table(out, form)
        assert (status, list(rows[0])) == (2, [*COLUMNS, *more])
        assert [row["line"] for row in rows] == list("23456789")
        assert {int(row["line"]): row["error"] for row in rows if row["error"]} == self.REASONS
        assert {row["source"] for row in rows} == {str(path)}
        assert [row["id"] for row in rows] == list("12345678")
        assert [row["puzzle"] for row in rows] == [
            UNIQUE, "12.", "", f"{MANY}Z", MANY, NONE, UNIQUE, "1x"
        ]  # fmt: skip
        assert [row["count"] != "" for row in rows] == [row["error"] == "" for row in rows]
        assert [row["input_error"] for row in (rows[0], rows[-1])] == ["x", "y"]
        if "--solution" in command:
            assert [row["solution"] for row in rows[::6]] == [SOLUTION] * 2
        assert len(err.splitlines()) == 5

    def test_objects(self, run, file, uncompiled):
        lines = [f'{{"board": "{UNIQUE}", "id": 1}}', '{"board": "12.", "id": 2}', "nothing"]
        status, out, _ = run("count", file("\n".join(lines)), "--json", "--keep-going")
        good, bad, worse = records(out)
        assert (status, good["board"], "error" in good) == (2, UNIQUE, False)
        assert (bad.pop("board"), bad.pop("line"), bad.pop("columns")) == ("12.", 2, {"id": "2"})
        assert bad.pop("error") == self.REASONS[3]
        assert [*bad] == ["source"]
        assert (worse["board"], worse["error"]) == (None, "expected a JSON object on every line")

    def test_a_sign_for_a_missing_puzzle_is_no_board(self, run, file, uncompiled):
        path = file(f"id,puzzle\n1,{UNIQUE}\n2,1\n3,0\n4,.\n")
        asked = "count", path, "--format", "csv", "--keep-going"
        assert [row["error"][:6] for row in table(run(*asked)[1])] == ["", *["1 cell"] * 3]
        lines = [f'{{"board": "{board}"}}' for board in (UNIQUE, "0")]
        out = run("count", file("\n".join(lines)), "--json", "--keep-going")[1]
        assert records(out)[1]["error"].startswith("1 cell makes no board")
        one = file("id,puzzle\n1,.\n")
        assert [
            row["count"] for row in table(run(*asked[:1], one, *asked[2:], "--box", "1x1")[1])
        ] == ["1"]

    def test_they_are_in_the_log(self, run, file, uncompiled, tmp_path):
        log = tmp_path / "log"
        run("count", file(self.INPUT), "--keep-going", "--log", log)
        assert [record["line"] for record in records(log.read_text())] == [*range(2, 10)]

    def test_grids_files_and_nothing_else(self, run, file, uncompiled):
        path = file("1...\n....\n....\n....\n\n1...\n...\n....\n....\n")
        out = run("count", "nofile", path, "--format", "csv", "--keep-going")[1]
        missing, good, bad = table(out)
        assert (missing["source"], missing["line"]) == ("nofile", "")
        assert (missing["puzzle"], missing["error"]) == ("", "no such file, and no board")
        assert (good["count"], good["error"]) == ("72", "")
        assert (bad["line"], bad["puzzle"]) == ("7", "1... ... .... ....")
        only = run("count", "nofile", path, "--format", "csv", "--keep-going", "--only", "none")[1]
        assert table(only) == []

    @pytest.mark.parametrize("text", [UNIQUE, f"{UNIQUE}\n1x", f"{UNIQUE}\n{UNIQUE}"])
    def test_the_options_alone_choose_the_columns(self, run, file, uncompiled, tmp_path, text):
        path, out, kept = file(f"{text}\n"), tmp_path / "out.csv", tmp_path / "a.run"
        choices = [], ["--keep-going"], ["--keep-going", "--only", "unique"]
        for options, more in zip(choices, ([], ["error"], []), strict=True):
            command = ["count", path, "--format", "csv", *options]
            header = ",".join([*COLUMNS, *more])
            assert run(*command)[1].partition("\n")[0] == header
            if "--only" in options or ("x" in text and not options):
                continue
            run(*command, "-o", out, "--checkpoint", kept)
            assert out.read_text().partition("\n")[0] == header
            parts = [tmp_path / f"{number}.csv" for number in (1, 2)]
            for number, part in enumerate(parts, 1):
                run(*command, "--part", f"{number}/2", "-o", part)
            assert run("merge", *parts)[1].partition("\n")[0] == header
            for made in (out, kept, *tmp_path.glob("[12].csv*")):
                made.unlink()

    @pytest.mark.parametrize("text", [UNIQUE, f"{UNIQUE}\n{UNIQUE}"])
    def test_parts_have_the_same_columns(self, run, file, uncompiled, tmp_path, text):
        path, parts = file(f"{text}\n"), [tmp_path / f"{number}.csv" for number in (1, 2)]
        for number, (part, options) in enumerate(zip(parts, ([], ["--keep-going"]), strict=True)):
            asked = ["--format", "csv", "--part", f"{number + 1}/2", "-o", part]
            run("count", path, *asked, *options)
        status, out, err = run("merge", *parts)
        assert (status, out) == (2, "")
        assert "of another run" in err
        assert "keep_going True, not False" in err

    @pytest.mark.parametrize("end", [0, 2])
    def test_a_line_as_long_as_a_row(self, run, file, uncompiled, end):
        """It is no grid unless the next line is of one, too: the rest is read."""
        path = file("\n".join([UNIQUE, UNIQUE, UNIQUE[:4], "", *[UNIQUE] * end]))
        status, out, _ = run("count", path, "--format", "csv", "--keep-going")
        rows = table(out)
        assert (status, [row["puzzle"] for row in rows]) == (
            2, [UNIQUE, UNIQUE, UNIQUE[:4], *[UNIQUE] * end]
        )  # fmt: skip
        assert [row["error"] != "" for row in rows] == [False, False, True, *[False] * end]

    @pytest.mark.parametrize(
        ("note", "room"),
        [*(("a note", room) for room in (150, 250, 350, 450)), ("two\nlines", 10_000)],
    )
    def test_a_full_disk(self, run, file, uncompiled, tmp_path, monkeypatch, note, room):
        """Output and log have the same boards, good and bad."""
        write, left = os.write, [room]

        def limited(descriptor, data):
            if descriptor <= 2 or not left:
                return write(descriptor, data)
            sent = write(descriptor, bytes(data)[: left[0]])
            left[0] -= sent
            if not sent:
                left.clear()
                raise OSError(errno.ENOSPC, "full")
            return sent

        monkeypatch.setattr(output_lines.os, "write", limited)
        boards = [json.dumps({"board": UNIQUE[number % 2 :], "note": note}) for number in range(9)]
        out, log = tmp_path / "out.csv", tmp_path / "log"
        arguments = ["--format", "csv", "--keep-going", "-o", out, "--log", log]
        status = run("count", file("\n".join(boards)), *arguments)[0]
        rows, objects = table(out.read_text()), records(log.read_text())
        assert [row["line"] for row in rows] == [str(each["line"]) for each in objects]
        assert [row["error"] for row in rows] == [each.get("error", "") for each in objects]
        assert (status, len(rows)) == (2, 9) if room > 1000 else (status == 1 and len(rows) < 9)

    def test_grids_and_a_log(self, run, file, uncompiled, tmp_path):
        """Bad boards are in the log alone."""
        path, log = file(f"1x\n{UNIQUE}\n2x\n{NONE}\n{UNIQUE}\n3x\n"), tmp_path / "log"
        out = run("solve", path, "--format", "grid", "--keep-going", "--log", log)[1]
        assert out.count("\n") == 9
        assert [each["line"] for each in records(log.read_text())] == [1, 2, 3, 4, 5, 6]

    @pytest.mark.parametrize("bad", [f"{UNIQUE}.", "0123012301230123"])
    def test_arguments(self, run, uncompiled, bad):
        """A bad board has the source of a good one."""
        out = run("count", " ".join(UNIQUE), bad, "--format", "csv", "--keep-going")[1]
        good, row = table(out)
        assert (good["source"], row["source"], row["puzzle"]) == (*["<argument>"] * 2, bad)
        assert row["error"]
        assert bad not in row["error"]

    def test_many_blocks(self, run, file, uncompiled):
        path = file("".join(f"{UNIQUE[index % 7 == 3 :]}\n" for index in range(60)))
        rows = table(run("count", path, "--format", "csv", "--keep-going", "-j", 2)[1])
        assert [row["line"] for row in rows] == [str(line) for line in range(1, 61)]
        assert [row["error"] != "" for row in rows] == [index % 7 == 3 for index in range(60)]

    def test_solution_needs_a_record(self, run, boards):
        status, out, err = run("count", boards, "--solution")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "--solution needs --format csv, tsv or jsonl" in err


class TestJson:
    def test_of_a_batch(self, run, boards):
        first, *_ = records(run("count", boards, "--format", "jsonl", "-j", 1)[1])
        assert first == {
            "board": UNIQUE, "box": "2x2", "count": "1", "exact": True, "unique": True,
            "method": "search", "device": "cpu", "source": str(boards), "line": 1,
        }  # fmt: skip

    def test_of_solve_has_the_solution(self, run, boards):
        first, _, last = records(run("solve", boards, "--json")[1])
        assert (first["solution"], first["unique"]) == (SOLUTION, True)
        assert (last["solution"], last["unique"], last["count"]) == (None, False, "0")

    def test_with_stats_each_board_tells_its_own(self, run, boards):
        found = records(run("count", boards, "--json", "--stats")[1])
        assert [record["search_space"] for record in found] == [
            str(formats.parse(board).search_space) for board in (UNIQUE, MANY, NONE)
        ]
        assert len({record["seconds"] for record in found}) == 3

    def test_json_is_a_short_name(self, run, boards):
        for command in ("count", "solve"):
            assert (run(command, boards, "--json", "-j", 1)[1]
                    == run(command, boards, "--format", "jsonl", "-j", 1)[1])  # fmt: skip
        status, out, err = run("count", boards, "--json", "--format", "csv")
        assert (status, out, len(err.splitlines())) == (2, "", 1)

    def test_counts_of_any_size_are_text(self):
        """Beyond 4300 digits Python makes no text of an integer by itself."""
        number = 10**5000
        board, stats = Batch.of([Board.empty(Geometry(2, 2))]), ContractionStats(0, 0.0, ())
        results = Counts(board, numbers_of([number]), None, "cpu", 1, stats)
        results = Answers(placed(results))
        assert records(JsonLines(False).text(results))[0]["count"] == "1" + "0" * 5000
        writer = Table(",")
        text = writer.header() + writer.text(results)
        assert table(text.decode())[0]["count"] == "1" + "0" * 5000


def placed(results: Counts, name: str = "a", *texts: tuple[str, ...]) -> Counts:
    """The same counts, of boards that were read somewhere."""
    columns = tuple(f"c{index}" for index in range(len(texts[0]))) if texts else ()
    places = Places.of(
        Origin(name, columns), [1] * len(results), Fields.of(texts) if texts else None
    )
    boards = Batch(results.boards.geometry, results.boards.cells, places=places)
    return Counts(boards, results.numbers, results.limit, results.device, results.jobs,
                  results.stats)  # fmt: skip


TEXTS = ["", " ", "a", 'a"b', "a,b", "a\tb", "a\rb", "'", "ä", "\udce9", '"', ",", "\\", "#"]


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("text", TEXTS)
def test_whatever_stands_beside_a_board_is_kept(delimiter, text):
    """As the csv module writes it, whether that was used or found not to be needed."""
    boards = Batch.of([Board.empty(Geometry(2, 2))] * 3)
    stats = ContractionStats(0, 0.0, ())
    others = [("x", "y"), (text, "y"), ("x", text)]
    results = placed(Counts(boards, numbers_of([288] * 3), None, "cpu", 1, stats), "name", *others)
    writer = Table(delimiter)
    assert len(list(writer.watched([results.boards]))) == 1
    text = as_text(writer.header() + writer.text(Answers(results)))
    found = list(csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True))
    assert found[0] == [*COLUMNS, "c0", "c1"]
    assert found[1:] == [["name", "1", MANY, "288", "false", *each] for each in others]
    [first, second, third] = records(JsonLines(False).text(Answers(results)))
    assert [each["columns"] for each in (first, second, third)] == [
        dict(zip(["c0", "c1"], each, strict=True)) for each in others
    ]


def as_text(data: bytes) -> str:
    """What was written, as text again."""
    return data.decode(errors="surrogateescape")


def test_names_that_are_no_text_are_written_as_they_are(run, tmp_path):
    name = str(tmp_path).encode() + b"/b\xe9.txt"
    path = name.decode(errors="surrogateescape")
    try:
        Path(path).write_text(f"{UNIQUE}\n{UNIQUE}\n")
    except OSError:
        pytest.skip("files have names of text here")
    assert records(run("count", path, "--json")[1])[0]["source"] == path
    done = subprocess.run(
        [sys.executable, "-m", "gpusudoku", "count", path, "--format", "csv", "--device", "cpu"],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        check=True,
    )
    assert name + f",1,{UNIQUE},1,true\n".encode() in done.stdout


def test_chosen_answers_keep_their_solutions():
    boards = Batch.of([Board.empty(Geometry(2, 2))] * 2)
    results = placed(Counts(boards, numbers_of([2, 0]), 2, "cpu", 1, ContractionStats(0, 0.0, ())))
    solutions = np.array([[1] * 16, [0] * 16], np.uint8)
    answers = Answers(results, solutions)
    assert list(answers.solution_lines()) == ["1" * 16, ""]
    assert list(answers.chosen(np.array([False, True])).solution_lines()) == [""]
