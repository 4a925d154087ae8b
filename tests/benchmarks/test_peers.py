"""The comparison with other programs, tried with programs made up for that, on tiny boards."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import peers
import pytest
from adapters import Found, Program
from click.testing import CliRunner, Result

from gpusudoku import Board, collection
from gpusudoku.errors import GpusudokuError
from tests import naive

TINY = ["box2x2-few", "box2x2-many"]
BOARD = collection.load(TINY[0])


class Fake(Program):
    """Counts right. Programs are sent to other processes, so they cannot be made in a test."""

    def __init__(self, name: str = "fake", wrong: int = 0, absent: str | None = None) -> None:
        self.name = name
        self.wrong = wrong
        self.absent = absent

    def unusable_because(self) -> str | None:
        return self.absent

    def version(self) -> str:
        return "1.5"

    def load(self, board: Board) -> None:
        pass

    def count(self, board: Board, seconds: float) -> Found:
        return Found(naive.count(board) + self.wrong, True)


class Slow(Fake):
    """Never ends by itself."""

    def count(self, board: Board, seconds: float) -> Found:
        threading.Event().wait()
        raise AssertionError


class Failing(Fake):
    def count(self, board: Board, seconds: float) -> Found:
        raise SystemExit


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the script with some programs, in this process; our own is a fake one, too."""

    def here(program: Program, board: Board, limit: float) -> Found:
        slow = isinstance(program, Slow)
        return (
            Found(1, False, limit) if slow else program.count(board, limit)._replace(seconds=0.01)
        )

    monkeypatch.setattr(peers, "OWN", [Fake("base")])
    monkeypatch.setattr(peers, "alone", here)
    monkeypatch.setattr(peers, "gigahertz", lambda threads: 3.0)
    monkeypatch.setattr(peers, "MANY", 9)

    def run(others: list[Program], *arguments: str) -> Result:
        monkeypatch.setattr(peers, "PEERS", others)
        file = ["--output", str(tmp_path / "peers.json")]
        return CliRunner().invoke(peers.main, [*file, *arguments])

    return run


def rows(output: str) -> dict[str, dict[str, list[str]]]:
    """Read the tables' cells, by their first and the row's."""
    found: dict[str, dict[str, list[str]]] = {}
    for table in re.findall(r"(?:^\|.*\n)+", output, re.MULTILINE):
        cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
        (name, *heads), _, *others = cells
        found[name] = {"": heads} | {first: others for first, *others in others}
    return found


def test_the_tables(run: Run) -> None:
    others = [Fake(), Fake("absent", absent="nowhere to be found"), Slow("slow")]
    result = run([*others], *TINY, "--limit", "0.2", "--repeats", "2")
    assert result.exit_code == 0, result.output
    assert "absent: skipped, nowhere to be found\n" in result.stderr
    assert "Other programs: fake 1.5, slow 1.5\n" in result.stdout
    tables = rows(result.stdout)
    assert tables["seconds"][""] == ["solutions", "base", "fake", "slow"]
    assert tables["seconds"][TINY[0]] == ["2", "0.01", "0.01", "> 0.2 (5/s)"]
    compared = tables["their time / base"]
    assert compared[""] == ["fake", "slow"]
    assert compared[TINY[0]] == compared["geometric mean, fewer than 9 solutions"] == ["1", "> 20"]
    assert run([], "--show").stdout == result.stdout


def test_a_wrong_count_ends_the_run(run: Run) -> None:
    result = run([Fake("wrong", wrong=1)], TINY[0])
    assert result.exit_code == 1
    assert "box2x2-few: wrong counts 3 solutions, 2 are right" in result.output


def test_each_counts_in_a_process_that_can_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    found = peers.alone(Fake(), BOARD, 300.0)
    assert (found.solutions, found.complete, found.seconds > 0) == (2, True, True)
    with pytest.raises(GpusudokuError, match=r"^failing failed on "):
        peers.alone(Failing("failing"), BOARD, 300.0)
    monkeypatch.setattr(peers, "GRACE_SECONDS", 0.1)
    assert peers.alone(Slow(), BOARD, 0.1) == Found(None, False, 0.1)


@pytest.mark.parametrize("program", peers.PEERS, ids=lambda program: program.name)
def test_adapters(program: Program) -> None:
    reason = program.unusable_because()
    if reason is not None:
        pytest.skip(reason)
    assert program.version()[0].isdigit()
    almost_full = Board([*collection.load("full").cells[:-1].tolist(), 0])
    contradictory = Board([1, 1] + [0] * 79)
    boards = [almost_full, contradictory, *map(collection.load, TINY)]
    for board in filter(program.takes, boards):
        program.load(board)
        found = program.count(board, 10.0)
        assert (found.solutions, found.complete) == (naive.count(board), True)
