"""What is concluded from recorded results is computed from them, and starved rows are left out."""

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
import scaling
import simulated_figures
import summary
from machine import RESULTS
from published import CORES, SPEED_UPS

from gpusudoku.errors import InputError

ROOT = Path(__file__).parents[2]
Rows = list[dict[str, Any]]
Change = Callable[[str, Callable[[Rows], Rows]], None]


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    """Replaces the rows of a recorded run, for all that is concluded from it."""
    for path in RESULTS.glob("*.json"):
        shutil.copy(path, tmp_path)
    for module in (claims, findings, model, simulated_figures):
        monkeypatch.setattr(module, "RESULTS", tmp_path)

    def replace(name: str, rows: Callable[[Rows], Rows]) -> None:
        path = tmp_path / f"{name}.json"
        run = json.loads(path.read_text("utf-8"))
        for row in run["rows"]:  # nothing is disturbed but what a test disturbs
            row |= {"starved": False, "speed_up": row["speed_up"] and min(row["speed_up"], 2.0)}
        path.write_text(json.dumps(run | {"rows": rows(run["rows"])}), "utf-8")

    return replace


def starved(*boards: str) -> Callable[[Rows], Rows]:
    """Mark the rows of boards, and make them absurd."""

    def mark(rows: Rows) -> Rows:
        for row in rows:
            if row["board"] in boards and row["median"]:
                row |= {"starved": True, "median": 1e6, "speed_up": 1e-6, "utilisation": 1e-6}
        return rows

    return mark


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def read(show: Callable[..., None], *arguments: Any) -> str:
        capsys.readouterr()
        show(*arguments)
        return capsys.readouterr().out

    return read


def row_of(text: str, board: str) -> list[str]:
    """Find the cells of the row of a board."""
    [line] = [line for line in text.splitlines() if line.startswith(f"| {board} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


class TestStarved:
    """What other programs disturbed is not shown, and nothing follows from it."""

    def test_boards(self, change: Change, printed: Callable[..., str]) -> None:
        change("bench", starved("2f", "1d", "16x16-solutions"))
        times = row_of(printed(findings.times), "2f")
        assert times == ["2f", "48,794,239", "436 s", "13.9 s", "", "", "", ""]
        text = printed(findings.cores)
        assert (row_of(text, "2f")[2], row_of(text, "2e")[2] != "") == ("", True)
        assert row_of(printed(cutoffs.show), "1d")[1] == ""
        assert ", 10 boards |" in printed(findings.depends)
        points = simulated_figures.measured_points(findings.RESULTS / "bench.json", 2)
        assert ("2f" in points, "2e" in points) == (False, True)
        assert "1000000" not in printed(claims.show)
        assert all(row["median"] < 1e6 for row in findings.searches())
        assert "A 16x16 board" not in printed(model.show)
        assert "0.0% at least" not in printed(findings.busy)

    def test_cutoffs(self, change: Change) -> None:
        change("cutoff-space", starved("1d"))
        assert set(cutoffs.measured_cutoffs()) == {"1e", "2d", "2e"}
        change("cutoff-empty", starved("1e", "2d", "2e"))
        with pytest.raises(InputError, match="no board has undisturbed runs"):
            cutoffs.measured_cutoffs()

    def test_too_few_boards_are_refused(self, change: Change) -> None:
        change("bench", starved(*list(SPEED_UPS)[3:]))
        with pytest.raises(InputError, match="4 or more of the boards 1a to 2f, not of 3"):
            findings.coefficients()

    def test_one_core_is_one_line(self, change: Change, capsys: pytest.CaptureFixture[str]) -> None:
        change("bench", lambda rows: [row for row in rows if row["jobs"] == 1])
        for script in (findings, cutoffs, claims):
            with pytest.raises(SystemExit) as ended:
                script.main(standalone_mode=False, args=[])
            assert ended.value.code == 2
            said = capsys.readouterr().err.splitlines()[-1]
            assert said.endswith("bench.json: needs a run on several threads")


class TestVerdicts:
    LINEAR = "the speed-up grows almost linearly with the cores"
    BELOW = "it is below 1 only for small boards or on very few cores"
    SIZE = "it goes with search space and empty cells more than with solutions"
    CUTOFF = "a cutoff by search space is as good as one by empty cells"
    BUSY = "a cutoff is good if all cores are busy, and end together"

    def test_other_results_other_verdicts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        line = {"search space": 0.8, "empty cells": 0.7, "solutions": 0.6}
        other, neither = line | {"solutions": 0.9}, line | {"solutions": 0.75}
        speed_ups = {name: {number: 0.98 * number for number in (1, *CORES)} for name in SPEED_UPS}
        monkeypatch.setattr(claims, "speed_ups", lambda: speed_ups)

        def verdicts(**results: Any) -> list[str]:
            for name, result in results.items():
                monkeypatch.setattr(claims, name, lambda *_, result=result: result)
            every = [claims.of_speed_ups, claims.of_choices, claims.of_others]
            found = {claim.found: claim.verdict for some in every for claim in some()}
            return [found[w] for w in (self.LINEAR, self.BELOW, self.SIZE, self.CUTOFF, self.BUSY)]

        assert verdicts(
            apart_by_kind=[0.05, 0.01, 0.5],
            time_with_work=[-0.9, 0.9, -0.8],
            coefficients=dict.fromkeys("abc", line),
            measured_speed_ups={"1a": 0.5, "2f": 1.9},
        ) == ["confirmed for 2f", "confirmed", "confirmed on 2, confirmed on 64",
              "confirmed", "confirmed"]  # fmt: skip
        speed_ups["2f"][64] = 30.0
        assert verdicts(
            apart_by_kind=[0.5, 0.2, 0.01],
            time_with_work=[-0.9, -0.4, -0.1],
            coefficients={"a": neither, "b": other, "c": line},
            measured_speed_ups={"1a": 0.5, "2f": 0.9},
        ) == ["contradicted for 2f", "contradicted", "undecided on 2, contradicted on 64",
              "contradicted", "contradicted"]  # fmt: skip

    def test_below_one_is_below_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Two threads that lose a hundredth lose; the boards of other series are not named."""
        measured = {"1c": 0.99, "2f": 1, "a1": 0.5}
        monkeypatch.setattr(claims, "measured_speed_ups", lambda *_: measured)
        [claim] = [claim for claim in claims.of_speed_ups() if claim.found == self.BELOW]
        assert "measured on 2 threads: 1c, 0.99 at least;" in claim.ours

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
        self, space: float, empty: float, solutions: float, said: str
    ) -> None:
        line = {"search space": space, "empty cells": empty, "solutions": solutions}
        assert findings.goes_with(line) == said


class TestCutoffs:
    def test_the_best_and_those_near_it(self) -> None:
        """Those around the best, up to the first that is far from it."""
        points = [(40, 1.2), (10, 1.1), (20, 2.0), (30, 1.0), (50, 1.24), (60, 1.3)]
        assert cutoffs.best_of(points) == cutoffs.Best(30, 1.0, 30, 50)

    @pytest.mark.parametrize(
        ("sharing", "keeping", "best"),
        [(1.9, 1.6, "nothing handed over"), (1.6, 1.9, "boards handed over")],
    )
    def test_the_best_simulated_run_is_named(
        self,
        monkeypatch: pytest.MonkeyPatch,
        printed: Callable[..., str],
        sharing: float,
        keeping: float,
        best: str,
    ) -> None:
        """Without a cutoff one core takes 64 s and 64 cores 2 s."""
        settings = [(1, None, True, 64.0), (64, None, True, 2.0)]
        settings += [(64, 10.0**power, handed, seconds * far)
                     for handed, seconds in ((True, sharing), (False, keeping))
                     for power, far in ((30, 2.0), (35, 1.0))]  # fmt: skip
        runs = [{"board": "2e", "workers": number, "cutoff": cutoff, "sharing": handed,
                 "without": "", "seconds": seconds, "frontier_boards": 128}
                for number, cutoff, handed, seconds in settings]  # fmt: skip
        monkeypatch.setattr(cutoffs, "virtual", lambda: runs)
        text = printed(cutoffs.simulated_cutoffs)
        said = f"cutoff 1e35, {best}, 40.0 times, 32.0 without cutoff (+25%)."
        assert text.rstrip().endswith(said)
        assert (row_of(text, "64")[1], row_of(text, "64")[5]) == (
            "32.0",
            f"{64 / keeping:.1f} at 1e35",
        )


def test_speed_ups_and_cycles_are_compared(tmp_path: Path, printed: Callable[..., str]) -> None:
    """A board that two threads cannot count so fast is left out."""

    def results(*runs: tuple[str, int, float, float]) -> str:
        path = tmp_path / "scaling.json"
        path.write_text(json.dumps({"machine": {}, "runs": [
            {"board": board, "jobs": jobs, "count": "1000000", "seconds": seconds,
             "utilisation": [1.0] * jobs, "gigahertz": clock}
            for board, jobs, seconds, clock in runs
        ]}))  # fmt: skip
        return printed(scaling.show, path)

    alone = ("1f", 1, 2.0, 3.6)
    text = results(alone, ("1f", 2, 1.0, 3.5), ("2f", 1, 9.0, 3.6), ("2f", 2, 4.0, 3.6))
    assert "differ by 3% at most: nearly all cycles go into the search" in text
    assert "| 1f | 2 | 1.00 | 2.00 | 1.94 | 100.0% |" in text
    assert "| 2f | 2 | 0.25 |  |  |  |" in text
    assert "differ by up to 25%" in results(alone, ("1f", 2, 1.0, 2.88))


def test_a_bound_of_gpus_is_the_same_everywhere(printed: Callable[..., str]) -> None:
    """In the report, where the kernels are explained, and where a reader asks."""
    rate = f"{model.gpu_rate():.2e}".replace("e+0", "e")
    assert f"the last bound kept is {rate}" in (ROOT / "kernels/README.md").read_text("utf-8")
    assert "computed by warp.py" in printed(model.show)
    faq = (ROOT / "docs/faq.md").read_text("utf-8")
    assert "[a bound](results.md#when-does-contraction-win)" in faq


def test_the_law_of_the_contraction_is_found() -> None:
    runs = [(k, d, 3.0 * 0.8**k * 1.1**d) for k in range(4, 30) for d in (5, 7, 9)]
    runs[0] = (4, 5, 1000.0)  # fewer clues than the law speaks of
    assert model.contraction_law(runs) == pytest.approx((3.0, 0.8, 1.1, 1.0))


class TestSummary:
    def run(self, program: str, seconds: float, complete: bool = True) -> dict[str, Any]:
        return {"program": program, "solutions": 4715, "complete": complete, "seconds": seconds}

    def test_the_quickest_other_program_is_shown(self, printed: Callable[..., str]) -> None:
        ours = [self.run(summary.DEFAULT, seconds) for seconds in (9.0, 0.001, 0.003)]
        ours.append(self.run(summary.ONE_CORE, 0.001))
        others = [self.run("one", 0.09), self.run("two", 0.045), self.run("three", 0.01, False)]
        row = "| 1b | 4,715 | 3 ms | 1 ms | 45 ms (two) | 15 |\n"
        assert printed(summary.show_measured, "1b", [*ours, *others]) == row
        assert printed(summary.show_measured, "1b", ours) == ""  # nobody else counted it

    def test_shares_and_samples(self, printed: Callable[..., str]) -> None:
        shares = [{"clues": clues, "board": "", "count_seconds": 0.1, "seconds": seconds}
                  for clues in summary.CLUES for seconds in (0.5, 0.25, 3.0)]  # fmt: skip
        shares.append({"clues": 20, "way": "a batch", "seconds": 9.0})
        numbers = [{"clues": clues, "samples": 10**6, "sampling": 0.7} for clues in summary.CLUES]
        lines = printed(summary.show_solutions, shares, numbers).splitlines()
        assert lines[2] == "| none | 100 ms | 500 ms | 1,400,000 |"
        assert lines[5] == "| 20 | 100 ms | 500 ms | 1,400,000 |"
        assert len(lines) == 6

    def test_a_board_whose_runs_were_all_disturbed(self) -> None:
        with pytest.raises(InputError, match="expected an undisturbed run of board 2f"):
            summary.times_of_2f([])
