"""Check this machine's GPUs, and time them beside its cores, in five minutes.

A few checks come first: one for each method and size of board that is timed. Then come the figures:
the kernel alone, searches, a batch of puzzles, contractions, and the start of the program. The
program chooses between GPU and CPU by prices, which are computed from these figures and saved. The
other checks come last. They compare counts with those that are known: boards from 4x4 to 64x64
cells, techniques, strategies, limits, lists of solutions, hardly any memory, several GPUs. At the
first wrong count the script names the board and ends with exit status 1.

A step that takes longer than ten seconds is left out. Every result is written to the file at once,
so Ctrl-C and a lost machine destroy none. "left out" has the names of the steps that are not done.

    python benchmarks/gpu.py                five minutes
    python benchmarks/gpu.py --minutes 2    the figures, and as many checks as there is time for
    python benchmarks/gpu.py --show         the tables of what was recorded before
    python benchmarks/gpu.py --sweep --minutes 3 --output sweep.json    the best launch settings
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from gpu_figures import figures
from gpu_steps import CHECKS, DEVICES, Bench, OutOfTime, Sizes, Step, checks, describe
from gpu_sweep import SWEEP, show_sweep, sweeps
from machine import RESULTS, machine, recorded, write
from script import Run, script, table

from gpusudoku.engines.cuda import availability
from gpusudoku.errors import DeviceError, InputError, Interrupted, MismatchError, printable

OTHERS = "batch, contraction, or process", ("puzzles", "contraction", "start-up")
"""The head of the table of the other parts, and these."""
SIZES = Sizes()
STEP_SECONDS = 10.0
"""The time that a step may take."""
MIN_RATED = 10_000
"""From so many solutions or puzzles on, the rate is shown, too."""


def save(path: Path, results: dict[str, Any]) -> None:
    """Write another file and rename it, so that the file is whole at any time."""
    new = path.with_name(f"{path.name}.new")
    write(new, results)
    new.replace(path)


def all_steps(bench: Bench, results: dict[str, Any]) -> list[Step]:
    """List a few checks, all figures, and the other checks; prices are made of ``results``."""
    all_checks = checks(bench)
    first = [step for step in all_checks if step.name in bench.sizes.first]
    return [*first, *figures(bench, results), *(step for step in all_checks if step not in first)]


def take(
    steps: Sequence[Step], bench: Bench, path: Path, results: dict[str, Any], end: float
) -> None:
    """Take one step after the other, and record what each gives; a MismatchError ends this."""
    results |= {step.part: [] for step in steps}
    left_out = results["left out"] = [step.name for step in steps]
    failed = results["failed"] = []
    save(path, results)
    for number, step in enumerate(steps, 1):
        print_progress(f"{number}/{len(steps)} {step.name}")
        # A sweep divides its time itself.
        bench.end = end if step.part == SWEEP else min(end, time.perf_counter() + STEP_SECONDS)
        message = ""
        try:
            bench.look()
            for run in step.runs():
                results[step.part].append(run)
                save(path, results)
            left_out.remove(step.name)
        except (OutOfTime, subprocess.TimeoutExpired):
            message = f"{step.name}: left out for lack of time"
        except Interrupted:
            raise
        except Exception as error:  # of CuPy and the driver, too: other steps may still work
            message = f"{step.name}: {printable(str(error) or type(error).__name__)}"
            left_out.remove(step.name)
            failed.append(message)
            if isinstance(error, MismatchError):
                raise MismatchError(message) from None
        finally:
            save(path, results)
            print_progress(message, end="\n" * bool(message))


def print_progress(text: str, end: str = "") -> None:
    """Replace the line of progress on stderr."""
    click.echo(f"\r{text:<78}\r{end}", nl=False, err=True)


def show(path: Path) -> None:
    """Print what was checked and what was measured."""
    results = recorded(path)
    gpu = results["machine"]["gpu"]
    number = len(results.get(CHECKS, []))
    if wrong := [text for text in results["failed"] if "solutions counted" in text]:
        print(f"WRONG after {number} checks: {'; '.join(wrong)}.\n")
    elif SWEEP not in results:
        print(f"{number} checks, and all counts right.\n" if number else "No count was checked.\n")
    show_kernel(results.get("kernel", []))
    show_sweep(results.get(SWEEP, []))
    show_devices(results, "from board to count", ("search",))
    show_devices(results, *OTHERS)
    for run in results.get("prices", []):
        print(
            f"Prices: {run['gpu']} does the work of {run['nine']:.3g} cores of 2024 in searches of"
            f" 9x9 boards, of {run['larger']:.3g} on larger ones, of {run['sums']:.3g} in sums.\n"
        )
    print("; ".join(f"{name} {value}" for name, value in gpu.items()) + "\n")
    if left_out := len(results["left out"]):
        print(f"{left_out} step{'s' * (left_out > 1)} not done; the recorded file names them.\n")
    if results["failed"]:
        print(f"Failed: {'; '.join(results['failed'])}.\n")


def others(path: Path) -> None:
    """Print what was measured besides searches of single boards."""
    show_devices(recorded(path), *OTHERS)


def show_kernel(runs: Sequence[Run]) -> None:
    """Print the speed of the kernel alone."""
    rows = [
        [run["case"], f"{run['rate'] / 1e6:.1f}", f"{run['nodes'] / 1e6:.1f}", f"{run['busy']:.0%}",
         f"{run['seconds']:.3f}", run.get("clocks.sm", ""), run.get("power.draw", "")]
        for run in runs
    ]  # fmt: skip
    if rows:
        heads = ["kernel alone", "M solutions/s", "M nodes/s", "threads busy", "s a launch"]
        table([*heads, "clock", "power"], rows)
        print()


def show_devices(results: dict[str, Any], head: str, parts: Sequence[str]) -> None:
    """Print seconds, and rates, of every device that was timed."""
    cells: dict[str, dict[str, str]] = {}
    for run in [run for part in parts for run in results.get(part, [])]:
        text = f"{run['seconds']:.4g} s"
        number = run.get("number", 0)
        if number >= MIN_RATED:
            text = f"{number / run['seconds'] / 1e6:,.4g} M/s: {number:,} in {text}"
        if "transfer" in run:
            text += f", and {run['transfer']:.4g} s of transfers"
        cells.setdefault(run["case"], {}).setdefault(run["device"], text)
    devices = [device for device in DEVICES if any(device in row for row in cells.values())]
    rows = [[case, *(row.get(device, "") for device in devices)] for case, row in cells.items()]
    if rows:
        table([head, *(DEVICES[device] for device in devices)], rows)
        print()


@script("gpu", show)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=5.0, show_default=True,
              help="Time for everything.")  # fmt: skip
@click.option("--sweep", is_flag=True, help="Only try launch settings of the search kernel.")
def main(path: Path, minutes: float, sweep: bool) -> None:
    """Check GPUs, and time them beside the CPU's cores."""
    start = time.perf_counter()
    reason = availability.unusable_because()
    if availability.simulated():
        reason = "only the simulator is there"
    if reason is not None:
        raise DeviceError(f"nothing is measured: {reason}")
    if sweep and path.resolve() == (RESULTS / "gpu.json").resolve():
        raise InputError(f"--sweep needs --output: {path.name} has the other figures")
    bench = Bench(SIZES)
    names = [gpu.card.name for gpu in bench.gpus]
    results: dict[str, Any] = {}
    results["machine"] = {**machine(), "gpus": names, "gpu": describe(bench.gpus[0])}
    steps = sweeps(bench) if sweep else all_steps(bench, results)
    try:
        take(steps, bench, path, results, start + 60 * minutes)
    except (KeyboardInterrupt, Interrupted):
        raise Interrupted(f"interrupted; what was found is in {path}") from None
    finally:
        results["seconds"] = time.perf_counter() - start
        save(path, results)
    if failed := results["failed"]:
        show(path)
        raise DeviceError(f"{len(failed)} of {len(steps)} steps failed, first of all {failed[0]}")


if __name__ == "__main__":
    main()
