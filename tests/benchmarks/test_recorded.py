"""Recorded results say what was measured: version, machine, date, and a commit that exists."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.bench import tables

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
RECORDED = sorted(RESULTS.glob("*.json"))
SHEETS = sorted(RESULTS.glob("*.csv"))


def machine(path: Path) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["machine"]
    return described


def git(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def history() -> None:
    """Skip where commits before this one are not known."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git checkout")
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("a checkout without its history")


def test_there_are_results() -> None:
    assert len(RECORDED) > 10
    assert SHEETS


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
class TestRecorded:
    def test_machine_version_date_and_commit(self, path: Path) -> None:
        described = machine(path)
        assert described["processor"]
        assert described["cores"] >= 1
        forms = {
            "gpusudoku": r"\d+\.\d+\.\d+",
            "date": r"\d{4}-\d\d-\d\d",
            "commit": r"[0-9a-f]{12,40}",  # without "-dirty"
        }
        for name, form in forms.items():
            assert re.fullmatch(form, str(described.get(name))), f"{name}: {described.get(name)}"

    @pytest.mark.usefixtures("history")
    def test_the_commit_is_one_of_those_before_this(self, path: Path) -> None:
        name = str(machine(path).get("commit"))
        found = git("merge-base", "--is-ancestor", name.removesuffix("-dirty"), "HEAD")
        assert found.returncode == 0, f"{name}: {found.stderr or 'no commit before this one'}"


@pytest.mark.parametrize("names", [("bench", "simulated"), ("cutoff-space", "cutoff-empty")])
def test_what_is_compared_is_of_one_machine_and_commit(names: tuple[str, str]) -> None:
    """Figures and tables compare them."""
    described = [machine(RESULTS / f"{name}.json") for name in names]
    assert len({(each["processor"], each["commit"]) for each in described}) == 1


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_a_sheet_has_the_rows_of_the_results_beside_it(path: Path) -> None:
    """So what is said of the machine there holds here. Columns that came later may be missing."""
    rows, _ = tables.read_json(str(path.with_suffix(".json")))
    sheet = list(csv.DictReader(StringIO(path.read_text(encoding="utf-8"))))
    expected = list(csv.DictReader(StringIO(tables.as_csv(rows))))
    assert sheet == [{name: row[name] for name in sheet[0]} for row in expected]
