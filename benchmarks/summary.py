"""The README's table: what was recorded of this program, beside the best other program.

The other programs are those of ``peers.py``, measured in the same run on the same machine. The last
rows stand beside times that others have published for boards they counted or solved; those were
taken on other machines, which the table names.

    python benchmarks/summary.py     measures nothing: reads what other scripts recorded
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from documents import DECOMPOSITION
from machine import RESULTS, heading
from peers import middle
from published import SECONDS, SOURCE

from gpusudoku import collection
from gpusudoku.bench.suite import Row, read_json, undisturbed
from gpusudoku.errors import InputError

DEFAULT = "gpusudoku auto, all cores"
ONE_CORE = "gpusudoku search, -j 1"
"""What ``peers.py`` calls the two ways of counting that the table shows."""

DECOMPOSED = "decomposition-16x16"
"""The board for which "Sudoku Solver using Exploratory Decomposition" has its longest times."""

MEASURED = ("1a", "1b", "1d", "2b", "2d", "16x16-unique")
"""The boards of the table that ``peers.py`` measured: few solutions to many, and a large one."""

Rows = list[dict[str, Any]]


def show(path: Path) -> None:
    """Print the table from the recorded files beside ``path``, which is no file itself."""
    peers, documents = (
        json.loads((path.parent / f"{name}.json").read_text()) for name in ("peers", "documents")
    )
    rows, described = read_json(str(path.parent / "bench.json"))
    machines = [heading(each) for each in (peers["machine"], described)]
    print(f"{'; 2f: '.join(dict.fromkeys(machines))}\n")
    heads = ["board", "solutions", "gpusudoku", "search on one core", "best other program"]
    print(f"| {' | '.join(heads)} | their time / ours |")
    print("|---|---:|---:|---:|---|---:|")
    for name in MEASURED:
        show_measured(name, [run for run in peers["runs"] if run["board"] == name])
    seconds, source = SECONDS["2f"][1], f"{SOURCE}, 64 cores, published"
    show_row("2f", *times_of_2f(undisturbed(rows)), seconds, source)
    seconds = DECOMPOSITION[DECOMPOSED]["parallel"][0]
    source = "its report, 8 cores, published"
    show_row(DECOMPOSED, *times_of_decomposed(documents["runs"]), seconds, source)


def show_measured(name: str, runs: Rows) -> None:
    """Print the row of a board that other programs counted in the same run."""
    cases = {
        program: middle([run for run in runs if run["program"] == program])
        for program in dict.fromkeys(run["program"] for run in runs)
    }
    own, one_core = cases[DEFAULT].seconds, cases[ONE_CORE].seconds
    others = [(case.seconds, program) for program, case in cases.items()
              if case.complete and not program.startswith("gpusudoku")]  # fmt: skip
    show_row(name, own, one_core, *min(others))


def times_of_2f(rows: list[Row]) -> tuple[float, float | None]:
    """Return the seconds of the quicker method on all cores, and of the search on one if known.

    Raises
    ------
    InputError
        If every run was disturbed.
    """
    rows = [row for row in rows if row["board"] == "2f" and row["device"] == "cpu"]
    if not rows:
        raise InputError(f"{RESULTS / 'bench.json'}: expected an undisturbed run of board 2f")
    cores = max(row["jobs"] for row in rows)
    alone = [row["median"] for row in rows if (row["method"], row["jobs"]) == ("search", 1)]
    return min(row["median"] for row in rows if row["jobs"] == cores), next(iter(alone), None)


def times_of_decomposed(runs: Rows) -> tuple[float, float]:
    """Seconds of the search for all solutions on all cores, and on one core."""
    runs = [run for run in runs if (run["board"], run["propagate"]) == (DECOMPOSED, "singles")]
    parallel, serial = (
        [run["seconds"] for run in runs if run["way"] == way and run["limit"] is None]
        for way in ("parallel", "serial")
    )
    return median(parallel), median(serial)


def show_row(name: str, own: float, one_core: float | None, seconds: float, other: str) -> None:
    """Print one row of the table."""
    alone = "" if one_core is None else duration(one_core)
    cells = [name, f"{collection.entry(name).count:,}", duration(own), alone,
             f"{duration(seconds)} ({other})", factor(seconds / own)]  # fmt: skip
    print(f"| {' | '.join(cells)} |")


def duration(seconds: float) -> str:
    """Seconds from one second up, else milliseconds, in three digits."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def factor(ratio: float) -> str:
    """Format their time over ours in two digits."""
    return f"{float(f'{ratio:.2g}'):,.6g}"


if __name__ == "__main__":
    show(RESULTS / "summary.json")
