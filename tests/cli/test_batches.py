"""Batches on the command line: what is written is what would be if each board came alone."""

from __future__ import annotations

import json

import pytest

from gpusudoku import Board, formats
from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import parse
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, spoilt

FULL = Board(full_grid(Geometry(3, 3), 1), Geometry(3, 3))
CONFLICT = spoilt(FULL, 1)
DEAD = parse("1234.. ...... ....6. ...... .....6 ......".replace(" ", ""))
"""Without conflicts, and without solutions."""
MANY = Board.empty(Geometry(2, 2))
BOARDS = [
    *[puzzle("3x3", 45, seed) for seed in range(25)],
    CONFLICT,
    *[puzzle("3x3", CLUES["3x3"], seed) for seed in range(25)],
    DEAD,
    *[puzzle("2x3", CLUES["2x3"], seed) for seed in range(30)],
    MANY,
    puzzle("2x2", 3, 1),
    MANY,
    *[puzzle("4x4", CLUES["4x4"] + 20, seed) for seed in range(5)],
    CONFLICT,
    FULL,
]
SOLUTIONS = [[str(Board(found, board.geometry)) for found in naive.solutions(board)]
             for board in BOARDS]  # fmt: skip
COUNTS = [len(found) for found in SOLUTIONS]


def mixed(boards: list[Board]) -> str:
    """Boards as lines that are not all of the plainest form."""
    lines = []
    for number, board in enumerate(boards):
        line = str(board)
        lines += ["# a comment", ""] if number % 31 == 5 else []
        lines.append([f"{line}:5", line.lower(), f" {line} # x", f"{line}\r"][number // 9 % 4]
                     if number % 9 == 3 else line)  # fmt: skip
    return "\n".join(lines)


@pytest.fixture
def path(tmp_path):
    """A file of all boards."""
    path = tmp_path / "boards.txt"
    path.write_bytes(mixed(BOARDS).encode())
    return path


def lines(text):
    return text.splitlines()


def conflicts_in(err):
    return [line for line in lines(err) if "both hold" in line]


class TestCount:
    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize("limit", [None, 1, 2, 7])
    def test_lines(self, run, path, limit, jobs):
        options = [] if limit is None else ["--limit", limit]
        status, out, err = run("count", path, "-j", jobs, *options)
        shown = [n if limit is None or n < limit else f"{limit}+" for n in COUNTS]
        assert status == 0
        assert out == "".join(f"{b}:{n}\n" for b, n in zip(BOARDS, shown, strict=True))
        assert len(conflicts_in(err)) == 2

    @pytest.mark.parametrize(
        ("only", "wanted"),
        [("unique", lambda n: n == 1), ("multiple", lambda n: n > 1), ("none", lambda n: n == 0)],
    )
    def test_only(self, run, path, only, wanted):
        _, out, err = run("count", path, "--only", only)
        assert lines(out) == [str(b) for b, n in zip(BOARDS, COUNTS, strict=True) if wanted(n)]
        assert len(conflicts_in(err)) == 2

    def test_wide_boards(self, run, tmp_path):
        board = Board(full_grid(Geometry(8, 8), 1), Geometry(8, 8))
        path = tmp_path / "wide"
        path.write_text(f"{board}\n" * 2)
        assert run("count", path, "--limit", 1)[1] == f"{board}:1+\n" * 2
        assert run("count", path, "--only", "unique")[1] == f"{board}\n" * 2

    def test_json_is_of_each_board(self, run, path):
        _, out, _ = run("count", path, "--json")
        assert [json.loads(line)["count"] for line in lines(out)] == list(map(str, COUNTS))


@pytest.mark.parametrize("command", ["count", "solve", "enumerate", "simplify"])
def test_few_conflicts_are_named(run, tmp_path, command):
    path = tmp_path / "conflicts.txt"
    path.write_text("11..............\n" * 50 + f"{BOARDS[0]}\n")
    status, _, err = run(command, path)
    assert status == 0
    assert [line.split(": ")[1] for line in conflicts_in(err)] == [
        f"{path}:{line}" for line in range(1, 21)
    ]
    assert err.count("more boards whose clues contradict each other are not named") == 1


class TestSolve:
    def test_lines_and_messages(self, run, path):
        """A line for every board, in the order of the input; stderr names none but conflicts."""
        status, out, err = run("solve", path)
        assert status == 0
        for line, found in zip(lines(out), SOLUTIONS, strict=True):
            assert line in (found or [""])
        read = formats.read_batches(str(path))
        names = [batch.places.name(index) for batch in read for index in range(len(batch))]
        spoilt = [name for name, board in zip(names, BOARDS, strict=True) if board == CONFLICT]
        *told, summary = [line for line in lines(err) if "compiling" not in line]
        assert [line.split(": ")[1] for line in told] == spoilt
        assert all(line.endswith(": no solution") for line in told)
        several = sum(n > 1 for n in COUNTS)
        assert summary.startswith(
            f"gpusudoku: {len(BOARDS)} boards: {COUNTS.count(1)} unique, {several} several, "
            f"{COUNTS.count(0)} none, 0 unreadable; "
        )

    def test_as_one_by_one(self, run, path):
        """With --json and --stats every board is solved by itself."""
        together = [json.loads(line) for line in lines(run("solve", path, "--json")[1])]
        alone = [json.loads(line) for line in lines(run("solve", path, "--json", "--stats")[1])]
        assert [record["unique"] for record in together] == [n == 1 for n in COUNTS]
        for first, second, found in zip(together, alone, SOLUTIONS, strict=True):
            assert first["solution"] in (found or [None])
            assert second["solution"] in (found or [None])
            same = set(first) - {"solution"}
            assert {name: second[name] for name in same} == {name: first[name] for name in same}
            assert {"seconds", "jobs", "boards_explored"} <= set(second) - set(first)

    def test_first(self, run, path):
        _, out, err = run("solve", path, "--first")
        assert all(line in (f or [""]) for line, f in zip(lines(out), SOLUTIONS, strict=True))
        assert "only" not in err
        solvable = len(BOARDS) - COUNTS.count(0)
        assert f"boards: {solvable} solvable, {COUNTS.count(0)} none, 0 unreadable; " in err

    @pytest.mark.parametrize("form", ["grid", "integers", "sdk", "pretty"])
    def test_forms(self, run, tmp_path, form):
        boards = [board for board, n in zip(BOARDS[:50], COUNTS, strict=False) if n == 1][:20]
        for first in ([], [CONFLICT] * 40):  # however many boards without a solution come first
            path = tmp_path / "some"
            path.write_text("\n".join(map(str, first + boards)))
            solutions = [next(naive.solutions(board)) for board in boards]
            texts = [formats.write(Board(s, Geometry(3, 3)), form) for s in solutions]
            between = formats.separator(form)
            expected = between.join(f"{text}\n" for text in texts)
            assert run("solve", path, "--format", form)[1] == expected

    @pytest.mark.parametrize("form", ["line", "letters", "hex"])
    def test_lines_stand_beside_their_boards(self, run, tmp_path, form):
        board = puzzle("4x4", 200, 1)
        path = tmp_path / "some"
        path.write_text(f"{board}\n{spoilt(board, 1)}\n{board}\n")
        line, nothing, again = run("solve", path, "--format", form)[1].splitlines()
        assert formats.parse(line).is_full
        assert (nothing, again) == ("", line)

    def test_a_form_that_does_not_suit_names_the_board(self, run, tmp_path):
        path = tmp_path / "some"
        path.write_text(f"# two\n{FULL}\n{FULL}\n")
        status, out, err = run("solve", path, "--format", "hex")
        assert (status, out) == (2, "")
        assert lines(err)[-1].startswith(f"gpusudoku: {path}:2: a board of 9 digits: ")


class TestEnumerate:
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_all_in_order(self, run, path, jobs):
        status, out, err = run("enumerate", path, "--sorted", "-j", jobs)
        assert status == 0
        assert lines(out) == [line for found in SOLUTIONS for line in found]
        assert len(conflicts_in(err)) == 2

    @pytest.mark.parametrize("limit", [None, 1, 2, 7, 64, 100])
    def test_grouped_by_board(self, run, path, limit):
        options = [] if limit is None else ["--limit", limit]
        _, out, _ = run("enumerate", path, "-j", 2, *options)
        rest = lines(out)
        for found in SOLUTIONS:
            number = len(found) if limit is None else min(limit, len(found))
            block, rest = rest[:number], rest[number:]
            assert len(set(block)) == number
            assert set(block) <= set(found)
        assert rest == []

    def test_one_thread_lists_in_a_fixed_order(self, run, path, tmp_path):
        """Whatever other boards there are."""
        out = run("enumerate", path, "-j", 1, "--limit", 70)[1]
        assert run("enumerate", path, "-j", 1, "--limit", 70)[1] == out
        one = tmp_path / "one"
        one.write_text(f"{MANY}\n{MANY}\n")
        assert (
            lines(run("enumerate", one, "-j", 1, "--limit", 70)[1])[:70]
            == [line for line in lines(out) if len(line) == 16][:70]
        )

    def test_huge_boards_with_a_limit(self, run, tmp_path):
        path = tmp_path / "huge"
        path.write_text("\n".join(["." * 81, str(FULL), "." * 81]))
        found = lines(run("enumerate", path, "--limit", 500)[1])
        assert len(found) == 1001
        assert found[500] == str(FULL)

    def test_forms(self, run, path):
        _, out, _ = run("enumerate", path, "--format", "grid", "--limit", 3)
        boards = list(formats.read_text(out.replace("\n\n", "\n \n")))
        assert len(boards) == sum(min(n, 3) for n in COUNTS)


class TestConvert:
    def test_lines(self, run, path):
        assert run("convert", path)[1] == "".join(f"{board}\n" for board in BOARDS)

    def test_boards_before_one_that_does_not_suit(self, run, tmp_path):
        path = tmp_path / "some"
        good = puzzle("4x4", 200, 1)
        path.write_text(f"{good}\n{good}\n{FULL}\n{good}\n")
        status, out, err = run("convert", path, "--format", "hex")
        assert (status, out) == (2, f"{formats.write(good, 'hex')}\n" * 2)
        assert "hexadecimal is for 16" in err


class TestErrors:
    @pytest.mark.parametrize("place", [1, 16, 17, 40])
    @pytest.mark.parametrize("command", ["count", "solve", "enumerate", "convert"])
    def test_boards_before_one_are_dealt_with(self, run, tmp_path, command, place):
        good = [Board(full_grid(FULL.geometry, seed), FULL.geometry) for seed in range(50)]
        path = tmp_path / "some"
        path.write_text("\n".join([*map(str, good[:place]), "1?", *map(str, good[place:])]))
        status, out, err = run(command, path)
        assert (status, len(lines(out))) == (2, place)
        assert f"{path}:{place + 1}" in lines(err)[-1]
        assert lines(err)[-1].endswith("(--keep-going skips it)")

    def test_the_option_is_named_where_it_helps(self, run, tmp_path):
        board, bad, binary = str(FULL), tmp_path / "bad", tmp_path / "binary"
        bad.write_text(f"1?\n{board}\n{board}\n")
        binary.write_bytes(b"\0\1\2")
        named = {("count", bad): True, ("count", binary): False, ("count", binary, board): True}
        named |= {("nth", bad, 0): False, ("rank", bad, board): False}
        for command, is_named in named.items():
            status, _, err = run(*command)
            assert (status, err.endswith("(--keep-going skips it)\n")) == (2, is_named), command

    @pytest.mark.parametrize("command", ["count", "solve", "enumerate", "convert"])
    def test_keep_going(self, run, tmp_path, command):
        good = [Board(full_grid(FULL.geometry, seed), FULL.geometry) for seed in range(50)]
        path = tmp_path / "some"
        path.write_text("\n".join([*map(str, good[:30]), "1?", *map(str, good[30:]), "", "x"]))
        status, out, err = run(command, path, "--keep-going")
        beside = ["", ""] if command == "solve" else []  # its lines stand beside the boards
        assert (status, len(lines(out))) == (2, 50 + len(beside))
        assert [line for line in out.splitlines()[30::21] if not line] == beside
        assert f"{path}:31:" in err
        assert f"{path}:53:" in err
