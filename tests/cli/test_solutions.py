"""``solve``, ``enumerate`` and ``simplify``, run in this process."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gpusudoku import Board, Geometry, formats
from gpusudoku.board.batch import Batch
from gpusudoku.cli import cli
from gpusudoku.cli.grids import solution_writer
from gpusudoku.formats import parse
from tests import naive
from tests.boards import LINE_4X4, PUZZLE


class TestSolve:
    def test_pretty_by_default(self, run, file):
        status, out, err = run("solve", file(PUZZLE))
        solution = next(naive.solutions(parse(PUZZLE)))
        assert status == 0
        assert out == formats.write(Board(solution), "pretty") + "\n"
        assert "the only solution" in err

    def test_not_the_only_one(self, run, file):
        _, out, err = run("solve", file(LINE_4X4), "--format", "line")
        assert tuple(map(int, out.strip())) in set(naive.solutions(parse(LINE_4X4)))
        assert "not the only solution" in err

    def test_first(self, run, file):
        _, _, err = run("solve", file(LINE_4X4), "--first")
        assert "only" not in err

    def test_no_solution(self, run, file):
        status, out, err = run("solve", file("11" + "." * 14))
        assert (status, out) == (0, "")
        assert "no solution" in err
        assert "r1c1 and r1c2" in err

    def test_batch_ends_with_a_summary(self, run, file):
        _, out, err = run("solve", file(f"{PUZZLE}\n{PUZZLE}\n"))
        solution = "".join(map(str, next(naive.solutions(parse(PUZZLE)))))
        assert out.splitlines() == [solution] * 2
        assert err.startswith("gpusudoku: 2 boards: 2 unique, 0 several, 0 none, 0 unreadable; ")
        assert len(err.splitlines()) == 1

    def test_json(self, run, file):
        record = json.loads(run("solve", file(PUZZLE), "--json")[1])
        assert record["unique"] is True
        assert parse(record["solution"]).is_full
        assert (record["count"], record["exact"], record["line"]) == ("1", True, 1)
        assert record["boards_explored"] >= 1
        assert record["jobs"] >= 1
        assert record["seconds"] > 0


class TestEnumerate:
    def test_all_solutions(self, run, file):
        out = run("enumerate", file(LINE_4X4), "--sorted")[1]
        expected = sorted("".join(map(str, s)) for s in naive.solutions(parse(LINE_4X4)))
        assert out.splitlines() == expected

    def test_limit(self, run, file):
        assert len(run("enumerate", file("." * 16), "--limit", 5)[1].splitlines()) == 5

    @pytest.mark.parametrize(
        ("boards", "jobs"), [(["@1b"], 2), (["@a4", "@1b", "@a3"], 2), (["." * 16], 1)]
    )
    def test_a_limit_lists_the_head(self, run, boards, jobs):
        """Of 9x9 boards of clues for any number of threads, of others on one."""
        listed = ["enumerate", *boards, "--json", "-j", jobs]
        of_boards = {}
        for line in run(*listed)[1].splitlines():
            of_boards.setdefault(json.loads(line)["board"], []).append(line)
        heads = [line for lines in of_boards.values() for line in lines[:100]]
        assert run(*listed, "--limit", 100)[1].splitlines() == heads

    def test_file_is_not_overwritten_unasked(self, run, file, tmp_path):
        output = tmp_path / "out.txt"
        assert run("enumerate", file(LINE_4X4), "-o", output)[:2] == (0, "")
        before = output.read_text()
        status, out, err = run("enumerate", file("." * 16), "-o", output)
        assert (status, out, output.read_text()) == (2, "", before)
        assert f"{output}: exists already" in err
        assert run("enumerate", file("." * 16), "-o", output, "--force")[0] == 0
        assert len(output.read_text().splitlines()) == 288

    @pytest.mark.parametrize("form", list(formats.FORMATS))
    def test_formats_read_back(self, run, file, form):
        if form == "hex":
            pytest.skip("is for 16x16 boards")
        out = run("enumerate", file(LINE_4X4), "--format", form)[1]
        column = "solution" if form in ("csv", "tsv") else None
        back = {tuple(b.cells.tolist()) for b in formats.read_text(out, column=column)}
        assert back == set(naive.solutions(parse(LINE_4X4)))

    def test_wide_boards_are_comma_lines(self, run):
        out = run("enumerate", "@64x64-few", "--limit", 1)[1]
        assert len(out.split(",")) == 4096


@pytest.mark.usefixtures("uncompiled")
class TestSimplify:
    def test_before_after_and_each_technique(self, run, file):
        status, out, _ = run("simplify", file(PUZZLE))
        assert status == 0
        left = parse(PUZZLE).candidate_counts.sum()
        assert f"28 of 81 cells are filled, {left} candidates in the others" in out
        assert "all cells are filled" in out
        table = [line.split("  ") for line in out.partition("\ntechnique ")[2].splitlines()[1:]]
        rows = {
            row[0]: (int(row[-2]), int(row[-1])) for row in ([c for c in r if c] for r in table)
        }
        assert rows["none"] == (0, left)  # candidates are counted in one way
        assert "hidden-pair" in rows
        assert rows["all together"] == (53, 0)

    def test_one_technique(self, run, file):
        out = run("simplify", file(PUZZLE), "--technique", "naked-single")[1]
        assert [line.split()[0] for line in out.splitlines()[-2:]] == ["none", "naked-single"]

    def test_batch(self, run, file):
        path = file(f"{PUZZLE}\n{PUZZLE}\n")
        _, out, err = run("simplify", path, "--technique", "none")
        assert out.splitlines() == [PUZZLE] * 2
        left = 2 * parse(PUZZLE).candidate_counts.sum()
        assert "solved: 0 of 2 boards\n" in err
        assert "filled cells: 56 before, 56 after, of 162\n" in err
        assert f"candidates: {left} before, {left} after\n" in err
        assert f"candidates: {left} before, 0 after" in run("simplify", path)[2]

    def test_json(self, run, file):
        record = json.loads(run("simplify", file(PUZZLE), "--json")[1])
        assert (record["cells_before"], record["cells_after"]) == (28, 81)
        before = parse(PUZZLE).candidate_counts.sum()
        assert (record["candidates_before"], record["candidates_after"]) == (before, 0)

    def test_contradiction(self, run, file):
        board = file("123....4" + "." * 8)
        status, out, err = run("simplify", board)
        assert status == 0
        assert "contradiction" in err
        assert "4 of 16 cells are filled" in out
        record = json.loads(run("simplify", board, "--json")[1])
        assert record["candidates_after"] == record["candidates_before"]
        assert record["contradictory"]


def test_nobody_is_told_of_hints(run):
    """What is possible in a cell is called a candidate, everywhere."""
    for name in cli.commands:
        assert "hint" not in run(name, "-h")[1].lower()


@pytest.mark.parametrize("form", ["line", "grid"])
@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (4, 4), (5, 7), (6, 6)])
def test_lines_that_follow_from_the_size_of_a_text(shape, form):
    geometry = Geometry(*shape)
    grids = np.arange(3 * geometry.cells, dtype=np.int64).reshape(3, -1) % geometry.n + 1
    writer = solution_writer(form)
    boards = Batch.of([Board.empty(geometry)])
    text = writer.text(boards, grids.astype(np.uint8))
    told = writer.lines(text, geometry)
    assert (told is None) == (form != "line" or geometry.n > 35)
    assert told in (None, text.count(b"\n"))
