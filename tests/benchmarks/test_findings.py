"""What is concluded from recorded results is computed from them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import claims
import cutoffs
import findings
import model
import pytest
import simulated_figures
from machine import RESULTS
from published import CORES, SPEED_UPS

from gpusudoku.errors import InputError

Change = Callable[[str, Callable[[list[dict[str, Any]]], list[dict[str, Any]]]], None]


def test_the_best_cutoff_and_those_near_it() -> None:
    """Those around the best, up to the first that is far from it."""
    points = [(40, 1.2), (10, 1.1), (20, 2.0), (30, 1.0), (50, 1.24), (60, 1.3)]
    assert cutoffs.best_of(points) == cutoffs.Best(30, 1.0, 30, 50)
    assert cutoffs.best_of([(10, 1.0)]) == cutoffs.Best(10, 1.0, 10, 10)


@pytest.mark.parametrize(
    ("space", "empty", "solutions", "said"),
    [
        (0.8, 0.7, 0.6, "the size"),
        (0.6, 0.7, 0.8, "the solutions"),
        (0.8, 0.6, 0.7, "neither"),
        (0.7, 0.7, 0.7, "neither"),
    ],
)
def test_what_the_speed_up_goes_with(
    space: float, empty: float, solutions: float, said: str
) -> None:
    line = {"search space": space, "empty cells": empty, "solutions": solutions}
    assert findings.goes_with(line) == said


def test_powers() -> None:
    assert findings.power(1e30) == "1e30"


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    """Replaces the rows of a recorded run, for all that is concluded from it."""
    for path in RESULTS.glob("*.json"):
        shutil.copy(path, tmp_path)
    for module in (claims, findings, model, simulated_figures):
        monkeypatch.setattr(module, "RESULTS", tmp_path)

    def replace(name: str, rows: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
        path = tmp_path / f"{name}.json"
        run = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps(run | {"rows": rows(run["rows"])}), "utf-8")

    return replace


def starved(*boards: str) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Marks the rows of boards, and makes them absurd."""

    def mark(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for row in rows:
            if row["board"] in boards and row["median"]:
                row |= {"starved": True, "median": 1e6, "speed_up": 1e-6, "utilisation": 1e-6}
        return rows

    return mark


def printed(show: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    show()
    return capsys.readouterr().out


def row_of(text: str, board: str) -> list[str]:
    """The cells of the row of a board."""
    [line] = [line for line in text.splitlines() if line.startswith(f"| {board} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


class TestStarved:
    """What other programs disturbed is not shown, and nothing follows from it."""

    def test_cells_are_empty(self, change: Change, capsys: pytest.CaptureFixture[str]) -> None:
        change("bench", starved("2f", "1d"))
        times = row_of(printed(findings.times, capsys), "2f")
        assert times[:4] == ["2f", "48,794,239", "436 s", "13.9 s"]
        assert times[4:] == [""] * 4
        text = printed(findings.cores, capsys)
        assert (row_of(text, "2f")[2], row_of(text, "2e")[2] != "") == ("", True)
        assert row_of(printed(cutoffs.show, capsys), "1d")[1] == ""
        assert ", 10 boards |" in printed(findings.depends, capsys)

    def test_nothing_follows(self, change: Change, capsys: pytest.CaptureFixture[str]) -> None:
        change("bench", starved("2f", "16x16-solutions"))
        points = simulated_figures.measured_points(findings.RESULTS / "bench.json", 2)
        assert "2f" not in points
        assert "2e" in points
        assert "1000000" not in printed(claims.show, capsys)
        assert all(row["median"] < 1e6 for row in findings.searches())
        text = printed(model.show, capsys)
        assert "12x12" in text
        assert "A 16x16 board" not in text
        busy = printed(findings.busy, capsys)
        assert "0.0% at least" not in busy

    def test_cutoffs(self, change: Change) -> None:
        change("cutoff-space", starved("1d"))
        assert set(cutoffs.measured_cutoffs()) == {"1e", "2d", "2e"}
        assert max(cutoffs.apart_by_kind()) < 1
        change("cutoff-empty", starved("1e", "2d", "2e"))
        with pytest.raises(InputError, match="no board has undisturbed runs"):
            cutoffs.measured_cutoffs()

    def test_too_few_boards_are_refused(self, change: Change) -> None:
        change("bench", starved(*list(SPEED_UPS)[3:]))
        with pytest.raises(InputError, match="4 or more of the boards 1a to 2f, not of 3"):
            findings.coefficients()


def test_one_core_is_one_line(change: Change, capsys: pytest.CaptureFixture[str]) -> None:
    change("bench", lambda rows: [row for row in rows if row["jobs"] == 1])
    for script in (findings, cutoffs, claims):
        with pytest.raises(SystemExit) as ended:
            script.main(standalone_mode=False, args=[])
        assert ended.value.code == 2
        *_, said = capsys.readouterr().err.splitlines()
        assert said.endswith("bench.json: needs a run on several threads")


def verdicts() -> dict[str, str]:
    return {claim.found: claim.verdict
            for some in (claims.of_speed_ups, claims.of_choices, claims.of_others)
            for claim in some()}  # fmt: skip


LINEAR = "the speed-up grows almost linearly with the cores"
BELOW = "it is below 1 only for small boards"
SIZE = "it goes with search space and empty cells more than with solutions"
CUTOFF = "a cutoff by search space is as good as one by empty cells"
BUSY = "a cutoff is good if all cores are busy, and end together"


def test_verdicts_follow_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other results, other verdicts."""
    line = {"search space": 0.8, "empty cells": 0.7, "solutions": 0.6}
    speed_ups = {name: {number: 0.98 * number for number in (1, *CORES)} for name in SPEED_UPS}
    monkeypatch.setattr(claims, "apart_by_kind", lambda: [0.05, 0.01, 0.5])
    monkeypatch.setattr(claims, "time_with_work", lambda: [-0.9, 0.9, -0.8])
    monkeypatch.setattr(claims, "coefficients", lambda: dict.fromkeys("abc", line))
    monkeypatch.setattr(claims, "speed_ups", lambda: speed_ups)
    monkeypatch.setattr(claims, "measured_speed_ups", lambda *_: {"1a": 0.5, "2f": 1.9})
    found = verdicts()
    assert {found[what] for what in (CUTOFF, BUSY, BELOW)} == {"confirmed"}
    assert found[LINEAR] == "confirmed for 2f"
    assert found[SIZE] == "confirmed on 2, confirmed on 64"

    other, neither = line | {"solutions": 0.9}, line | {"solutions": 0.75}
    speed_ups["2f"][64] = 30.0
    monkeypatch.setattr(claims, "apart_by_kind", lambda: [0.5, 0.2, 0.01])
    monkeypatch.setattr(claims, "time_with_work", lambda: [-0.9, -0.4, -0.1])
    monkeypatch.setattr(claims, "coefficients", lambda: {"a": neither, "b": other, "c": line})
    monkeypatch.setattr(claims, "measured_speed_ups", lambda *_: {"1a": 0.5, "2f": 0.9})
    found = verdicts()
    assert {found[what] for what in (CUTOFF, BUSY, BELOW)} == {"contradicted"}
    assert found[LINEAR] == "contradicted for 2f"
    assert found[SIZE] == "undecided on 2, contradicted on 64"


def test_a_board_may_be_slow_only_as_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    speed_ups = {name: dict.fromkeys((1, *CORES), 1.0) for name in SPEED_UPS}
    monkeypatch.setattr(claims, "speed_ups", lambda: speed_ups)
    monkeypatch.setattr(claims, "measured_speed_ups", lambda *_: {})
    [claim] = [claim for claim in claims.of_speed_ups() if claim.found == BELOW]
    assert claim.verdict == "confirmed"
    assert claim.ours.endswith("threads: none; simulated, on some number of cores: none")
    speed_ups["2f"][64] = 0.5
    [claim] = [claim for claim in claims.of_speed_ups() if claim.found == BELOW]
    assert claim.verdict == "contradicted"
    assert claim.ours.endswith("cores: 2f")


def test_what_published_figures_say_by_our_rule() -> None:
    """Who says that a speed-up is almost linear must not fail the rule that ours are judged by."""
    [claim] = [claim for claim in claims.of_speed_ups() if claim.found == LINEAR]
    assert float(claim.theirs.rpartition("^")[2]) > claims.LINEAR


@pytest.mark.parametrize(
    ("parallel", "said"), [(9, "confirmed"), (7, "as many here"), (5, "contradicted")]
)
def test_boards_until_the_first_solution(
    monkeypatch: pytest.MonkeyPatch, parallel: int, said: str
) -> None:
    results = claims.recorded(RESULTS / "documents.json")
    for run in results["runs"]:
        run["boards"] = 7 if run["way"] == "serial" else parallel
    monkeypatch.setattr(claims, "recorded", lambda _: results)
    assert next(claims.of_others()).verdict == said


def test_all_of_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    findings.main(standalone_mode=False, args=[])
    cutoffs.main(standalone_mode=False, args=[])
    claims.main(standalone_mode=False, args=[])
    printed = capsys.readouterr().out
    for words in ("| 2f | 48,794,239 | 436 s | 13.9 s |", "goes more with", "Simulated, board 2e",
                  "cores searching, on average", "| they found |"):  # fmt: skip
        assert words in printed
