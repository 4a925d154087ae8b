"""Figures show every line apart, with readable ticks, and say where they come from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusudoku.bench import correlations, curves, plots, points, tables
from gpusudoku.bench.cases import Subject, cases_of
from gpusudoku.bench.drawing import duration, each, log_axis, save, short
from gpusudoku.bench.fingerprint import fingerprint
from gpusudoku.bench.machine import machine
from gpusudoku.bench.running import Bench
from gpusudoku.bench.summary import Row, rows_of
from gpusudoku.board.board import Board
from tests.bench.samples import EMPTY, fake, measured

pyplot = pytest.importorskip("matplotlib.pyplot")
MACHINE = {"processor": "a processor", "cores": 4, "date": "2026-01-02", "commit": "abc"}


@pytest.fixture(autouse=True)
def closed() -> Any:
    """Close what a test leaves open."""
    yield
    pyplot.close("all")


def rows_with(**options: Any) -> list[Row]:
    """Rows of three boards that take no time to count."""
    subjects = [Subject(f"1{x}", Board(EMPTY.cells, EMPTY.geometry), 288) for x in "abc"]
    cases = cases_of(subjects, **({"jobs": [1, 2, 4]} | options))
    return rows_of(measured(Bench(cases, fake(), lambda case: 0)).measured)


def changed(row: Row, **values: Any) -> Row:
    return replace(row, values=row.values | values)


@pytest.mark.parametrize(
    ("cutoffs", "expected"),
    [
        ([None], {"speed-up.svg", "speed-up.png", "utilisation.png"}),
        ([10.0, 100.0], {"cutoff.svg", "cutoff.png"}),
    ],
)
def test_figures(tmp_path: Path, cutoffs: list[float | None], expected: set[str]) -> None:
    rows = rows_with(methods=["search", "contraction"], cutoffs=cutoffs)
    names = {path.name for path in save(plots.figures_of(rows, machine()), str(tmp_path / "new"))}
    assert expected <= names
    assert all((tmp_path / "new" / name).stat().st_size > 1000 for name in names)


def test_a_figure_names_what_it_shows(tmp_path: Path) -> None:
    rows = rows_with()
    save(plots.figures_of(rows, MACHINE), str(tmp_path))
    today = {name: fingerprint(figure) for name, figure in each(plots.figures_of(rows, MACHINE))}
    assert today["speed-up"] in (tmp_path / "speed-up.svg").read_text()
    recorded = tmp_path / "rows.json"
    recorded.write_text(tables.as_json(rows, MACHINE))
    again = each(plots.figures_of(*tables.read_json(str(recorded))))
    assert {name: fingerprint(figure) for name, figure in again} == today
    fewer = dict(each(plots.figures_of(rows[:-3], MACHINE)))
    assert fingerprint(fewer["speed-up"]) != today["speed-up"]


def test_no_rows_no_figures(tmp_path: Path) -> None:
    assert save(plots.figures_of([], MACHINE), str(tmp_path)) == []


def test_a_figure_has_title_machine_date_commit_and_spread() -> None:
    ((_, figure), *_) = list(plots._entitled(rows_with(), MACHINE, pyplot))
    assert (
        figure.get_suptitle() == "How many times as fast a search is on several threads, by board"
    )
    below = figure.get_supxlabel()
    assert "a processor, 4 cores, 2026-01-02, commit abc" in below
    assert "medians of 3 runs. Thin bars: from the least to the most" in below


def lines_of(axes: Any) -> list[Any]:
    """The lines that join points."""
    return [line for line in axes.lines if len(line.get_xdata()) > 2]


def test_two_strategies_are_two_lines() -> None:
    rows = rows_with(strategies=["min", "first"])
    (axes,) = curves.speed_up(rows, curves.series_of(rows), pyplot).axes
    drawn = [line for line in lines_of(axes) if line.get_linestyle() in ("-", "--")]
    assert len(drawn) == 3 * 2  # boards and strategies
    assert all((np.diff(line.get_xdata()) > 0).all() for line in drawn)
    assert {line.get_linestyle() for line in drawn} == {"-", "--"}
    legend = axes.get_legend()
    named = zip(legend.get_texts(), legend.get_lines(), strict=True)
    dashes = {text.get_text(): line.get_linestyle() for text, line in named}
    assert (dashes["min"], dashes["first"]) == ("-", "--")


def test_a_gpu_stands_beside_the_cpu() -> None:
    rows = rows_with(jobs=[1])
    gpu = [changed(row, device="cuda", jobs=None, solutions_per_second=1e9) for row in rows]
    figures = {name: figure for name, _, figure, _ in plots._figures([*rows, *gpu], pyplot)}
    (axes,) = figures["devices"].axes
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["cpu", "cuda"]
    assert len(axes.patches) == 2 * len(rows)


class TestCutoff:
    def test_two_strategies_are_two_lines(self) -> None:
        rows = rows_with(strategies=["min", "first"], jobs=[1, 2], cutoffs=[10.0, 20.0, 30.0])
        drawn = lines_of(curves.cutoff(rows, pyplot).axes[0])
        assert len(drawn) == 3 * 2 * 2
        assert all((np.diff(line.get_xdata()) > 0).all() for line in drawn)

    def test_what_was_not_reached_is_hollow(self) -> None:
        rows = rows_with(jobs=[1], cutoffs=[10.0, 20.0])
        rows = [changed(row, cutoff_reached=row["cutoff"] != 10.0) for row in rows]
        (axes,) = curves.cutoff(rows, pyplot).axes
        found = {
            (line.get_xdata()[0], line.get_fillstyle())
            for line in axes.lines
            if len(line.get_xdata()) == 1
        }
        assert found == {(10.0, "none"), (20.0, "full")}
        texts = [text.get_text() for text in axes.get_legend().get_texts()]
        assert "hollow: not reached, for want of memory" in texts


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.003, 0.04], ["5 ms", "10 ms", "20 ms"]),
        ([1e-6, 1.0], ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms"]),
        ([0.5, 2.1], ["500 ms", "700 ms", "1 s", "1.5 s", "2 s"]),
    ],
)
def test_ticks_can_be_read(values: list[float], expected: list[str]) -> None:
    figure, axes = pyplot.subplots()
    axes.plot(values, values)
    log_axis(axes.yaxis, values, seconds=True)
    figure.canvas.draw()
    low, high = axes.get_ylim()
    ticks = axes.yaxis.get_major_ticks()
    shown = [tick.label1.get_text() for tick in ticks if low <= tick.get_loc() <= high]
    assert [text for text in shown if text in expected] == expected
    assert 3 <= len(shown) <= 8


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1e22], ["1", "1000", "$10^{6}$", "$10^{9}$"]),
        ([1e10, 1e40], ["$10^{10}$", "$10^{15}$", "$10^{20}$"]),
        ([3e15, 4e16], [r"$5\cdot10^{15}$", "$10^{16}$", r"$2\cdot10^{16}$"]),
    ],
)
def test_numbers_on_an_axis(values: list[float], expected: list[str]) -> None:
    figure, axes = pyplot.subplots()
    log_axis(axes.xaxis, values)
    axes.set_xlim(values[0], values[1])
    figure.canvas.draw()
    ticks = [t for t in axes.xaxis.get_majorticklocs() if values[0] <= t <= values[1]]
    assert [short(tick) for tick in ticks][: len(expected)] == expected
    assert 3 <= len(ticks) <= 9


def test_durations() -> None:
    seconds = (2.0, 0.5, 1e-3, 2e-5, 1e-9, 1000.0)
    assert [duration(s) for s in seconds] == [
        "2 s",
        "500 ms",
        "1 ms",
        "20 µs",
        "0.001 µs",
        "1000 s",
    ]


class TestSizes:
    def rows(self) -> list[Row]:
        sides = {"a": 4, "b": 9, "c": 16}
        return [
            changed(row, clues=0, empty_cells=sides[row["board"][1]] ** 2)
            for row in rows_with(jobs=[1])
        ]

    def test_shapes_are_told_apart(self) -> None:
        (axes,) = points.over_time(self.rows(), "cells", "cells", pyplot).axes
        assert {line.get_marker() for line in axes.lines} >= set("vo^")
        texts = {text.get_text() for text in axes.get_legend().get_texts()}
        assert texts >= set(points.SIZES)

    def test_time_is_drawn_over_cells(self) -> None:
        (axes,) = points.over_time(self.rows(), "cells", "cells", pyplot).axes
        assert {x for line in axes.lines for x in line.get_xdata()} == {16, 81, 256}


def nine_by_nine(threads: list[int]) -> list[Row]:
    """Rows of the search, of boards of 1e4 and more solutions, that keep to a law."""
    found = []
    for row in rows_with(jobs=threads):
        number = "abc".index(row["board"][1])
        seconds = 2e-7 * 10.0 ** (4 + number) / row["jobs"]
        values = {"clues": 30, "empty_cells": 51, "solutions": 10 ** (4 + number)}
        times = {"median": seconds, "minimum": seconds, "maximum": seconds}
        found.append(changed(row, **values, **times))
    return found


class TestMethods:
    def test_points_and_law_are_of_one_thread(self) -> None:
        rows = [*nine_by_nine([1, 2]), *rows_with(jobs=[1, 2], methods=["contraction"])]
        figures = {name: figure for name, _, figure, _ in plots._figures(rows, pyplot)}
        (axes,) = figures["time-over-solutions"].axes
        texts = [text.get_text() for text in axes.get_legend().get_texts()]
        assert texts[:2] == ["search, 1 thread", "contraction, 1 thread"]
        assert any("fitted to 9x9 boards" in text for text in texts)
        assert not any("2 threads" in text for text in texts)

    def test_two_methods_are_told_apart_in_grey(self) -> None:
        rows = [*nine_by_nine([1]), *rows_with(jobs=[1], methods=["contraction"])]
        (axes,) = points.over_time(rows, "solutions", "solutions", pyplot).axes
        marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
        assert {line.get_fillstyle() for line in marks} == {"full", "none"}

    def test_the_law_is_dashed_beyond_its_boards(self) -> None:
        (axes,) = points.over_time(nine_by_nine([1]), "solutions", "solutions", pyplot).axes
        black = [line for line in axes.lines if line.get_color() == "black"]
        ranges = {line.get_linestyle(): tuple(line.get_xdata()) for line in black}
        assert ranges == {"-": (1e4, 1e6), "--": (1e6, 1e9)}

    def test_over_other_columns_there_is_no_law(self) -> None:
        (axes,) = points.over_time(nine_by_nine([1]), "cells", "cells", pyplot).axes
        assert not [line for line in axes.lines if line.get_color() == "black"]


class TestCorrelations:
    def rows(self) -> list[Row]:
        """Four 9x9 boards of series 1, one of another size, on one and on two threads."""
        found = []
        for number, name in enumerate(("1a", "1b", "1c", "1d", "1e")):
            for jobs in (1, 2):
                row = rows_with(jobs=[jobs])[0]
                cells = 30 + number if name != "1e" else 200
                found.append(changed(
                    row, board=name, clues=81 - cells if name != "1e" else 56, empty_cells=cells,
                    log10_space=float(cells), solutions=10**number,
                    median=1.0, minimum=1.0, maximum=1.0,
                    speed_up=1.0 if jobs == 1 else 1.5 + 0.1 * number,
                ))  # fmt: skip
        return found

    def test_boards_of_one_size_by_series_on_several_threads(self) -> None:
        rows = self.rows()
        ((title, table),) = correlations.correlated(
            rows, curves.series_of(rows, square=9), 2
        ).items()
        assert title == "series 1, 4 boards"
        names = list(correlations.VARIABLES)
        space, speed_up = names.index("search space"), names.index("speed-up")
        assert table[space, speed_up] == pytest.approx(1.0)

    def test_too_few_boards_say_nothing(self) -> None:
        rows = self.rows()[:6]
        assert correlations.correlated(rows, curves.series_of(rows, square=9), 2) == {}

    def test_one_thread_has_no_figure(self, tmp_path: Path) -> None:
        names = {path.stem for path in save(plots.figures_of(self.rows(), MACHINE), str(tmp_path))}
        assert {name for name in names if name.startswith("correlation")} == {"correlation-2"}
