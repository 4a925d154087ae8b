"""Batches on several threads: what is written does not depend on how many there are."""

from __future__ import annotations

import os
import re
import signal
import subprocess

import pytest

from gpusudoku import Board
from gpusudoku.board import blocks
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count_many
from gpusudoku.enumeration.stream import LISTED_TOGETHER
from tests.boards import full_grid, puzzle, with_wrong_clue
from tests.waiting import until

FULL = Board(full_grid(Geometry(3, 3), 1), Geometry(3, 3))
THREADS = [2, 16]


def batch() -> list[str]:
    """Boards of several shapes with any number of solutions, some of no shape, and comments."""
    small = [puzzle("2x2", clues, seed) for clues in range(4, 13) for seed in range(20)]
    small += [with_wrong_clue(board, 1) for board in small[-20:]]
    large = [puzzle("3x3", 45, seed) for seed in range(10)]
    large += [with_wrong_clue(large[0], 2), puzzle("3x3", 24, 3)]
    lines = [str(small[k * 37 % len(small)]) for k in range(1500)]
    lines[400:400] = [str(puzzle("2x3", 14, seed)) for seed in range(30)]
    lines += [str(large[k * 5 % len(large)]) for k in range(700)]
    lines[1000:1000] = ["# a comment", "", "." * 15]
    lines[1900:1900] = ["." * 80, " " + lines[1899], f"{lines[1899]} # x"]
    return lines


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("threads") / "boards.txt"
    path.write_text("\n".join(batch()))
    return path


def is_conflict(line: str) -> bool:
    return line.endswith("no solution")


@pytest.mark.parametrize(
    "command",
    [
        ["count", "--limit", "2", "--format", "csv"],
        ["count", "--only", "none", "--json", "--exit-code"],
    ],
    ids=" ".join,
)
def test_the_same_on_any_number(run, path, tmp_path, monkeypatch, command):
    monkeypatch.setattr(blocks, "THREAD_SECONDS", 1000.0)  # side by side on a busy machine, too
    results = []
    for threads in (1, *THREADS):
        log = tmp_path / f"log{threads}"
        status, out, err = run(
            *command, path, "--keep-going", "-j", threads, "--device", "cpu", "--log", log
        )
        # What cannot be read is said at once, what contradicts itself in its turn.
        err = re.sub(r"gpusudoku: compiling .*\n", "", err)  # the first time
        messages = sorted(re.sub(r"; [\d.,]+ s, .*", "", err).splitlines(), key=is_conflict)
        results.append((status, out, messages, log.read_text()))
    assert any("boards.txt:1003: " in line for line in results[0][2])
    assert results[0][1].count("\n") > 100
    for result in results:
        assert result == results[0]


@pytest.mark.parametrize("form", ["line", "csv"])
def test_the_same_solutions(run, file, monkeypatch, form):
    """In the same order, but of boards with so many that they are listed by themselves."""
    monkeypatch.setattr(blocks, "THREAD_SECONDS", 1000.0)
    lines = [line for line in batch() if len(line) in (16, 36, 81)]
    numbers = count_many(lines, limit=LISTED_TOGETHER, device="cpu").numbers()
    path = file(
        "\n".join(
            line for line, number in zip(lines, numbers, strict=True) if number < LISTED_TOGETHER
        )
    )
    arguments = ["enumerate", path, "--limit", "3", "--format", form, "--device", "cpu", "-j"]
    results = [run(*arguments, threads, "-q") for threads in (1, *THREADS)]
    assert results[0][0] == 0
    assert results[0][1].count("\n") > 3000
    for result in results:
        assert result == results[0]


def test_what_is_solved(run, path, monkeypatch):
    """The only solution, where there is one; else any, and as many lines."""
    monkeypatch.setattr(blocks, "THREAD_SECONDS", 1000.0)
    tables = []
    for number in (1, 16):
        arguments = ["--keep-going", "-j", number, "--device", "cpu", "--format", "csv"]
        rows = [row.split(",") for row in run("solve", path, *arguments)[1].splitlines()]
        tables.append([row[:5] + row[5:] * (row[4] != "false" or row[3] == "0") for row in rows])
    assert len(tables[0]) > 2000
    assert tables[0] == tables[1]


def test_an_error_comes_after_all_boards_before_it(run, path, monkeypatch):
    monkeypatch.setattr(blocks, "THREAD_SECONDS", 1000.0)
    results = {run("count", path, "--limit", "2", "-q", "-j", threads) for threads in (1, 3, 16)}
    [(status, out, err)] = results
    assert (status, out.count("\n")) == (2, 1000)
    assert err.splitlines()[-1].startswith(f"gpusudoku: {path}:1003: ")


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize("command", ["count", "solve"])
def test_an_interrupt_leaves_whole_lines(start, tmp_path, command):
    """Lines are whole, and log, message and stdout agree."""
    log = tmp_path / "log"
    with (tmp_path / "out").open("w") as out:
        process = start(
            *(command, "-", "-j", 16, "--log", log), stdin=subprocess.PIPE, stdout=out
        )  # whose end never comes
        process.stdin.write(f"{FULL}\n" * 20_000)
        process.stdin.flush()
        until(lambda: log.exists() and log.stat().st_size)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 130
    lines = (tmp_path / "out").read_text().splitlines(keepends=True)
    assert {line.rstrip("\n").partition(":")[0] for line in lines} == {str(FULL)}
    assert lines[-1].endswith("\n")
    assert log.read_text().count("\n") == len(lines)
    participle = "counted" if command == "count" else "solved"
    messages = process.stderr.read().splitlines()
    assert messages[-1] == f"gpusudoku: interrupted: {len(lines):,} boards {participle}"
    assert not any("Traceback" in line for line in messages)
