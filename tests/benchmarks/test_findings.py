"""What is concluded from recorded results is computed from them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import claims
import cutoffs
import findings
import model
import pytest
import scaling
import simulated_figures
import summary
from machine import RESULTS
from published import CORES, SPEED_UPS

from gpusudoku.errors import InputError

ROOT = Path(__file__).parents[2]
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
        for row in run["rows"]:  # nothing is disturbed but what a test disturbs
            row |= {"starved": False, "speed_up": row["speed_up"] and min(row["speed_up"], 2.0)}
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


def test_a_bound_of_gpus_is_the_same_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """In the report, where the kernels are explained, and where a reader asks."""
    rate = f"{model.gpu_rate():.2e}".replace("e+0", "e")
    assert f"the last bound kept is {rate}" in (ROOT / "kernels/README.md").read_text("utf-8")
    assert "computed by warp.py" in printed(model.show, capsys)
    faq = (ROOT / "docs/faq.md").read_text("utf-8")
    assert "[a bound](results.md#when-does-contraction-win)" in faq


def test_every_time_of_the_empty_board_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of the README and of both tables of the contraction among them."""
    text = printed(findings.empty, capsys)
    summary.show(RESULTS / "summary.json")
    readme = row_of(capsys.readouterr().out, "none")
    assert row_of(text, readme[1])[2].endswith("the README")
    runs = findings.recorded(RESULTS / "contraction.json")["runs"]
    for group in ("empty", "0"):
        middle = median(run["seconds"] for run in runs if run["group"] == group)
        assert row_of(text, findings.duration(middle))[3].startswith("engine time")


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
BELOW = "it is below 1 only for small boards or on very few cores"
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
    assert claim.ours.endswith("cores: 2f, 0.50 at least")


def test_what_published_figures_say_by_our_rule() -> None:
    """Who says that a speed-up is almost linear must not fail the rule that ours are judged by."""
    [claim] = [claim for claim in claims.of_speed_ups() if claim.found == LINEAR]
    from_two, from_one = map(float, re.findall(r"\^([\d.]+) from", claim.theirs))
    assert from_two > claims.LINEAR
    assert from_one < claims.LINEAR  # it rests on their two cores, which are no faster than one


def test_below_one_is_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that lose a hundredth lose; the boards of other series are not named."""
    monkeypatch.setattr(claims, "measured_speed_ups", lambda *_: {"1c": 0.99, "2f": 1, "a1": 0.5})
    [claim] = [claim for claim in claims.of_speed_ups() if claim.found == BELOW]
    assert "measured on 2 threads: 1c, 0.99 at least;" in claim.ours
    assert claim.theirs.endswith("1a, 1b, 1c, 2a, 2b, 0.63 at least")


def claim_of(words: str) -> claims.Claim:
    """The only claim that has some words."""
    found = [*claims.of_speed_ups(), *claims.of_others(), *claims.of_numbers()]
    [claim] = [claim for claim in found if words in claim.found]
    return claim


@pytest.mark.parametrize(
    ("words", "theirs", "ours", "verdict"),
    [
        ("20^9", "5.1e+11", "1.2e+19", "contradicted"),
        ("211,532,970,320.3 years", "211,532,970,320.3", "211,532,970.3 years", "contradicted"),
        ("25x25", "8 h", "25x25-newspaper: ", "another board"),
        ("parallel program is faster", "16x16 1.99, 9x9 2.39", "on 2 threads: 16x16 ", "short"),
        ("hardly matters", "no figure", "2f, simulated on 8 cores: ", "contradicted for 2f"),
        ("cores blur", "cores 0.53, search space 0.60", "simulated: cores ", "confirmed"),
        ("its 4x4 board", "4123234114323214", " and 4123324114322314", "one of 2"),
    ],
)
def test_what_the_documents_say_in_passing(
    words: str, theirs: str, ours: str, verdict: str
) -> None:
    claim = claim_of(words)
    assert theirs in claim.theirs
    assert ours in claim.ours
    assert verdict in claim.verdict


def test_correlations_over_all_numbers_of_cores(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(findings.depends, capsys)
    assert "| the same on 11 numbers of cores at once | cores | search space |" in text
    assert row_of(text, "theirs")[1:] == ["0.53", "0.60", "0.57", "0.41"]


def cutoff_runs(*, sharing: float, keeping: float) -> list[dict[str, Any]]:
    """Virtual runs: without a cutoff one core takes 64 s and 64 cores 2 s; the others as said."""
    settings = [(1, None, True, 64.0), (64, None, True, 2.0)]
    settings += [(64, 10.0**power, handed, best * far)
                 for handed, best in ((True, sharing), (False, keeping))
                 for power, far in ((30, 2.0), (35, 1.0))]  # fmt: skip
    return [{"board": "2e", "workers": number, "cutoff": cutoff, "sharing": handed, "without": "",
             "seconds": seconds, "frontier_boards": 128}
            for number, cutoff, handed, seconds in settings]  # fmt: skip


@pytest.mark.parametrize(
    ("sharing", "keeping", "best"),
    [
        (1.9, 1.6, "cutoff 1e35, nothing handed over, 40.0 times, 32.0 without cutoff (+25%)."),
        (1.6, 1.9, "cutoff 1e35, boards handed over, 40.0 times, 32.0 without cutoff (+25%)."),
    ],
)
def test_the_best_run_with_a_cutoff_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sharing: float,
    keeping: float,
    best: str,
) -> None:
    """Also where that run hands no boards over, which the program does."""
    runs = cutoff_runs(sharing=sharing, keeping=keeping)
    monkeypatch.setattr(cutoffs, "virtual", lambda: runs)
    text = printed(cutoffs.simulated_cutoffs, capsys)
    assert text.rstrip().endswith(best)
    assert row_of(text, "64")[1] == "32.0"
    assert row_of(text, "64")[5] == f"{64 / keeping:.1f} at 1e35"


def test_speed_ups_and_cycles_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A board that two threads cannot count so fast is left out."""

    def results(*runs: tuple[str, int, float, float]) -> str:
        path = tmp_path / "scaling.json"
        path.write_text(json.dumps({"machine": {}, "runs": [
            {"board": board, "jobs": jobs, "count": "1000000", "seconds": seconds,
             "utilisation": [1.0] * jobs, "gigahertz": clock}
            for board, jobs, seconds, clock in runs
        ]}))  # fmt: skip
        return printed(lambda: scaling.show(path), capsys)

    alone = ("1f", 1, 2.0, 3.6)
    text = results(alone, ("1f", 2, 1.0, 3.5), ("2f", 1, 9.0, 3.6), ("2f", 2, 4.0, 3.6))
    assert "differ by 3% at most: nearly all cycles go into the search" in text
    assert "| 1f | 2 | 1.00 | 2.00 | 1.94 | 100.0% |" in text
    assert "| 2f | 2 | 0.25 |  |  |  |" in text
    assert "differ by up to 25%" in results(alone, ("1f", 2, 1.0, 2.88))


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
