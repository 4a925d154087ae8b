"""The measurements of ``gpu.py``: kernel, searches, a batch, contractions, start-up, prices."""

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
from script import Run, check_count

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
"""Fields of nvidia-smi that are read while the kernel runs."""
LIMIT = 2
"""The limit of solutions of each puzzle of a batch: two prove that it is not proper."""
BATCH_DIVISORS = {"cuda": 1, "cpu": 10, "half": 20, "core": 200}
"""Each device counts a part of the batch: its size divided by this number."""
WARM_UP_PUZZLES = 10_000
"""Puzzles of a batch that a device counts before its clock starts."""


def figures(bench: Bench, results: dict[str, Any]) -> list[Step]:
    """Return all measurements; ``results`` has them when the last step computes the prices."""
    sizes = bench.sizes
    steps: list[Step] = []

    def add(part: str, name: str, function: Callable[..., Iterator[Run]], *arguments: Any) -> None:
        steps.append(Step(part, name, partial(function, bench, *arguments)))

    for name, clues in sizes.kernel:
        add("kernel", f"the kernel alone on @{name}", time_kernel, name, clues)
    for name, clues, device_count in sizes.timed:
        board, case = board_without(name, clues)
        for device in list(DEVICES)[:device_count]:
            arguments = (f"{case}, solutions", board, "search", device)
            add("search", f"search of {case}, {DEVICES[device]}", time_count, *arguments)
    add("puzzles", "a batch of puzzles", time_batch)
    boards = {f"@{name}": collection.load(name) for name in sizes.contracted}
    for index in sizes.expensive:
        board = expensive_boards(index + 1)[index]
        boards[f"an expensive board of {board.clues} clues"] = board
    for (case, board), device in product(boards.items(), DEVICES):
        arguments = (case, board, "contraction", device)
        add("contraction", f"contraction of {case}, {DEVICES[device]}", time_count, *arguments)
    add("start-up", "start-up", time_start)
    add("prices", "prices", price, results)
    return steps


def measure_rate(bench: Bench, board: Board, seconds: float) -> Run:
    """Return the rate of the kernel while all threads are busy, and the state of the GPU then."""
    gpu = bench.gpus[0]
    roots = Frontier.of([board])
    frontier = roots.expanded(SETTINGS, bench.engines["cuda"].prepare(roots, SETTINGS))
    load: dict[str, str] = {}
    query_thread = threading.Thread(target=lambda: load.update(query(gpu, UNDER_LOAD)))
    with gpu.errors(), gpu.current():
        search = DeviceSearch(gpu, frontier, SETTINGS, Job(1))
        launch_for(seconds / 2, search, bench)  # until all threads have boards
        query_thread.start()  # nvidia-smi answers while the kernel runs
        solutions_before, nodes_before = totals(search)
        start = time.perf_counter()
        search.launch()
        launches = 1 + launch_for(seconds / 2, search, bench)
        elapsed = time.perf_counter() - start
        solutions, nodes = totals(search)
        # The share of threads that had a board at the end of the last launch.
        busy = int(gpu.host(search.pool.state)[BUSY_THREADS]) / search.threads
    query_thread.join()
    return {
        "rate": (solutions - solutions_before) / elapsed,
        "nodes": (nodes - nodes_before) / elapsed,
        "busy": busy,
        "launches": launches,
        "seconds": elapsed / launches,
        **load,
    }


def launch_for(seconds: float, search: DeviceSearch, bench: Bench) -> int:
    """Launch a search again and again for some time; return the number of launches."""
    end = time.perf_counter() + seconds
    launches = 0
    while search.boards and time.perf_counter() < end:
        bench.check_deadline()
        search.launch()
        launches += 1
    return launches


def totals(search: DeviceSearch) -> tuple[int, int]:
    """Return the numbers of solutions and nodes of a search until now."""
    host = search.gpu.host
    solutions = int(host(search.results.counts)[0])
    nodes = int(host(search.stacks.tally)[NODES].sum())
    return solutions, nodes


def time_kernel(bench: Bench, name: str, clues: int) -> Iterator[Run]:
    """Time launches of the kernel while all threads are busy."""
    board, case = board_without(name, clues)
    rate = measure_rate(bench, board, bench.sizes.kernel_seconds)
    yield {"case": case, "device": "cuda", "box": str(board.geometry), **rate}


def time_count(bench: Bench, case: str, board: Board, method: str, device: str) -> Iterator[Run]:
    """Time a count from the board to the number of solutions."""
    count = bench.quickest(board, device, method)
    run = {"case": case, "device": device, "seconds": count.stats.seconds}
    if method == "search":
        yield run | {"number": count.count}
    else:
        estimate = count.estimates and count.estimates.contraction_seconds
        yield run | {"estimate": float(estimate or 0)}


def time_batch(bench: Bench) -> Iterator[Run]:
    """Time counts of an array of puzzles, as a user makes them; cores count a part of it."""
    puzzles = relabelled(own_puzzles(), bench.sizes.batch)
    for device, engine in bench.engines.items():
        part = puzzles[: max(1, len(puzzles) // BATCH_DIVISORS[device])]
        for rows in (part[:WARM_UP_PUZZLES], part):  # the clock of the second one counts
            results = gpusudoku.count_many(rows, engine=engine, method="search", limit=LIMIT)
            start = time.perf_counter()
            counts = results.numbers()
            seconds = time.perf_counter() - start
        for index in np.flatnonzero(counts != 1)[:1]:  # one wrong count is enough
            check_count(f"{Board(part[index])} on {device}", int(counts[index]), 1)
        case = f"an array of puzzles, at most {LIMIT} solutions"
        yield {"case": case, "device": device, "number": len(part), "seconds": seconds}


def own_puzzles() -> NDArray[np.uint8]:
    """Return the 9x9 puzzles of the collection that have one solution, uint8 (puzzles, 81)."""
    entries = [entry for entry in collection.entries() if (entry.box, entry.count) == (NINE, 1)]
    boards = [collection.load(entry.name) for entry in entries]
    return np.stack([board.cells for board in boards if board.empty_cells])


def relabelled(puzzles: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
    """Make ``number`` different puzzles by exchanging the digits of ``puzzles``, in turn.

    Returns
    -------
    uint8 (number, 81)
    """
    indices = np.arange(number)
    # A permutation of the digits for each puzzle; 0, an empty cell, stays 0.
    digits = np.zeros((number, 10), np.uint8)
    digits[:, 1:] = 1 + np.random.default_rng(0).random((number, 9)).argsort(axis=1)
    return digits[indices[:, None], puzzles[indices % len(puzzles)]]


def time_start(bench: Bench) -> Iterator[Run]:
    """Time two processes; the first one has to compile everything, as its cache is empty."""
    name = bench.sizes.started
    command = [sys.executable, "-m", "gpusudoku", "count", f"@{name}", "-q", "--device", "cuda",
               "--method", "search"]  # fmt: skip
    # The new process has to find the checkout, also if the program is not installed.
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": path, "GPUSUDOKU_CACHE_DIR": folder}
        for case in ("first process", "second process"):
            start = time.perf_counter()
            process = subprocess.run(command, env=environment, check=False, capture_output=True,
                                     text=True, timeout=bench.deadline - start)  # fmt: skip
            seconds = time.perf_counter() - start
            if process.returncode:
                raise GpusudokuError(f"a new process: {process.stderr.strip()}")
            expected = collection.entry(name).count
            check_count(f"@{name} in a new process", int(process.stdout), expected)
            yield {"case": f"@{name}, {case}", "device": "cuda", "seconds": seconds}


def price(bench: Bench, results: dict[str, Any]) -> Iterator[Run]:
    """Compute the prices of the first GPU, and save them for later runs of the program."""
    card = bench.gpus[0].card
    prices = prices_of_figures(results)
    print(f"\nprices saved in {save_prices(card, prices)}", file=sys.stderr)
    yield {"gpu": card.name, **asdict(prices)}


def prices_of_figures(results: dict[str, Any]) -> Prices:
    """Compute how many reference cores do the work of a GPU.

    Raises
    ------
    OutOfTime
        If a measurement is missing.
    """
    # Nodes per second, times the seconds that a reference core needs for a node.
    nine: list[float] = []
    larger: list[float] = []
    for run in results["kernel"]:
        box = Geometry.parse(run["box"])
        seconds_per_node = node_seconds(shape_of(box.box_rows, box.box_columns))
        prices = nine if box == NINE else larger
        prices.append(run["nodes"] * seconds_per_node)

    contractions = [run for run in results["contraction"] if run["device"] == "cuda"]
    if not (nine and larger and contractions):
        raise OutOfTime
    # A GPU needs SUM_SECONDS for any contraction. The largest one depends least on that.
    largest = max(contractions, key=lambda run: run["estimate"])
    sum_seconds = max(largest["seconds"] - SUM_SECONDS, SUM_SECONDS / 4)
    sums = largest["estimate"] / sum_seconds
    return Prices(min(nine), min(larger), max(1.0, sums))
