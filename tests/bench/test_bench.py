"""The benchmark suite, with a clock that stands still and boards that take no time."""

from __future__ import annotations

import csv
import io
import json
from math import inf
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gpusudoku.bench import model, plots, tables
from gpusudoku.bench.cases import Case, Subject, cases_of, chosen
from gpusudoku.bench.live import LiveTable
from gpusudoku.bench.machine import heading, machine
from gpusudoku.bench.running import Bench
from gpusudoku.bench.summary import COLUMNS, Row, rows_of
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli import cli
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.results import Count, Stats

EMPTY = Board.empty(Geometry(2, 2))
SUBJECTS = [Subject("small", EMPTY, 288), Subject("other", EMPTY, 288), Subject("new", EMPTY)]


def fake(seconds: float = 1.0, found: int = 288) -> Any:
    """A count that takes so long; the longer, the fewer threads."""

    def count(case: Case) -> Count:
        threads = case.options["jobs"] or 1
        stats = Stats(seconds=seconds / threads, nodes=600, utilisation=[0.5] * threads)
        return Count(EMPTY, found, True, case.options["method"], "cpu", threads, stats)

    return count


def measured(bench: Bench) -> Bench:
    for _ in bench:
        pass
    return bench


class TestCases:
    def test_every_board_under_every_setting(self) -> None:
        cases = cases_of(SUBJECTS, jobs=[1, 2], strategies=["first", "min"])
        assert len({(case.subject.name, case.setting) for case in cases}) == len(cases) == 12

    def test_only_what_makes_a_difference(self) -> None:
        cases = cases_of(
            SUBJECTS[:1],
            devices=["cpu", "cuda"],
            jobs=[1, 2],
            methods=["search", "contraction"],
            strategies=["first", "min"],
            cutoffs=[None, 1e9],
        )
        settings = [case.setting for case in cases]
        assert sum(setting.startswith("contraction") for setting in settings) == 3
        assert sum("cuda" in setting for setting in settings) == 4 + 1
        assert len(settings) == len(set(settings)) == 3 * 4 + 3

    def test_by_name(self) -> None:
        names = [subject.name for subject in chosen(SUBJECTS, ["s*", "o*"], ["other"])]
        assert names == ["small"]
        with pytest.raises(InputError, match="no board is left"):
            chosen(SUBJECTS, ["x*"], [])


class TestRunning:
    def test_runs_take_turns_after_a_warm_up(self) -> None:
        order = []
        counter = fake()

        def count(case: Case) -> Count:
            order.append(case.subject.name)
            return counter(case)

        bench = measured(Bench(cases_of(SUBJECTS), count, lambda case: 0, repeats=2))
        assert order == ["small", "other", "new"] * 3
        assert [len(each.runs) for each in bench.measured] == [2, 2, 2]

    def test_for_a_time(self) -> None:
        cases = cases_of(SUBJECTS[:1], jobs=[1, 4])
        bench = measured(Bench(cases, fake(0.5), lambda case: 0, seconds=1.0))
        assert [len(each.runs) for each in bench.measured] == [2, 8]

    def test_at_least_once(self) -> None:
        bench = measured(Bench(cases_of(SUBJECTS), fake(50), lambda case: 0, seconds=1.0))
        assert [len(each.runs) for each in bench.measured] == [1, 1, 1]

    def test_what_takes_too_long_is_left_out(self) -> None:
        seconds = {"small": 1.0, "other": 99.0, "new": inf}
        bench = measured(
            Bench(cases_of(SUBJECTS), fake(), lambda case: seconds[case.subject.name], patience=9)
        )
        assert [each.note for each in bench.measured] == [
            "",
            "left out: about 99 s",
            "too expensive",
        ]
        assert [len(each.runs) for each in bench.measured] == [3, 0, 0]

    def test_wrong_counts_are_found(self) -> None:
        bench = measured(Bench(cases_of(SUBJECTS), fake(found=287), lambda case: 0))
        assert [each.wrong for each in bench.measured] == [True, True, False]
        assert "287 solutions counted, but 288 are right (known)" in bench.measured[0].note

    def test_engines_are_compared_where_no_count_is_known(self) -> None:
        def count(case: Case) -> Count:
            return fake(found=5 + case.options["jobs"])(case)

        bench = measured(Bench(cases_of(SUBJECTS[2:], jobs=[1, 2]), count, lambda case: 0))
        assert [each.wrong for each in bench.measured] == [False, True]
        assert "(search cpu -j 1 min singles)" in bench.measured[1].note

    @pytest.mark.parametrize(("gap", "ended"), [(0.5, True), (5.0, False)])
    def test_one_interrupt_skips_and_two_end(self, gap: float, ended: bool) -> None:
        now = 0.0

        def count(case: Case) -> Count:
            nonlocal now
            now += gap
            if case.subject.name in ("small", "other"):
                raise KeyboardInterrupt
            return fake()(case)

        bench = measured(Bench(cases_of(SUBJECTS), count, lambda case: 0, clock=lambda: now))
        assert bench.interrupted == ended
        assert [each.note for each in bench.measured] == ["interrupted", "interrupted", ""]
        assert len(bench.measured[2].runs) == (0 if ended else 3)


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

    def test_a_file_that_is_none(self, tmp_path: Path) -> None:
        path = tmp_path / "none.json"
        with pytest.raises(InputError, match="expected a file that can be read"):
            tables.read_json(str(path))
        for text in ("", "[]", "{}", '{"rows": [{}], "machine": {}}', '{"rows": 1}'):
            path.write_text(text)
            with pytest.raises(InputError, match="no result of gpusudoku bench"):
                tables.read_json(str(path))

    def test_lines_fit_their_heading(self) -> None:
        for row in self.rows():
            assert len(tables.line(row)) <= len(tables.head())


def test_a_power_law_is_found() -> None:
    law = model.power_law([1e4, 1e5, 1e6, 1e7], [2e-3, 2e-2, 2e-1, 2.0])
    assert law is not None
    assert (law.exponent, law.spread) == (pytest.approx(1), pytest.approx(1))
    assert law.at(1e8) == pytest.approx(20)
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


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["bench", *arguments], env={"COLUMNS": "200"})


class TestCommand:
    SMALL = ("@box2x2-empty", "@box2x2-few", "--device", "cpu", "-i", "2")

    def test_two_methods_and_two_numbers_of_threads(self, tmp_path: Path) -> None:
        files = ("--csv", str(tmp_path / "a.csv"), "--json", str(tmp_path / "a.json"))
        done = run(*self.SMALL, "-j", "1,2", *files)
        assert done.exit_code == 0, done.output
        assert done.stdout.count("box2x2-empty") == 4
        rows, _ = tables.read_json(str(tmp_path / "a.json"))
        assert [row["solutions"] for row in rows] == [288] * 4 + [2] * 4
        assert all(row["runs"] == 2 and row["median"] > 0 for row in rows)
        assert len((tmp_path / "a.csv").read_text().splitlines()) == 9
        again = run("--from", str(tmp_path / "a.json"))
        assert again.stdout == done.stdout

    def test_a_file_of_boards(self, tmp_path: Path) -> None:
        path = tmp_path / "two.txt"
        path.write_text("1...............\n................\n")
        done = run(str(path), "--device", "cpu", "-j", "1", "--method", "search", "-t", "0.001")
        assert done.exit_code == 0, done.output
        assert "two.txt:1" in done.stdout
        assert "two.txt:2" in done.stdout

    def test_cutoffs_by_empty_cells(self) -> None:
        done = run(*self.SMALL, "--method", "search", "--cutoff", "4,16", "--cutoff-by", "empty")
        assert "search cpu -j 1 min singles empty 16" in done.stdout

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("@nothing",), "no board named '@nothing'"),
            (("--include", "nothing"), "no board is left"),
            (("--device", "gpu"), "'gpu': expected some of cpu, cuda"),
            (("-j", "1,x"), "expected numbers"),
            (("-j", "0"), "0 threads: expected 1"),
            (("--propagate", "guessing"), "unknown technique"),
            (("--cutoff", "0"), "cutoff 0.0"),
            (("--from", "missing.json"), "expected a file that can be read"),
            (("--csv", ""), "a file without a name"),
        ],
    )
    def test_bad_input(self, arguments: tuple[str, ...], message: str) -> None:
        done = run("--device", "cpu", *arguments)
        assert isinstance(done.exception, InputError | SystemExit)
        assert message in (str(done.exception) + done.output)

    def test_nothing_is_overwritten(self, tmp_path: Path) -> None:
        path = tmp_path / "there.csv"
        path.write_text("mine")
        done = run(*self.SMALL, "--csv", str(path))
        assert "--force overwrites it" in str(done.exception)
        assert path.read_text() == "mine"

    def test_a_failure_leaves_files_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "there.json"
        path.write_text("mine")
        for arguments in (("--propagate", "foo"), ("--cutoff", "0"), ("--from", str(path))):
            done = run(*self.SMALL, *arguments, "--json", str(path), "--force")
            assert isinstance(done.exception, InputError), arguments
            assert path.read_text() == "mine"
        done = run(*self.SMALL, "--json", str(tmp_path / "a"), "--csv", str(tmp_path / "a"))
        assert "cannot both be written" in str(done.exception)

    def test_a_search_without_end_is_left_out(self) -> None:
        done = run("@empty", "--device", "cpu", "-j", "1", "--method", "search")
        assert done.exit_code == 0
        assert "left out: about" in done.stdout

    def test_wrong_counts_end_in_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from gpusudoku import collection

        entry = collection.entry("box2x2-few")
        monkeypatch.setattr(
            collection, "entry", lambda name: type(entry)(**{**vars(entry), "count": 3})
        )
        done = run("@box2x2-few", "--device", "cpu", "-j", "1", "--method", "search")
        assert isinstance(done.exception, MismatchError)
        assert "2 solutions counted, but 3 are right" in done.stdout


@pytest.mark.parametrize(
    ("cutoffs", "expected"),
    [
        ([None], {"speed-up.svg", "speed-up.png", "methods.png"}),
        ([10.0, 100.0], {"cutoff.svg", "cutoff.png"}),
    ],
)
def test_figures(tmp_path: Path, cutoffs: list[float | None], expected: set[str]) -> None:
    pytest.importorskip("matplotlib")
    cases = cases_of(
        [Subject(f"1{x}", Board(EMPTY.cells, EMPTY.geometry), 288) for x in "abc"],
        jobs=[1, 2, 4],
        methods=["search", "contraction"],
        cutoffs=cutoffs,
    )
    bench = measured(Bench(cases, fake(), lambda case: 0))
    names = {path.name for path in plots.draw(rows_of(bench.measured), str(tmp_path / "new"))}
    assert expected <= names
    assert all((tmp_path / "new" / name).stat().st_size > 1000 for name in names)
