"""Check this machine's GPUs and time them beside its cores, in five minutes.

A few checks come first, one for each method and size of board that is timed. The figures follow:
the kernel alone beside the computed bound, searches from board to count, a batch of puzzles,
contractions, the start of the program. The prices computed from them are saved: the program uses
them to choose between GPU and CPU. Then come the other checks, against counts that are known or
that the CPU finds, too: boards from 4x4 to 64x64 cells, techniques, strategies, limits, lists of
solutions, many boards together, hardly any memory, several GPUs. At the first wrong count the
script names the board and ends with exit status 1. A second file, OUTPUT-profile.json, has the
resources of the kernels and every launch of a search.

A step that takes longer than ten seconds ends at its next report of progress. Results are written
as they come, with the names of the steps that are left out and why; neither Ctrl-C nor a machine
that goes away loses any.
Without a usable GPU the script says why, and ends.

    python benchmarks/gpu.py                        five minutes
    python benchmarks/gpu.py --minutes 2            figures, and as many checks as fit
    python benchmarks/gpu.py --part kernel          only this part, and what else was recorded
    python benchmarks/gpu.py --puzzles puzzles.txt  the batch is made from these puzzles
    python benchmarks/gpu.py --show                 the tables of what was recorded before
    python benchmarks/gpu.py --sweep --minutes 3 --output sweep.json   the best launch settings
    python benchmarks/gpu.py --rehearse --output trial.json   everything, tiny; needs no GPU
"""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import click
import gpu_steps
from gpu_steps import CHECKS, DEVICES, Bench, OutOfTime, Steps
from gpu_sweep import SWEEP, show_sweep, sweeps
from machine import RESULTS, machine, recorded, write
from script import Run, script, table

from gpusudoku.engines.cuda import availability
from gpusudoku.errors import DeviceError, InputError, Interrupted, MismatchError, printable

PARTS = [CHECKS, "kernel", "search", "puzzles", "contraction", "few clues", "start-up", "prices",
         "profile"]  # fmt: skip
SAME = ("gpus", "gpusudoku", "commit", "rehearsal")
"""What parts that are shown together have in common."""
STEP_SECONDS = 10.0
"""The time that a step may take."""
NO_TIME = "for lack of time: run with more --minutes"
TOO_LONG = f"after {STEP_SECONDS:g} s, the limit of a step"
ENDED = "because the run ended early"
"""Why a step was left out."""
RATED = 10_000
"""Of at least so many solutions or puzzles the rate is shown, too."""


class Record:
    """The results, in memory and in their file; those of parts that do not run are kept."""

    def __init__(self, path: Path, parts: list[str], about: dict[str, Any]) -> None:
        self.path = path
        self.results = recorded(path) if path.exists() and parts != PARTS else {}
        before = self.results.get("machine", about)
        if other := [name for name in SAME if before.get(name) != about[name]]:
            what = f"{other[0]} {before.get(other[0])}, not {about[other[0]]}"
            raise InputError(f"{path}: recorded with {what}; give --output for another file")
        self.results |= {"machine": about, "left out": {}, "failed": []}
        self.results |= {part: [] for part in parts}
        self.save()

    def add(self, name: str, value: Any) -> None:
        """Add a run of a part, or a name to a list."""
        self.results[name].append(value)
        self.save()

    def save(self) -> None:
        """Write the file: another one first, so that one of them is whole at any time."""
        other = self.path.with_name(self.path.name + ".new")
        write(other, self.results)
        other.replace(self.path)


def take(steps: Steps, bench: Bench, record: Record, end: float) -> None:
    """Take one step after the other, and record what it gives; a MismatchError ends this."""
    left_out = record.results["left out"]
    left_out |= {name: ENDED for _, name, *_ in steps}  # until they are done
    for number, (part, name, function, *arguments) in enumerate(steps, 1):
        tell(f"{number}/{len(steps)} {name}")
        seconds = math.inf if part == SWEEP else STEP_SECONDS  # it divides its time itself
        bench.end = min(end, time.perf_counter() + seconds)
        said = ""
        try:
            bench.look()
            found = function(bench, *arguments)
            for run in [{"check": name, "count": str(found)}] if part == CHECKS else found:
                record.add(part, run)
            del left_out[name]
        except OutOfTime as error:
            left_out[name] = NO_TIME if time.perf_counter() > end else str(error) or TOO_LONG
            said = f"{name}: left out {left_out[name]}"
        except Interrupted:
            raise
        except Exception as error:  # CuPy's and the driver's, too: others may do without this step
            said = f"{name}: {printable(str(error) or type(error).__name__)}"
            record.add("failed", said)
            del left_out[name]
            if isinstance(error, MismatchError):
                raise MismatchError(said) from None
        finally:
            record.save()
            tell(said, end="\n" * bool(said))


def tell(text: str, end: str = "") -> None:
    """Show how far it is on stderr."""
    click.echo(f"\r{text:<78}\r{end}", nl=False, err=True)


def show(path: Path) -> None:
    """Print what was checked and what was measured."""
    results = recorded(path)
    described = results["machine"]
    if described["rehearsal"]:
        print("A rehearsal: the figures mean nothing.\n")
    done = len(results.get("correctness", []))
    if wrong := [text for text in results["failed"] if "solutions counted" in text]:
        print(f"WRONG after {done} checks: {'; '.join(wrong)}.\n")
    else:
        print(f"{done} checks, and all counts right.\n" if done else "No count was checked.\n")
    if runs := results.get("kernel"):
        show_kernel(runs, described["gpu"], described["gpusudoku"])
    if runs := results.get(SWEEP):
        show_sweep(runs)
    if runs := results.get("search"):
        show_devices("from board to count", runs)
    show_others(path)
    for run in results.get("few clues", []):
        if run["device"] == "cuda":
            work = ", ".join(f"{number} by {how}" for how, number in run["by"].items())
            print(f"Counted with device cuda, {run['case']}: {work}.\n")
    for run in results.get("prices", []):
        print(
            f"Prices: {run['gpu']} does the work of {run['nine']:.3g} cores of 2024 in searches of"
            f" 9x9 boards, of {run['larger']:.3g} on larger ones, of {run['sums']:.3g} in sums.\n"
        )
    print("; ".join(f"{name} {value}" for name, value in described["gpu"].items()) + "\n")
    left_out = results["left out"]
    if isinstance(left_out, list):  # older results have only the names
        left_out = dict.fromkeys(left_out, NO_TIME)
    for reason, number in Counter(left_out.values()).items():
        print(f"{number} step{'s' * (number > 1)} left out {reason}.\n")
    if results["failed"]:
        print(f"Failed: {'; '.join(results['failed'])}.\n")


def show_others(path: Path) -> None:
    """Print what was measured besides searches of single boards."""
    parts = "puzzles", "contraction", "few clues", "start-up"
    results = recorded(path)
    if runs := [run for part in parts for run in results.get(part, [])]:
        show_devices("batch, contraction, or process", runs)


def bound(run: Run, gpu: dict[str, Any], release: str) -> float | None:
    """Return the most solutions a second of a board with all its clues; None if not computed.

    ``warp.py`` did, deep in the board; here it is for the clock rate of the run, or the highest.
    From release 0.22 on the kernel is another one.
    """
    has_shared_memory = tuple(map(int, release.split(".")[:2])) >= (0, 22)
    path = RESULTS / ("warp-shared.json" if has_shared_memory else "warp.json")
    clock = run.get("clocks.sm") or gpu.get("clocks.max.sm")
    if not (path.exists() and clock):
        return None
    from model import INTEGER_CYCLES  # imported lazily: it imports much

    hertz = 1e6 * float(clock.split()[0])
    for deep in recorded(path)["runs"]:
        if (deep["board"], deep["start"]) == (re.split("[ ,]", run["case"])[0], "deep"):
            cycles = INTEGER_CYCLES * deep["instructions"]["whole numbers"] / deep["number"]
            return float(gpu["multiprocessors"] * hertz / cycles)
    return None


def show_kernel(runs: list[Run], gpu: dict[str, Any], release: str) -> None:
    """Print the speed of the kernel alone beside what was computed."""
    rows = []
    for run in runs:
        most = bound(run, gpu, release)
        told = [f"{most / 1e6:.0f}", f"{run['rate'] / most:.0%}"] if most else ["", ""]
        cells = [run["case"], f"{run['rate'] / 1e6:.1f}", f"{run['nodes'] / 1e6:.1f}", *told]
        cells += [f"{run['busy']:.0%}", f"{run['seconds']:.3f}"]
        rows.append([*cells, run.get("clocks.sm", ""), run.get("power.draw", "")])
    heads = ["kernel alone", "M solutions/s", "M nodes/s", "upper bound", "reached", "threads busy"]
    table([*heads, "s a launch", "clock", "power"], rows)
    print()


def show_devices(head: str, runs: list[Run]) -> None:
    """Print seconds, and rates, of every device that was timed."""
    cells: dict[str, dict[str, str]] = {}
    for run in runs:
        text, number = f"{run['seconds']:.4g} s", run.get("number", 0)
        if number >= RATED:
            text = f"{number / run['seconds'] / 1e6:,.4g} M/s: {number:,} in {text}"
        if "transfer" in run:
            text += f", and {run['transfer']:.4g} s of transfers"
        cells.setdefault(run["case"], {}).setdefault(run["device"], text)
    devices = [device for device in DEVICES if any(device in of for of in cells.values())]
    rows = [[case, *(of.get(device, "") for device in devices)] for case, of in cells.items()]
    table([head, *(DEVICES[device] for device in devices)], rows)
    print()


@script("gpu", show)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=5.0, show_default=True,
              help="Time for everything.")  # fmt: skip
@click.option("--part", type=click.Choice(PARTS), multiple=True, help="By default all.")
@click.option("--puzzles", metavar="FILE", help="9x9 puzzles; by default the program's own.")
@click.option("--sweep", is_flag=True, help="Only try launch settings of the search kernel.")
@click.option("--rehearse", is_flag=True, help="Do all with tiny boards, without a GPU, too.")
def main(path: Path, minutes: float, part: tuple[str, ...], puzzles: str | None, sweep: bool,
         rehearse: bool) -> None:  # fmt: skip
    """Check GPUs, and time them beside the CPU's cores."""
    start = time.perf_counter()
    simulated = availability.simulated()
    reason = "only the simulator is there" if simulated else availability.unusable_because()
    if reason is not None and not rehearse:
        raise DeviceError(f"nothing is measured: {reason}")
    if reason is not None and not simulated:  # Numba looks for this when it is imported
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    if rehearse and path == RESULTS / "gpu.json":
        raise InputError("--rehearse needs --output: its figures mean nothing")
    if sweep and path == RESULTS / "gpu.json":
        raise InputError(f"--sweep needs --output: {path.name} has the other figures")
    # Errors in what was given are found before there is anything to lose.
    bench = Bench(gpu_steps.REHEARSAL if rehearse else gpu_steps.FULL, puzzles)
    about = {**machine(), "gpus": [gpu.card.name for gpu in bench.gpus], "rehearsal": rehearse}
    parts = [SWEEP] if sweep else [name for name in PARTS if name in (part or PARTS)]
    record = Record(path, parts, {**about, "gpu": gpu_steps.described(bench.gpus[0])})
    profile = path.with_name(f"{path.stem}-profile.json")
    steps = [*gpu_steps.steps(bench, record.results, profile), *sweeps(bench)]
    steps = [step for step in steps if step[0] in parts]
    try:
        take(steps, bench, record, start + 60 * minutes)
    except (KeyboardInterrupt, Interrupted):
        raise Interrupted(f"interrupted; what was found is in {path}") from None
    finally:
        record.results["seconds"] = time.perf_counter() - start
        record.save()
    if failed := record.results["failed"]:
        show(path)
        raise DeviceError(f"{len(failed)} of {len(steps)} steps failed, first of all {failed[0]}")


if __name__ == "__main__":
    main()
