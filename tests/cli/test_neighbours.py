"""``neighbours``: forms, batches, limits, checkpoints, and boards that are no puzzles."""

from __future__ import annotations

import csv
import io
import json

import pytest

import gpusudoku
from gpusudoku.board.batch import Batch
from gpusudoku.puzzles import neighbours
from tests.boards import LINE_4X4, NONE, UNIQUE

SMALL = "12........4..3.1"


@pytest.fixture
def puzzles(file):
    """Make a file of 9x9 puzzles."""
    lines = "".join(f"{each.board}\n" for each in gpusudoku.generate(8, seed=2, clues=26))
    return file(lines, "puzzles.txt")


def lines_of(board, *change, **wishes):
    return [str(each) for each in gpusudoku.neighbours(board, *change, **wishes)]


def test_lines_are_those_of_python_for_any_number_of_threads(run, puzzles, monkeypatch):
    expected = [lines_of(board) for board in puzzles.read_text().split()]
    run("neighbours", puzzles)  # compiles, and says so
    for max_boards in (4096, 40):
        monkeypatch.setattr("gpusudoku.puzzles.neighbours.MAX_BOARDS", max_boards)
        for jobs in (1, 3):
            status, out, err = run("neighbours", puzzles, "-j", jobs)
            assert (status, err) == (0, "")
            assert out.split() == [line for lines in expected for line in lines]
            for limit in (1, 50):
                out = run("neighbours", puzzles, "--limit", limit, "-j", jobs)[1]
                assert out.split() == [line for lines in expected for line in lines[:limit]]


def test_other_changes(run, file):
    path = file(f"{SMALL}\n")
    for remove, add in ((0, 1), (1, 0), (2, 1), (2, 2)):
        arguments = ["neighbours", path, "--remove", remove, "--add", add]
        expected = "".join(f"{line}\n" for line in lines_of(SMALL, remove, add))
        assert run(*arguments) == (0, expected, "" if expected else "gpusudoku: no neighbours\n")
        expected = lines_of(SMALL, remove, add, minimal=True)
        assert run(*arguments, "--minimal")[1].split() == expected
        for limit in (1, 7):
            out = run(*arguments, "--minimal", "--limit", limit)[1]
            assert out.split() == expected[:limit]


@pytest.mark.parametrize("way", [(3, 1), (0, 3)])
def test_an_estimate_comes_first(run, file, way):
    expected = lines_of(SMALL, *way)  # which also compiles, if need be
    status, out, err = run("neighbours", SMALL, "--remove", way[0], "--add", way[1])
    assert (status, out.split()) == (0, expected)
    assert err.startswith("gpusudoku: <argument>:1: ")
    assert " boards to search, about " in err
    assert run("neighbours", SMALL, "--remove", way[0], "--add", way[1], "-q")[2] == ""


def test_the_estimate_is_of_the_boards_that_there_are(monkeypatch):
    board = gpusudoku.parse(SMALL)
    batch_sizes = []
    complete = neighbours._complete
    monkeypatch.setattr(
        "gpusudoku.puzzles.neighbours._complete",
        lambda boards, change: batch_sizes.append(len(boards)) or complete(boards, change),
    )
    for way in ((3, 1), (1, 3), (2, 2)):
        estimated, seconds = neighbours.estimate_seconds(board, neighbours.Change(*way))
        batch_sizes.clear()
        lines_of(board, *way)
        assert 0.5 < estimated / sum(batch_sizes) < 2
        assert seconds > 0


def test_records_have_the_puzzle_and_the_changes(run, puzzles):
    boards = puzzles.read_text().split()[:3]
    puzzles.write_text("name,puzzle\n" + "".join(f"p{i},{each}\n" for i, each in enumerate(boards)))
    expected = [(i, line) for i, board in enumerate(boards) for line in lines_of(board)]
    rows = [*csv.DictReader(io.StringIO(run("neighbours", puzzles, "--format", "csv")[1]))]
    objects = [json.loads(line) for line in run("neighbours", puzzles, "--json")[1].splitlines()]
    for (index, line), row, facts in zip(expected, rows, objects, strict=True):
        assert (row["puzzle"], row["neighbour"]) == (boards[index], line)
        assert (facts["board"], facts["neighbour"]) == (boards[index], line)
        assert (row["line"], row["name"]) == (str(index + 2), f"p{index}")
        assert facts["columns"] == {"name": f"p{index}"}
        assert (row["removed"], row["added"]) == (facts["removed"], facts["added"])
        cells = [*boards[index]]
        for place, empty in ((row["removed"], True), (row["added"], False)):
            r = int(place[1]) - 1
            c = int(place[3]) - 1
            digit = place[5]
            assert not empty or cells[9 * r + c] == digit
            cells[9 * r + c] = "." if empty else digit
        assert "".join(cells) == line


def test_boards_that_are_no_puzzles(run, file):
    path = file("\n".join([SMALL, NONE, LINE_4X4, "12", SMALL]), "boards.txt")
    status, out, err = run("neighbours", path, "--keep-going", "-q")
    assert (status, out.split()) == (2, 2 * lines_of(SMALL))
    unsolvable, ambiguous = (f"the board has {n}, expected exactly one" for n in
                     ("no solution", "several solutions"))  # fmt: skip
    assert {*err.splitlines()} == {
        f"gpusudoku: {path}:2: {unsolvable}: r1c1 and r1c2 both hold 1",
        f"gpusudoku: {path}:3: {ambiguous}",
        f"gpusudoku: {path}:4: 2 cells make no board, the nearest is 4x4 with 16",
    }
    status, out, err = run("neighbours", path)
    assert status == 2
    assert "(--keep-going skips it)" in err
    assert run("neighbours", LINE_4X4) == (1, "", f"gpusudoku: <argument>:1: {ambiguous}\n")


@pytest.mark.parametrize("options", ["", "--limit 40 --format csv", "--remove 2 --json"])
def test_a_run_that_goes_on(checkpointed, limit_disk, monkeypatch, puzzles, options):
    monkeypatch.setattr("gpusudoku.puzzles.neighbours.MAX_BOARDS", 60)
    boards = puzzles.read_text() if "2" not in options else f"{UNIQUE}\n" * 3 + f"{SMALL}\n" * 9
    saved_run = checkpointed(["neighbours", *options.split()], boards)
    status, expected, _ = saved_run.run_without_checkpoint()
    assert status == 0
    for room in (len(expected) * 2 // 3, 1):
        limit_disk(room)
        assert saved_run()[0] == 1
        limit_disk(None)
        assert expected.startswith(saved_run.out.read_text())
    assert saved_run.out.read_text()
    monkeypatch.setattr("gpusudoku.puzzles.neighbours.MAX_BOARDS", 25)
    limit_disk(300)
    assert saved_run.resume()[0] == 1
    limit_disk(None)
    assert saved_run.resume("-j", "2") == saved_run() == saved_run.resume() == (0, "", "")
    assert saved_run.out.read_text() == expected


def test_ctrl_c(run, monkeypatch, puzzles):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gpusudoku.puzzles.neighbours.solve_block", interrupt)
    status, out, err = run("neighbours", puzzles)
    assert (status, out) == (130, "")
    assert err == "gpusudoku: interrupted: 0 lines written\n"


def test_the_limit_ends_a_puzzle_that_has_many_ways(run):
    """Its clues go in ways that nobody could try."""
    board = next(gpusudoku.generate(1, seed=1, clues=40)).board
    status, out, _ = run("neighbours", str(board), "--remove", 8, "--limit", 2)
    assert (status, out.count("\n")) == (0, 2)


def test_the_limit_ends_each_puzzle_of_a_batch():
    batch = Batch.of([puzzle.board for puzzle in gpusudoku.generate(2, seed=9)])
    blocks = neighbours.neighbour_blocks([batch], neighbours.Change(1, 4), 1, 1)
    assert [len(block) for block in blocks if len(block)] == [1, 1]


def test_as_many_clues_as_there_is_room_for(run):
    empty = SMALL.count(".")
    status, out, _ = run("neighbours", SMALL, "--remove", 0, "--add", empty)
    assert (status, out.count("\n"), out.count(".")) == (0, 1, 0)
    status, out, err = run("neighbours", SMALL, "--remove", 0, "--add", empty + 1)
    assert (status, out) == (0, "")
    assert err.endswith("gpusudoku: no neighbours\n")


def test_one_of_each_class(run):
    forms = [str(form.board) for form in gpusudoku.canonical_many(lines_of(SMALL, 1, 1))]
    status, out, _ = run("neighbours", SMALL, "--dedupe")
    listed_forms = [str(form.board) for form in gpusudoku.canonical_many(out.split())]
    assert (status, listed_forms) == (0, [*dict.fromkeys(forms)])
    assert run("neighbours", SMALL, "--dedupe", "--checkpoint", "a", "-o", "b")[0] == 2


def test_a_notation_of_others(run):
    assert run("neighbours", "{-2+1}") == (
        2, "", "gpusudoku: {-2+1}: use --remove 2 --add 1\n"
    )  # fmt: skip
