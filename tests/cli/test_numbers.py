"""``sample``, ``nth`` and ``rank``."""

from __future__ import annotations

import io
import sys

import pytest

import gpusudoku
from gpusudoku.formats import parse
from gpusudoku.orders import choose
from tests import naive
from tests.boards import LINE_4X4, PUZZLE

EMPTY = "." * 16
WRONG = "11" + "." * 14
MANY = "1" + "." * 80  # a ninth of 6.67e21
ALL = sorted("".join(map(str, s)) for s in naive.solutions(parse(EMPTY)))


class TestNth:
    def test_every_solution(self, run, file):
        status, out, _ = run("nth", file(EMPTY), *range(288))
        assert (status, out.splitlines()) == (0, ALL)

    def test_in_any_order_and_twice(self, run):
        assert run("nth", EMPTY, 5, 287, 5)[1].splitlines() == [ALL[5], ALL[287], ALL[5]]

    @pytest.mark.parametrize("numbers", [[288], [0, 10**40], ["0x1"], ["1.0"], [""], ["-1"]])
    def test_no_such_number(self, run, numbers):
        """Nothing is written, not even those that there are."""
        status, out, err = run("nth", EMPTY, *numbers)
        assert (status, out, len(err.splitlines())) == (2, "", 1)

    @pytest.mark.parametrize("numbers", [["-1"], [3, "-17"], ["-17", 3]])
    def test_numbers_are_not_below_zero(self, run, numbers):
        """They are no options, as they look."""
        status, out, err = run("nth", EMPTY, *numbers)
        below = next(each for each in numbers if "-" in str(each))
        assert (status, out) == (2, "")
        assert err == f"gpusudoku: no solution {below}: numbers count from 0\n"
        assert "no option '--sorted'" in run("nth", EMPTY, 1, "--sorted")[2]

    def test_no_solution(self, run):
        status, out, err = run("nth", WRONG, 0)
        assert (status, out) == (2, "")
        assert "both hold 1: no solution" in err
        assert err.splitlines()[-1].endswith("no solution 0: there are none")

    def test_the_first_ones_need_no_count(self, run, monkeypatch):
        monkeypatch.setattr(choose, "count_one", None)
        out = run("nth", MANY, 3, 1)[1].splitlines()
        assert out == run("enumerate", MANY, "--to", 4)[1].splitlines()[3:0:-2]

    def test_several_boards(self, run, file):
        status, out, err = run("nth", file(f"{EMPTY}\n{EMPTY}\n"), 0)
        assert (status, out) == (2, "")
        assert "several boards" in err

    def test_many_solutions(self, run):
        count = gpusudoku.count(MANY, device="cpu").count
        out = run("nth", MANY, count - 1, 0)[1].splitlines()
        assert run("rank", MANY, *out)[1].splitlines() == [str(count - 1), "0"]

    def test_other_forms_and_files(self, run, tmp_path):
        path = tmp_path / "out.txt"
        assert run("nth", EMPTY, 3, 4, "--format", "grid", "-o", path)[:2] == (0, "")
        boards = list(gpusudoku.formats.read_text(path.read_text()))
        assert [str(board) for board in boards] == ALL[3:5]
        assert run("nth", EMPTY, 3, "-o", path)[0] == 2


class TestRank:
    def test_a_file(self, run, file):
        status, out, _ = run("rank", EMPTY, file("\n".join(ALL)))
        assert (status, out.split()) == (0, list(map(str, range(288))))

    @pytest.mark.parametrize("names", [(EMPTY, "-"), ("-", ALL[17])])
    def test_standard_input(self, run, monkeypatch, names):
        given = ALL[17] if names[1] == "-" else EMPTY
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        assert run("rank", *names)[1] == "17\n"

    def test_boxes_are_those_of_the_board(self, run, file):
        """A grid alone would have boxes of another shape."""
        grid = run("nth", "@box3x2-many", 300)[1]
        assert run("rank", "@box3x2-many", file(grid))[1] == "300\n"

    def test_both_from_standard_input(self, run):
        status, _, err = run("rank", "-", "-")
        assert status == 2
        assert "standard input cannot be both" in err

    @pytest.mark.parametrize(
        "grid", [EMPTY, PUZZLE, "1" * 16, ALL[0].translate(str.maketrans("1234", "2143"))]
    )
    def test_no_solution(self, run, grid, file):
        status, out, err = run("rank", "12..............", file(f"{ALL[0]}\n{grid}\n"))
        assert (status, out) == (2, "0\n")
        assert "board.txt:2: " in err

    def test_keeping_going_after_a_grid_that_is_none(self, run, file):
        grids = file(f"{ALL[0]}\n{'1' * 16}\n{ALL[7]}\n")
        status, out, err = run("rank", EMPTY, grids, "--keep-going", "-q")
        assert (status, out, err.count("\n")) == (2, "0\n\n7\n", 1)
        assert "board.txt:2: not a solution" in err

    def test_a_new_file(self, run, tmp_path):
        path = tmp_path / "ranks.txt"
        assert run("rank", EMPTY, ALL[5], ALL[3], "-o", path)[:2] == (0, "")
        assert path.read_text() == "5\n3\n"
        status, _, err = run("rank", EMPTY, ALL[9], "-o", path, "-q")
        assert (status, err.count("\n"), path.read_text()) == (2, 1, "5\n3\n")

    @pytest.mark.parametrize("form", ["csv", "jsonl"])
    def test_records_of_solutions(self, run, tmp_path, form):
        path = tmp_path / "records"
        run("nth", EMPTY, 7, 200, "--format", form, "-o", path)
        assert run("rank", EMPTY, path, "--column", "solution")[1] == "7\n200\n"

    @pytest.mark.parametrize("command", ["nth", "rank"])
    def test_bad_boards_that_are_reported(self, run, file, command):
        """With --keep-going the one good board is taken, if there is one."""
        what = 5 if command == "nth" else ALL[5]
        answer = f"{ALL[5]}\n" if command == "nth" else "5\n"
        for boards, wanted in ((f"{EMPTY[1:]}\n", ""), (f"12345\n{EMPTY}\n", answer)):
            status, out, err = run(command, file(boards), what, "--box", "2x2", "--keep-going")
            assert (status, out) == (2, wanted)
            assert "board.txt:1: " in err


class TestSample:
    def test_solutions(self, run):
        out = run("sample", EMPTY, "-n", 500, "--seed", 1)[1].splitlines()
        assert len(out) == 500
        assert set(out) <= set(ALL)
        assert len(set(out)) > 200

    def test_the_seed_decides(self, run):
        ten, again, longer, other = (
            run("sample", EMPTY, "-n", n, "--seed", seed)[1].splitlines()
            for n, seed in [(10, 1), (10, 1), (20, 1), (10, 2)]
        )
        assert ten == again == longer[:10]
        assert ten != other

    def test_a_seed_is_drawn_and_told(self, run):
        _, out, err = run("sample", EMPTY, "-n", 20)
        [seed] = [line.split()[-1] for line in err.splitlines() if "seed" in line]
        assert run("sample", EMPTY, "-n", 20, "--seed", seed)[1] == out

    def test_a_seed_is_told_where_something_is_drawn(self, run):
        assert "seed" not in run("sample", WRONG)[2]
        assert "seed" not in run("sample", EMPTY, "-n", 0)[2]
        assert "seed" not in run("sample", EMPTY, "-q")[2]

    def test_distinct(self, run):
        out = run("sample", EMPTY, "-n", 288, "--distinct", "--seed", 3)[1].splitlines()
        assert sorted(out) == ALL
        status, out, err = run("sample", EMPTY, "-n", 289, "--distinct")
        assert (status, out) == (1, "")
        assert "there are only 288" in err

    def test_a_batch(self, run, file):
        """N of each; a board without solutions costs none of the others."""
        status, out, err = run(
            *["sample", file(f"{EMPTY}\n{WRONG}\n{LINE_4X4}\n"), "-n", 3, "--seed", 1]
        )
        lines = out.splitlines()
        assert (status, len(lines)) == (1, 6)
        assert set(lines[3:]) <= {"".join(map(str, s)) for s in naive.solutions(parse(LINE_4X4))}
        wrong = "board.txt:2: no solution to draw: r1c1 and r1c2 both hold 1\n"
        assert err.endswith(wrong)
        assert err.count("no solution") == 1

    def test_none(self, run):
        for board in (EMPTY, WRONG):
            assert run("sample", board, "-n", 0)[:2] == (0, "")

    def test_a_form_that_cannot_show_a_board(self, run, file):
        """That is an error of the option, as elsewhere."""
        for command in (["sample"], ["enumerate"], ["enumerate", "--sorted"], ["nth"]):
            k = [3] if command == ["nth"] else []
            status, out, err = run(*command, file(EMPTY), *k, "--format", "hex", "-q")
            assert (status, out, err.count("\n")) == (2, "", 1)
            assert "hexadecimal is for 16" in err

    @pytest.mark.parametrize("number", [-1, "x", "1.5"])
    def test_bad_numbers(self, run, number):
        assert run("sample", EMPTY, "-n", number)[:2] == (2, "")

    def test_many_solutions(self, run):
        """They are solutions, and the same for any number of threads."""
        one, two = (run("sample", MANY, "-n", 50, "--seed", 9, "-j", j)[1] for j in (1, 2))
        assert one == two
        for line in one.splitlines():
            assert line in gpusudoku.solutions(MANY, device="cpu")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["sample", WRONG, "-n", 2],
            ["sample", EMPTY, "-n", 300, "--distinct"],
            ["sample", EMPTY, "--format", "hex"],
        ],
    )
    def test_a_file_is_not_emptied_for_want_of_any_answer(self, run, tmp_path, arguments) -> None:
        old, new = tmp_path / "old.txt", tmp_path / "new.txt"
        old.write_text("old\n")
        result = run(*arguments, "-q", "-o", old, "--force")
        assert (result[0] > 0, result[1], result[2].count("\n")) == (True, "", 1)
        assert old.read_text() == "old\n"
        assert run(*arguments, "-q", "-o", new) == result
        assert not new.exists()
