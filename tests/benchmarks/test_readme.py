"""The tables of the README and of the pages of results are those of the recorded results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import published
import pytest
import readme
import summary

from gpusudoku.errors import InputError

ROOT = Path(__file__).parents[2]
TABLES = {
    "docs/results.md": "findings.times scaling findings.cores findings.depends cutoffs"
    " findings.busy claims documents.show_paper documents.show_report techniques speed model"
    " contraction findings.empty peers one_core",
    "docs/long-runs.md": "checkpoints",
    "docs/hostile-input.md": "streams fuzz",
    "docs/page.md": "page",
    "docs/more-results.md": "batches reading writing listing by_number shares first_day cancelling"
    " simulated",
}
REPORTS = ("docs/results.md", "docs/more-results.md")
SOURCE = re.compile(
    r"^\*.+, \d+ cores.*, \d{4}-\d\d-\d\d; .*(commit [0-9a-f]{12}(-dirty)?|version \S+);"
    r" `python benchmarks/\w+\.py.*`\*$",
    re.MULTILINE,
)
DEFAULT, ONE_CORE = summary.DEFAULT, summary.ONE_CORE


def test_tables_are_current() -> None:
    script = [sys.executable, str(ROOT / "benchmarks" / "readme.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "<!-- end of summary -->" in readme
    for page, names in TABLES.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        assert {f"<!-- end of {name} -->" for name in names.split()} <= set(text.splitlines())


def test_every_result_says_where_it_is_from() -> None:
    """Machine, date, commit and command, under each; the README's table has the machine above."""
    for page in TABLES:
        found = readme.TABLE.findall((ROOT / page).read_text(encoding="utf-8"))
        assert found
        for _, name, _ in found:
            text = readme.shown(name)
            assert SOURCE.search(text), name
            assert text.rstrip().endswith("*"), name


def test_every_table_has_an_end() -> None:
    for page in readme.PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        begun = re.findall(r"^<!-- ([\w.]+) -->$", text, re.MULTILINE)
        assert begun == re.findall(r"^<!-- end of ([\w.]+) -->$", text, re.MULTILINE), page


def test_a_report_has_questions_methods_and_answers() -> None:
    for page in REPORTS:
        text = (ROOT / page).read_text(encoding="utf-8")
        words = re.findall(r"^\*\*(Question|Method|Answer)\.\*\*", text, re.MULTILINE)
        assert words == ["Question", "Method", "Answer"] * (len(words) // 3), page
        assert len(words) > 20


def test_published_times_and_speed_ups_agree() -> None:
    for name, (one, many) in published.SECONDS.items():
        assert one / many == pytest.approx(published.SPEED_UPS[name][-1], rel=0.01), name


def run(program: str, seconds: float, complete: bool = True) -> dict[str, object]:
    return {"program": program, "solutions": 4715, "complete": complete, "seconds": seconds}


def test_a_ratio_says_of_what(capsys) -> None:
    summary.show(readme.RESULTS / "summary.json")
    heads = capsys.readouterr().out.splitlines()[2]
    assert heads.endswith("| best other program | their time / ours |")


class TestSummary:
    def test_a_board_whose_runs_were_all_disturbed(self) -> None:
        with pytest.raises(InputError, match="expected an undisturbed run of board 2f"):
            summary.times_of_2f([])

    def test_the_quickest_other_program_is_shown(self, capsys) -> None:
        runs = [run(DEFAULT, 0.003), run(ONE_CORE, 0.001), run("one", 0.09), run("two", 0.045)]
        runs += [run("unfinished", 0.01, complete=False)]
        summary.show_measured("1b", runs)
        row = "| 1b | 4,715 | 3 ms | 1 ms | 45 ms (two) | 15 |\n"
        assert capsys.readouterr().out == row

    def test_the_middle_run_counts(self, capsys) -> None:
        runs = [run(program, seconds) for program in (DEFAULT, ONE_CORE, "other")
                for seconds in (5.0, 1.0, 2.0)]  # fmt: skip
        summary.show_measured("1b", runs)
        assert capsys.readouterr().out == "| 1b | 4,715 | 2 s | 2 s | 2 s (other) | 1 |\n"

    def test_a_board_that_nobody_else_counted_is_left_out(self, capsys) -> None:
        summary.show_measured("1b", [run(DEFAULT, 0.003), run(ONE_CORE, 0.001)])
        assert capsys.readouterr().out == ""

    def test_shares_and_samples(self, capsys) -> None:
        shares = [{"clues": clues, "board": "", "count_seconds": 0.1, "seconds": seconds}
                  for clues in summary.CLUES for seconds in (0.5, 0.25, 3.0)]  # fmt: skip
        shares.append({"clues": 20, "way": "a batch", "seconds": 9.0})
        numbers = [{"clues": clues, "samples": 10**6, "sampling": 0.7} for clues in summary.CLUES]
        summary.show_solutions(shares, numbers)
        lines = capsys.readouterr().out.splitlines()
        assert lines[2] == "| none | 100 ms | 500 ms | 1,400,000 |"
        assert lines[5] == "| 20 | 100 ms | 500 ms | 1,400,000 |"
        assert len(lines) == 6
