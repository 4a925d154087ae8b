"""Batches: the output is the same as for each board alone, in every form."""

from __future__ import annotations

import json

import pytest

from gpusudoku import Board, formats
from gpusudoku.board.geometry import Geometry
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, with_wrong_clue

FULL = Board(full_grid(Geometry(3, 3), 1), Geometry(3, 3))
FULLS = [str(Board(full_grid(FULL.geometry, seed), FULL.geometry)) for seed in range(50)]
CONFLICT = with_wrong_clue(FULL, 1)
DEAD = formats.parse("1234.. ...... ....6. ...... .....6 ......".replace(" ", ""))
"""Without conflicts, and without solutions."""
MANY = Board.empty(Geometry(2, 2))
BOARDS = [
    *[puzzle("3x3", 45, seed) for seed in range(20)],
    CONFLICT,
    *[puzzle("3x3", CLUES["3x3"], seed) for seed in range(20)],
    DEAD,
    *[puzzle("2x3", CLUES["2x3"], seed) for seed in range(20)],
    MANY,
    puzzle("2x2", 3, 1),
    MANY,
    puzzle("4x4", CLUES["4x4"] + 20, 1),
    CONFLICT,
    FULL,
]
SOLUTIONS = [[str(Board(found, board.geometry)) for found in naive.solutions(board)]
             for board in BOARDS]  # fmt: skip
COUNTS = [len(found) for found in SOLUTIONS]


@pytest.fixture
def path(tmp_path):
    """A file of all boards, whose lines are not all of the plainest form."""
    lines = []
    for number, board in enumerate(BOARDS):
        line = str(board)
        lines += ["# a comment", ""] if number % 31 == 5 else []
        odd = [f"{line}:5", line.lower(), f" {line} # x", f"{line}\r"][number // 9 % 4]
        lines.append(odd if number % 9 == 3 else line)
    path = tmp_path / "boards.txt"
    path.write_bytes("\n".join(lines).encode())
    return path


def lines(text):
    return text.splitlines()


@pytest.mark.parametrize(("limit", "jobs"), [(None, 1), (None, 2), (1, 2), (2, 1), (7, 2)])
def test_counts(run, path, limit, jobs):
    options = [] if limit is None else ["--limit", limit]
    status, out, err = run("count", path, "-j", jobs, *options)
    expected_counts = [n if limit is None or n < limit else f"{limit}+" for n in COUNTS]
    assert status == 0
    assert out == "".join(f"{b}:{n}\n" for b, n in zip(BOARDS, expected_counts, strict=True))
    assert err.count("both hold") == 2


@pytest.mark.parametrize(
    ("only", "is_selected"),
    [("unique", lambda n: n == 1), ("multiple", lambda n: n > 1), ("none", lambda n: n == 0)],
)
def test_boards_with_some_count(run, path, only, is_selected):
    out = run("count", path, "--only", only)[1]
    assert lines(out) == [str(b) for b, n in zip(BOARDS, COUNTS, strict=True) if is_selected(n)]


def test_wide_boards(run, tmp_path):
    board = Board(full_grid(Geometry(8, 8), 1), Geometry(8, 8))
    path = tmp_path / "wide"
    path.write_text(f"{board}\n" * 2)
    assert run("count", path, "--limit", 1)[1] == f"{board}:1+\n" * 2
    [row, _] = lines(run("solve", path, "--format", "csv")[1])[1:]
    assert row == f'{path},1,"{board}",1,true,"{board}"'


def test_solutions_are_those_of_boards_solved_one_by_one(run, path):
    """With --json and --stats every board is solved by itself."""
    output = run("solve", path, "--json")[1]
    output_with_stats = run("solve", path, "--json", "--stats")[1]
    batch_records = [json.loads(line) for line in lines(output)]
    single_records = [json.loads(line) for line in lines(output_with_stats)]
    assert [record["unique"] for record in batch_records] == [n == 1 for n in COUNTS]
    records = zip(batch_records, single_records, strict=True)
    for (batch_record, single_record), solutions in zip(records, SOLUTIONS, strict=True):
        assert batch_record["solution"] in (solutions or [None])
        assert single_record["solution"] in (solutions or [None])
        for name in set(batch_record) - {"solution"}:
            assert single_record[name] == batch_record[name]
        assert {"seconds", "jobs", "boards_explored"} <= set(single_record) - set(batch_record)


@pytest.mark.parametrize("options", [[], ["--first"]])
def test_every_board_has_its_line_of_a_solution(run, path, options):
    status, out, err = run("solve", path, *options)
    assert status == 0
    assert all(line in (f or [""]) for line, f in zip(lines(out), SOLUTIONS, strict=True))
    several_count = sum(n > 1 for n in COUNTS)
    unsolvable_count = COUNTS.count(0)
    summary = f"{COUNTS.count(1)} unique, {several_count} several"
    if options:
        summary = f"{len(BOARDS) - unsolvable_count} solvable"
    assert f"{len(BOARDS)} boards: {summary}, {unsolvable_count} none, 0 unreadable; " in err


@pytest.mark.parametrize("form", ["grid", "integers", "sdk", "pretty"])
@pytest.mark.parametrize("unsolvable", [0, 40])
def test_forms_of_solutions_have_their_separator(run, tmp_path, form, unsolvable):
    """However many boards without a solution come first."""
    boards = [board for board, n in zip(BOARDS, COUNTS, strict=True) if n == 1 and board.n == 9]
    path = tmp_path / "some"
    path.write_text("\n".join(map(str, [CONFLICT] * unsolvable + boards[:20])))
    solved = [Board(next(naive.solutions(board)), board.geometry) for board in boards[:20]]
    texts = [f"{formats.write(board, form)}\n" for board in solved]
    assert run("solve", path, "--format", form)[1] == formats.separator(form).join(texts)


@pytest.mark.parametrize("jobs", [1, 2])
def test_all_solutions_in_order(run, path, jobs):
    status, out, err = run("enumerate", path, "--sorted", "-j", jobs)
    assert status == 0
    assert lines(out) == [line for solutions in SOLUTIONS for line in solutions]
    assert err.count("both hold") == 2


@pytest.mark.parametrize("limit", [None, 1, 7, 64, 100])
def test_solutions_are_grouped_by_board(run, path, limit):
    remaining_lines = lines(
        run("enumerate", path, "-j", 2, *([] if limit is None else ["--limit", limit]))[1]
    )
    for solutions in SOLUTIONS:
        number = len(solutions) if limit is None else min(limit, len(solutions))
        block = remaining_lines[:number]
        remaining_lines = remaining_lines[number:]
        assert len(set(block)) == number
        assert set(block) <= set(solutions)
    assert remaining_lines == []


def test_a_limit_takes_huge_boards(run, tmp_path):
    path = tmp_path / "huge"
    path.write_text("\n".join(["." * 81, str(FULL), "." * 81]))
    listed_lines = lines(run("enumerate", path, "--limit", 500)[1])
    assert len(set(listed_lines)) == 501
    assert (len(listed_lines), listed_lines[500]) == (1001, str(FULL))


@pytest.mark.parametrize("form", [form for form in formats.FORMATS if form != "hex"])
def test_every_form_reads_back(run, tmp_path, form):
    """Lines are so many that they are written in several pieces."""
    number = 3000 if form == "line" else 100
    texts = [str(BOARDS[0]), "." * 16, *[str(board) for board in BOARDS[:2]]] * number
    path = tmp_path / "boards.txt"
    out = tmp_path / "out"
    path.write_text("\n".join(texts))
    assert run("convert", path, "--format", form, "-o", out) == (0, "", "")
    header = formats.header(form) + "\n" if formats.header(form) else ""
    boards = [formats.write(formats.parse(text), form) + "\n" for text in texts[:4]] * number
    assert out.read_text() == header + formats.separator(form).join(boards)
    assert run("convert", out)[1] == path.read_text() + "\n"


@pytest.mark.parametrize("command", ["count", "solve", "enumerate", "convert"])
class TestBadBoards:
    @pytest.mark.parametrize("place", [1, 16, 17, 40])
    def test_boards_before_one_are_dealt_with(self, run, tmp_path, command, place):
        path = tmp_path / "some"
        path.write_text("\n".join([*FULLS[:place], "1?", *FULLS[place:]]))
        status, out, err = run(command, path)
        assert status == 2
        assert [line.partition(":")[0] for line in lines(out)] == FULLS[:place]
        assert lines(err)[-1].startswith(f"gpusudoku: {path}:{place + 1}: ")
        assert lines(err)[-1].endswith("(--keep-going skips it)")

    def test_the_others_are_dealt_with_if_it_keeps_going(self, run, tmp_path, command):
        path = tmp_path / "some"
        path.write_text("\n".join([*FULLS[:30], "1?", *FULLS[30:], "", "x"]))
        status, out, err = run(command, path, "--keep-going")
        board_texts = [line.partition(":")[0] for line in lines(out)]
        gap = [""] if command == "solve" else []  # its lines stand beside the boards
        assert (status, board_texts) == (2, [*FULLS[:30], *gap, *FULLS[30:], *gap])
        assert f"{path}:31:" in err
        assert f"{path}:53:" in err
