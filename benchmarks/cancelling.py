"""Cancel calls of the Python interface at random moments, and see how soon the cores are free.

Every kind of call that may take long is made in a thread of its own, again and again, and its token
is cancelled at a moment drawn from the time that the call takes, or from its first seconds. Two
figures are recorded: the time from that moment until the call has raised ``Cancelled`` and all
threads that it started have ended, and the processor time that the process takes from the
cancellation to then, which other programs disturb less. Kernels are compiled and loaded before.

    python benchmarks/cancelling.py              twenty minutes on two cores
    python benchmarks/cancelling.py --moments 3  some of it
    python benchmarks/cancelling.py --show       the table of what was recorded before
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median, quantiles

import click
from cancelled_calls import Case, cases
from machine import gigahertz, record, recorded
from script import Run, grouped, script, table, turns

from gpusudoku import Cancelled, CancelToken
from gpusudoku.errors import GpusudokuError, TooExpensive
from gpusudoku.jobs.cores import usable_cores

LIMIT = 0.1
"""Seconds in which the cores should be free."""
MOST_SECONDS = 2.0
"""Moments are drawn from so many seconds of a call at most."""
WARM_SECONDS = 10.0
"""A call is made once before, for so long at most, so that all kernels that it takes are loaded."""
LATER_SECONDS = 0.02
"""When all threads have ended, it is seen for so long whether the process still does anything."""
MOMENTS = 20
"""How often a call is cancelled."""
SEED = 16

MILLISECONDS = 1000.0
"""In a second."""


def cancelled(call: Callable[[CancelToken], object], moment: float) -> Run | None:
    """Cancel a call at a moment of it, in seconds; None if it ended before that.

    One that finds out what it would cost, and that this is too much, has ended, too.

    Raises
    ------
    GpusudokuError
        If the call raises any error of its own.
    """
    token, before = CancelToken(), set(threading.enumerate())
    raised: list[tuple[type | None, str]] = []

    def work() -> None:
        try:
            call(token)
        except BaseException as error:  # not kept: it would keep what the call has begun
            raised.append((type(error), repr(error)))

    thread = threading.Thread(target=work)
    begun = time.perf_counter()
    thread.start()
    thread.join(moment)
    cpu = time.process_time()
    token.cancel()
    thread.join()
    for other in set(threading.enumerate()) - before:
        other.join()
    seconds, used = time.perf_counter() - begun - moment, time.process_time() - cpu
    time.sleep(LATER_SECONDS)
    later = time.process_time() - cpu - used
    kind, words = raised[0] if raised else (None, "")
    if kind not in (None, Cancelled, TooExpensive):
        raise GpusudokuError(words)
    # From the moment, not from the cancellation: what holds the interpreter's lock delays that.
    return (
        {"moment": moment, "seconds": seconds, "cpu": used, "later": later}
        if kind is Cancelled
        else None
    )


def taken(case: Case) -> float:
    """The seconds from which moments are drawn, once all that the call takes is loaded."""
    for most in (WARM_SECONDS, MOST_SECONDS):
        begun = time.perf_counter()
        cancelled(case.call, most)
        seconds = min(most, time.perf_counter() - begun)
    return min(MOST_SECONDS, seconds)


def measure(chosen: list[Case], moments: int) -> list[Run]:
    """Cancel each call so many times, all in turn."""
    rng, runs, seconds = Random(SEED), [], dict[str, float]()
    for case, kept in turns(chosen, moments, lambda case: f"{case.what}, {case.board}"):
        name = f"{case.what} {case.board}"
        if not kept:
            seconds[name] = taken(case)
            continue
        found = None
        while found is None:  # it may be quicker than before
            found = cancelled(case.call, rng.random() * seconds[name])
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        runs.append({"what": case.what, "board": case.board, "takes": seconds[name],
                     **found, "load": load})  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    runs = recorded(path)["runs"]
    rows = []
    for (what, name), own in grouped(runs, "what", "board").items():
        cells = [what, name, f"{len(own)}"]
        for figure in ("seconds", "cpu"):
            values = [MILLISECONDS * run[figure] for run in own]
            ninety = quantiles(values, n=10, method="inclusive")[-1] if len(own) > 1 else values[0]
            cells += [f"{value:.0f}" for value in (median(values), ninety, max(values))]
        rows.append(cells)
    table(["call", "board", "times", "free after: median ms", "90 %", "worst",
           "processor time: median ms", "90 %", "worst"], rows, left=2)  # fmt: skip
    within, worked = (sum(run[of] <= LIMIT for run in runs) for of in ("seconds", "cpu"))
    print(f"\nFree within {MILLISECONDS * LIMIT:.0f} ms: {within} of {len(runs)};"
          f" with no more processor time than that: {worked}.")  # fmt: skip
    later = max(run["later"] for run in runs)
    print(f"In the {MILLISECONDS * LATER_SECONDS:.0f} ms after that the process took"
          f" {MILLISECONDS * later:.1f} ms of processor time at most.")  # fmt: skip
    loads = [run["load"] for run in runs if run["load"] is not None]
    if loads:
        print(f"Programs that wanted a core: {median(loads):.1f} in the middle.")


@script("cancelling", show)
@click.option("--moments", type=click.IntRange(min=1), default=MOMENTS, show_default=True,
              help="How often each call is cancelled.")  # fmt: skip
@click.option("--only", default="", help="Calls whose name or board has this text.")
def main(path: Path, moments: int, only: str) -> None:
    """Cancel calls, and see how soon the cores are free."""
    chosen = [case for case in cases() if only in f"{case.what}, {case.board}"]
    cores = usable_cores()
    before = gigahertz(cores)
    runs = measure(chosen, moments)
    record(path, runs, gigahertz=[before, gigahertz(cores)])


if __name__ == "__main__":
    main()
