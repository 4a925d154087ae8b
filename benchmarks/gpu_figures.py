"""The figures of ``gpu.py``: kernel, searches, a batch, contractions, start-up, prices."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from generated import expensive_boards
from gpu_steps import DEVICES, Bench, OutOfTime, Step, board_without, query
from numpy.typing import NDArray
from script import Run, check

import gpusudoku
from gpusudoku import Board, Geometry, collection
from gpusudoku.board.geometry import NINE
from gpusudoku.engines.cuda.prices import SUM_SECONDS, Prices, save_prices
from gpusudoku.engines.cuda.search import DeviceSearch
from gpusudoku.errors import GpusudokuError
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.arguments import BUSY_THREADS, NODES
from gpusudoku.kernels.search.shape import SearchSettings, shape_of
from gpusudoku.search.frontier import Frontier, node_seconds

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = SearchSettings()
UNDER_LOAD = ("clocks.sm", "power.draw", "temperature.gpu")
"""What nvidia-smi is asked while the kernel runs."""
LIMIT = 2
"""The solutions after which a puzzle of a batch is known to have several."""
SHARES = {"cuda": 1, "cpu": 10, "half": 20, "core": 200}
"""Each device counts one in so many puzzles of a batch, and WARM_UP before."""
WARM_UP = 10_000


def figures(bench: Bench, results: dict[str, Any]) -> list[Step]:
    """List all figures; ``results`` will have them when prices are computed."""
    sizes = bench.sizes
    steps: list[Step] = []

    def add(part: str, name: str, function: Callable[..., Iterator[Run]], *arguments: Any) -> None:
        steps.append(Step(part, name, partial(function, bench, *arguments)))

    for name, clues in sizes.kernel:
        add("kernel", f"the kernel alone on @{name}", time_kernel, name, clues)
    for name, clues, number in sizes.timed:
        board, case = board_without(name, clues)
        for device in list(DEVICES)[:number]:
            arguments = f"{case}, solutions", board, "search", device
            add("search", f"search of {case}, {DEVICES[device]}", time_count, *arguments)
    add("puzzles", "a batch of puzzles", time_batch)
    boards = {f"@{name}": collection.load(name) for name in sizes.contracted}
    for number in sizes.expensive:
        board = expensive_boards(number + 1)[number]
        boards[f"an expensive board of {board.clues} clues"] = board
    for (case, board), device in product(boards.items(), DEVICES):
        arguments = case, board, "contraction", device
        add("contraction", f"contraction of {case}, {DEVICES[device]}", time_count, *arguments)
    add("start-up", "start-up", time_start)
    add("prices", "prices", price, results)
    return steps


def measure_rate(bench: Bench, board: Board, seconds: float) -> Run:
    """Return the rate of the kernel while all threads are busy, and the GPU's clock meanwhile."""
    gpu = bench.gpus[0]
    roots = Frontier.of([board])
    frontier = roots.expanded(SETTINGS, bench.engines["cuda"].prepare(roots, SETTINGS))
    load: dict[str, str] = {}
    ask = threading.Thread(target=lambda: load.update(query(gpu, UNDER_LOAD)))
    with gpu.errors(), gpu.current():
        search = DeviceSearch(gpu, frontier, SETTINGS, Job(1))
        launch_for(seconds / 2, search, bench)  # makes boards for all threads
        ask.start()
        before = totals(search)
        start = time.perf_counter()
        search.launch()
        launches = 1 + launch_for(seconds / 2, search, bench)
        passed = time.perf_counter() - start
        after = totals(search)
        busy = int(gpu.host(search.pool.state)[BUSY_THREADS]) / search.threads
    ask.join()
    rate, nodes = ((now - then) / passed for now, then in zip(after, before, strict=True))
    return {"rate": rate, "nodes": nodes, "busy": busy, "launches": launches,
            "seconds": passed / launches, **load}  # fmt: skip


def launch_for(seconds: float, search: DeviceSearch, bench: Bench) -> int:
    """Launch a search for some time; return the number of launches."""
    end = time.perf_counter() + seconds
    launches = 0
    while search.boards and time.perf_counter() < end:
        bench.look()
        search.launch()
        launches += 1
    return launches


def totals(search: DeviceSearch) -> tuple[int, int]:
    """Return the solutions and the nodes of the search of a board so far."""
    host = search.gpu.host
    return int(host(search.found.counts)[0]), int(host(search.stacks.tally)[NODES].sum())


def time_kernel(bench: Bench, name: str, clues: int) -> Iterator[Run]:
    """Time launches of the kernel while all threads are busy."""
    board, case = board_without(name, clues)
    rate = measure_rate(bench, board, bench.sizes.kernel_seconds)
    yield {"case": case, "device": "cuda", "box": str(board.geometry), **rate}


def time_count(bench: Bench, case: str, board: Board, method: str, device: str) -> Iterator[Run]:
    """Time a method from board to count."""
    count = bench.quickest(board, device, method)
    run = {"case": case, "device": device, "seconds": count.stats.seconds}
    if method == "search":
        yield run | {"number": count.count}
    else:
        estimate = count.estimates and count.estimates.contraction_seconds
        yield run | {"estimate": float(estimate or 0)}


def time_batch(bench: Bench) -> Iterator[Run]:
    """Count an array of puzzles, as a user does; cores count a part of it."""
    puzzles = own_puzzles()
    cells = relabelled(puzzles, bench.sizes.batch)
    for device, engine in bench.engines.items():
        part = cells[: max(1, len(cells) // SHARES[device])]
        for rows in (part[:WARM_UP], part):
            results = gpusudoku.count_many(rows, engine=engine, method="search", limit=LIMIT)
            start = time.perf_counter()
            counts = results.numbers()
            seconds = time.perf_counter() - start
        for index in np.flatnonzero(counts != 1)[:1]:
            check(f"{Board(part[index])} on {device}", int(counts[index]), 1)
        case = f"an array of puzzles, at most {LIMIT} solutions"
        yield {"case": case, "device": device, "number": len(part), "seconds": seconds}


def own_puzzles() -> NDArray[np.uint8]:
    """Return the 9x9 puzzles with one solution that come with the program, uint8 (puzzles, 81)."""
    entries = [entry for entry in collection.entries() if (entry.box, entry.count) == (NINE, 1)]
    boards = [collection.load(entry.name) for entry in entries]
    return np.stack([board.cells for board in boards if board.empty_cells])


def relabelled(puzzles: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
    """Make ``number`` different puzzles of those given, in turn, by exchanging digits."""
    indices = np.arange(number)
    digits = np.zeros((number, 10), np.uint8)
    digits[:, 1:] = 1 + np.random.default_rng(0).random((number, 9)).argsort(axis=1)
    return digits[indices[:, None], puzzles[indices % len(puzzles)]]


def time_start(bench: Bench) -> Iterator[Run]:
    """Time two processes, the first of which finds nothing compiled."""
    name = bench.sizes.started
    command = [sys.executable, "-m", "gpusudoku", "count", f"@{name}", "-q", "--device", "cuda",
               "--method", "search"]  # fmt: skip
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": path, "GPUSUDOKU_CACHE_DIR": folder}
        for case in ("first process", "second process"):
            start = time.perf_counter()
            done = subprocess.run(command, env=environment, check=False, capture_output=True,
                                  text=True, timeout=bench.end - start)  # fmt: skip
            seconds = time.perf_counter() - start
            if done.returncode:
                raise GpusudokuError(f"a new process: {done.stderr.strip()}")
            check(f"@{name} in a new process", int(done.stdout), collection.entry(name).count)
            yield {"case": f"@{name}, {case}", "device": "cuda", "seconds": seconds}


def price(bench: Bench, results: dict[str, Any]) -> Iterator[Run]:
    """Compute the prices of the first GPU, and save them for later runs of the program."""
    card = bench.gpus[0].card
    prices = prices_of_figures(results)
    print(f"\nprices saved in {save_prices(card, prices)}", file=sys.stderr)
    yield {"gpu": card.name, **asdict(prices)}


def prices_of_figures(results: dict[str, Any]) -> Prices:
    """Compute how many cores do the work of a GPU; OutOfTime if too little was measured."""
    nine: list[float] = []
    larger: list[float] = []
    for run in results["kernel"]:
        box = Geometry.parse(run["box"])
        seconds = node_seconds(shape_of(box.box_rows, box.box_columns))
        (nine if box == NINE else larger).append(run["nodes"] * seconds)
    contractions = [run for run in results["contraction"] if run["device"] == "cuda"]
    if not (nine and larger and contractions):
        raise OutOfTime
    largest = max(contractions, key=lambda run: run["estimate"])
    cores = largest["estimate"] / max(largest["seconds"] - SUM_SECONDS, SUM_SECONDS / 4)
    return Prices(min(nine), min(larger), max(1.0, cores))
