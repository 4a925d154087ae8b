"""``generate`` and ``minimise``: forms, parts, checkpoints, and boards that are no puzzles."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Geometry, generate, minimise
from tests.boards import LINE_4X4, NONE, SEVERAL, UNIQUE, full_grid

FULL = "1234341221434321"
WISHES = "--symmetry rotational --clues 24-28 --seed 5"
PATTERN = "..xx....x...x.x."
"""A pattern of 120 puzzles."""


@pytest.fixture
def grids(file):
    """Make a file of full 9x9 grids."""
    lines = ["".join(map(str, full_grid(Geometry(3, 3), seed).ravel())) for seed in range(50)]
    return file("".join(f"{line}\n" for line in lines), "grids.txt")


@pytest.fixture
def puzzles(file):
    """Make a file of 9x9 puzzles with a few redundant clues."""
    lines = []
    for seed, puzzle in enumerate(generate(6, seed=1)):
        cells_to_fill = np.random.default_rng(seed).permutation(81)[:7]
        cells = puzzle.board.cells.copy()
        cells[cells_to_fill] = puzzle.solution.cells[cells_to_fill]
        lines.append(f"{gpusudoku.Board(cells)}\n")
    return file("".join(lines), "puzzles.txt")


def stop(saved_run, limit_disk, room):
    """Run until the disk is full after ``room`` bytes; return what was written."""
    limit_disk(room)
    status, out, err = saved_run()
    assert (status, out) == (1, "")
    assert err.endswith(": No space left on device\n")
    limit_disk(None)
    return saved_run.out.read_text()


def test_lines_are_those_of_python_for_any_number_of_threads(run):
    expected = "".join(f"{puzzle}\n" for puzzle in generate(20, seed=5))
    for jobs in (1, 3):
        assert run("generate", "-n", "20", "--seed", "5", "-j", jobs)[:2] == (0, expected)
    assert run("generate", "--seed", "5", "-n", "7", "-q") == (0, expected[: 7 * 82], "")
    status, out, err = run("generate", "-n", "3")
    assert (status, out.count("\n")) == (0, 3)
    seed = err.removeprefix("gpusudoku: seed ").strip()
    assert run("generate", "-n", "3", "--seed", seed) == (0, out, "")


def test_records_have_the_solution_and_the_difficulty(run):
    expected = [*generate(8, seed=5, box="2x3", difficulty="easy,hard")]
    arguments = ["generate", "-n", "8", "--seed", "5", "--box", "2x3", "--difficulty", "easy,hard"]
    rows = [*csv.DictReader(io.StringIO(run(*arguments, "--format", "csv")[1]))]
    objects = [json.loads(line) for line in run(*arguments, "--json")[1].splitlines()]
    for puzzle, row, record in zip(expected, rows, objects, strict=True):
        facts = {
            "puzzle": str(puzzle.board), "solution": str(puzzle.solution),
            "clues": puzzle.board.clues, "difficulty": puzzle.difficulty,
            "guesses": puzzle.guesses, "seed": "5",
            "number": puzzle.number,
        }  # fmt: skip
        assert row == {name: str(value) for name, value in facts.items()}
        assert record == facts | {"box": "2x3"}
    grids = run(*arguments, "--format", "grid", "-q")[1]
    assert grids.count("\n\n") in (7, 8)


@pytest.mark.parametrize("options", [f"-n 25 {WISHES} --format csv"])
def test_parts_of_a_run_are_the_whole(run, tmp_path, options):
    paths = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, path in enumerate(paths, 1):
        part_options = ["--part", f"{number}/3", "-o", path, "-j", number % 2 + 1]
        assert run("generate", *options.split(), *part_options) == (0, "", "")
    assert run("merge", *paths)[:2] == (0, run("generate", *options.split())[1])


@pytest.mark.parametrize(
    "options",
    [
        f"-n 60 {WISHES}",
        "-n 60 --seed 5 --box 2x3 --json",
        "-n 200 --seed 5 --box 2x2",
        "-n 40 --seed 5 --format csv --part 2/2",
        f"-n 60 --seed 5 --box 2x2 --pattern {PATTERN}",
    ],
)
def test_a_run_of_generate_that_goes_on(checkpointed, limit_disk, monkeypatch, options):
    """A resumed run has the same output, also with another number of threads."""
    monkeypatch.setattr("gpusudoku.puzzles.generate.MAX_PUZZLES", 8)
    saved_run = checkpointed(["generate"])
    saved_run.command = ["generate", *options.split()]
    expected = saved_run._run(*options_without_part(saved_run.command))[1]
    if "--part" in options:
        header, *lines = expected.splitlines(keepends=True)
        expected = "".join([header, *lines[20:]])
    text = stop(saved_run, limit_disk, len(expected) // 2)
    assert expected.startswith(text)
    assert 0 < len(text) < len(expected)
    facts = json.loads(saved_run._run("status", saved_run.run_file, "--json")[1])
    assert 0 < int(facts["solutions_done"]) < 200
    assert saved_run.resume("-j", "2") == saved_run() == saved_run.resume() == (0, "", "")
    assert saved_run.out.read_text() == expected


def options_without_part(command):
    """Return the words of a command but for those of its part."""
    place = command.index("--part") if "--part" in command else len(command)
    return command[:place] + command[place + 2 :]


def test_unbiased_puzzles_have_weights(run, file):
    expected = [*generate(9, unbiased=True, seed=5)]
    arguments = ["generate", "-n", "9", "--seed", "5", "--unbiased"]
    status, out, err = run(*arguments, "-j", "3")
    assert (status, "too few for statistics" in err) == (0, True)
    assert out == "".join(f"{puzzle}\t{puzzle.weight}\n" for puzzle in expected)
    assert run("count", file(out), "-q")[1] == "".join(f"{puzzle}:1\n" for puzzle in expected)
    rows = [*csv.DictReader(io.StringIO(run(*arguments, "--format", "csv")[1]))]
    objects = [json.loads(line) for line in run(*arguments, "--json")[1].splitlines()]
    for puzzle, row, record in zip(expected, rows, objects, strict=True):
        assert row["puzzle"] == record["puzzle"] == str(puzzle)
        assert float(row["weight"]) == record["weight"] == puzzle.weight
        assert (row["batch"], record["batch"]) == ("0", 0)


def test_a_run_of_unbiased_puzzles_that_goes_on(run, checkpointed, limit_disk, monkeypatch):
    """Its last message is the same as of a run without a break."""
    monkeypatch.setattr("gpusudoku.puzzles.weighted.GRIDS", 20)
    saved_run = checkpointed(["generate"])
    saved_run.command = ["generate", *["-n", "4000", "--box", "2x2", "--seed", "5", "--unbiased"]]
    status, expected, err = run(*saved_run.command)
    assert (status, expected.count("\n")) == (0, 4000)
    assert re.fullmatch(
        r"gpusudoku: weighted mean 4\.\d+ \+- 0\.\d+ clues; [\d,]+ effective puzzles;"
        r" \d+(\.\d)? \+- \d+(\.\d)? minimal puzzles a grid\n",
        err,
    )
    text = stop(saved_run, limit_disk, len(expected) // 2)
    assert expected.startswith(text)
    assert 0 < len(text) < len(expected)
    assert saved_run.resume("-j", "2") == (0, "", "")
    assert saved_run.out.read_text() == expected
    assert run(*saved_run.command, "-q") == (0, expected, "")


def test_a_seed_that_nobody_gave_stays(run, checkpointed, limit_disk, monkeypatch):
    monkeypatch.setattr("gpusudoku.puzzles.generate.MAX_PUZZLES", 8)
    saved_run = checkpointed(["generate"])
    saved_run.command = ["generate", "-n", "60", "--format", "csv", "--box", "2x3"]
    stop(saved_run, limit_disk, 60 * 50)
    assert saved_run.resume()[0] == 0
    rows = [*csv.DictReader(saved_run.out.open())]
    [seed] = {row["seed"] for row in rows}
    assert [row["number"] for row in rows] == [str(number) for number in range(60)]
    repeated = run(*saved_run.command, "--seed", seed)[1]
    assert saved_run.out.read_text() == repeated


def test_it_gives_up_and_what_was_found_is_written(run, tmp_path):
    arguments = f"generate --box 2x2 --pattern {PATTERN} --seed 1 -n 500 --seconds 0.3".split()
    status, out, err = run(*arguments)
    assert (status, err) == (
        5,
        "gpusudoku: gave up after 0.3 s without another puzzle: 120 of 500 found\n",
    )
    lines = out.splitlines()
    assert len({*lines}) == len(lines) == 120
    # A run with a checkpoint finds them, too, and can be resumed.
    out_file = tmp_path / "out.txt"
    run_file = tmp_path / "a.run"
    status, _, err = run(*arguments, "-o", out_file, "--checkpoint", run_file, "-q")
    assert (status, out_file.read_text()) == (5, out)
    status, _, err = run("resume", run_file)
    assert (status, out_file.read_text()) == (5, out)
    assert "0 of 500 found" in err or "0 of 380 found" in err


def test_walks_are_announced(run):
    run("generate", "--box", "4x4", "--seed", "1")  # compiles, and says so
    status, out, err = run("generate", "--box", "4x4", "--seed", "1")
    assert (status, out.count("\n")) == (0, 1)
    assert err == (
        "gpusudoku: grids of this shape come from random walks, and are not exactly uniform\n"
    )
    assert run("generate", "--box", "4x4", "--seed", "1", "-q") == (0, out, "")


def test_minimal_puzzles_of_a_batch(run, grids):
    boards = [gpusudoku.parse(line) for line in grids.read_text().split()]
    expected = [minimise(board, seed=7) for board in boards]
    lines = "".join(f"{each.board}\n" for each in expected)
    for jobs in (1, 3):
        assert run("minimise", grids, "--seed", "7", "-j", jobs) == (0, lines, "")
    rows = [
        *csv.DictReader(io.StringIO(run("minimise", grids, "--seed", "7", "--format", "csv")[1]))
    ]
    for number, (each, row) in enumerate(zip(expected, rows, strict=True), 1):
        assert row == {
            "source": str(grids), "line": str(number), "puzzle": str(each.puzzle),
            "minimal": str(each.board), "solution": str(each.solution),
            "clues": str(each.board.clues), "seed": "7",
            "difficulty": gpusudoku.rate(each).level, "guesses": str(gpusudoku.rate(each).guesses),
        }  # fmt: skip
    grids.write_text(lines)
    assert run("minimise", grids, "--seed", "8") == (0, lines, "")


def test_boards_that_are_no_puzzles(run, file):
    """In a batch each line belongs to a board, and the other boards are still processed."""
    path = file("\n".join([UNIQUE, NONE, LINE_4X4, "12", FULL]), "boards.txt")
    status, out, err = run("minimise", path, "--seed", "1", "--keep-going")
    minimal_unique, minimal_full = (str(minimise(board, seed=1).board) for board in (UNIQUE, FULL))
    assert (status, out) == (2, f"{minimal_unique}\n\n\n\n{minimal_full}\n")
    unsolvable, ambiguous = (f"the board has {n}, expected exactly one" for n in
                     ("no solution", "several solutions"))  # fmt: skip
    assert {*err.splitlines()} == {
        f"gpusudoku: {path}:2: {unsolvable}: r1c1 and r1c2 both hold 1",
        f"gpusudoku: {path}:3: {ambiguous}",
        f"gpusudoku: {path}:4: 2 cells make no board, the nearest is 4x4 with 16",
    }
    arguments = ["minimise", path, "--seed", "1", "--keep-going", "-q"]
    rows = [*csv.DictReader(io.StringIO(run(*arguments, "--format", "csv")[1]))]
    assert [row["minimal"] for row in rows] == [minimal_unique, "", "", "", minimal_full]
    assert [row["error"] for row in rows][:3] == ["", unsolvable, ambiguous]
    objects = [json.loads(line) for line in run(*arguments, "--json")[1].splitlines()]
    expected = [minimal_unique, None, None, None, minimal_full]
    assert [record.get("minimal") for record in objects] == expected
    assert [record["error"] for record in objects[:3]] == ["", unsolvable, ambiguous]
    for everything in ([], ["--all"]):
        status, out, err = run("minimise", path, "-q", *everything)
        assert status == 2
        assert f"{path}:4: 2 cells make no board" in err
        assert "(--keep-going skips it)" in err
        for board, message in ((LINE_4X4, ambiguous), (NONE, unsolvable), (SEVERAL, ambiguous)):
            path_of_one = file(f"{board}\n")
            status, out, err = run("minimise", path_of_one, "-q", *everything)
            assert (status, out, err.count("\n")) == (1, "", 1)
            assert err.startswith(f"gpusudoku: {path_of_one}:1: {message}")


def test_clues_that_are_kept(run, file, grids, puzzles):
    board = gpusudoku.parse(grids.read_text().split()[0])
    text = "".join("x" if cell in (0, 8, 40) else "." for cell in range(81))
    pattern = file("\n".join(text[i : i + 9] for i in range(0, 81, 9)), "keep.txt")
    path_of_one = file(f"{board}\n", "one.txt")
    expected = f"{minimise(board, seed=3, keep=[0, 8, 40]).board}\n"
    for keep in ("r1c1,r1c9,r5c5", text, pattern):
        assert run("minimise", path_of_one, "--seed", "3", "--keep", keep) == (0, expected, "")
        out = run("minimise", grids, "--seed", "3", "--keep", keep)[1].splitlines(keepends=True)
        assert out[0] == expected
        assert all("." not in line[0] + line[8] + line[40] for line in out)
    path_of_one.write_text(puzzles.read_text()[:82])
    out = run("minimise", path_of_one, "--all", "--limit", "9", "--keep", text)[1].splitlines()
    assert 1 < len(out) <= 9
    kept_clues = [cell for cell in (0, 8, 40) if path_of_one.read_text()[cell] != "."]
    assert all(line[cell] != "." for line in out for cell in kept_clues)
    for keep, message in (
        ("r1c10", "keep 'r1c10': expected cells from r1c1 to r9c9"),
        ("..x", "keep '..x': expected cells such as r1c1,r5c5, or a pattern of 81 cells"),
    ):
        for everything in ([], ["--all"]):
            result = run("minimise", path_of_one, "-q", "--keep", keep, *everything)
            assert result == (2, "", f"gpusudoku: {message}\n")


def test_all_of_a_board_and_of_a_batch(run, file):
    path_of_one = file(f"{UNIQUE}\n", "one.txt")
    path_of_two = file(f"{UNIQUE}\n{FULL}\n", "two.txt")
    expected = [
        [str(puzzle) for puzzle in gpusudoku.minimal_puzzles(board)] for board in (UNIQUE, FULL)
    ]
    assert run("minimise", path_of_one, "--all")[1].split() == expected[0]
    assert run("minimise", path_of_two, "--all", "-j", "2")[1].split() == expected[0] + expected[1]
    for limit in (1, 130, 10**6):
        expected_lines = [line for puzzles in expected for line in puzzles[:limit]]
        assert run("minimise", path_of_two, "--all", "--limit", limit)[1].split() == expected_lines
    rows = [
        *csv.DictReader(io.StringIO(run("minimise", path_of_two, "--all", "--format", "csv")[1]))
    ]
    assert [row["minimal"] for row in rows] == expected[0] + expected[1]
    assert [int(row["line"]) for row in rows] == [1] * len(expected[0]) + [2] * len(expected[1])
    for row in rows[::50]:
        assert row["solution"] == FULL
        assert int(row["clues"]) == 16 - row["minimal"].count(".")
    assert "seed" not in rows[0]


@pytest.mark.parametrize(
    "options",
    ["--seed 3", "--seed 3 --format csv", "--all --limit 20", "--all --limit 20 --json"],
)
def test_a_run_of_minimise_that_goes_on(
    checkpointed, limit_disk, monkeypatch, grids, puzzles, options
):
    monkeypatch.setattr("gpusudoku.puzzles.minimise.MAX_BOARDS", 8)
    monkeypatch.setattr("gpusudoku.puzzles.all_minimal.MAX_NODES_TOGETHER", 16)
    path = puzzles if "--all" in options else grids
    lines = path.read_text().splitlines(keepends=True)
    boards = "".join([*lines[:3], f"{SEVERAL}\n" if "csv" not in options else "", *lines[3:]])
    saved_run = checkpointed(["minimise", *options.split()], boards)
    status, expected, _ = saved_run.run_without_checkpoint()
    assert status == int("csv" not in options)
    for room in (len(expected) * 2 // 3, 1):
        text = stop(saved_run, limit_disk, room)
        assert expected.startswith(text)
    assert saved_run.resume("-j", "2")[0] == status
    assert saved_run.out.read_text() == expected
    assert saved_run()[0] == saved_run.resume()[0] == status
    assert saved_run.out.read_text() == expected


def test_all_of_one_board_go_on(checkpointed, limit_disk, monkeypatch):
    monkeypatch.setattr("gpusudoku.puzzles.all_minimal.MAX_NODES_TOGETHER", 16)
    saved_run = checkpointed(["minimise", "--all"], f"{FULL}\n")
    status, expected, _ = saved_run.run_without_checkpoint()
    assert status == 0
    assert expected.startswith(stop(saved_run, limit_disk, len(expected) // 2))
    assert saved_run.resume("-j", "3") == saved_run() == (0, "", "")
    assert saved_run.out.read_text() == expected


@pytest.mark.parametrize("options", ["--seed 3", "--all --limit 3 --format csv"])
def test_parts_of_a_batch_are_the_whole(run, grids, puzzles, tmp_path, options):
    boards = puzzles if "--all" in options else grids
    paths = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, path in enumerate(paths, 1):
        part_options = ["--part", f"{number}/3", "-o", path, "-j", number % 2 + 1]
        assert run("minimise", boards, *options.split(), *part_options) == (0, "", "")
    assert run("merge", *paths)[:2] == (0, run("minimise", boards, *options.split())[1])


@pytest.mark.parametrize(
    "words", [["generate", "-n", "100000"], ["minimise", "boards"], ["minimise", "boards", "--all"]]
)
def test_ctrl_c(run, monkeypatch, grids, words):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gpusudoku.puzzles.generate.remove_redundant_clues", interrupt)
    monkeypatch.setattr("gpusudoku.puzzles.minimise.remove_redundant_clues", interrupt)
    monkeypatch.setattr("gpusudoku.puzzles.all_minimal.find_solutions", interrupt)
    status, out, err = run(*[grids if word == "boards" else word for word in words])
    assert (status, out) == (130, "")
    assert err.splitlines()[-1] == "gpusudoku: interrupted: 0 lines written"


def test_levels_and_bounds_and_pattern(run):
    arguments = ["generate", "-n", "6", "--difficulty", "hard", "--clues", "25-26", "--seed", "1"]
    for line in run(*arguments)[1].split():
        assert gpusudoku.rate(line).level == "hard"
        assert 25 <= gpusudoku.parse(line).clues <= 26
    text = "x." * 40 + "x"
    boards = [gpusudoku.parse(line) for line in
              run("generate", "-n", "3", "--pattern", text, "--seed", "1")[1].split()]  # fmt: skip
    for board in boards:
        assert (np.flatnonzero(board.cells) % 2 == 0).all()
        assert board.clues == 41
