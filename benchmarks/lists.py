"""How long a list of puzzles takes on a GPU, in a file or in memory: computed, without a GPU.

The program is as it is: it reads and packs the puzzles, copies them, waits for the card, and writes
their counts. What is made up is the card. Its memory is NumPy's, and a launch counts one solution
of every puzzle in it. It takes as long as an H200 took for as many puzzles of 17 clues, or longer
if the processor is slower, and launches follow each other as on one card.

What the threads take on cores is measured. From it follows what a list takes where each thread has
a core: the sum of all stages if one follows the other, the longest of them if they overlap.

    python benchmarks/lists.py                    a minute
    python benchmarks/lists.py list.txt           puzzles of yours, one a line
    python benchmarks/lists.py --other FOLDER     another version of the program, too, in turns
    python benchmarks/lists.py --show             what was recorded before
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import click
from machine import record, recorded
from script import Run, check, grouped, other_option, repeated, script, table, trees_of, turns

from gpusudoku.errors import MismatchError

PUZZLES = 491_580
CARD_SECONDS = 0.17
"""What an H200 took for so many puzzles, 207 launches and the copies between them included."""
MULTIPROCESSORS, BLOCKS, THREADS = 132, 7, 128
"""Those of an H200, and the blocks of so many threads that one runs at once."""
WARM = 16
"""The process does so many times fewer puzzles before it is timed."""
WAYS = {"file": "from file to file", "memory": "from array to array"}
CLOCKS = {
    "seconds": "s here",
    "reader": "the thread that reads and writes, s on a core",
    "cores": "all threads, s on cores",
}
"""What is measured, as it is recorded and as it is shown."""
PACKERS = 3
"""The threads besides the one that reads and writes."""


class Card:
    """Takes the place of the kernel of a search, compiled and configured."""

    def __init__(self) -> None:
        self._busy = threading.Lock()

    def __getitem__(self, configuration: tuple[int, int]) -> Callable[..., None]:
        return self._launch

    def _launch(self, pool: Any, stacks: Any, found: Any, *settings: Any) -> None:
        from gpusudoku.kernels.search.arguments import FILLED, TAKEN

        with self._busy:
            end = time.perf_counter()
            places = slice(int(pool.state[TAKEN]), int(pool.state[FILLED]))
            end += (places.stop - places.start) * CARD_SECONDS / PUZZLES
            found.counts[pool.roots[places]] += 1  # no root has two boards here
            pool.state[TAKEN] = places.stop
            time.sleep(max(0.0, end - time.perf_counter()))


def serve(way: str, *files: str) -> None:
    """Count lists of puzzles, in a process of its own, and print what the last takes."""
    from gpusudoku.engines.cuda import device
    from gpusudoku.kernels.search import cuda

    card = Card()
    with (
        patch.object(cuda, "kernel", lambda *_: card),
        patch.multiple(
            device, SIMULATED_BLOCKS=MULTIPROCESSORS * BLOCKS, SIMULATED_THREADS=THREADS
        ),
        patch.object(device.Gpu, "free_bytes", lambda self: 80 << 30),
    ):
        for file in files:
            times, counts = {"file": in_file, "memory": in_memory}[way](Path(file))
    print(json.dumps({"counts": counts, **times}))


@contextmanager
def clocks() -> Iterator[dict[str, float]]:
    """Measure the seconds that a block takes: on the wall, this thread on a core, and all.

    This thread takes a block of puzzles only where no other has time, so that does not count.
    """
    from gpusudoku.jobs import ordered

    names = {"seconds": time.perf_counter, "reader": time.thread_time, "cores": time.process_time}
    helped, take_block = list[float](), ordered._Pool.help

    def take_and_measure(pool: Any) -> bool:
        start = time.thread_time()
        try:
            return take_block(pool)
        finally:
            helped.append(time.thread_time() - start)

    times = {name: -clock() for name, clock in names.items()}
    with patch.object(ordered._Pool, "help", take_and_measure):
        yield times
    for name, clock in names.items():
        times[name] += clock()
    times["reader"] -= sum(helped)


def in_file(file: Path) -> tuple[dict[str, float], int]:
    """Count the puzzles of a file, to a file; return the times and the sum of the counts."""
    from gpusudoku.cli import cli

    answers = file.with_suffix(".out")
    words = ["count", str(file), "--device", "cuda", "--limit", "2", "-q", "--force"]
    with clocks() as times:
        cli.main([*words, "-o", str(answers)], standalone_mode=False)
    puzzles = file.read_bytes().splitlines()
    counts = answers.read_bytes().splitlines()
    if [line.partition(b":")[0] for line in counts] != puzzles:
        raise MismatchError(f"{answers}: other puzzles than in {file}, or in another order")
    return times, sum(int(line.partition(b":")[2]) for line in counts)


def in_memory(file: Path) -> tuple[dict[str, float], int]:
    """Count the puzzles of an array; return the times and the sum of the counts."""
    import numpy as np

    import gpusudoku

    lines = np.fromfile(file, np.uint8).reshape(-1, 82)[:, :81]
    cells = np.where(lines == ord("."), 0, lines - ord("0"))
    with clocks() as times:
        numbers = gpusudoku.count_many(cells, device="cuda", limit=2).numbers()
    return times, int(numbers.sum())


def timed(tree: Path, way: str, files: list[Path], number: int) -> Run:
    """Run a version of the program in a process of its own; return the times."""
    code = "import sys, lists; lists.serve(*sys.argv[1:])"
    folders = os.pathsep.join([str(tree), str(Path(__file__).parent)])
    environment = {**os.environ, "PYTHONPATH": folders, "NUMBA_ENABLE_CUDASIM": "1"}
    words = [sys.executable, "-c", code, way, *map(str, files)]
    process = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True)
    run: Run = json.loads(process.stdout)
    check(f"{number} puzzles {WAYS[way]}", run["counts"], number)
    return run


def written(folder: Path, given: str | None, number: int) -> list[Path]:
    """Write files of puzzles: a few, to begin with, and as many as are wanted."""
    import numpy as np
    import searching

    from gpusudoku import formats

    if given is None:
        cells = np.concatenate(list(searching.relabelled(searching.own_puzzles(), number)))
    else:
        list_cells = searching.puzzles(Path(given))
        cells = list_cells[np.arange(number) % len(list_cells)]
    files = [folder / "few.txt", folder / "puzzles.txt"]
    for file, puzzles in zip(files, (cells[: number // WARM], cells), strict=True):
        file.write_bytes(formats.write_lines(puzzles))
    return files


@script("lists", lambda path: show(path))
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--repeats", default=5, show_default=True, help="Runs of every case.")
@other_option
def main(path: Path, file: str | None, repeats: int, other: str | None) -> None:
    """Time lists of puzzles with a card that is not there."""
    trees, runs = trees_of(other), list[Run]()
    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder), file, PUZZLES)
        cases = list(product(WAYS, trees))
        for (way, version), kept in turns(cases, repeats, " ".join):
            run = timed(trees[version], way, files, PUZZLES)
            if kept:
                runs.append({"way": way, "version": version, **run})
    record(path, runs, puzzles=Path(file).name if file else "the program's own")


def show(path: Path) -> None:
    """Print what lists take here, and compute what they take where there are cores enough."""
    results = recorded(path)
    cases = grouped(results["runs"], "way", "version")
    rows = []
    for (way, version), runs in cases.items():
        times = {name: median(run[name] for run in runs) for name in CLOCKS}
        others = (times["cores"] - times["reader"]) / PACKERS
        times["in turn"] = times["cores"] + CARD_SECONDS
        times["side by side"] = max(times["reader"], others, CARD_SECONDS)
        rows.append([WAYS[way], version, *(f"{seconds:.2f}" for seconds in times.values())])
    computed = ["computed: one stage after the other, s", "all side by side, s"]
    table(["list", "version", *CLOCKS.values(), *computed], rows, left=2)
    print(f"\n{PUZZLES:,} puzzles: {results['machine']['puzzles']}. {repeated(cases.values())}")


if __name__ == "__main__":
    main()
