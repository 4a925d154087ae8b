"""What is recorded names a commit that exists; pages and figures show what is recorded."""

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
    def test_they_say_what_was_measured(self) -> None:
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

    def test_what_is_compared_is_of_one_machine_and_commit(self) -> None:
        described = [machine(f"{name}.json") for name in ("cutoff-space", "cutoff-empty", "bench")]
        assert len({(each["processor"], each["commit"]) for each in described}) == 1

    def test_a_sheet_has_the_rows_of_the_results_beside_it(self) -> None:
        """Columns that came later may be missing."""
        assert SHEETS
        for path in SHEETS:
            rows, _ = suite.read_json(str(path.with_suffix(".json")))
            sheet = list(csv.DictReader(StringIO(path.read_text("utf-8"))))
            expected = list(csv.DictReader(StringIO(suite.as_csv(rows))))
            assert sheet == [{name: row[name] for name in sheet[0]} for row in expected]


class TestPages:
    def test_tables_are_those_of_the_results(self) -> None:
        done = CliRunner().invoke(readme.main, ["--check"])
        assert done.exit_code == 0, done.output

    def test_every_result_stands_on_one_and_says_where_it_is_from(self) -> None:
        """Machine, date, commit and command, under each; the README has the machine above."""
        shown = set()
        for page in readme.PAGES:
            text = (ROOT / page).read_text("utf-8")
            begun = re.findall(r"^<!-- ([\w.-]+) -->$", text, re.MULTILINE)
            assert begun == re.findall(r"^<!-- end of ([\w.-]+) -->$", text, re.MULTILINE), page
            for found in readme.TABLE.finditer(text):
                shown.add(found[2].partition(".")[0])
                assert page == "README.md" or SOURCE.search(found[0]), found[2]
        concluded_from = {"bench", "cutoff-space", "cutoff-empty"}
        assert {path.stem for path in RECORDED} - shown == concluded_from
        assert {"summary", "findings"} <= shown

    def test_they_name_parts_of_the_report_that_there_are(self) -> None:
        text = "".join((ROOT / page).read_text("utf-8") for page in readme.PAGES)
        named = set(re.findall(r"`python benchmarks/report\.py (\w+)`", text))
        assert named == {"bench"} <= set(parts_of(RESULTS, (), {}))

    def test_every_figure_stands_on_one(self) -> None:
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
def shown(path: Path) -> dict[str, str]:
    """Draw figures as they would be today; what they show, by name."""
    return {name: fingerprint(figure) for name, figure in in_style(figures_of(path))}


class TestFigures:
    @pytest.fixture(autouse=True)
    def drawing(self) -> None:
        pytest.importorskip("matplotlib")

    @pytest.mark.parametrize("name", NAMES)
    def test_they_show_the_results(self, name: str) -> None:
        kept = {
            path.stem: re.findall(r"shows [0-9a-f]{16}", path.read_text("utf-8"))[0]
            for path in (PLOTS / name).glob("*.svg")
        }
        assert kept == shown(RESULTS / f"{name}.json"), "run figures.py"

    def test_of_other_results_they_are_others(self, tmp_path: Path) -> None:
        run = json.loads((RESULTS / "bench.json").read_text("utf-8"))
        run["rows"][0]["median"] *= 1.01
        row = next(row for row in run["rows"] if row["jobs"] == 2 and row["speed_up"])
        row["speed_up"] += 0.01
        copy = tmp_path / "bench.json"
        copy.write_text(json.dumps(run), "utf-8")
        before = shown(RESULTS / "bench.json")
        after = shown(copy)
        stale = {figure for figure in before if before[figure] != after[figure]}
        assert {"time-over-size", "speed-up"} <= stale
