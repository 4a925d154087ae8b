"""The tables of scripts, of runs that are made up: medians, ratios and rates by hand."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import checkpoints
import pytest
import simulated
from machine import record

FURTHER = {"nth": [4.0, 1.0, 3.0], "rank": [2.0, 0.5, 0.25], "quick": [1.0, 0.001, 0.002]}
NUMBERS = {"clues": 8, "count_seconds": 0.5, "samples": 1000, **FURTHER}
CALL = {"what": "`count`", "board": "a board", "takes": 1.0, "moment": 0.5, "later": 0.001}
TABLES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "by_number": (
        [{**NUMBERS, "set_up": 0.25, "sampling": 0.01}, {**NUMBERS, "set_up": 0.52, "sampling": 1}],
        ["| 8 | 2 | 0.5 | 0.77 | 20 ms | 50,500 | 1,000 |",
         "| 8 | 4 | 4 | 2 | 3 | 2 | 2 | 0.375 | 0.5 | 1.5 | 2 |"],
    ),
    "cancelling": (
        [{**CALL, "seconds": seconds, "cpu": seconds / 2, "load": 3.0}
         for seconds in (0.01, 0.02, 0.15)],
        ["| `count` | a board | 3 | 20 | 124 | 150 | 10 | 62 | 75 |",
         "Free within 100 ms: 2 of 3; with no more processor time than that: 3.",
         "In the 20 ms after that the process took 1.0 ms of processor time at most.",
         "Programs that wanted a core: 3.0 in the middle."],
    ),
    "checkpoints": (
        [{"case": case, "kept": kept, "seconds": seconds, "cpu": 2 * seconds}
         for case in checkpoints.CASES for kept, seconds in ((False, 4.0), (True, 5.0))],
        ["| a batch | 4.00 | 1.250 | 1.250 |"],
    ),
    "first_day": (
        [{"version": version, "cores": cores, "command": "count @a1", "seconds": cores * seconds}
         for version in ("this", "other") for cores in (2, 1) for seconds in (1.0, 2.0, 9.0)],
        ["| command | 2 cores | 1 core | other, 2 cores | other, 1 core |",
         "| `count @a1` | 4.00 s | 2.00 s | 4.00 s | 2.00 s |"],
    ),
    "page": (
        [*({"clues": 20, "count": "1000", "library_seconds": 0.01, "seconds": seconds,
            "shares_seconds": 2 * seconds} for seconds in (0.02, 0.03, 0.04)),
         {"clues": 20, "task": 0.9, "task_cpu": 0.012}],
        ["| 20 | 3 | 1e+03 | 10 | 10 | 30 | 38 | 60 | 76 | 12 |"],
    ),
    "shares": (
        [*({"clues": 8, "board": board, "count": "5", "count_seconds": 1.0, "seconds": seconds}
           for board, seconds in (("first", 2.0), ("second", 10.0), ("third", 10.25))),
         {"clues": 20, "boards": 50, "way": "by hand", "seconds": 0.5}],
        ["| 8 | 3 | 1.0000 | 10.0000 | 10.250 | 10.0 | 10.2 | 1 |",
         "Boards over 10 counts and 10 ms: 1 of 3.",
         "- third: 10.2500 s, its count 1.0000 s",
         "| by hand | 100 |"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs, lines = TABLES[name]
    path = tmp_path / "runs.json"
    record(path, runs, gigahertz=[3.0, 3.0], checkpoint_threads=2)
    import_module(name).show(path)
    assert set(lines) <= set(capsys.readouterr().out.splitlines())


def test_how_far_real_and_virtual_threads_are_apart(capsys: pytest.CaptureFixture[str]) -> None:
    measured = {"1d": {"1": 2.0, "8": 2.2, "64": 3.0, "128": 5.0}}
    runs = [
        {"board": "1d", "workers": number, "cutoff": None, "without": "", "spent": {"search": cost}}
        for number, cost in ((1, 1.0), (8, 1.1), (64, 1.5), (128, 2.0))
    ]
    simulated.show_checked(runs, measured)
    printed = capsys.readouterr().out
    assert "| 1d | 1.10 (1.10) | 1.50 (1.50) | 2.50 (2.00) |" in printed
    assert printed.endswith("They differ by 25% at most.\n")
