"""Figures show every line apart, with readable ticks, and say where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusudoku.bench import correlations, curves, plots, points
from gpusudoku.bench.cases import Subject
from gpusudoku.bench.drawing import duration, each, log_axis, save, short
from gpusudoku.bench.fingerprint import fingerprint
from gpusudoku.bench.summary import Row
from gpusudoku.errors import InputError
from tests.bench.samples import EMPTY, MACHINE, rows_with

pyplot = pytest.importorskip("matplotlib.pyplot")
BOARDS = [Subject(f"1{letter}", EMPTY, 288) for letter in "abc"]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Close what a test leaves open."""
    yield
    pyplot.close("all")


def changed(row: Row, **values: Any) -> Row:
    return replace(row, values=row.values | values)


def figures(rows: list[Row]) -> dict[str, Any]:
    """Draw all figures of rows, by name."""
    return dict(each(plots.figures_of(rows, MACHINE)))


def lines_of(axes: Any) -> list[Any]:
    """Give the lines that join points."""
    return [line for line in axes.lines if len(line.get_xdata()) > 2]


def legend_of(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def nine_by_nine(threads: list[int]) -> list[Row]:
    """Make rows of the search, of boards of 1e4 and more solutions, that keep to a law."""
    found = []
    for row in rows_with(BOARDS, jobs=threads):
        number = 10 ** (4 + "abc".index(row["board"][1]))
        times = dict.fromkeys(("median", "minimum", "maximum"), 2e-7 * number / row["jobs"])
        found.append(changed(row, clues=30, empty_cells=51, solutions=number, **times))
    return found


def test_which_there_are() -> None:
    assert figures([]) == {}
    assert set(figures(rows_with(BOARDS, jobs=[1]))) == {"utilisation"}
    assert set(figures(nine_by_nine([1, 2]))) == {
        *("speed-up", "utilisation", "time-over-solutions", "time-over-space", "time-over-size")
    }


def test_they_are_saved_with_what_they_show(tmp_path: Path) -> None:
    rows, folder = rows_with(BOARDS, jobs=[1, 2], cutoffs=[10.0, 100.0]), tmp_path / "new"
    written = save(plots.figures_of(rows, MACHINE), str(folder))
    assert written == [folder / "cutoff.svg", folder / "cutoff.png"]
    assert all(path.stat().st_size > 1000 for path in written)
    assert fingerprint(figures(rows)["cutoff"]) in written[0].read_text()
    assert fingerprint(figures(rows[:-1])["cutoff"]) not in written[0].read_text()
    with pytest.raises(InputError, match="expected a folder to write to"):
        save(plots.figures_of(rows, MACHINE), str(written[0]))


def test_one_has_title_machine_date_commit_and_spread() -> None:
    figure = figures(rows_with(BOARDS, jobs=[1, 2]))["speed-up"]
    title = "How many times as fast a search is on several threads, by board"
    assert " ".join(figure.get_suptitle().split()) == title
    below = figure.get_supxlabel()
    assert "a processor, 4 cores, 2026-01-02, commit abc" in below
    assert "medians of 3 runs. Thin bars: from the least to the most" in below


def test_two_strategies_are_two_lines() -> None:
    rows = rows_with(BOARDS, jobs=[1, 2, 4], strategies=["min", "first"])
    (axes,) = curves.speed_up(rows, curves.series_of(rows), pyplot).axes
    drawn = [line for line in lines_of(axes) if line.get_linestyle() in ("-", "--")]
    assert len(drawn) == 3 * 2  # boards and strategies
    assert all((np.diff(line.get_xdata()) > 0).all() for line in drawn)
    dashes = dict(zip(legend_of(axes), axes.get_legend().get_lines(), strict=True))
    assert [dashes[name].get_linestyle() for name in ("min", "first")] == ["-", "--"]


def test_cutoffs_and_what_was_not_reached() -> None:
    rows = rows_with(BOARDS, strategies=["min", "first"], jobs=[1, 2], cutoffs=[10.0, 20.0, 30.0])
    rows = [changed(row, cutoff_reached=row["cutoff"] != 10.0) for row in rows]
    (axes,) = curves.cutoff(rows, pyplot).axes
    assert len(lines_of(axes)) == 3 * 2 * 2
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    found = {(line.get_xdata()[0], line.get_fillstyle()) for line in marks}
    assert found == {(10.0, "none"), (20.0, "full"), (30.0, "full")}
    assert "hollow: not reached, for want of memory" in legend_of(axes)


def test_a_gpu_stands_beside_the_cpu() -> None:
    rows = rows_with(BOARDS, jobs=[1])
    gpu = [changed(row, device="cuda", jobs=None, solutions_per_second=1e9) for row in rows]
    (axes,) = figures([*rows, *gpu])["devices"].axes
    assert legend_of(axes) == ["cpu", "cuda"]
    assert len(axes.patches) == 2 * len(rows)


def test_shapes_tell_sizes_apart() -> None:
    rows = [changed(row, clues=0, empty_cells=cells)
            for row, cells in zip(rows_with(BOARDS), (16, 81, 256), strict=True)]  # fmt: skip
    (axes,) = points.over_time(rows, "cells", "cells", pyplot).axes
    assert {line.get_marker() for line in axes.lines} >= set("vo^")
    assert set(legend_of(axes)) >= set(points.SIZES)
    assert {x for line in axes.lines for x in line.get_xdata()} == {16, 81, 256}
    assert not [line for line in axes.lines if line.get_color() == "black"]  # there is no law


def test_points_and_law_are_of_one_thread() -> None:
    """Methods are told apart in grey, too, and the law is dashed beyond its boards."""
    rows = [*nine_by_nine([1, 2]), *rows_with(BOARDS, jobs=[1, 2], methods=["contraction"])]
    (axes,) = figures(rows)["time-over-solutions"].axes
    texts = legend_of(axes)
    assert texts[:2] == ["search, 1 thread", "contraction, 1 thread"]
    assert any("fitted to 9x9 boards" in text for text in texts)
    assert not any("2 threads" in text for text in texts)
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    assert {line.get_fillstyle() for line in marks} == {"full", "none"}
    black = [line for line in axes.lines if line.get_color() == "black"]
    ranges = {line.get_linestyle(): tuple(line.get_xdata()) for line in black}
    assert ranges == {"-": (1e4, 1e6), "--": (1e6, 1e9)}


def test_correlations_are_of_boards_of_one_size_by_series() -> None:
    """On several threads, and of four boards at least."""
    rows = []
    for number, name in enumerate(("1a", "1b", "1c", "1d", "1e")):
        cells = 30 + number if name != "1e" else 200
        for row in rows_with(BOARDS[:1], jobs=[1, 2]):
            speed_up = 1.5 + 0.1 * number if row["jobs"] == 2 else 1.0
            sizes = {"clues": 81 - cells if name != "1e" else 56, "empty_cells": cells}
            rows.append(changed(row, board=name, log10_space=float(cells), solutions=10**number,
                                speed_up=speed_up, **sizes))  # fmt: skip
    series = curves.series_of(rows, square=9)
    ((title, table),) = correlations.correlated(rows, series, 2).items()
    assert title == "series 1, 4 boards"
    names = list(correlations.VARIABLES)
    space, speed_up = names.index("search space"), names.index("speed-up")
    assert table[space, speed_up] == pytest.approx(1.0)
    assert correlations.correlated(rows[:6], series, 2) == {}
    assert [name for name in figures(rows) if name.startswith("corr")] == ["correlation-2"]


@pytest.mark.parametrize(
    ("values", "seconds", "expected"),
    [
        ([0.003, 0.04], True, ["5 ms", "10 ms", "20 ms"]),
        ([1e-6, 1.0], True, ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]),
        ([0.5, 2.1], True, ["500 ms", "700 ms", "1 s", "1.5 s", "2 s"]),
        ([1.0, 1e22], False, ["1", "1000", "$10^{6}$", "$10^{9}$"]),
        ([1e10, 1e40], False, ["$10^{10}$", "$10^{15}$", "$10^{20}$"]),
        ([3e15, 4e16], False, [r"$5\cdot10^{15}$", "$10^{16}$", r"$2\cdot10^{16}$"]),
    ],
)
def test_ticks_can_be_read(values: list[float], seconds: bool, expected: list[str]) -> None:
    axis = pyplot.subplots()[1].xaxis
    log_axis(axis, values, seconds=seconds)
    ticks = [tick for tick in axis.get_majorticklocs() if values[0] <= tick <= values[1]]
    shown = [axis.get_major_formatter()(tick) for tick in ticks]
    start = shown.index(expected[0])
    assert shown[start : start + len(expected)] == expected
    assert 3 <= len(ticks) <= 9


def test_numbers_and_durations() -> None:
    texts = [duration(seconds) for seconds in (2.0, 0.5, 1e-3, 2e-5, 1e-9, 1000.0)]
    assert texts == ["2 s", "500 ms", "1 ms", "20 µs", "0.001 µs", "1000 s"]
    assert [short(value) for value in (0.5, 99999, 1e5, 3e-4)] == [
        "0.5", "99999", "$10^{5}$", r"$3\cdot10^{-4}$",
    ]  # fmt: skip


def test_a_fingerprint_is_of_what_is_seen_and_not_of_ticks_and_places() -> None:
    def drawn(values: list[float], size: int = 4, **looks: Any) -> str:
        figure, axes = pyplot.subplots(figsize=(size, size))
        axes.plot([1, 2, 3], values, **looks)
        axes.stackplot([1, 2, 3], values)
        axes.bar([1, 2], values[1:])
        axes.imshow([[0.5, 0.25]])
        axes.set_xticks(range(size))
        return fingerprint(figure)

    seen = [1.0, 2.0, 3.5]
    others = [drawn(seen, linestyle="--"), drawn(seen, alpha=0.5), drawn([1.0, 2.0, 3.5001])]
    assert len({drawn(seen), *others}) == 4
    assert drawn(seen, size=8) == drawn([1.0, 2.0, 3.5 * (1 + 1e-12)]) == drawn(seen)
