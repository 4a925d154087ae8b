"""The tables of what ``gpu.py`` recorded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from machine import RESULTS, recorded
from script import Run, table

DEVICES = {"cuda": "GPU", "cpu": "all cores", "core": "one core"}
RATED = 10_000
"""Of at least so many solutions or puzzles the rate is shown, too."""


def show(path: Path) -> None:
    """Print what was checked and what was measured."""
    results = recorded(path)
    described = results["machine"]
    if described["rehearsal"]:
        print("A rehearsal: the figures mean nothing.\n")
    print("; ".join(f"{name} {value}" for name, value in described["gpu"].items()) + "\n")
    done = len(results.get("correctness", []))
    if wrong := [text for text in results["failed"] if "solutions counted" in text]:
        print(f"WRONG after {done} checks: {'; '.join(wrong)}.\n")
    else:
        print(f"{done} checks, and all counts right.\n" if done else "No count was checked.\n")
    if runs := results.get("kernel"):
        show_kernel(runs, described["gpu"])
    for head, parts in {
        "from board to count": ("search", "puzzles"),
        "contraction, batch, or process": ("contraction", "few clues", "start-up"),
    }.items():
        if runs := [run for part in parts for run in results.get(part, [])]:
            show_devices(head, runs)
    for run in results.get("few clues", []):
        if run["device"] == "cuda":
            work = ", ".join(f"{number} by {how}" for how, number in run["by"].items())
            print(f"Counted with device cuda, {run['case']}: {work}.\n")
    for run in results.get("prices", []):
        print(
            f"Prices: {run['gpu']} does the work of {run['nine']:.3g} cores of 2024 in searches of"
            f" 9x9 boards, of {run['larger']:.3g} on larger ones, of {run['sums']:.3g} in sums.\n"
        )
    for name in ("left out", "failed"):
        if results[name]:
            print(f"{name.capitalize()}: {'; '.join(results[name])}.\n")


def bound(run: Run, gpu: dict[str, Any]) -> float | None:
    """Return the most solutions a second of a board with all its clues; None if not computed.

    ``warp.py`` did, deep in the board; here it is for the clock rate of the run, or the highest.
    """
    path, clock = RESULTS / "warp.json", run.get("clocks.sm") or gpu.get("clocks.max.sm")
    if not (path.exists() and clock):
        return None
    from model import INTEGER_CYCLES  # imported lazily: it imports much

    hertz = 1e6 * float(clock.split()[0])
    for deep in recorded(path)["runs"]:
        if (deep["board"], deep["start"]) == (re.split("[ ,]", run["case"])[0], "deep"):
            cycles = INTEGER_CYCLES * deep["instructions"]["whole numbers"] / deep["number"]
            return float(gpu["multiprocessors"] * hertz / cycles)
    return None


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


def show_devices(head: str, runs: list[Run]) -> None:
    """Print seconds, and rates, of a GPU beside those of all cores and one."""
    cells: dict[str, dict[str, str]] = {}
    for run in runs:
        text, number = f"{run['seconds']:.4g} s", run.get("number", 0)
        if number >= RATED:
            text = f"{number / run['seconds'] / 1e6:,.4g} M/s: {number:,} in {text}"
        if "transfer" in run:
            text += f", and {run['transfer']:.4g} s of transfers"
        cells.setdefault(run["case"], {}).setdefault(run["device"], text)
    rows = [[case, *(of.get(device, "") for device in DEVICES)] for case, of in cells.items()]
    table([head, *DEVICES.values()], rows)
    print()
