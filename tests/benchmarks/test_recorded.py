"""Recorded results name a commit that exists, and pages and figures show these results."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import readme
from click.testing import CliRunner
from figures import NAMES, PLOTS, figures_of, fingerprint
from machine import RESULTS
from report import parts_of

from gpusudoku.bench import suite
from gpusudoku.bench.figures import in_style

ROOT = Path(__file__).parents[2]
RECORDED = sorted(RESULTS.glob("*.json"))
SHEETS = sorted(RESULTS.glob("*.csv"))
SOURCE = re.compile(
    r"^\*.+, \d+ cores.*, \d{4}-\d\d-\d\d; .*release [0-9.]+(, commit [0-9a-f]{12}(-dirty)?)?;"
    r" `python benchmarks/\w+\.py.*`\*$",
    re.MULTILINE,
)
FIELDS = {
    "processor": r".+",
    "cores": r"[1-9]\d*",
    "gpusudoku": r"\d+\.\d+\.\d+",
    "date": r"\d{4}-\d\d-\d\d",
    "commit": r"[0-9a-f]{12,40}",  # without "-dirty"
}


def machine(name: str) -> dict[str, Any]:
    described: dict[str, Any] = json.loads((RESULTS / name).read_text("utf-8"))["machine"]
    return described


def git(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class TestResults:
    def test_they_describe_the_machine(self) -> None:
        assert len(RECORDED) > 15
        for path in RECORDED:
            described = machine(path.name)
            for name, form in FIELDS.items():
                assert re.fullmatch(form, str(described.get(name))), f"{path.name}: {name}"

    def test_their_commits_are_before_this_one(self) -> None:
        if not (ROOT / ".git").exists() or shutil.which("git") is None:
            pytest.skip("no git checkout")
        if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
            pytest.skip("a checkout without its history")
        for name in {machine(path.name)["commit"] for path in RECORDED}:
            assert git("merge-base", "--is-ancestor", name, "HEAD").returncode == 0, name

    def test_compared_results_are_of_one_machine_and_commit(self) -> None:
        names = ("cutoff-space", "cutoff-empty", "bench")
        machines = [machine(f"{name}.json") for name in names]
        sources = {(described["processor"], described["commit"]) for described in machines}
        assert len(sources) == 1

    def test_a_sheet_has_the_rows_of_the_json_file(self) -> None:
        """Newer columns may be missing."""
        assert SHEETS
        for path in SHEETS:
            rows, _ = suite.read_json(str(path.with_suffix(".json")))
            sheet = list(csv.DictReader(StringIO(path.read_text("utf-8"))))
            expected = list(csv.DictReader(StringIO(suite.as_csv(rows))))
            assert sheet == [{name: row[name] for name in sheet[0]} for row in expected]


class TestPages:
    def test_tables_are_those_of_the_results(self) -> None:
        result = CliRunner().invoke(readme.main, ["--check"])
        assert result.exit_code == 0, result.output

    def test_every_result_is_on_a_page_with_its_source(self) -> None:
        """A line under each table has the source; the README has the machine above it."""
        files = set()
        for page in readme.PAGES:
            text = (ROOT / page).read_text("utf-8")
            starts = re.findall(r"^<!-- ([\w.-]+) -->$", text, re.MULTILINE)
            ends = re.findall(r"^<!-- end of ([\w.-]+) -->$", text, re.MULTILINE)
            assert starts == ends, page
            for match in readme.TABLE.finditer(text):
                files.add(match[2].partition(".")[0])
                assert page == "README.md" or SOURCE.search(match[0]), match[2]
        # The tables of findings.py are computed from these.
        sources_of_findings = {"bench", "cutoff-space", "cutoff-empty"}
        assert {path.stem for path in RECORDED} - files == sources_of_findings
        assert {"summary", "findings"} <= files

    def test_they_name_existing_parts_of_the_report(self) -> None:
        text = "".join((ROOT / page).read_text("utf-8") for page in readme.PAGES)
        parts = set(re.findall(r"`python benchmarks/report\.py (\w+)`", text))
        assert parts == {"bench"} <= set(parts_of(RESULTS, (), {}))

    def test_every_figure_is_on_a_page(self) -> None:
        pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "benchmarks/README.md"]
        linked = {
            (page.parent / name).resolve()
            for page in pages
            for name in re.findall(r"\]\(([^()\s]+\.svg)\)", page.read_text("utf-8"))
            if "://" not in name
        }
        assert {path for path in linked if not path.is_file()} == set()
        assert {path.resolve() for path in PLOTS.rglob("*.svg")} <= linked


@cache
def current_fingerprints(path: Path) -> dict[str, str]:
    """Draw the figures of a file with the present code; return their fingerprints by name."""
    return {name: fingerprint(figure) for name, figure in in_style(figures_of(path))}


class TestFigures:
    @pytest.fixture(autouse=True)
    def drawing(self) -> None:
        pytest.importorskip("matplotlib")

    @pytest.mark.parametrize("name", NAMES)
    def test_they_show_the_results(self, name: str) -> None:
        fingerprints = {
            path.stem: re.findall(r"shows [0-9a-f]{16}", path.read_text("utf-8"))[0]
            for path in (PLOTS / name).glob("*.svg")
        }
        assert fingerprints == current_fingerprints(RESULTS / f"{name}.json"), "run figures.py"

    def test_other_results_have_other_figures(self, tmp_path: Path) -> None:
        run = json.loads((RESULTS / "bench.json").read_text("utf-8"))
        run["rows"][0]["median"] *= 1.01
        row = next(row for row in run["rows"] if row["jobs"] == 2 and row["speed_up"])
        row["speed_up"] += 0.01
        copy = tmp_path / "bench.json"
        copy.write_text(json.dumps(run), "utf-8")
        recorded = current_fingerprints(RESULTS / "bench.json")
        changed = current_fingerprints(copy)
        stale = {figure for figure in recorded if recorded[figure] != changed[figure]}
        assert {"time-over-size", "speed-up"} <= stale
