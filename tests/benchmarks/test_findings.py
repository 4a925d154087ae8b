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
from machine import RESULTS

from gpusudoku.errors import InputError

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


Printed = Callable[..., str]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    def read(show: Callable[..., None], *arguments: Any) -> str:
        show(*arguments)
        return capsys.readouterr().out

    return read


def test_nothing_follows_from_what_other_programs_disturbed(
    change: Change, printed: Printed
) -> None:
    change("bench", starved("2f", "1d", "16x16-solutions"))
    assert "| 2f | 48,794,239 | 436 s | 13.9 s |  |  |  |  |" in printed(findings.times)
    assert "| 2f |  | 6.64 s |" in printed(findings.cores)
    assert "| 1d |  | 29.7 ms" in printed(cutoffs.show)
    assert "1000000" not in printed(claims.show)
    assert ", 10 boards |" in printed(findings.depends)
    points = simulated_figures.measured_points(findings.RESULTS / "bench.json", 2)
    assert ("2f" in points, "2e" in points) == (False, True)
    assert all(row["median"] < 1e6 for row in findings.searches())
    assert "A 16x16 board" not in printed(model.show)


def test_cutoffs_are_of_boards_that_were_not_disturbed(change: Change) -> None:
    change("cutoff-space", starved("1d"))
    assert set(cutoffs.measured_cutoffs()) == {"1e", "2d", "2e"}
    change("cutoff-empty", starved("1e", "2d", "2e"))
    with pytest.raises(InputError, match="no board has undisturbed runs"):
        cutoffs.measured_cutoffs()


def test_a_run_on_one_core_is_refused_with_one_line(
    change: Change, capsys: pytest.CaptureFixture[str]
) -> None:
    change("bench", lambda rows: [row for row in rows if row["jobs"] == 1])
    for script in (findings, cutoffs, claims):
        with pytest.raises(SystemExit) as ended:
            script.main(standalone_mode=False, args=[])
        assert ended.value.code == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert said.endswith("bench.json: needs a run on several threads")
