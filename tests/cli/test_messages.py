"""What is said before a long count or listing, and while it runs."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import pytest

import gpusudoku
from gpusudoku.cli import expected, progress
from gpusudoku.cli.expected import duration, tell_looking
from gpusudoku.jobs.job import Progress
from gpusudoku.results import Estimates

TIME = r"about [0-9.e-]+ s\b"
LESS = "; count only counts them; --limit N lists N of them"


@pytest.fixture
def long(run, monkeypatch):
    """Run a command for which everything takes long; returns what it says before it begins."""
    monkeypatch.setattr(expected, "LONG_SECONDS", 0.0)

    def call(*arguments):
        status, _, err = run(*arguments, "-j", "2")
        assert status == 0
        lines = [line for line in err.splitlines() if "should take" in line]
        return [re.sub(TIME, "T s", line.removeprefix("gpusudoku: ")) for line in lines]

    return call


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "count @2d --method search",
            "the search should take T s on 2 threads; --method contraction T s;"
            " --limit N asks only for N solutions or more",
        ),
        (
            "count @2b --method contraction",
            "the contraction should take T s on 2 threads; --method search T s",
        ),
        (
            "count @2b --method search --part 1/2",
            "the part of the search should take T s on 2 threads",
        ),
        ("count @2b --limit 5", None),
        ("enumerate @2b --sorted", f"276 solutions: to list them should take T s{LESS}"),
        ("enumerate @2b --limit 5 --method search", None),
        ("sample @2b -n 9 --seed 1", "9 solutions: to draw them should take T s"),
    ],
)
def test_what_a_long_command_says(long, arguments, said):
    found = long(*arguments.split())
    assert found == ([] if said is None else [said])


def test_why_there_is_no_contraction(capsys):
    plan = SimpleNamespace(
        method="search",
        seconds=630 * 86400.0,
        estimates=Estimates(
            search_seconds=630 * 86400.0,
            no_contraction="too expensive to contract: stack 1 has 9 maps",
        ),
    )
    engine = SimpleNamespace(name="cpu", workers=2, threads=2)
    expected.expect_count(plan, gpusudoku.parse("." * 16), gpusudoku.Options(), engine, "f:2: ")
    assert capsys.readouterr().err == (
        "gpusudoku: f:2: the search should take about 315 days on 2 threads; no contraction: stack"
        " 1 has 9 maps; --limit N asks only for N solutions or more\n"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123, "about 0.012 s"),
        (99.6, "about 100 s"),
        (121, "about 2 minutes"),
        (7201, "about 2 hours"),
        (3 * 86400, "about 3 days"),
        (1e10, "decades"),
    ],
)
def test_times_in_words(seconds, text):
    assert duration(seconds) == text


def test_a_contraction_is_looked_for(capsys):
    tell_looking("", 9 * 86400.0)
    tell_looking("f:2: ", float("inf"))
    assert capsys.readouterr().err == (
        "gpusudoku: looking for a contraction; the search would take about 9 days on one core\n"
        "gpusudoku: f:2: looking for a contraction\n"
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """Show something on the line of progress after so many seconds; returns what it says."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])

    def show(seconds, tell):
        terminal = Terminal()
        monkeypatch.setattr(progress.sys, "stderr", terminal)
        line = progress.ProgressLine()
        now[0] += seconds
        tell(line)
        return terminal.getvalue().removeprefix("\r\x1b[K")

    return show


def test_the_line_of_progress(shown):
    def tell(*arguments):
        return lambda line: line.update(Progress(*arguments))

    assert shown(0.1, tell(0.5, 10, 5.0)) == ""  # nothing at once
    bar = "#" * 12 + "." * 12
    assert shown(9, tell(0.5, 1234, 8.0)) == f"[{bar}]  50%  1,234 solutions  8 s, about 8 s left"
    assert shown(9, tell(0.0001, 1, 8.0)) == f"[{'.' * 24}] 0.01%  1 solutions  8 s"
