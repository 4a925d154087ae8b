"""What is timed on a GPU, once its counts are right; the CPU's cores do the same beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from math import inf
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import searching
from gpu_bench import DEVICES, UNDER_LOAD, Bench, OutOfTime, Step, asked, board_without
from script import Run, check
from tune_gpu import Tuner

from gpusudoku import collection
from gpusudoku.errors import GpusudokuError

ROOT = Path(__file__).resolve().parents[1]
TUNED: dict[str, list[Any]] = {
    "threads_per_block": [64, 256],
    "boards_per_thread": [2, 32],
    "max_registers": [96],
    "launch_seconds": [0.5],
}
"""Other settings that are tried, one at a time; ``tune_gpu.py`` tries more of them."""
REPEATS = 3


def steps(bench: Bench) -> Iterator[Step]:
    """All that is timed; what most people want to know comes first."""
    for name, clues in bench.sizes.steady:
        run = partial(_steady, bench, name, clues)
        yield Step("kernel", f"the kernel alone on @{name}", run)
    for name, on_gpu, on_cpu in bench.sizes.long:
        for device, clues in zip(DEVICES, (on_gpu, on_cpu), strict=True):
            run = partial(_search, bench, name, clues, device)
            yield Step("search", f"search of {board_without(name, clues)[1]} on {device}", run)
    yield Step("puzzles", f"a batch of {bench.puzzles[0]} puzzles", partial(_puzzles, bench))
    for name in bench.sizes.contracted:
        yield Step("contraction", f"contraction of @{name}", partial(_contraction, bench, name))
    yield Step("start-up", "start-up", partial(_start_up, bench))
    yield from _tuning(bench)


def _steady(bench: Bench, name: str, clues: int) -> Iterator[Run]:
    """Time launches of the kernel in which all threads are busy all the time."""
    board, case = board_without(name, clues)
    gpu = bench.one.gpus[0]
    load: dict[str, str] = {}
    asking = threading.Thread(target=lambda: load.update(asked(gpu, UNDER_LOAD)), daemon=True)
    launches = []
    for launched in searching.launches(board, bench.one):
        bench.clock.look()
        launches.append(launched)
        if len(launches) == searching.LAUNCHES // 2:
            asking.start()
    if asking.ident is not None:
        asking.join()
    best = launches[len(launches) // 2 :]  # the first ones are short, and warm up
    yield {
        "case": case,
        "device": "cuda",
        "rate": median(each.solutions / each.seconds for each in best),
        "nodes": median(each.nodes / each.seconds for each in best),
        "busy": best[-1].busy,
        "launches": len(launches),
        "seconds": median(each.seconds for each in best),
        **load,
    }


def _search(bench: Bench, name: str, clues: int, device: str) -> Iterator[Run]:
    """Search a board, end to end; its count is compared with another way's."""
    board, case = board_without(name, clues)
    right = bench.right(board)
    times = []
    for _ in range(REPEATS):
        result = bench.count(board, device, method="search")
        check(f"{case} on {device}", result.count, right)
        times.append((result.stats.seconds, result.stats.expansion_seconds))
        if times[-1][0] > bench.clock.left / REPEATS:
            break
    seconds, expansion = min(times)
    yield {"case": f"{case}, solutions", "device": device, "number": right, "seconds": seconds,
           "expansion": expansion}  # fmt: skip


def _puzzles(bench: Bench) -> Iterable[Run]:
    """Count many puzzles that are in memory."""
    name, cells = bench.puzzles
    return searching.batch(name, cells, bench.sizes.batch, bench.one)


def _contraction(bench: Bench, name: str) -> Iterator[Run]:
    """Contract a board on both devices."""
    for device in DEVICES:
        times = []
        for _ in range(REPEATS):
            result = bench.count(collection.load(name), device, method="contraction")
            check(f"@{name}, contraction on {device}", result.count, collection.entry(name).count)
            times.append(result.stats.seconds)
        yield {"case": f"@{name}", "device": device, "seconds": min(times)}


def _start_up(bench: Bench) -> Iterator[Run]:
    """Time two processes, the first of which finds nothing compiled."""
    name = bench.sizes.start
    command = [sys.executable, "-m", "gpusudoku", "count", f"@{name}", "-q"]
    with TemporaryDirectory() as folder:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": path, "GPUSUDOKU_CACHE_DIR": folder}
        for case in ("first process", "second process"):
            start = time.perf_counter()
            try:
                done = subprocess.run(
                    [*command, "--device", "cuda", "--method", "search"],
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=max(1.0, bench.clock.left),
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise OutOfTime(f"the {case} takes too long") from None
            seconds = time.perf_counter() - start
            if done.returncode:
                raise GpusudokuError(f"a new process: {done.stderr.strip()}")
            check(f"@{name} in a new process", int(done.stdout), collection.entry(name).count)
            yield {"case": f"@{name}, {case}", "device": "cuda", "seconds": seconds}


def _tuning(bench: Bench) -> Iterator[Step]:
    """Searches with other settings, each of which is a step."""
    board, case = board_without(*bench.sizes.tuned)
    tuner = cache(lambda: Tuner(board, 0, 1, bench.clock.look))  # made when it is needed
    for changes in [{}, *({name: value} for name, values in TUNED.items() for value in values)]:
        text = ", ".join(f"{name} {value}" for name, value in changes.items()) or "as it is"

        def run(changes: dict[str, Any] = changes, text: str = text) -> Iterator[Run]:
            seconds = tuner().seconds(replace(tuner().gpu.tuning, **changes))
            if seconds < inf:  # else the GPU refuses these settings, which was said
                yield {"case": text, "board": case, "device": "cuda", "seconds": seconds}

        yield Step("tuning", f"tuning, {text}", run)
