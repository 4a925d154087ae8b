"""The script that measures what checkpoints cost."""

from __future__ import annotations

from pathlib import Path

import checkpoints
import pytest
from checkpoints import run, show
from machine import record

from gpusudoku.errors import MismatchError


@pytest.mark.parametrize("case", ["count", "listing", "batch"])
@pytest.mark.parametrize("kept", [False, True])
def test_outputs_are_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: str, kept: bool
) -> None:
    cases = {
        "count": ("count", "1b", ["--method", "search"]),
        "listing": ("enumerate", "1b", []),
        "batch": ("count", "", ["--limit", "2", "--format", "csv"]),
    }
    monkeypatch.setattr(checkpoints, "CASES", cases)
    (tmp_path / "puzzles.txt").write_text("1....2....3.....\n" * 2)
    monkeypatch.setattr(checkpoints, "PUZZLES", 2)
    found = run(case, kept, tmp_path, 1)
    assert (found["case"], found["kept"]) == (case, kept)
    assert found["cpu"] > 0
    assert {path.name for path in tmp_path.iterdir()} == {"puzzles.txt"}
    monkeypatch.setattr(checkpoints, "PUZZLES", 3)
    if case == "batch":
        with pytest.raises(MismatchError):
            run(case, kept, tmp_path, 1)


def test_ratios_are_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    runs = [
        {"case": case, "kept": kept, "seconds": seconds, "cpu": 2 * seconds}
        for case in checkpoints.CASES
        for kept, seconds in ((False, 4.0), (True, 5.0))
    ]
    record(tmp_path / "found.json", runs, checkpoint_threads=2)
    show(tmp_path / "found.json")
    assert "| a batch | 4.00 | 1.250 | 1.250 |" in capsys.readouterr().out
