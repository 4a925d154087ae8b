"""Check the GPUs of this machine, and compare their times with those of its cores.

The steps have this order:

1. A few checks, one for each method and size of board that is timed.
2. Measurements: the kernel alone, searches, a batch of puzzles, contractions, and the start of the
   program. The prices by which the program chooses between GPU and CPU are computed from them and
   saved.
3. All other checks, which compare counts with known ones: boards from 4x4 to 64x64 cells,
   techniques, strategies, limits, lists of solutions, hardly any memory, several GPUs.

The first wrong count ends the script with exit status 1 and a message that names the board. A step
that takes longer than ten seconds is left out. Every result is written to the file at once, so an
interrupt or a lost machine does not destroy any. The list "left out" of the file has the names of
the missing steps.

    python benchmarks/gpu.py                five minutes
    python benchmarks/gpu.py --minutes 2    all measurements, and as many checks as time allows
    python benchmarks/gpu.py --show         print the tables of the recorded run
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
from machine import RESULTS, machine, read_results, write_results
from script import WRONG_COUNT, Run, print_table, script

from gpusudoku.engines.cuda import availability
from gpusudoku.errors import DeviceError, InputError, Interrupted, MismatchError, printable

OTHER_HEAD = "batch, contraction, or process"
OTHER_PARTS = ("puzzles", "contraction", "start-up")
"""The measurements, other than searches, that share a table, and the head of the table."""
SIZES = Sizes()
STEP_SECONDS = 10.0
"""The maximum time of a step."""
MIN_RATED = 10_000
"""Tables have a rate for at least this many solutions or puzzles."""


def save(path: Path, results: dict[str, Any]) -> None:
    """Write another file and rename it, so that the file is complete at any time."""
    new_path = path.with_name(f"{path.name}.new")
    write_results(new_path, results)
    new_path.replace(path)


def all_steps(bench: Bench, results: dict[str, Any]) -> list[Step]:
    """Return all steps in their order; ``results`` will have the figures for the prices."""
    all_checks = checks(bench)
    first_checks = [step for step in all_checks if step.name in bench.sizes.first]
    other_checks = [step for step in all_checks if step not in first_checks]
    return [*first_checks, *figures(bench, results), *other_checks]


def run_steps(
    steps: Sequence[Step], bench: Bench, path: Path, results: dict[str, Any], deadline: float
) -> None:
    """Run all steps, and write their results to a file.

    Raises
    ------
    MismatchError
        After the first wrong count. Other errors only end their step.
    """
    # The file has all parts from the start, so that it can be shown after any interruption.
    results |= {step.part: [] for step in steps}
    left_out = results["left out"] = [step.name for step in steps]
    failed = results["failed"] = []
    save(path, results)
    for number, step in enumerate(steps, 1):
        print_progress(f"{number}/{len(steps)} {step.name}")
        bench.deadline = deadline
        if step.part != SWEEP:  # a sweep divides its time itself
            bench.deadline = min(deadline, time.perf_counter() + STEP_SECONDS)
        message = ""
        try:
            bench.check_deadline()
            for run in step.runs():
                results[step.part].append(run)
                save(path, results)
            left_out.remove(step.name)
        except (OutOfTime, subprocess.TimeoutExpired):
            message = f"{step.name}: left out for lack of time"
        except Interrupted:
            raise
        except Exception as error:  # also errors of CuPy and the driver: other steps may work
            message = f"{step.name}: {printable(str(error) or type(error).__name__)}"
            left_out.remove(step.name)  # a step that failed was not left out
            failed.append(message)
            if isinstance(error, MismatchError):
                raise MismatchError(message) from None
        finally:
            save(path, results)
            print_progress(message, end="\n" if message else "")


def print_progress(text: str, end: str = "") -> None:
    """Replace the line of progress on stderr."""
    click.echo(f"\r{text:<78}\r{end}", nl=False, err=True)


def show(path: Path) -> None:
    """Print the outcome of the checks and the tables of a recorded file."""
    results = read_results(path)
    show_checks(results)
    show_kernel(results.get("kernel", []))
    show_sweep(results.get(SWEEP, []))
    show_devices(results, "from board to count", ("search",))
    show_devices(results, OTHER_HEAD, OTHER_PARTS)
    for run in results.get("prices", []):
        print(
            f"Prices: {run['gpu']} does the work of {run['nine']:.3g} reference cores in searches"
            f" of 9x9 boards, of {run['larger']:.3g} on larger ones, of {run['sums']:.3g} in"
            " sums.\n"
        )
    description = results["machine"]["gpu"]
    print("; ".join(f"{name} {value}" for name, value in description.items()) + "\n")
    left_out = len(results["left out"])
    if left_out:
        print(f"{left_out} step{'s' * (left_out > 1)} not done; the recorded file names them.\n")
    if results["failed"]:
        print(f"Failed: {'; '.join(results['failed'])}.\n")


def show_checks(results: dict[str, Any]) -> None:
    """Print how many checks were done, and wrong counts if there are any."""
    check_count = len(results.get(CHECKS, []))
    wrong_counts = [message for message in results["failed"] if WRONG_COUNT.search(message)]
    if wrong_counts:
        print(f"WRONG after {check_count} checks: {'; '.join(wrong_counts)}.\n")
    elif SWEEP in results:
        return
    elif check_count:
        print(f"{check_count} checks, and all counts right.\n")
    else:
        print("No count was checked.\n")


def others(path: Path) -> None:
    """Print the measurements other than searches of single boards."""
    show_devices(read_results(path), OTHER_HEAD, OTHER_PARTS)


def show_kernel(runs: Sequence[Run]) -> None:
    """Print the rates of the kernel alone."""
    if not runs:
        return
    rows = [
        [
            run["case"],
            f"{run['rate'] / 1e6:.1f}",
            f"{run['nodes'] / 1e6:.1f}",
            f"{run['busy']:.0%}",
            f"{run['seconds']:.3f}",
            run.get("clocks.sm", ""),
            run.get("power.draw", ""),
        ]
        for run in runs
    ]
    heads = ["kernel alone", "M solutions/s", "M nodes/s", "threads busy", "s per launch"]
    print_table([*heads, "clock", "power"], rows)
    print()


def show_devices(results: dict[str, Any], head: str, parts: Sequence[str]) -> None:
    """Print a table of parts: a row for each case, a column for each device."""
    cells: dict[str, dict[str, str]] = {}
    for part in parts:
        for run in results.get(part, []):
            cells.setdefault(run["case"], {}).setdefault(run["device"], format_run(run))
    if not cells:
        return
    devices = [device for device in DEVICES if any(device in row for row in cells.values())]
    rows = [[case, *(row.get(device, "") for device in devices)] for case, row in cells.items()]
    print_table([head, *(DEVICES[device] for device in devices)], rows)
    print()


def format_run(run: Run) -> str:
    """Format the seconds of a run, and the rate if it counted many solutions or puzzles."""
    text = f"{run['seconds']:.4g} s"
    number = run.get("number", 0)
    if number >= MIN_RATED:
        text = f"{number / run['seconds'] / 1e6:,.4g} M/s: {number:,} in {text}"
    if "transfer" in run:
        text += f", and {run['transfer']:.4g} s of transfers"
    return text


@script("gpu", show)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=5.0, show_default=True,
              help="Maximum time of all steps.")  # fmt: skip
@click.option("--sweep", is_flag=True, help="Only try launch settings of the search kernel.")
def main(path: Path, minutes: float, sweep: bool) -> None:
    """Check GPUs, and compare their times with those of the CPU's cores."""
    start = time.perf_counter()
    reason = availability.unusable_because()
    if availability.simulated():
        reason = "there is only the simulator"
    if reason is not None:
        raise DeviceError(f"nothing is measured: {reason}")
    if sweep and path.resolve() == (RESULTS / "gpu.json").resolve():
        raise InputError(f"--sweep needs --output: {path.name} has other results")
    bench = Bench(SIZES)
    # The GPUs that this script measures; ``machine`` leaves out simulated ones.
    names = [gpu.card.name for gpu in bench.gpus]
    results: dict[str, Any] = {}
    results["machine"] = {**machine(), "gpus": names, "gpu": describe(bench.gpus[0])}
    steps = sweeps(bench) if sweep else all_steps(bench, results)
    try:
        run_steps(steps, bench, path, results, start + 60 * minutes)
    except (KeyboardInterrupt, Interrupted):
        raise Interrupted(f"interrupted; the results so far are in {path}") from None
    finally:
        results["seconds"] = time.perf_counter() - start
        save(path, results)
    failed = results["failed"]
    if failed:
        show(path)
        raise DeviceError(f"{len(failed)} of {len(steps)} steps failed, the first is {failed[0]}")


if __name__ == "__main__":
    main()
