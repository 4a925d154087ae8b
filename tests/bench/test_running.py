"""Cases, the order in which they run, with a clock that stands still, and rows of results."""

from __future__ import annotations

import csv
import io
import json
import signal
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from gpusudoku.bench import model, running, tables
from gpusudoku.bench.cases import Case, cases_of, chosen
from gpusudoku.bench.live import LiveTable
from gpusudoku.bench.machine import heading, machine
from gpusudoku.bench.running import Bench, Run
from gpusudoku.bench.summary import COLUMNS, rows_of, undisturbed
from gpusudoku.errors import InputError
from gpusudoku.results import Count
from tests.bench.samples import SUBJECTS, fake, measured, rows_with


class TestCases:
    def test_only_what_makes_a_difference(self) -> None:
        """A contraction has no strategy and no cutoff, a GPU no threads."""
        cases = cases_of(
            SUBJECTS,
            devices=["cpu", "cuda"],
            jobs=[1, 2],
            methods=["search", "contraction"],
            strategies=["first", "min"],
            cutoffs=[None, 1e9],
        )
        settings = [case.setting for case in cases if case.subject is SUBJECTS[0]]
        assert len(set(settings)) == len(settings) == 3 * 4 + 3
        assert "search cpu -j 2 first singles space 1e+09" in settings
        assert {"search cuda min singles", "contraction cpu -j 1", "contraction cuda"} <= {
            *settings
        }
        assert len(cases) == 3 * len(settings)

    def test_by_name(self) -> None:
        names = [subject.name for subject in chosen(SUBJECTS, ["s*", "o*"], ["other"])]
        assert names == ["small"]
        with pytest.raises(InputError, match="no board is left"):
            chosen(SUBJECTS, ["x*"], [])


class TestRunning:
    @pytest.mark.parametrize(
        ("method", "jobs", "wall", "processor", "got"),
        [
            ("search", 1, 1.5, 0.75, 0.5),  # half a second of planning, and one of searching
            ("search", 4, 0.75, 1.0, 1.0),  # half a second by one thread, a quarter by two of four
            ("search", 4, 0.75, 0.5, 0.5),
            ("contraction", 4, 1.0, 1.5, 1.5),  # it is not known for how long there were two
            ("search", 1, 0.009, 0.001, None),  # too short to say
        ],
    )
    def test_the_cores_that_threads_got(
        self, method: str, jobs: int, wall: float, processor: float, got: float | None
    ) -> None:
        [case] = cases_of(SUBJECTS[:1], methods=[method], jobs=[jobs])
        found = fake()(case)
        assert Run.of(found, wall, processor).got == pytest.approx(got)
        assert Run.of(replace(found, device="cuda"), wall, processor).got is None

    def test_runs_take_turns_after_a_warm_up(self) -> None:
        order = []

        def count(case: Case) -> Count:
            order.append(case.subject.name)
            return fake()(case)

        bench = measured(cases_of(SUBJECTS), count, repeats=2)
        assert order == ["small", "other", "new"] * 3
        assert [len(each.runs) for each in bench.measured] == [2, 2, 2]

    @pytest.mark.parametrize(("takes", "runs"), [(0.5, [2, 8]), (50, [1, 1])])
    def test_for_a_time_but_at_least_once(self, takes: float, runs: list[int]) -> None:
        bench = measured(cases_of(SUBJECTS[:1], jobs=[1, 4]), fake(takes), seconds=1.0)
        assert [len(each.runs) for each in bench.measured] == runs

    def test_what_takes_too_long_is_left_out(self) -> None:
        seconds = {"small": 1.0, "other": 99.0, "new": inf}
        bench = measured(
            cases_of(SUBJECTS), expected=lambda case: seconds[case.subject.name], patience=9
        )
        notes = [(each.note, len(each.runs)) for each in bench.measured]
        assert notes == [("", 3), ("left out: about 99 s", 0), ("too expensive", 0)]

    def test_wrong_counts_are_found(self) -> None:
        """Also where settings are compared, as no count is known."""
        bench = measured(
            cases_of(SUBJECTS, jobs=[1, 2]), lambda case: fake(found=5 + case.options["jobs"])(case)
        )
        assert [each.wrong for each in bench.measured] == [True] * 4 + [False, True]
        assert bench.measured[0].note == "6 solutions counted, but 288 are right (known)"
        assert "(search cpu -j 1 min singles)" in bench.measured[5].note

    @pytest.mark.parametrize(
        ("gap", "last", "notes"),
        [
            (5.0, None, ["interrupted", "interrupted", ""]),
            (0.5, None, ["interrupted", "interrupted", ""]),
            (5.0, signal.SIGTERM, ["interrupted", "", ""]),
        ],
    )
    def test_one_interrupt_skips_and_two_or_another_signal_end(
        self, gap: float, last: int | None, notes: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = 0.0

        def count(case: Case) -> Count:
            nonlocal now
            now += gap
            if case.subject.name in ("small", "other"):
                raise KeyboardInterrupt
            return fake()(case)

        monkeypatch.setattr(running, "last_interrupt", lambda: last)
        bench = measured(cases_of(SUBJECTS), count, clock=lambda: now)
        assert [each.note for each in bench.measured] == notes
        assert bench.interrupted == (gap < 1 or last is not None)
        assert len(bench.measured[2].runs) == (0 if bench.interrupted else 3)


class TestRows:
    def test_values(self) -> None:
        row = rows_with(jobs=[1, 2, 4])[1]
        assert tuple(row.values) == COLUMNS
        assert (row["board"], row["jobs"], row["solutions"], row["runs"]) == ("small", 2, 288, 3)
        assert (row["clues"], row["empty_cells"]) == (0, 16)
        assert row["log10_space"] == pytest.approx(16 * 0.60206, rel=1e-4)
        assert (row["median"], row["minimum"], row["maximum"]) == (0.5, 0.5, 0.5)
        assert (row["deviation"], row["speed_up"], row["utilisation"]) == (0.0, 2.0, 0.5)
        assert (row["solutions_per_second"], row["nodes_per_second"]) == (576, 1200)
        assert row.times == (0.5,) * 3
        [row] = rows_with(SUBJECTS[:1], methods=["contraction"])
        assert (row["method"], row["nodes_per_second"], row["utilisation"]) == (
            "contraction", None, 0.5,
        )  # fmt: skip

    @pytest.mark.parametrize(
        ("processor", "starved"),
        [
            ((1.0, 1.98), [False, False]),
            ((1.0, 1.01), [False, True]),  # two threads shared a core
            ((0.5, 1.98), [True, True]),  # what the speed-up is compared with was starved
        ],
    )
    def test_threads_that_wait_for_cores(
        self, processor: tuple[float, float], starved: list[bool]
    ) -> None:
        """On one and two threads that had the processor for so many seconds."""
        now = {"wall": 0.0, "processor": 0.0}

        def count(case: Case) -> Count:
            now["wall"] += 1.0
            now["processor"] += processor[case.options["jobs"] - 1]
            result = fake()(case)
            stats = replace(result.stats, seconds=1.0, utilisation=(0.99,) * result.jobs)
            return replace(result, stats=stats)

        bench = measured(
            cases_of(SUBJECTS[:1], jobs=[1, 2]),
            count,
            clock=lambda: now["wall"],
            processor=lambda: now["processor"],
        )
        rows = rows_of(bench.measured)
        assert [row["starved"] for row in rows] == starved
        assert undisturbed(rows) == [row for row in rows if not row["starved"]]
        assert [row["got"] for row in rows] == pytest.approx([processor[0], processor[1] / 1.98])
        for row, marked in zip(rows, starved, strict=True):
            line = tables.line(row)
            assert f"{row['speed_up']:.2f}{'?' * marked}  " in line
            assert line.endswith("starved") == marked
            assert f"{row['got']:.1%}" in line

    @pytest.mark.parametrize(
        ("seconds", "slowed"),
        [
            ((1.0, 0.496), False),
            ((1.0, 0.49), True),  # two threads cannot be more than twice as fast
            ((0.009, 0.004), False),  # too short to be judged
        ],
    )
    def test_a_run_on_one_thread_that_was_slowed(
        self, tmp_path: Path, seconds: tuple[float, float], slowed: bool
    ) -> None:
        """Every row of its setting is left out, also of those that were recorded without a mark."""

        def count(case: Case) -> Count:
            jobs = case.options["jobs"]
            return fake(seconds[jobs - 1] * jobs)(case)

        rows = rows_with(SUBJECTS[:1], count, jobs=[1, 2])
        assert {row["starved"] for row in rows} == {slowed}
        path = tmp_path / "rows.json"
        path.write_text(tables.as_json(rows, machine()).replace("true", "false"))
        assert len(undisturbed(tables.read_json(str(path))[0])) == (0 if slowed else 2)


class TestTables:
    def test_lines_and_csv(self) -> None:
        rows = rows_with(jobs=[1, 4])
        assert all(len(tables.line(row)) <= len(tables.head()) for row in rows)
        read = list(csv.DictReader(io.StringIO(tables.as_csv(rows))))
        assert (len(read), tuple(read[0])) == (6, COLUMNS)
        assert (read[1]["board"], read[1]["jobs"], read[1]["median"]) == ("small", "4", "0.25")
        assert read[0]["cutoff"] == ""

    def test_json_and_back(self, tmp_path: Path) -> None:
        """Also of before there were some columns."""
        rows, path = rows_with(count=fake(found=10**30)), tmp_path / "runs.json"
        text = tables.as_json(rows, machine())
        path.write_text(text)
        again, described = tables.read_json(str(path))
        assert again == rows
        assert described == json.loads(json.dumps(machine()))
        assert heading(described).endswith(str(described["date"]))
        older = json.loads(text)
        for record in older["rows"]:
            del record["got"], record["starved"], record["cutoff_reached"]
        path.write_text(json.dumps(older))
        rows, _ = tables.read_json(str(path))
        assert {row[name] for row in rows for name in ("starved", "cutoff_reached")} == {None}
        assert "?" not in tables.line(rows[1])

    @pytest.mark.parametrize("text", ["", "[]", '{"rows": [{}], "machine": {}}', '{"rows": 1}'])
    def test_a_file_that_is_none(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "none.json"
        path.write_text(text)
        with pytest.raises(InputError, match="not a result of gpusudoku bench --json"):
            tables.read_json(str(path))

    def test_live_it_is_shown_and_taken_away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now, terminal = 10.0, io.StringIO()
        bench = Bench(cases_of(SUBJECTS * 20), fake(), lambda case: 0, repeats=1)
        LiveTable(bench.measured, terminal).show(bench.measured[0])
        assert terminal.getvalue() == ""  # it is no terminal
        monkeypatch.setattr(terminal, "isatty", lambda: True)
        table = LiveTable(bench.measured, terminal, clock=lambda: now)
        for each in bench:
            now += 0.15
            table.show(each)
        table.close()
        text = terminal.getvalue()
        assert "> small" in text
        assert text.endswith("\x1b[J")
        assert max(part.count("\n") for part in text.split("\x1b[J")) <= 24
        assert text.count("\x1b[J") == 120  # every second time, as it is too soon for the others


def test_a_power_law_is_found() -> None:
    law = model.power_law([1e4, 1e5, 1e6, 1e7], [2e-3, 2e-2, 2e-1, 2.0])
    assert law is not None
    assert (law.exponent, law.spread) == (pytest.approx(1), pytest.approx(1))
    assert law.at(1e8) == pytest.approx(20)
    assert (law.least, law.most) == (1e4, 1e7)
    assert model.power_law([1, 2], [1, 2]) is None
    assert model.power_law([5, 5, 5], [1, 2, 3]) is None
