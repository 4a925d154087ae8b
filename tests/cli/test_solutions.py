"""Solutions that ``enumerate``, ``sample``, ``nth`` and ``rank`` write: all, and only those."""

from __future__ import annotations

import json

import pytest

import gpusudoku
from gpusudoku import collection, formats
from gpusudoku.formats import parse
from tests import naive
from tests.boards import LINE_4X4

EMPTY = "." * 16
MANY = "@top-band-cyclic"  # 7,802,998,272 solutions
ALL = sorted("".join(map(str, s)) for s in naive.solutions(parse(EMPTY)))


class TestNumbers:
    def test_all_are_found_by_their_numbers_and_the_other_way_round(self, run, file):
        assert run("nth", EMPTY, *range(288))[1].splitlines() == ALL
        assert run("rank", EMPTY, file("\n".join(ALL)))[1].split() == list(map(str, range(288)))

    def test_they_need_no_search(self, run):
        count = collection.entry("top-band-cyclic").count
        numbers = [count - 1, 0, count // 3]
        out = run("nth", MANY, *numbers)[1].splitlines()
        assert run("rank", MANY, *out)[1].split() == list(map(str, numbers))
        out = run("enumerate", MANY, "--from", 10**9, "--to", 10**9 + 5)[1].splitlines()
        assert run("rank", MANY, *out)[1].split() == [str(10**9 + k) for k in range(5)]

    def test_boxes_of_grids_are_those_of_the_board(self, run, file):
        """A grid alone would have boxes of another shape."""
        grid = run("nth", "@box3x2-many", 300)[1]
        assert run("rank", "@box3x2-many", file(grid))[1] == "300\n"

    @pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
    def test_records_are_read_again(self, run, tmp_path, form):
        path = tmp_path / "records"
        run("nth", EMPTY, 7, 200, "--format", form, "-o", path)
        assert run("rank", EMPTY, path, "--column", "solution")[1] == "7\n200\n"


class TestEnumerate:
    @pytest.mark.parametrize(
        ("bounds", "expected"),
        [
            (["--sorted"], ALL),
            (["--from", 280], ALL[280:]),
            (["--to", 10**30], ALL),
            (["--from", 7, "--to", 9], ALL[7:9]),
            (["--from", 285, "--limit", 2], ALL[285:287]),
            (["--from", 10**30], []),
        ],
    )
    def test_bounds(self, run, bounds, expected):
        status, out, _ = run("enumerate", EMPTY, *bounds)
        assert (status, out.splitlines()) == (0, expected)

    @pytest.mark.parametrize("parts", [1, 7, 300])
    def test_parts_differ_by_one_at_most(self, run, parts):
        parts_found = [
            run("enumerate", EMPTY, "--part", f"{number}/{parts}")[1].splitlines()
            for number in {1, parts // 2 + 1, parts}
        ]
        assert {len(part) for part in parts_found} <= {288 // parts, 288 // parts + 1}

    def test_parts_make_up_the_whole(self, run):
        whole = run("enumerate", "@1b", "-j", 2)[1]
        assert "".join(run("enumerate", "@1b", "--part", f"{i}/5")[1] for i in range(1, 6)) == whole
        assert len(set(whole.splitlines())) == collection.entry("1b").count

    def test_a_small_part_of_many(self, run):
        out = run("enumerate", "@2d", "--part", "30000/65536")[1].splitlines()
        assert len(out) in (15, 16)
        board = collection.load("2d")  # of 1014785 solutions
        assert all(line in gpusudoku.solutions(board, device="cpu") for line in out)

    def test_the_same_are_listed_in_any_way(self, run):
        """In the same order every time, but by a search."""
        output = run("enumerate", "@2c", "-j", 1)[1]
        assert run("enumerate", "@2c", "-j", 2)[1] == output
        ascending = run("enumerate", "@2c", "--sorted")[1].splitlines()
        assert ascending == sorted(output.splitlines())
        search_output = run("enumerate", "@2c", "--method", "search", "-j", 2)[1]
        assert sorted(search_output.splitlines()) == ascending

    @pytest.mark.parametrize(
        ("boards", "jobs"), [(["@1b"], 2), (["@a4", "@1b", "@a3"], 2), ([EMPTY], 1)]
    )
    def test_a_limit_lists_the_head(self, run, boards, jobs):
        """Of 9x9 boards of clues for any number of threads, of others on one."""
        arguments = ["enumerate", *boards, "--json", "-j", jobs]
        of_boards = {}
        for line in run(*arguments)[1].splitlines():
            of_boards.setdefault(json.loads(line)["board"], []).append(line)
        heads = [line for lines in of_boards.values() for line in lines[:100]]
        assert run(*arguments, "--limit", 100)[1].splitlines() == heads

    @pytest.mark.parametrize("form", [form for form in formats.FORMATS if form != "hex"])
    def test_every_form_reads_back(self, run, form):
        out = run("enumerate", LINE_4X4, "--format", form)[1]
        column = "solution" if form in ("csv", "tsv") else None
        back = {tuple(board.cells.tolist()) for board in formats.read_text(out, column=column)}
        assert back == set(naive.solutions(parse(LINE_4X4)))

    def test_wide_boards_are_numbers_between_commas(self, run):
        [row] = run("enumerate", "@64x64-few", "--limit", 1, "-j", 1)[1].splitlines()
        assert len(row.split(",")) == 4096
        out = run("enumerate", "@64x64-few", "--limit", 1, "-j", 1, "--format", "csv")[1]
        assert out.splitlines()[1].endswith(f',"{row}"')


class TestSample:
    def test_only_solutions_are_drawn_and_many_of_them(self, run):
        out = run("sample", EMPTY, "-n", 500, "--seed", 1)[1].splitlines()
        assert len(out) == 500
        assert set(out) <= set(ALL)
        assert len(set(out)) > 200

    def test_the_seed_decides(self, run):
        ten_draws, repeated, twenty_draws, other_seed = (
            run("sample", EMPTY, "-n", n, "--seed", seed)[1].splitlines()
            for n, seed in [(10, 1), (10, 1), (20, 1), (10, 2)]
        )
        assert ten_draws == repeated == twenty_draws[:10]
        assert ten_draws != other_seed

    def test_a_new_seed_is_told(self, run):
        _, out, err = run("sample", EMPTY, "-n", 20)
        [seed] = [line.split()[-1] for line in err.splitlines() if "seed" in line]
        assert run("sample", EMPTY, "-n", 20, "--seed", seed)[1] == out
        first_output, second_output = (run("sample", EMPTY, "-n", 20, "-q")[1] for _ in range(2))
        assert first_output != second_output

    def test_distinct_ones_are_all_at_last(self, run):
        out = run("sample", EMPTY, "-n", 288, "--distinct", "--seed", 3)[1].splitlines()
        assert sorted(out) == ALL

    def test_draws_of_a_batch_are_numbered(self, run, file):
        path = file(f"{EMPTY}\n{LINE_4X4}\n")
        lines = run("sample", path, "-n", 1500, "--json", "-q")[1].splitlines()
        records = [json.loads(line) for line in lines]
        assert [record["draw"] for record in records] == 2 * list(range(1500))
        assert [record["board"] for record in records] == 1500 * [EMPTY] + 1500 * [LINE_4X4]
        [seed] = {record["seed"] for record in records}
        repeated = run("sample", path, "-n", 1500, "--seed", seed)[1].splitlines()
        assert [record["solution"] for record in records] == repeated

    def test_the_number_of_threads_does_not_matter(self, run):
        one, two = (run("sample", MANY, "-n", 50, "--seed", 9, "-j", j)[1] for j in (1, 2))
        assert one == two
        found = gpusudoku.solutions(collection.load(MANY[1:]), device="cpu")
        assert all(line in found for line in one.splitlines())
