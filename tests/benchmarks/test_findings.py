"""What is concluded from recorded results is computed from them, and starved rows are left out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import claims
import cutoffs
import findings
import model
import pytest
import simulated_figures
import summary
from machine import RESULTS

from gpusudoku.errors import InputError

ROOT = Path(__file__).parents[2]
Rows = list[dict[str, Any]]
Change = Callable[[str, Callable[[Rows], Rows]], None]


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    """Replaces the rows of a recorded run, for all that is concluded from it."""
    for path in RESULTS.glob("*.json"):
        shutil.copy(path, tmp_path)
    for module in (claims, findings, model, simulated_figures):
        monkeypatch.setattr(module, "RESULTS", tmp_path)

    def replace(name: str, rows: Callable[[Rows], Rows]) -> None:
        path = tmp_path / f"{name}.json"
        run = json.loads(path.read_text("utf-8"))
        for row in run["rows"]:  # nothing is disturbed but what a test disturbs
            row |= {"starved": False, "speed_up": row["speed_up"] and min(row["speed_up"], 2.0)}
        path.write_text(json.dumps(run | {"rows": rows(run["rows"])}), "utf-8")

    return replace


def starved(*boards: str) -> Callable[[Rows], Rows]:
    """Mark the rows of boards, and make them absurd."""

    def mark(rows: Rows) -> Rows:
        for row in rows:
            if row["board"] in boards and row["median"]:
                row |= {"starved": True, "median": 1e6, "speed_up": 1e-6, "utilisation": 1e-6}
        return rows

    return mark


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def read(show: Callable[..., None], *arguments: Any) -> str:
        capsys.readouterr()
        show(*arguments)
        return capsys.readouterr().out

    return read


def row_of(text: str, board: str) -> list[str]:
    """Find the cells of the row of a board."""
    [line] = [line for line in text.splitlines() if line.startswith(f"| {board} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


class TestStarved:
    """What other programs disturbed is not shown, and nothing follows from it."""

    def test_boards(self, change: Change, printed: Callable[..., str]) -> None:
        change("bench", starved("2f", "1d", "16x16-solutions"))
        times = row_of(printed(findings.times), "2f")
        assert times == ["2f", "48,794,239", "436 s", "13.9 s", "", "", "", ""]
        text = printed(findings.cores)
        assert (row_of(text, "2f")[2], row_of(text, "2e")[2] != "") == ("", True)
        assert row_of(printed(cutoffs.show), "1d")[1] == ""
        assert ", 10 boards |" in printed(findings.depends)
        points = simulated_figures.measured_points(findings.RESULTS / "bench.json", 2)
        assert ("2f" in points, "2e" in points) == (False, True)
        assert "1000000" not in printed(claims.show)
        assert all(row["median"] < 1e6 for row in findings.searches())
        assert "A 16x16 board" not in printed(model.show)
        assert "0.0% at least" not in printed(findings.busy)

    def test_cutoffs(self, change: Change) -> None:
        change("cutoff-space", starved("1d"))
        assert set(cutoffs.measured_cutoffs()) == {"1e", "2d", "2e"}
        change("cutoff-empty", starved("1e", "2d", "2e"))
        with pytest.raises(InputError, match="no board has undisturbed runs"):
            cutoffs.measured_cutoffs()

    def test_one_core_is_one_line(self, change: Change, capsys: pytest.CaptureFixture[str]) -> None:
        change("bench", lambda rows: [row for row in rows if row["jobs"] == 1])
        for script in (findings, cutoffs, claims):
            with pytest.raises(SystemExit) as ended:
                script.main(standalone_mode=False, args=[])
            assert ended.value.code == 2
            said = capsys.readouterr().err.splitlines()[-1]
            assert said.endswith("bench.json: needs a run on several threads")


class TestCutoffs:
    def test_the_best_and_those_near_it(self) -> None:
        """Those around the best, up to the first that is far from it."""
        points = [(40, 1.2), (10, 1.1), (20, 2.0), (30, 1.0), (50, 1.24), (60, 1.3)]
        assert cutoffs.best_of(points) == cutoffs.Best(30, 1.0, 30, 50)


def test_a_bound_of_gpus_is_the_same_everywhere(printed: Callable[..., str]) -> None:
    """In the report, where the kernels are explained, and where a reader asks."""
    rate = f"{model.gpu_rate():.2e}".replace("e+0", "e")
    assert f"the last bound kept is {rate}" in (ROOT / "kernels/README.md").read_text("utf-8")
    assert "computed by warp.py" in printed(model.show)
    faq = (ROOT / "docs/faq.md").read_text("utf-8")
    assert "[a bound](results.md#when-does-contraction-win)" in faq


def test_the_law_of_the_contraction_is_found() -> None:
    runs = [(k, d, 3.0 * 0.8**k * 1.1**d) for k in range(4, 30) for d in (5, 7, 9)]
    runs[0] = (4, 5, 1000.0)  # fewer clues than the law speaks of
    assert model.contraction_law(runs) == pytest.approx((3.0, 0.8, 1.1, 1.0))


class TestSummary:
    def run(self, program: str, seconds: float, complete: bool = True) -> dict[str, Any]:
        return {"program": program, "solutions": 4715, "complete": complete, "seconds": seconds}

    def test_the_quickest_other_program_is_shown(self, printed: Callable[..., str]) -> None:
        ours = [self.run(summary.DEFAULT, seconds) for seconds in (9.0, 0.001, 0.003)]
        ours.append(self.run(summary.ONE_CORE, 0.001))
        others = [self.run("one", 0.09), self.run("two", 0.045), self.run("three", 0.01, False)]
        row = "| 1b | 4,715 | 3 ms | 1 ms | 45 ms (two) | 15 |\n"
        assert printed(summary.show_measured, "1b", [*ours, *others]) == row
        assert printed(summary.show_measured, "1b", ours) == ""  # nobody else counted it
