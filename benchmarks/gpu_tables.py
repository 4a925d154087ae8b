"""The tables of what ``gpu.py`` recorded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from machine import RESULTS, recorded
from script import Run, grouped, table


def show(path: Path) -> None:
    """Print what was checked and what was measured."""
    results = recorded(path)
    described = results["machine"]
    if described["rehearsal"]:
        print("A rehearsal: the figures mean nothing.\n")
    print("; ".join(f"{name} {value}" for name, value in described["gpu"].items()) + "\n")
    show_checks(results)
    if runs := results.get("kernel"):
        show_kernel(runs, described["gpu"])
    if runs := results.get("search", []) + results.get("puzzles", []):
        show_search(runs, described["gpu"])
    if runs := results.get("contraction", []) + results.get("start-up", []):
        show_seconds(runs)
    if runs := results.get("tuning"):
        show_tuning(runs)
    for name in ("left out", "failed"):
        if results[name]:
            print(f"{name.capitalize()}: {'; '.join(results[name])}.\n")


def show_checks(results: dict[str, Any]) -> None:
    """Say how many checks there were, and whether all were right."""
    done = len(results.get("correctness", []))
    wrong = [text for text in results["failed"] if "solutions counted" in text]
    if wrong:
        print(f"WRONG after {done} checks: {'; '.join(wrong)}.\n")
    else:
        print(f"{done} checks, and all counts right.\n" if done else "No count was checked.\n")


def computed() -> dict[str, float]:
    """What ``warp.py`` recorded: for a board, solutions or puzzles of a multiprocessor in a cycle.

    Deep in the board, at most, as the machine code of compute capability 9.0 allows.
    """
    path = RESULTS / "warp.json"
    if not path.exists():
        return {}
    import warp

    runs = [run for run in recorded(path)["runs"] if run["start"] != "frontier"]
    return {run["board"]: 1 / max(warp.cycles(run).values()) for run in runs}


def megahertz(run: Run, gpu: dict[str, Any]) -> int | None:
    """The clock rate of a run, which is that under load, or else the highest; None if unknown."""
    told = re.match(r"\d+", run.get("clocks.sm") or gpu.get("clocks.max.sm") or "")
    return int(told[0]) if told else None


def bound(run: Run, gpu: dict[str, Any]) -> float | None:
    """Solutions a second that are computed for the run's board on this GPU; None if they are not.

    They are those of the board with all its clues.
    """
    rate, clock = computed().get(re.split("[ ,]", run["case"])[0]), megahertz(run, gpu)
    return None if rate is None or clock is None else rate * gpu["multiprocessors"] * clock * 1e6


def show_kernel(runs: list[Run], gpu: dict[str, Any]) -> None:
    """Print the speed of the kernel alone beside what was computed."""
    rows = []
    for run in runs:
        most = bound(run, gpu)
        told = [f"{most / 1e6:.0f}", f"{run['rate'] / most:.0%}"] if most else ["", ""]
        cells = [run["case"], f"{run['rate'] / 1e6:.1f}", f"{run['nodes'] / 1e6:.1f}", *told]
        cells += [f"{run['busy']:.0%}", f"{run['seconds']:.3f}"]
        rows.append([*cells, run.get("clocks.sm", ""), run.get("power.draw", "")])
    heads = ["kernel alone", "M solutions/s", "M nodes/s", "computed M/s", "of it", "threads busy"]
    table([*heads, "s a launch", "clock", "power"], rows)
    print()


def show_search(runs: list[Run], gpu: dict[str, Any]) -> None:
    """Print searches from end to end, and batches of puzzles; what is computed is for one GPU."""
    rows = []
    for run in runs:
        rate = run["number"] / run["seconds"] / 1e6
        cells = [run["case"], run["device"], f"{run['number']:,}", f"{run['seconds']:.4f}"]
        most = bound(run, gpu) if run["device"] == "cuda" else None
        cells += [f"{rate:.3f}", f"{most / 1e6:.0f}" if most else ""]
        cells += [f"{run[name]:.4f}" if name in run else "" for name in ("expansion", "transfer")]
        rows.append(cells)
    heads = ["search", "device", "number", "s", "M/s", "computed M/s"]
    table([*heads, "expansion s", "transfer s"], rows, left=2)
    print()


def show_seconds(runs: list[Run]) -> None:
    """Print what takes each device how long."""
    times = {key: run["seconds"] for key, [run, *_] in grouped(runs, "case", "device").items()}
    rows = []
    for case in dict.fromkeys(case for case, _ in times):
        cells = [times.get((case, device)) for device in ("cuda", "cpu")]
        rows.append([case, *("" if cell is None else f"{cell:.6f}" for cell in cells)])
    table(["contraction, or process", "GPU, s", "CPU, s"], rows)
    print()


def show_tuning(runs: list[Run]) -> None:
    """Print how much faster a search is with other settings."""
    usual = runs[0]["seconds"]
    rows = [
        [run["case"], f"{run['seconds']:.4f}", f"{usual / run['seconds'] - 1:+.1%}"] for run in runs
    ]
    table([f"settings, on {runs[0]['board']}", "s", "faster by"], rows)
    print()
