"""Figures have all lines, readable ticks, and the source of their data.

``tests/benchmarks`` tests that the figures of the documentation show the recorded results.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from figures import fingerprint

from gpusudoku.bench.elements import log_axis
from gpusudoku.bench.figures import figures_of, in_style, save
from gpusudoku.bench.suite import Row, Subject
from gpusudoku.errors import InputError
from tests.bench.samples import EMPTY, MACHINE, rows_with

pyplot = pytest.importorskip("matplotlib.pyplot")
BOARDS = [Subject(f"1{letter}", EMPTY, 288) for letter in "abc"]


def figures(rows: list[Row]) -> dict[str, Any]:
    """Draw all figures of rows, by name."""
    return dict(in_style(figures_of(rows, MACHINE)))


def legend_of(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_figures_depend_on_the_rows() -> None:
    rows = rows_with(BOARDS, jobs=[1])
    assert figures([]) == {}
    assert set(figures(rows)) == {"utilisation"}
    gpu = [
        row | {"device": "cuda", "jobs": None, "solutions": number}
        for number, row in enumerate(rows, 1)
    ]
    (axes,) = figures([*rows, *gpu])["time-over-solutions"].axes
    assert legend_of(axes) == ["search, 1 thread", "search, GPU"]


def test_devices_are_compared() -> None:
    rows = [
        row | {"solutions": 1000 * number, "solutions_per_second": 100.0}
        for number, row in enumerate(rows_with(BOARDS, jobs=[1, 2, 4]), 1)
    ]
    gpu = [row | {"device": "cuda", "jobs": None, "speed_up": 30.0} for row in rows[::3]]
    drawn = figures([*rows, *gpu])
    assert {"time", "speed-up", "threads", "rate-over-solutions"} < set(drawn)
    devices = ["search, 1 thread", "search, 2 threads", "search, 4 threads", "search, GPU"]
    for name in ("time", "rate-over-solutions"):
        assert legend_of(drawn[name].axes[0]) == devices
    [axes] = drawn["time"].axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1a", "1b", "1c"]
    assert axes.get_xscale() == "log"
    [axes] = drawn["speed-up"].axes
    assert legend_of(axes) == ["1a", "1b", "1c", "GPU", "linear"]
    heights = [tuple(line.get_ydata()) for line in axes.lines if len(line.get_xdata()) == 2]
    assert heights.count((30.0, 30.0)) == 3
    [axes] = drawn["threads"].axes
    assert [tuple(line.get_xdata()) for line in axes.lines] == [(1, 2, 3, 4)] * 3


def test_figures_are_saved_with_a_fingerprint(tmp_path: Path) -> None:
    rows = rows_with(BOARDS, jobs=[1, 2], cutoff=[10.0, 100.0])
    folder = tmp_path / "new"
    paths = save(figures_of(rows, MACHINE), str(folder), describe=fingerprint)
    assert paths == [folder / "cutoff.svg", folder / "cutoff.png"]
    assert all(path.stat().st_size > 1000 for path in paths)
    assert fingerprint(figures(rows)["cutoff"]) in paths[0].read_text()
    assert fingerprint(figures(rows[:-1])["cutoff"]) not in paths[0].read_text()
    with pytest.raises(InputError, match="expected a folder to write to"):
        save(figures_of(rows, MACHINE), str(paths[0]))


def test_a_figure_has_title_machine_date_commit_and_a_line_of_each_strategy() -> None:
    rows = rows_with(BOARDS, jobs=[1, 2, 4], strategy=["min", "first"])
    figure = figures(rows)["speed-up"]
    title = "Speed-up of a search on several threads, by board"
    assert " ".join(figure.get_suptitle().split()) == title
    notes = figure.get_supxlabel()
    assert "a processor, 4 cores, 2026-01-02, commit abc" in notes
    assert "medians of 3 runs. Thin bars: the shortest to the longest run" in notes
    [axes] = figure.axes
    drawn = [line for line in axes.lines if line.get_linestyle() in ("-", "--")]
    assert len([line for line in drawn if len(line.get_xdata()) == 3]) == 3 * 2
    assert {"min", "first"} <= set(legend_of(axes))


@pytest.mark.parametrize(
    ("values", "seconds", "expected"),
    [
        ([1e-6, 1.0], True, ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]),
        ([1.0, 1e22], False, ["1", "1000", "$10^{6}$", "$10^{9}$"]),
        ([3e15, 4e16], False, [r"$5\cdot10^{15}$", "$10^{16}$", r"$2\cdot10^{16}$"]),
    ],
)
def test_ticks_can_be_read(values: list[float], seconds: bool, expected: list[str]) -> None:
    axis = pyplot.subplots()[1].xaxis
    log_axis(axis, values, seconds=seconds)
    ticks = [tick for tick in axis.get_majorticklocs() if values[0] <= tick <= values[1]]
    labels = [axis.get_major_formatter()(tick) for tick in ticks]
    start = labels.index(expected[0])
    assert labels[start : start + len(expected)] == expected
    assert 3 <= len(ticks) <= 9
