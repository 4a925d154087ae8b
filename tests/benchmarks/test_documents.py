"""The benchmarks that repeat what documents tabulate, on small inputs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest
from click.testing import CliRunner

from gpusudoku import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli import cli
from gpusudoku.formats import parse
from tests.boards import puzzle
from tests.techniques import Contradiction, given_clues, reference

ROOT = Path(__file__).parents[2]


def run(script: str, *arguments: str) -> str:
    """What a benchmark prints. Without the simulator, which it does not need."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_ENABLE_CUDASIM": "0"}
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    return subprocess.check_output(command, text=True, env=environment, stderr=subprocess.DEVNULL)


def row(printed: str, *names: str, table: int = 0) -> list[str]:
    """The fields after the names of a row; ``table`` counts the tables that have such a row."""
    found = [
        [field.strip() for field in line.strip("|").split("|")]
        for line in printed.splitlines()
        if line.startswith(f"| {' | '.join(names)} |")
    ]
    return found[table][len(names) :]


@pytest.fixture
def boards() -> list[Board]:
    """Three that singles do not all solve."""
    geometry = Geometry.parse("3x3")
    return [puzzle(geometry, clues, clues) for clues in (24, 28, 40)]


def test_techniques_are_tabulated_beside_the_document(tmp_path: Path, boards: list[Board]) -> None:
    file, output = tmp_path / "list.txt", tmp_path / "techniques.json"
    file.write_text("".join(f"{board}\n" for board in boards))
    printed = run("techniques.py", "--hard", str(file), "--sets", "1", "--repeats", "1",
                  "--output", str(output))  # fmt: skip
    left = [
        reference(given_clues(board), board.geometry, "naked-single,hidden-single")
        for board in boards
    ]
    open_cells = [[cell for cell in cells if len(cell) > 1] for cells in left]
    assert any(open_cells)
    solved = 100 * mean(1 - len(cells) / 81 for cells in open_cells)
    hints = mean(sum(map(len, cells)) for cells in open_cells)
    clues = mean(board.clues for board in boards)
    assert row(printed, "hard") == [f"{100 * clues / 81:.1f} (25)", f"{solved:.1f} (31)"]
    assert row(printed, "hard", table=1) == [f"{9 * (81 - clues):.1f} (544)", f"{hints:.1f} (230)"]
    for way in "hard, in one batch", "hard, one by one":
        (time,) = row(printed, way)
        assert re.fullmatch(r"[\d.e-]+ \(1\.16\)", time)
    assert str(tmp_path) not in output.read_text()
    assert run("techniques.py", "--show", "--output", str(output)) == printed


def test_the_impossible_board_is_refuted_as_the_benchmark_says() -> None:
    text = (ROOT / "benchmarks" / "techniques.py").read_text()
    (line,) = re.findall(r'^IMPOSSIBLE = "(.*)"$', text, re.MULTILINE)
    board = parse(line)

    def refutes(techniques: str) -> bool:
        try:
            reference(given_clues(board), board.geometry, f"naked-single,{techniques}")
        except Contradiction:
            return True
        return False

    assert refutes("hidden-single,hidden-pair")
    assert not refutes("hidden-single")
    assert not refutes("hidden-pair")
    assert not refutes("hidden-single,naked-pair")


def test_a_search_has_a_log_of_what_the_report_logs(tmp_path: Path) -> None:
    """Its boards, result and seconds with ``--stats``, and all of it as a line with ``--log``."""
    path = tmp_path / "log.jsonl"
    words = ["solve", "@decomposition-easy-9x9", "--stats", "--device", "cpu", "--log", str(path)]
    done = CliRunner().invoke(cli, words)
    (logged,) = [json.loads(line) for line in path.read_text().splitlines()]
    for name, key in (("boards explored", "boards_explored"), ("nodes", "nodes")):
        assert f"{name}: {logged[key]}\n" in done.stderr
    assert "seconds: " in done.stderr
    assert "| 1 4 6 | 7 9 2 | 3 8 5 |" in done.stdout
    assert {"board", "jobs", "solution", "seconds"} <= set(logged)


def test_documents_are_tabulated(tmp_path: Path) -> None:
    output = tmp_path / "documents.json"
    printed = run("documents.py", "decomposition-easy-9x9", "--propagate", "singles",
                  "--long", "2c", "--repeats", "1", "--output", str(output))  # fmt: skip
    runs = json.loads(output.read_text())["runs"]
    report = [run for run in runs if run["document"] == "report"]
    assert {run["boards"] for run in report} == {1}  # singles solve it, as the report says
    fields = row(printed, "decomposition-easy-9x9", "singles", "1")
    seconds = next(run["seconds"] for run in report if run["threads"] == run["limit"] == 1)
    assert (fields[0], *fields[2:4]) == ("1", "0", "0.131506")
    times = float(fields[4].replace(",", ""))
    assert times == pytest.approx(0.131506 / seconds, rel=0.06)
    assert row(printed, "the paper's, unknown", "8")[:2] == ["0.11", "7.09"]
    assert "2c, all 32,128 solutions" in printed
