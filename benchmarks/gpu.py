"""Check this machine's GPUs, then time them beside all of its CPU cores: the whole in ten minutes.

First come counts that are known or that the CPU finds, too: boards from 4x4 to 64x64 cells, both
methods, all techniques, strategies and limits, lists of solutions, launches of all kinds, and every
GPU by itself. At the first wrong count the script names the board and ends with exit status 1. Then
come figures: the kernel alone beside the computed bound, long searches, a batch of puzzles,
contractions, the start of the program, and other ways to launch the kernel.

Whatever is found is written to a JSON file at once, so that nothing is lost if the machine goes
away, or after Ctrl-C. What does not fit into the time is left out, and the script says so. Without
a usable GPU it says why, and ends.

    python benchmarks/gpu.py                        ten minutes
    python benchmarks/gpu.py --minutes 3            as much as fits
    python benchmarks/gpu.py --part kernel          only this part, and what else was recorded
    python benchmarks/gpu.py --puzzles puzzles.txt  the batch is made from these puzzles
    python benchmarks/gpu.py --show                 the tables of what was recorded before
    python benchmarks/gpu.py --rehearse --output trial.json   everything, tiny; needs no GPU
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import gpu_checks
import gpu_figures
import searching
from gpu_bench import REHEARSAL, Bench, Clock, OutOfTime, Sizes, Step, described, own_puzzles
from gpu_tables import show
from machine import RESULTS, machine, recorded, write
from script import script

from gpusudoku.engines.cuda import availability
from gpusudoku.errors import DeviceError, InputError, Interrupted, MismatchError, printable

PARTS = ["correctness", "kernel", "search", "puzzles", "contraction", "start-up", "tuning"]
CHECKS_SHARE = 0.5
"""The share of the time that checks may take, if they are not all there is to do."""
SAME = {
    "gpus": "on other GPUs",
    "gpusudoku": "by another version",
    "commit": "by another commit",
    "rehearsal": "in another way",
}
"""What parts that are shown together have in common."""
MOST_OF_A_STEP = 60.0
"""The seconds that one step may take."""
GRACE = 60.0
"""A GPU that does not answer so many seconds after the end is given up."""


class Record:
    """The results, in memory and in their file, which is complete at any time.

    Results of parts that do not run are kept.

    Raises
    ------
    InputError
        If they are those of another machine or version.
    """

    def __init__(self, path: Path, parts: Iterable[str], about: dict[str, Any]) -> None:
        self.path = path
        self.results = recorded(path) if path.exists() and set(parts) != set(PARTS) else {}
        before = self.results.get("machine", about)
        for name, other in SAME.items():
            if before.get(name) != about[name]:
                raise InputError(f"{path}: recorded {other}; give --output for another file")
        self.results |= {"machine": about, "left out": [], "failed": []}
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


def require_gpu() -> None:
    """Check that there is a GPU, and not just the simulator.

    Raises
    ------
    DeviceError
        If there is none.
    """
    simulated = availability.simulated()
    reason = "only the simulator is there" if simulated else availability.unusable_because()
    if reason is not None:
        raise DeviceError(f"nothing is measured: {reason}")


def take(steps: list[Step], clock: Clock, record: Record, checks_end: float) -> None:
    """Take one step after the other, and record what it gives.

    Raises
    ------
    MismatchError
        At the first wrong count, which is recorded, too.
    """
    for number, step in enumerate(steps, 1):
        tell(f"{number}/{len(steps)} {step.name}")
        checks = step.part == gpu_checks.PART
        most = min(MOST_OF_A_STEP, checks_end - time.perf_counter() if checks else MOST_OF_A_STEP)
        said = ""
        try:
            with clock.step(most):
                for run in step.run():
                    record.add(step.part, run)
        except OutOfTime:
            said = f"{step.name}: left out, no time"
            record.add("left out", step.name)
        except Interrupted:
            raise
        except Exception as error:  # CuPy's and the driver's, too: others may do without this step
            said = f"{step.name}: {printable(str(error) or type(error).__name__)}"
            record.add("failed", said)
            if isinstance(error, MismatchError):
                raise MismatchError(said) from None
        finally:
            tell(said, end="\n" * bool(said))


def tell(text: str, end: str = "") -> None:
    """Show how far it is on stderr."""
    click.echo(f"\r{text:<78}\r{end}", nl=False, err=True)


def give_up(seconds: float, path: Path) -> threading.Timer:
    """Let the process end by force after a time: nothing else ends a kernel that never does."""

    def end() -> None:
        click.echo(f"\ngpu.py: the GPU does not answer; what was found is in {path}", err=True)
        sys.stderr.flush()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    return timer


@script("gpu", show)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True,
              help="Time for everything.")  # fmt: skip
@click.option("--part", type=click.Choice(PARTS), multiple=True, help="By default all.")
@click.option("--puzzles", metavar="FILE", help="9x9 puzzles; by default the program's own.")
@click.option("--rehearse", is_flag=True, help="Do all with tiny boards, without a GPU, too.")
def main(
    path: Path, minutes: float, part: tuple[str, ...], puzzles: str | None, rehearse: bool
) -> None:
    """Check GPUs, then time them beside the CPU's cores."""
    start = time.perf_counter()
    if not rehearse:
        require_gpu()
    elif path == RESULTS / "gpu.json":
        raise InputError("--rehearse needs --output: its figures mean nothing")
    # Whatever may be wrong with what was given is found before there is anything to lose.
    given = (Path(puzzles).name, searching.puzzles(Path(puzzles))) if puzzles else own_puzzles()
    clock = Clock(60 * minutes)
    bench = Bench(clock, REHEARSAL if rehearse else Sizes(), given)
    about = {**machine(), "gpus": [gpu.name for gpu in bench.gpus], "rehearsal": rehearse}
    parts = [name for name in PARTS if name in (part or PARTS)]
    record = Record(path, parts, {**about, "gpu": described(bench.gpus[0])})
    every = [*gpu_checks.steps(bench), *gpu_figures.steps(bench)]
    steps = [step for step in every if step.part in parts]
    share = 1.0 if parts == [gpu_checks.PART] else CHECKS_SHARE
    timer = give_up(60 * minutes + GRACE, path)
    try:
        take(steps, clock, record, start + 60 * minutes * share)
    except (KeyboardInterrupt, Interrupted):
        raise Interrupted(f"interrupted; what was found is in {path}") from None
    finally:
        timer.cancel()
        record.results["seconds"] = time.perf_counter() - start
        record.save()
    if failed := record.results["failed"]:
        show(path)
        raise DeviceError(f"{len(failed)} of {len(steps)} steps failed, first of all {failed[0]}")


if __name__ == "__main__":
    main()
