"""Tables that are computed from recorded rows, without starved ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import findings
import pytest
from machine import RESULTS

from gpusudoku.errors import InputError

Rows = list[dict[str, Any]]
Change = Callable[[str, Callable[[Rows], Rows]], Path]


@pytest.fixture
def change(tmp_path: Path) -> Change:
    """Return a function that changes the rows of a copy of a recorded run.

    It returns the path of the copy of bench.json.
    """
    for path in RESULTS.glob("*.json"):
        shutil.copy(path, tmp_path)

    def replace(name: str, rows: Callable[[Rows], Rows]) -> Path:
        path = tmp_path / f"{name}.json"
        run = json.loads(path.read_text("utf-8"))
        for row in run["rows"]:  # only the test starves rows
            row |= {"starved": False, "speed_up": row["speed_up"] and min(row["speed_up"], 2.0)}
        path.write_text(json.dumps(run | {"rows": rows(run["rows"])}), "utf-8")
        return tmp_path / "bench.json"

    return replace


def starve(*boards: str) -> Callable[[Rows], Rows]:
    """Mark the rows of boards, and make them absurd."""

    def mark(rows: Rows) -> Rows:
        for row in rows:
            if row["board"] in boards and row["median"]:
                row |= {"starved": True, "median": 1e6, "speed_up": 1e-6, "utilisation": 1e-6}
        return rows

    return mark


def test_starved_rows_are_left_out(change: Change, capsys: pytest.CaptureFixture[str]) -> None:
    path = change("bench", starve("2f", "1d"))
    findings.times(path)
    assert "| 2f | 48,794,239 | 436 s | 13.9 s |  |  |  |  |" in capsys.readouterr().out
    findings.speed_ups(path)
    assert "| 2f |  |  |  | 1.0 | 9.1 | 31.4 |" in capsys.readouterr().out
    findings.cutoffs(path)
    assert "| 1d |  | " in capsys.readouterr().out
    findings.law(path)
    assert "48,794,239 solutions" not in capsys.readouterr().out


def test_cutoffs_of_boards_with_both_measures(
    change: Change, capsys: pytest.CaptureFixture[str]
) -> None:
    path = change("cutoff-space", starve("1d"))
    findings.cutoffs(path)
    printed = capsys.readouterr().out
    assert [name in printed for name in ("| 1d |", "| 1e |", "| 2e |")] == [False, True, True]
    change("cutoff-empty", starve("1e", "2d", "2e"))
    with pytest.raises(InputError, match="no board has undisturbed runs"):
        findings.cutoffs(path)


def test_runs_on_one_core_are_refused(change: Change) -> None:
    path = change("bench", lambda rows: [row for row in rows if row["jobs"] == 1])
    for table in (findings.times, findings.speed_ups, findings.cutoffs):
        with pytest.raises(InputError, match=r"bench\.json: expected runs on several threads"):
            table(path)
