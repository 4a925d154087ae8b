"""The tables of the README and of docs/results.md are those of the recorded results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import summary

ROOT = Path(__file__).parents[2]
DEFAULT, ONE_CORE = summary.DEFAULT, summary.ONE_CORE


def test_tables_are_current() -> None:
    script = [sys.executable, str(ROOT / "benchmarks" / "readme.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "<!-- end of summary -->" in readme
    results = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    for name in (
        "contraction", "speed", "scaling", "batches", "model", "peers", "techniques", "documents",
        "reading", "writing", "first_day", "listing", "by_number", "shares", "simulated",
    ):  # fmt: skip
        assert f"<!-- end of {name} -->" in results


def test_every_table_has_an_end() -> None:
    for page in ("README.md", "docs/results.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        begun = re.findall(r"^<!-- (\w+) -->$", text, re.MULTILINE)
        assert begun == re.findall(r"^<!-- end of (\w+) -->$", text, re.MULTILINE), page


def run(program: str, seconds: float, complete: bool = True) -> dict[str, object]:
    return {"program": program, "solutions": 4715, "complete": complete, "seconds": seconds}


class TestSummary:
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
