"""Solutions as records: each tells which board it belongs to."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

from gpusudoku import solutions
from gpusudoku.formats import parse
from tests import naive
from tests.boards import LINE_4X4

EMPTY = "." * 16
WRONG = "11" + "." * 14
TABLE = f"""id,puzzle,solution
a,{LINE_4X4},?
b,{EMPTY},"one, two"
c,{WRONG},
d,{LINE_4X4},#
"""
"""With boards that are listed together, and one that is listed alone."""


def rows(text, delimiter=","):
    return list(csv.DictReader(StringIO(text, newline=""), delimiter=delimiter, strict=True))


def all_of(board):
    return sorted("".join(map(str, found)) for found in naive.solutions(parse(board)))


class TestEnumerate:
    @pytest.mark.parametrize("more", [[], ["--sorted"], ["--part", "1/1"], ["--stats"], ["-j", 2]])
    def test_a_table(self, run, file, more):
        path = file(TABLE, "boards.csv")
        status, out, _ = run("enumerate", path, "--format", "csv", *more)
        assert status == 0
        assert out.partition("\n")[0] == "source,line,puzzle,solution,id,input_solution"
        found = rows(out)
        for line, name, board, beside in [
            ("2", "a", LINE_4X4, "?"), ("3", "b", EMPTY, "one, two"), ("5", "d", LINE_4X4, "#"),
        ]:  # fmt: skip
            own = [row for row in found if row["id"] == name]
            assert sorted(row["solution"] for row in own) == all_of(board)
            assert {tuple(row[c] for c in ("source", "line", "puzzle", "input_solution"))
                    for row in own} == {(str(path), line, board, beside)}  # fmt: skip
        assert [row["line"] for row in found] == sorted(row["line"] for row in found)

    def test_the_same_as_objects(self, run, file):
        path = file(TABLE, "boards.csv")
        table = rows(run("enumerate", path, "--sorted", "--format", "tsv")[1], "\t")
        lines = run("enumerate", path, "--sorted", "--json")[1].splitlines()
        assert lines == run("enumerate", path, "--sorted", "--format", "jsonl")[1].splitlines()
        for row, line in zip(table, lines, strict=True):
            assert json.loads(line) == {
                "board": row["puzzle"], "box": "2x2", "solution": row["solution"],
                "source": str(path), "line": int(row["line"]),
                "columns": {"id": row["id"], "solution": row["input_solution"]},
            }  # fmt: skip

    def test_a_limit(self, run, file):
        path = file(TABLE, "boards.csv")
        found = rows(run("enumerate", path, "--limit", 2, "--format", "csv")[1])
        assert [row["id"] for row in found] == ["a", "a", "b", "b", "d", "d"]

    def test_numbers_between_commas(self, run):
        first = "enumerate", "@64x64-few", "--limit", 1, "-j", 1
        [row] = rows(run(*first, "--format", "csv")[1])
        assert (row["source"], row["line"]) == ("@64x64-few", "")
        assert len(row["solution"].split(",")) == len(row["puzzle"].split(",")) == 64 * 64
        found = json.loads(run(*first, "--json")[1])
        assert (found["box"], found["line"], found["solution"]) == ("8x8", None, row["solution"])

    def test_names_that_need_quotes(self, run, file):
        path = file(f"{LINE_4X4}\n", '#a,"b".txt')
        for row in rows(run("enumerate", path, "--format", "csv")[1]):
            assert (row["source"], row["puzzle"]) == (str(path), LINE_4X4)

    @pytest.mark.parametrize("command", ["enumerate", "sample"])
    def test_columns_of_two_files(self, run, file, command):
        """A table has one header; what stands before the other file is written."""
        one, two = file(TABLE, "one.csv"), file(f"{EMPTY}\n", "two.txt")
        status, out, err = run(command, one, two, "--format", "csv", "-q")
        assert status == 2
        assert {row["id"] for row in rows(out)} == {"a", "b", "d"}
        assert err.endswith("do not fit in one table (--format jsonl takes both)\n")
        assert run("enumerate", one, two, "--json")[0] == 0


class TestSample:
    def test_draws_and_the_seed(self, run, file):
        path = file(f"{EMPTY}\n{LINE_4X4}\n")
        found = rows(run("sample", path, "-n", 1500, "--format", "csv", "-q")[1])
        assert [row["draw"] for row in found] == 2 * list(map(str, range(1500)))
        [seed] = {row["seed"] for row in found}
        again = run("sample", path, "-n", 1500, "--seed", seed)[1].splitlines()
        assert [row["solution"] for row in found] == again
        assert [row["puzzle"] for row in found] == 1500 * [EMPTY] + 1500 * [LINE_4X4]

    def test_objects(self, run):
        lines = run("sample", EMPTY, "-n", 3, "--seed", 2**100, "--json")[1].splitlines()
        drawn = solutions(EMPTY, device="cpu").sample(3, seed=2**100)
        for number, line in enumerate(lines):
            assert json.loads(line) == {
                "board": EMPTY, "box": "2x2", "seed": str(2**100), "draw": number,
                "solution": "".join(map(str, drawn[number])), "source": "<argument>", "line": 1,
            }  # fmt: skip

    def test_nothing_but_a_header(self, run, tmp_path):
        path = tmp_path / "out.csv"
        assert run("sample", EMPTY, "-n", 0, "--format", "csv", "-o", path)[:2] == (0, "")
        assert path.read_text() == "source,line,puzzle,seed,draw,solution\n"
        status, out, _ = run("sample", WRONG, "--format", "csv", "-q")
        assert (status, rows(out)) == (1, [])


def test_nth(run):
    out = run("nth", EMPTY, 287, 3, 3, "--format", "tsv")[1]
    wanted = [("287", all_of(EMPTY)[287]), *(2 * [("3", all_of(EMPTY)[3])])]
    assert [(row["number"], row["solution"]) for row in rows(out, "\t")] == wanted
    [first, *_] = run("nth", EMPTY, 287, 3, "--json")[1].splitlines()
    assert json.loads(first)["number"] == "287"


@pytest.mark.parametrize("command", [["enumerate"], ["sample"], ["nth", 0]])
def test_two_forms(run, command):
    name, *number = command
    status, out, err = run(name, EMPTY, *number, "--json", "--format", "csv")
    assert (status, out, err.count("\n")) == (2, "", 1)
