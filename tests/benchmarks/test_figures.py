"""The figures of the repository show the recorded results, and each stands on some page."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import simulated_figures
from figures import NAMES, PLOTS, figures_of
from machine import RESULTS, recorded

from gpusudoku.bench import plots, tables
from gpusudoku.bench.drawing import Figures, each, save
from gpusudoku.bench.fingerprint import fingerprint

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[2]
MARK = re.compile(r"shows [0-9a-f]{16}")
LINK = re.compile(r"\]\(([^()\s]+\.svg)\)")


def shown(figures: Figures) -> dict[str, str]:
    """What figures would show if they were drawn today, by name."""
    return {name: fingerprint(figure) for name, figure in each(figures)}


def kept(folder: Path) -> dict[str, str]:
    """What the figures of a folder say that they show, by name."""
    return {path.stem: MARK.findall(path.read_text("utf-8"))[0] for path in folder.glob("*.svg")}


@pytest.mark.parametrize("name", NAMES)
def test_figures_show_the_recorded_results(name: str) -> None:
    assert kept(PLOTS / name) == shown(figures_of(RESULTS / f"{name}.json")), "run figures.py"


def test_every_figure_stands_on_a_page() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "benchmarks/README.md"]
    linked = {
        (page.parent / name).resolve()
        for page in pages
        for name in LINK.findall(page.read_text("utf-8"))
        if "://" not in name
    }
    assert {path for path in linked if not path.is_file()} == set()
    assert {path.resolve() for path in PLOTS.rglob("*.svg")} <= linked


def a_time(run: dict[str, Any]) -> None:
    run["rows"][0]["median"] *= 1.01


def a_speed_up(run: dict[str, Any]) -> None:
    next(row for row in run["rows"] if row["jobs"] == 2 and row["speed_up"])["speed_up"] += 0.01


def the_date(run: dict[str, Any]) -> None:
    run["machine"]["date"] = "2020-02-20"


def simulated_seconds(run: dict[str, Any]) -> None:
    next(case for case in run["runs"] if case["board"] == "2f")["seconds"] *= 1.01


@pytest.mark.parametrize(
    ("name", "change", "stale"),
    [
        ("bench", a_time, {"time-over-size"}),
        ("bench", a_speed_up, {"speed-up"}),
        ("bench", the_date, {"speed-up", "utilisation", "time-over-size", "correlation-2"}),
        ("cutoff-space", a_time, {"cutoff"}),
        ("simulated", simulated_seconds, {"speed-up", "many-cores"}),
    ],
)
def test_other_results_are_other_figures(
    tmp_path: Path, name: str, change: Callable[[dict[str, Any]], None], stale: set[str]
) -> None:
    copy = Path(shutil.copy(RESULTS / f"{name}.json", tmp_path))
    run = json.loads(copy.read_text("utf-8"))
    change(run)
    copy.write_text(json.dumps(run), "utf-8")
    before = shown(figures_of(RESULTS / f"{name}.json"))
    after = shown(figures_of(copy))
    assert stale <= {figure for figure in before if before[figure] != after[figure]}


def test_figures_name_both_machines_and_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the simulation, and that of what was measured on two cores."""
    bench = json.loads((RESULTS / "bench.json").read_text("utf-8"))
    bench["machine"] |= {"processor": "Another One", "commit": "cafe12345678"}
    (tmp_path / "bench.json").write_text(json.dumps(bench), "utf-8")
    monkeypatch.setattr(simulated_figures, "RESULTS", tmp_path)
    commit = recorded(RESULTS / "simulated.json")["machine"]["commit"]
    below = {
        name: " ".join(figure.get_supxlabel().split())
        for name, figure in each(figures_of(RESULTS / "simulated.json"))
    }
    assert all(f"commit {commit}" in text for text in below.values())
    measured = {name for name, text in below.items() if "Another One" in text}
    assert measured == {"many-cores", "speed-up", "speed-up-more", "correlation"}
    assert all("commit cafe12345678" in below[name] for name in measured)


def test_a_figure_is_drawn_byte_for_byte_again(tmp_path: Path) -> None:
    rows, machine = tables.read_json(str(RESULTS / "cutoff-space.json"))
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        save(plots.figures_of(rows, machine), str(folder))
    one, two = ((folder / "cutoff.svg").read_bytes() for folder in folders)
    assert one == two
