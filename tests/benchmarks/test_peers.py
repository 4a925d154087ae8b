"""``benchmarks/peers.py`` with fake programs, on tiny boards."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import peers
import pytest
from adapters import Answer, Program
from click.testing import CliRunner, Result

from gpusudoku import Board, collection
from gpusudoku.errors import GpusudokuError
from tests import naive

TINY = ["box2x2-few", "box2x2-many"]
BOARD = collection.load(TINY[0])


class Fake(Program):
    """Counts correctly, plus ``wrong``. It is pickled, so the class cannot be defined in a test."""

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

    def count(self, board: Board, seconds: float) -> Answer:
        return Answer(naive.count(board) + self.wrong, True)


class Slow(Fake):
    """Never ends by itself."""

    def count(self, board: Board, seconds: float) -> Answer:
        threading.Event().wait()
        raise AssertionError


class Failing(Fake):
    def count(self, board: Board, seconds: float) -> Answer:
        raise SystemExit


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the script in this process, with fake programs, also in place of gpusudoku."""

    def count_here(program: Program, board: Board, limit: float) -> Answer:
        if isinstance(program, Slow):
            return Answer(1, False, limit)
        return program.count(board, limit)._replace(seconds=0.01)

    monkeypatch.setattr(peers, "OWN", [Fake("base")])
    monkeypatch.setattr(peers, "count_in_process", count_here)
    monkeypatch.setattr(peers, "measure_gigahertz", lambda threads: 3.0)
    monkeypatch.setattr(peers, "MANY_SOLUTIONS", 9)

    def run(programs: list[Program], *arguments: str) -> Result:
        monkeypatch.setattr(peers, "PEERS", programs)
        output = ["--output", str(tmp_path / "peers.json")]
        return CliRunner().invoke(peers.main, [*output, *arguments])

    return run


def read_tables(output: str) -> dict[str, dict[str, list[str]]]:
    """Read Markdown tables: the cells by the table's first head and the row's first cell."""
    tables: dict[str, dict[str, list[str]]] = {}
    for table in re.findall(r"(?:^\|.*\n)+", output, re.MULTILINE):
        cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
        (table_name, *heads), _, *rows = cells
        tables[table_name] = {"": heads}
        for row_name, *row in rows:
            tables[table_name][row_name] = row
    return tables


def test_the_tables(run: Run) -> None:
    programs = [Fake(), Fake("absent", absent="nowhere to be found"), Slow("slow")]
    result = run([*programs], *TINY, "--limit", "0.2", "--repeats", "2")
    assert result.exit_code == 0, result.output
    assert "absent: skipped, nowhere to be found\n" in result.stderr
    assert "Other programs: fake 1.5, slow 1.5\n" in result.stdout
    tables = read_tables(result.stdout)
    assert tables["seconds"][""] == ["solutions", "base", "fake", "slow"]
    assert tables["seconds"][TINY[0]] == ["2", "0.01", "0.01", "> 0.2 (5/s)"]
    factors = tables["time / base"]
    assert factors[""] == ["fake", "slow"]
    assert factors[TINY[0]] == factors["geometric mean, fewer than 9 solutions"] == ["1", "> 20"]
    assert run([], "--show").stdout == result.stdout


def test_a_wrong_count_ends_the_run(run: Run) -> None:
    result = run([Fake("wrong", wrong=1)], TINY[0])
    assert result.exit_code == 1
    assert "box2x2-few: wrong counts 3 solutions, not 2" in result.output


def test_each_counts_in_a_process_that_can_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = peers.count_in_process(Fake(), BOARD, 300.0)
    assert (answer.solutions, answer.complete, answer.seconds > 0) == (2, True, True)
    with pytest.raises(GpusudokuError, match=r"^failing failed on "):
        peers.count_in_process(Failing("failing"), BOARD, 300.0)
    monkeypatch.setattr(peers, "GRACE_SECONDS", 0.1)
    assert peers.count_in_process(Slow(), BOARD, 0.1) == Answer(None, False, 0.1)


@pytest.mark.parametrize("program", peers.PEERS, ids=lambda program: program.name)
def test_adapters(program: Program) -> None:
    reason = program.unusable_because()
    if reason is not None:
        pytest.skip(reason)
    assert program.version()[0].isdigit()
    almost_full = Board([*collection.load("full").cells[:-1].tolist(), 0])
    contradictory = Board([1, 1] + [0] * 79)
    boards = [almost_full, contradictory, *map(collection.load, TINY)]
    for board in filter(program.can_count, boards):
        program.load(board)
        answer = program.count(board, 10.0)
        assert (answer.solutions, answer.complete) == (naive.count(board), True)
