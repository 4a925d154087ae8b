"""What is said before a long count or listing, and while it runs."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli import progress as progress_module
from gpusudoku.cli.expected import (
    duration,
    expect_count,
    expect_listing,
    expect_numbered,
    expect_sample,
    tell_looking,
)
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.job import Progress
from gpusudoku.options import Options
from gpusudoku.planning import choose
from gpusudoku.planning.search import SearchPlan
from gpusudoku.results import Estimates
from gpusudoku.search.estimate import HOPELESS, SearchEstimate

DAY = 86400.0
EMPTY = Board.empty(Geometry(2, 2))
TWO_THREADS: Any = SimpleNamespace(name="cpu", workers=2, threads=2)
GPU: Any = SimpleNamespace(name="cuda", workers=1)


def plan(method: str, seconds: float, no_contraction: str = "", known: bool = True) -> Any:
    estimates = Estimates(
        **({f"{method}_seconds": seconds} if known else {}), no_contraction=no_contraction
    )
    return SimpleNamespace(method=method, seconds=seconds, estimates=estimates)


def said(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """What is said of a plan: one line on stderr, or nothing."""
    expect_count(*arguments)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") <= 1
    return err.removeprefix("gpusudoku: ").removesuffix("\n")


def test_the_time_on_the_threads_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    long = plan("search", 630 * DAY, "too expensive to contract: stack 1 has 9 maps")
    assert said(capsys, long, EMPTY, Options(), TWO_THREADS, "") == (
        "the search should take about 315 days on 2 threads; no contraction: stack 1 has 9 maps;"
        " --limit N asks only for N solutions or more"
    )
    hours = plan("contraction", 5 * 3600)
    expected = "the contraction should take about 5 hours on one core of a CPU"
    assert said(capsys, hours, EMPTY, Options(), GPU, "") == expected


def test_nothing_is_said_of_short_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, plan("search", 59), EMPTY, Options(), TWO_THREADS, "") == ""
    limited = Options(limit=10)
    assert said(capsys, plan("search", 9 * DAY), EMPTY, limited, TWO_THREADS, "") == ""
    # How long an endless search takes to a limit is not known.
    limited = Options(limit=10**6)
    assert said(capsys, plan("search", 1e12), EMPTY, limited, TWO_THREADS, "") == ""


def test_in_a_batch_nothing_is_estimated_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    unknown = plan("search", 9 * DAY, known=False)
    searching = Options(method="search")
    assert said(capsys, unknown, EMPTY, searching, TWO_THREADS, "f:2: ") == ""
    known = plan("search", 9 * DAY)
    assert "about 4 days" in said(capsys, known, EMPTY, Options(), TWO_THREADS, "f:2: ")


def test_the_other_method(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def other(board: Board, options: Options, worth: float) -> Any:
        asked.append((options.method, worth))
        return plan(options.method, 3.0)

    monkeypatch.setattr(choose, "choose", other)
    searching, long = Options(method="search"), plan("search", 9 * DAY, known=False)
    assert said(capsys, long, EMPTY, searching, TWO_THREADS, "") == (
        "the search should take about 4 days on 2 threads; --method contraction about 1.5 s;"
        " --limit N asks only for N solutions or more"
    )
    contracting, long = Options(method="contraction"), plan("contraction", 9 * DAY)
    assert said(capsys, long, EMPTY, contracting, TWO_THREADS, "") == (
        "the contraction should take about 4 days on 2 threads; --method search about 1.5 s"
    )
    assert [method for method, _ in asked] == ["contraction", "search"]
    assert max(worth for _, worth in asked) <= 5  # a quick look

    def refused(board: Board, options: Options, worth: float) -> Any:
        raise TooExpensive("too expensive to contract: said for a test")

    monkeypatch.setattr(choose, "choose", refused)
    long = plan("search", 9 * DAY, known=False)
    assert "; no contraction: said for a test; " in said(
        capsys, long, EMPTY, searching, TWO_THREADS, ""
    )


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        (1e11, "about 4.7e10 solutions: to list them should take about 42 minutes on 2 threads"),
        (HOPELESS, "more solutions than can be listed: to list them should take decades"),
    ],
)
def test_a_listing(
    nodes: float,
    text: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    estimate = SearchEstimate(nodes, 4.7e10, exact=False, node_seconds=5e-8)
    monkeypatch.setattr(SearchPlan, "estimate", estimate)
    expect_listing(EMPTY, Options(), TWO_THREADS, "")
    err = capsys.readouterr().err
    assert err.startswith(f"gpusudoku: {text}")
    assert err.endswith("; count only counts them; --limit N lists N of them\n")
    assert expect_listing(EMPTY, Options(limit=100), TWO_THREADS, "") == 0
    assert capsys.readouterr().err == ""


def test_a_long_look(capsys: pytest.CaptureFixture[str]) -> None:
    tell_looking("", 9 * DAY)
    tell_looking("f:2: ", float("inf"))
    assert capsys.readouterr().err == (
        "gpusudoku: looking for a contraction; the search would take about 9 days on one core\n"
        "gpusudoku: f:2: looking for a contraction\n"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123, "about 0.012 s"),
        (7.25, "about 7.2 s"),
        (99.6, "about 100 s"),
        (300, "about 5 minutes"),
        (3e4, "about 8 hours"),
        (630 * DAY, "about 630 days"),
        (1e12, "decades"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("done", "expected", "text"),
    [
        (0.0, 0.0, "  0%  7 solutions  3 s"),
        (0.0, 30 * DAY, "  0%  7 solutions  3 s of about 30 days"),
        (0.0000034, 30 * DAY, "0.0003%  7 solutions  3 s of about 30 days"),
        (0.5, 30 * DAY, " 50%  7 solutions  3 s, about 3 s left"),
    ],
)
def test_the_progress_line(
    done: float, expected: float, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small share can be seen to move, and the expected time stands beside it."""
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(progress_module.sys, "stderr", terminal)
    monkeypatch.setattr(progress_module, "DELAY_SECONDS", -1.0)
    line = ProgressLine()
    line.expected = expected
    line.update(Progress(done, 7, 3.0))
    assert terminal.getvalue().endswith(f"] {text}")


LESS = "; count only counts them; --limit N lists N of them"


@pytest.mark.parametrize(
    ("number", "ascending", "place", "expected"),
    [
        (10**6, False, "", ""),
        (
            10**10,
            False,
            "f:2: ",
            "f:2: 10000000000 solutions: to list them should take about 8 min",
        ),
        (10**10, True, "", "10000000000 solutions: to list them should take about 83 min"),
        (10**400, True, "", f"{10**400} solutions: to list them should take decades; "),
    ],
)
def test_long_lists_by_number(
    capsys: pytest.CaptureFixture[str], number: int, ascending: bool, place: str, expected: str
) -> None:
    seconds = expect_numbered(number, ascending, TWO_THREADS, place)
    err = capsys.readouterr().err
    assert bool(seconds) == bool(expected) == bool(err)
    if expected:
        assert err.startswith(f"gpusudoku: {expected}")
        assert err.endswith(f"{LESS}\n")


def test_long_samples(capsys: pytest.CaptureFixture[str]) -> None:
    expect_sample(10**6, TWO_THREADS)
    assert capsys.readouterr().err == ""
    expect_sample(10**9, TWO_THREADS)
    expected = "1000000000 solutions: to draw them should take about 42 minutes"
    assert capsys.readouterr().err == f"gpusudoku: {expected}\n"
