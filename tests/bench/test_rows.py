"""Rows of results: their values, as text and back, on a terminal, in figures and in laws."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from gpusudoku.bench import model, tables
from gpusudoku.bench.cases import Case, cases_of
from gpusudoku.bench.live import LiveTable
from gpusudoku.bench.machine import heading, machine
from gpusudoku.bench.running import Bench
from gpusudoku.bench.summary import COLUMNS, Row, rows_of, undisturbed
from gpusudoku.errors import InputError
from gpusudoku.results import Count
from tests.bench.samples import SUBJECTS, fake, measured


class TestRows:
    def rows(self) -> list[Row]:
        cases = cases_of(SUBJECTS, jobs=[1, 2, 4])
        return rows_of(measured(Bench(cases, fake(), lambda case: 0)).measured)

    def test_values(self) -> None:
        row = self.rows()[1]
        assert tuple(row.values) == COLUMNS
        assert (row["board"], row["jobs"], row["solutions"], row["runs"]) == ("small", 2, 288, 3)
        assert (row["clues"], row["empty_cells"]) == (0, 16)
        assert row["log10_space"] == pytest.approx(16 * 0.60206, rel=1e-4)
        assert (row["median"], row["minimum"], row["maximum"]) == (0.5, 0.5, 0.5)
        assert (row["deviation"], row["speed_up"], row["utilisation"]) == (0.0, 2.0, 0.5)
        assert (row["solutions_per_second"], row["nodes_per_second"]) == (576, 1200)

    def starved(self, *processor: float) -> list[Row]:
        """Rows of one and two threads that had the processor for so many seconds."""
        now = {"wall": 0.0, "processor": 0.0}
        cases = cases_of(SUBJECTS[:1], jobs=[1, 2])
        seconds = dict(zip((1, 2), processor, strict=True))

        def count(case: Case) -> Count:
            now["wall"] += 1.0
            now["processor"] += seconds[case.options["jobs"]]
            result = fake()(case)
            stats = replace(result.stats, seconds=1.0, utilisation=(0.99,) * result.jobs)
            return replace(result, stats=stats)

        bench = Bench(
            cases,
            count,
            lambda case: 0,
            clock=lambda: now["wall"],
            processor=lambda: now["processor"],
        )
        return rows_of(measured(bench).measured)

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
        rows = self.starved(*processor)
        assert [row["starved"] for row in rows] == starved
        assert undisturbed(rows) == [row for row in rows if not row["starved"]]
        assert [row["got"] for row in rows] == [
            pytest.approx(processor[0]),
            pytest.approx(processor[1] / 1.98),
        ]
        for row, marked in zip(rows, starved, strict=True):
            line = tables.line(row)
            assert f"{row['speed_up']:.2f}{'?' * marked}  " in line
            assert line.endswith("starved") == marked
            assert f"{row['got']:.1%}" in line

    @pytest.mark.parametrize(
        ("seconds", "slowed"),
        [
            ((1.0, 0.5), False),
            ((1.0, 0.496), False),
            ((1.0, 0.49), True),  # two threads cannot be more than twice as fast
            ((0.009, 0.004), False),  # too short to be judged
        ],
    )
    def test_a_run_on_one_thread_that_was_slowed(
        self, tmp_path: Path, seconds: tuple[float, float], slowed: bool
    ) -> None:
        """Every row of its setting is left out, also of those that were recorded without a mark."""
        times = dict(zip((1, 2), seconds, strict=True))

        def count(case: Case) -> Count:
            return fake(times[case.options["jobs"]] * case.options["jobs"])(case)

        cases = cases_of(SUBJECTS[:1], jobs=[1, 2])
        rows = rows_of(measured(Bench(cases, count, lambda case: 0)).measured)
        assert {row["starved"] for row in rows} == {slowed}
        path = tmp_path / "rows.json"
        path.write_text(tables.as_json(rows, machine()).replace("true", "false"))
        assert len(undisturbed(tables.read_json(str(path))[0])) == (0 if slowed else 2)

    def test_what_was_recorded_before_there_were_marks(self, tmp_path: Path) -> None:
        path = tmp_path / "older.json"
        recorded = json.loads(tables.as_json(self.rows(), machine()))
        for record in recorded["rows"]:
            del record["got"], record["starved"]
        path.write_text(json.dumps(recorded))
        rows, _ = tables.read_json(str(path))
        assert {row["starved"] for row in rows} == {None}
        assert "?" not in tables.line(rows[1])

    def test_csv(self) -> None:
        read = list(csv.DictReader(io.StringIO(tables.as_csv(self.rows()))))
        assert len(read) == 9
        assert (read[2]["board"], read[2]["jobs"], read[2]["median"]) == ("small", "4", "0.25")
        assert read[0]["cutoff"] == ""

    def test_json_and_back(self, tmp_path: Path) -> None:
        rows = self.rows()
        path = tmp_path / "runs.json"
        path.write_text(tables.as_json(rows, machine()))
        again, described = tables.read_json(str(path))
        assert again == rows
        assert described == json.loads(json.dumps(machine()))
        assert heading(described).endswith(str(described["date"]))

    def test_a_column_that_was_not_recorded_then(self, tmp_path: Path) -> None:
        path = tmp_path / "older.json"
        recorded = json.loads(tables.as_json(self.rows(), machine()))
        for record in recorded["rows"]:
            del record["cutoff_reached"]
        path.write_text(json.dumps(recorded))
        assert {row["cutoff_reached"] for row in tables.read_json(str(path))[0]} == {None}

    def test_a_file_that_is_none(self, tmp_path: Path) -> None:
        path = tmp_path / "none.json"
        with pytest.raises(InputError, match="expected a file that can be read"):
            tables.read_json(str(path))
        for text in ("", "[]", "{}", '{"rows": [{}], "machine": {}}', '{"rows": 1}'):
            path.write_text(text)
            with pytest.raises(InputError, match="not a result of gpusudoku bench --json"):
                tables.read_json(str(path))

    def test_lines_fit_their_heading(self) -> None:
        for row in self.rows():
            assert len(tables.line(row)) <= len(tables.head())


def test_a_power_law_is_found() -> None:
    law = model.power_law([1e4, 1e5, 1e6, 1e7], [2e-3, 2e-2, 2e-1, 2.0])
    assert law is not None
    assert (law.exponent, law.spread) == (pytest.approx(1), pytest.approx(1))
    assert law.at(1e8) == pytest.approx(20)
    assert (law.least, law.most) == (1e4, 1e7)
    assert model.power_law([1, 2], [1, 2]) is None
    assert model.power_law([5, 5, 5], [1, 2, 3]) is None


class TestLive:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def test_the_table_is_shown_and_taken_away(self) -> None:
        now = 10.0
        terminal = self.Terminal()
        bench = Bench(cases_of(SUBJECTS * 20), fake(), lambda case: 0, repeats=1)
        table = LiveTable(bench.measured, terminal, clock=lambda: now)
        for each in bench:
            now += 0.15
            table.show(each)
        table.close()
        text = terminal.getvalue()
        assert "> small" in text
        assert text.endswith("\x1b[J")
        assert max(part.count("\n") for part in text.split("\x1b[J")) <= 24

    def test_nothing_where_there_is_no_terminal(self) -> None:
        stream = io.StringIO()
        bench = Bench(cases_of(SUBJECTS), fake(), lambda case: 0)
        LiveTable(bench.measured, stream).show(bench.measured[0])
        assert stream.getvalue() == ""
