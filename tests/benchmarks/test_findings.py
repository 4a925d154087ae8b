"""What is concluded from recorded results is computed from them."""

from __future__ import annotations

import claims
import cutoffs
import findings
import pytest


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


def verdicts() -> dict[str, str]:
    return {claim.found: claim.verdict
            for some in (claims.of_speed_ups, claims.of_choices) for claim in some()}  # fmt: skip


def test_verdicts_follow_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other results, other verdicts."""
    cutoff = "a cutoff by search space is as good as one by empty cells"
    size = "it goes with search space and empty cells more than with solutions"
    busy = "a cutoff is good if all cores are busy, and end together"
    runs = {"one": findings.Pictured(2.0, 3.0), "other": findings.Pictured(4.0, 5.0)}
    line = {"search space": 0.8, "empty cells": 0.7, "solutions": 0.6}
    monkeypatch.setattr(claims, "apart_by_kind", lambda: 0.05)
    monkeypatch.setattr(claims, "pictured", lambda: runs)
    monkeypatch.setattr(claims, "coefficients", lambda: dict.fromkeys("abc", line))
    found = verdicts()
    assert found[cutoff] == found[busy] == "confirmed"
    assert found[size] == "confirmed on 2, confirmed on 64"

    runs["other"] = findings.Pictured(1.0, 5.0)
    other = line | {"solutions": 0.9}
    monkeypatch.setattr(claims, "apart_by_kind", lambda: 0.5)
    monkeypatch.setattr(claims, "coefficients", lambda: {"a": line, "b": other, "c": line})
    found = verdicts()
    assert found[cutoff] == found[busy] == "contradicted"
    assert found[size] == "confirmed on 2, contradicted on 64"


def test_all_of_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    findings.main(standalone_mode=False, args=[])
    cutoffs.main(standalone_mode=False, args=[])
    claims.main(standalone_mode=False, args=[])
    printed = capsys.readouterr().out
    for words in ("| 2f | 48,794,239 | 436 s | 13.9 s |", "goes more with", "Simulated, board 2e",
                  "cores searching, on average", "| they found |"):  # fmt: skip
        assert words in printed
