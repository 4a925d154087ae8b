"""Cases, the order of their runs, and rows of results, with fake counts and clocks."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
from dataclasses import replace
from math import inf, isnan, nan
from pathlib import Path

import pytest

from gpusudoku.bench import suite
from gpusudoku.bench.suite import COLUMNS, Case, cases_of, heading, machine, undisturbed
from gpusudoku.cli.bench import LiveTable, table_head, table_line
from gpusudoku.errors import InputError
from gpusudoku.results import Count
from tests.bench.samples import SUBJECTS, fake_count, measure, rows_with


def test_cases_differ_in_what_makes_a_difference() -> None:
    """A contraction has no strategy and no cutoff, a GPU no threads."""
    values = {"method": ["search", "contraction"], "strategy": ["first", "min"]}
    values |= {"device": ["cpu", "cuda"], "jobs": [1, 2], "cutoff": [None, 1e9]}
    cases = cases_of(SUBJECTS, **values)
    settings = [case.setting for case in cases if case.subject is SUBJECTS[0]]
    assert len(set(settings)) == len(settings) == 3 * 4 + 3
    assert "search cpu -j 2 first singles space 1e+09" in settings
    assert {"search cuda min singles", "contraction cpu -j 1", "contraction cuda"} < {*settings}
    assert len(cases) == 3 * len(settings)


def test_the_share_of_its_time_for_which_a_count_had_its_cores() -> None:
    [search, contraction] = cases_of(SUBJECTS[:1], method=["search", "contraction"], jobs=[4])
    result = fake_count()(search)
    assert suite.core_share(result, 1.0, 3.0, 1.0, cores=4) == pytest.approx(1.0)
    assert suite.core_share(result, 1.0, 3.0, 5.0, cores=8) == pytest.approx(1.0)
    assert suite.core_share(result, 1.0, 1.0, 1.0, cores=4) == pytest.approx(1 / 3)
    assert suite.core_share(result, 1.0, 2.0, 0.0, cores=2) == pytest.approx(1.0)
    assert suite.core_share(result, 1.0, 1.0, nan, cores=4) is None
    assert suite.core_share(result, 0.09, 0.1, 0.0, cores=4) is None
    assert suite.core_share(replace(result, jobs=1), 0.09, 0.045) == pytest.approx(0.5)
    assert suite.core_share(replace(result, jobs=1), 0.009, 0.001) is None
    assert suite.core_share(replace(result, device="cuda"), 0.75, 1.0) is None
    assert suite.core_share(fake_count()(contraction), 1.0, 1.5) == pytest.approx(1.5)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux says so")
def test_idle_seconds_are_those_of_the_usable_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2})
    path = tmp_path / "stat"
    assert isnan(suite.idle_seconds(path))
    path.write_text("cpu 9 9 9 9 9 9\ncpu1 9 9 9 9 9 9\nintr 5\n")
    assert isnan(suite.idle_seconds(path))
    path.write_text("cpu 9 9 9 9 9 9\ncpu0 1 2 3 400 50 6\ncpu1 9 9 9 9 9 9\ncpu2 0 0 0 7 0 0\n")
    assert suite.idle_seconds(path) == 457 / os.sysconf("SC_CLK_TCK")


def test_runs_take_turns_after_a_warm_up() -> None:
    order = []

    def count(case: Case) -> Count:
        order.append(case.subject.name)
        return fake_count()(case)

    measure(cases_of(SUBJECTS), count, repeats=2)
    assert order == ["small", "other", "new"] * 3


def test_cases_run_for_a_time_but_at_least_once() -> None:
    for seconds, run_counts in ((0.5, [2, 8]), (50, [1, 1])):
        bench = measure(cases_of(SUBJECTS[:1], jobs=[1, 4]), fake_count(seconds), seconds=1.0)
        assert [len(entry.runs) for entry in bench.measured] == run_counts


def test_the_time_of_all_runs_is_estimated_after_the_warm_up() -> None:
    for options, estimate in (({"repeats": 5}, 7.5), ({"seconds": 1.0}, 2.0)):
        estimates: list[float] = []
        cases = cases_of(SUBJECTS[:1], jobs=[1, 2])
        measure(cases, warmed_up=estimates.append, **options)
        assert estimates == [estimate]


def test_long_cases_are_left_out() -> None:
    seconds = {"small": 1.0, "other": 99.0, "new": inf}
    options = {"estimate": lambda case, patience: seconds[case.subject.name], "patience": 9}
    bench = measure(cases_of(SUBJECTS), **options)
    notes = [(entry.note, len(entry.runs)) for entry in bench.measured]
    assert notes == [("", 3), ("left out: about 99 s", 0), ("too expensive", 0)]


def test_wrong_counts_are_reported() -> None:
    """Without a known count, settings are compared."""
    cases = cases_of(SUBJECTS, jobs=[1, 2])
    bench = measure(cases, lambda case: fake_count(solutions=5 + case.options["jobs"])(case))
    assert [entry.wrong for entry in bench.measured] == [True] * 4 + [False, True]
    assert bench.measured[0].note == "counted 6 solutions, expected 288 (known)"
    assert "(search cpu -j 1 min singles)" in bench.measured[5].note


@pytest.mark.parametrize(
    ("gap", "signal_number", "interrupted"),
    [(5.0, None, 2), (0.5, None, 2), (5.0, signal.SIGTERM, 1)],
)
def test_one_interrupt_skips_and_two_or_another_signal_end(
    gap: float, signal_number: int | None, interrupted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def count(case: Case) -> Count:
        nonlocal now
        now += gap
        if case.subject.name in ("small", "other"):
            raise KeyboardInterrupt
        return fake_count()(case)

    monkeypatch.setattr(suite, "last_interrupt", lambda: signal_number)
    bench = measure(cases_of(SUBJECTS), count, clock=lambda: now)
    notes = [entry.note for entry in bench.measured]
    assert notes == ["interrupted"] * interrupted + [""] * (3 - interrupted)
    assert bench.interrupted == (gap < 1 or signal_number is not None)
    assert len(bench.measured[2].runs) == (0 if bench.interrupted else 3)


def test_values_of_a_row() -> None:
    _, row = rows_with(SUBJECTS[:1], jobs=[1, 2])
    assert tuple(row) == (*COLUMNS, "setting", "times", "thread_utilisation")
    assert (row["board"], row["jobs"], row["solutions"], row["runs"]) == ("small", 2, 288, 3)
    assert (row["clues"], row["empty_cells"]) == (0, 16)
    assert row["log10_space"] == pytest.approx(16 * 0.60206, rel=1e-4)
    assert row["median"] == row["minimum"] == row["maximum"] == 0.5
    assert (row["deviation"], row["speed_up"], row["utilisation"]) == (0.0, 2.0, 0.5)
    assert row["thread_utilisation"] == [0.5, 0.5]
    assert (row["solutions_per_second"], row["nodes_per_second"]) == (576, 1200)
    [row] = rows_with(SUBJECTS[:1], method=["contraction"])
    assert (row["method"], row["nodes_per_second"]) == ("contraction", None)


@pytest.mark.parametrize(
    ("processor", "starved"),
    [
        ((1.0, 1.98), [False, False]),
        ((1.0, 1.01), [False, True]),  # two threads shared a core
        ((0.5, 1.98), [True, True]),  # what the speed-up is compared with was starved
    ],
)
def test_threads_that_wait_for_cores(
    processor: tuple[float, float], starved: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread and two threads on two cores; ``processor`` has the CPU seconds of both."""
    monkeypatch.setattr(suite, "usable_cores", lambda: 2)
    now = {"clock": 0.0, "processor": 0.0, "idle": 0.0}

    def count(case: Case) -> Count:
        now["clock"] += 1.0
        now["idle"] += 0.02
        now["processor"] += processor[case.options["jobs"] - 1]
        result = fake_count()(case)
        stats = replace(result.stats, seconds=1.0, utilisation=(0.99,) * result.jobs)
        return replace(result, stats=stats)

    clocks = {name: lambda name=name: now[name] for name in now}
    rows = rows_with(SUBJECTS[:1], count, clocks, jobs=[1, 2])
    assert [row["starved"] for row in rows] == starved
    assert undisturbed(rows) == [row for row in rows if not row["starved"]]
    assert [row["got"] for row in rows] == pytest.approx([processor[0], processor[1] / 1.98])
    for row, is_starved in zip(rows, starved, strict=True):
        assert f"{row['speed_up']:.2f}{'?' * is_starved}  " in table_line(row)
        assert table_line(row).endswith("starved") == is_starved


def test_a_run_on_one_thread_that_was_slowed(tmp_path: Path) -> None:
    """All rows of its setting are starved, also in files that were recorded without the mark."""
    path = tmp_path / "rows.json"
    for one_thread, two_threads, is_slowed in (
        (1.0, 0.496, False),
        (1.0, 0.49, True),  # two threads cannot be more than twice as fast
        (0.009, 0.004, False),  # too short to be judged
    ):
        rows = rows_with(SUBJECTS[:1], fake_count(one_thread, 2 * two_threads), jobs=[1, 2])
        assert {row["starved"] for row in rows} == {is_slowed}
        path.write_text(suite.as_json(rows, machine()).replace("true", "false"))
        assert len(undisturbed(suite.read_json(str(path))[0])) == (0 if is_slowed else 2)


def test_rows_as_lines_csv_and_json(tmp_path: Path) -> None:
    """Older files lack some columns."""
    rows = rows_with(count=fake_count(solutions=10**30), jobs=[1, 4])
    path = tmp_path / "runs.json"
    assert all(len(table_line(row)) <= len(table_head()) for row in rows_with(jobs=[1, 4]))
    records = list(csv.DictReader(io.StringIO(suite.as_csv(rows))))
    assert (len(records), tuple(records[0])) == (6, COLUMNS)
    assert (records[0]["cutoff"], records[1]["jobs"]) == ("", "4")
    text = suite.as_json(rows, machine())
    path.write_text(text)
    rows_read, description = suite.read_json(str(path))
    assert rows_read == rows
    assert heading(description).endswith(str(description["date"]))
    older = json.loads(text)
    names = ("got", "starved", "cutoff_reached", "thread_utilisation")
    for record in older["rows"]:
        for name in names:
            del record[name]
    path.write_text(json.dumps(older))
    rows, _ = suite.read_json(str(path))
    assert {row[name] for row in rows for name in names} == {None}


def test_a_file_that_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    for text in ("", "[]", '{"rows": [{}], "machine": {}}', '{"rows": 1}'):
        path.write_text(text)
        with pytest.raises(InputError, match="not a result of gpusudoku bench --json"):
            suite.read_json(str(path))


def test_rows_on_a_terminal_are_shown_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    measured_rows = measure(cases_of(SUBJECTS * 20)).measured
    table = LiveTable(measured_rows, terminal)
    table.show(measured_rows[30])
    table.close()
    text = terminal.getvalue()
    assert "> small" in text
    assert text.count("\n") <= 24
    assert text.endswith("\x1b[J")


def test_a_power_law_is_fitted() -> None:
    row = {"method": "search", "device": "cpu", "jobs": 1, "strategy": "min", "clues": 17}
    row |= {"propagate": "singles", "empty_cells": 64}

    def law(solutions: list[float], seconds: list[float]) -> suite.PowerLaw | None:
        points = zip(solutions, seconds, strict=True)
        rows = [row | {"solutions": n, "median": s} for n, s in points]
        return suite.search_law(rows)

    fit = law([1e4, 1e5, 1e6, 1e7, 100], [2e-3, 2e-2, 2e-1, 2.0, 9.0])
    assert fit is not None
    assert (fit.exponent, fit.at(1e8)) == (pytest.approx(1), pytest.approx(20))
    assert law([1e5, 1e5, 1e5], [1, 2, 3]) is None
