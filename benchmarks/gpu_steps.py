"""The steps of ``gpu.py``: a few checks, all figures, the prices, and the other checks.

A step is (part, name, function, arguments ...). The function takes the ``Bench`` and the arguments;
that of a check returns a count, and that of a figure yields runs. Steps come in order of
importance, for where there is no time for all of them.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import searching
from generated import expensive_boards, random_boards, thinned
from machine import machine, write
from script import Run, check, counted

import gpusudoku
from gpusudoku import Board, Geometry, collection
from gpusudoku.board.geometry import NINE
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda import search
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.prices import SUM_SECONDS, Prices, save_prices
from gpusudoku.errors import GpusudokuError
from gpusudoku.kernels.search.shape import shape_of
from gpusudoku.options import STRATEGIES, Options
from gpusudoku.planning.choose import FEW_SOLUTIONS
from gpusudoku.planning.streaming import Stream
from gpusudoku.results import Count
from gpusudoku.search.frontier import node_seconds

CHECKS = "correctness"
DEVICES = {"cuda": "GPU", "cpu": "all cores", "half": "half of the cores", "core": "one core"}
"""What counts, as it is recorded and as it is shown; all GPUs."""
SCARCE: dict[str, dict[str, Any]] = {
    "as usual": {"FIRST_ROUNDS": search.FIRST_ROUNDS},
    "one round a launch": {"FIRST_ROUNDS": 1, "LAUNCH_SECONDS": 1e-9},
    "hardly any memory": {"MEMORY_SHARE": 1e-5},
    "little room": {"ROOM_BYTES": 1000},
}
"""Values of the module ``search`` that make something scarce."""
FACTS = ("driver_version", "memory.total", "clocks.max.sm", "power.limit", "mig.mode.current")
UNDER_LOAD = ("clocks.sm", "power.draw", "temperature.gpu")
"""What the driver's own program is asked."""
REPEATS, LONG_SECONDS = 3, 2.0
"""A count is timed so often, but once if it takes longer than this."""
ROOT = Path(__file__).resolve().parents[1]

Steps = list[tuple[Any, ...]]


class OutOfTime(GpusudokuError):  # noqa: N818 - as Interrupted
    """There is no time left for a step, or for one that it needs."""


FULL: dict[str, Any] = {
    # The checks that come before the figures. Every one of them compiles a kernel:
    "quick": ("search of @1c", "search of @16x16-many", "contraction of @1f"),
    # Boards are named as in the collection. Those to search before all other checks, and after:
    "searched": ("1b", "1c", "2d", "no-place", "needs-search", "box2x2-empty", "box2x3-many",
                 "box3x4-many", "16x16-many", "16x16-needs-search", "25x25-few", "64x64-few", "1e"),
    "last": ("box1x5-empty", "box5x1-many", "box3x2-many", "box2x4-many", "box4x2-many",
             "box4x3-many", "box2x5-many", "box4x8-few", "36x36-few", "16x16-solutions"),
    # To search and list in all ways, one of 9x9 cells and one of others:
    "nine": "2c", "other": "box2x3-many", "techniques": ("none", "naked-single", "locked", "all"),
    "contracted": ("1f", "2f", "top-band-cyclic", "top-band-twisted", "empty"),
    # Clues of random boards that both devices count, and puzzles that are counted together:
    "clues": (4, 10, 14, 24, 30), "many": 2000,
    # To keep the kernel busy for some seconds, and the last clues that they lack:
    "steady": (("1f", 5), ("2f", 3), ("16x16-solutions", 4)), "seconds": 3.0,
    # To search from board to count, the last clues that they lack, and the number of DEVICES:
    "long": (("1f", 0, 4), ("2f", 0, 4), ("16x16-solutions", 1, 4), ("16x16-solutions", 2, 3),
             ("1f", 2, 3), ("1f", 3, 1)),
    # Puzzles of a batch; clues and number of random boards with many solutions; numbers of boards
    # that are expensive to contract; what is searched launch by launch, and by new processes:
    "batch": 2_000_000, "few": (8, 4), "expensive": (2,), "profiled": "2f", "started": "1c",
    "saves": True,
    # What a sweep tries, the most promising first, and for how long:
    "swept": searching.BUSY_BOARDS, "blocks": (128, 64, 256, 32),
    "registers": (None, 96, 80, 72, 128, 64, 168), "sweep_seconds": 0.8,
}  # fmt: skip
REHEARSAL = FULL | {
    "quick": ("search of @box2x2-empty", "contraction of @1a"),
    "searched": ("box2x2-empty", "no-place"), "last": ("box1x5-few",), "nine": "1a",
    "other": "box2x2-many", "techniques": ("none",), "contracted": ("1a",), "clues": (40,),
    "many": 2, "steady": (("1a", 0), ("box2x2-empty", 0)), "long": (("box2x2-few", 0, 4),),
    "batch": 2, "few": (60, 2), "expensive": (), "profiled": "1a", "started": "box2x2-few",
    "saves": False, "swept": (("1a", 0, "1a"), ("box2x2-empty", 0, "box2x2-few")),
    "blocks": (32,), "registers": (None, 64), "sweep_seconds": 0.0,
}  # fmt: skip
"""Sizes at which everything runs once, where there is only the simulator, too."""


class Bench:
    """What every step needs: engines, sizes, puzzles for batches and their name, and the time."""

    def __init__(self, sizes: dict[str, Any], puzzles: str | None) -> None:
        self.sizes, self.end = SimpleNamespace(**sizes), 0.0
        """``end`` is that of the step, by ``time.perf_counter``."""
        self.puzzles = searching.puzzles(Path(puzzles)) if puzzles else searching.own_puzzles()
        self.source = Path(puzzles).name if puzzles else "the program's own"
        self._references: dict[Board, int] = {}
        self.one, every = CudaEngine([0]), CudaEngine()
        self.gpus = every.gpus
        cpu = CpuEngine()
        half = CpuEngine(max(1, cpu.threads // 2))
        self.engines: dict[str, Any] = {"cuda": every, "cpu": cpu, "half": half,
                                        "core": CpuEngine(1)}  # fmt: skip

    def look(self, _: Any = None) -> None:
        """End a step without time: OutOfTime. A count calls this twenty times a second."""
        if time.perf_counter() > self.end:
            raise OutOfTime

    def count(self, board: Board, device: str, method: str) -> Count:
        """Count a board."""
        engine = self.engines[device]
        return gpusudoku.count(board, engine=engine, method=method, progress=self.look)

    def reference(self, board: Board) -> int:
        """Count a board on the CPU, once for all steps; the time is not that of the step."""
        if board not in self._references:
            method = "contraction" if board.geometry == NINE else "search"
            start = time.perf_counter()
            self._references[board] = self.count(board, "cpu", method).count
            self.end += time.perf_counter() - start
        return self._references[board]

    def quickest(self, board: Board, right: int, device: str, method: str) -> Count:
        """Count a board several times, and return the quickest count; a wrong one is an error."""
        counts: list[Count] = []
        while len(counts) < REPEATS and all(one.stats.seconds < LONG_SECONDS for one in counts):
            counts.append(self.count(board, device, method))
            check(f"{board}, {method} on {device}", counts[-1].count, right)
        return min(counts, key=lambda one: one.stats.seconds)


def without(name: str, clues: int) -> tuple[Board, str]:
    """Return a board without its last clues, and a name for it."""
    return thinned(name, clues), f"@{name} without {clues} clues" if clues else f"@{name}"


def steps(bench: Bench, results: dict[str, Any], profile: Path) -> Steps:
    """List all steps; ``results`` will have the figures when prices are made of them."""
    every = checks(bench)
    quick = [step for step in every if step[1] in bench.sizes.quick]
    others = [step for step in every if step not in quick]
    return [*quick, *figures(bench, results), *others, ("profile", "profile", profiled, profile)]


def checks(bench: Bench) -> Steps:
    """List all checks; those that compile most come last."""
    sizes, nine, other = bench.sizes, bench.sizes.nine, bench.sizes.other
    by_search: dict[str, Any] = {"method": "search"}
    found: Steps = [(f"search of @{name}", known, name, by_search) for name in sizes.searched]
    for name in sizes.contracted:
        found.append((f"contraction of @{name}", known, name, {"method": "contraction"}))
    for clues in sizes.clues:
        found.append((f"a board of {clues} clues", agreed, clues))
    right = collection.entry(nine).count
    for limit in dict.fromkeys([1, max(1, right - 1), right, right + 1]):
        found.append((f"@{nine}, limit {limit}", known, nine, {**by_search, "limit": limit}))
    found.append(("many puzzles together", many))
    for name, scarce in product((nine, other), SCARCE):
        found.append((f"solutions of @{name}, {scarce}", listed, name, scarce))
    found.append((f"solutions of @{nine}, limit 2", listed, nine, "as usual", 2))
    numbers = [(gpu.number,) for gpu in bench.gpus] if len(bench.gpus) > 1 else []
    if not bench.gpus[0].simulated:
        numbers.append((0, 0))  # for two: boards go from one to the other by way of the host
    for some, method in product(numbers, ("search", "contraction")):
        found.append((f"{method} of @{nine} by GPUs {some}", by_gpus, nine, method, some))
    for techniques, strategy, name in product(sizes.techniques, STRATEGIES, (nine, other)):
        how = {**by_search, "propagate": techniques, "strategy": strategy}
        found.append((f"search of @{name}, {techniques}, {strategy}", known, name, how))
    found += [(f"search of @{name}", known, name, by_search) for name in sizes.last]
    return [(CHECKS, *step) for step in found]


def known(bench: Bench, name: str, options: dict[str, Any]) -> int:
    """Count a board of the collection on GPUs; a wrong count is an error."""
    given = {"engine": bench.engines["cuda"], "progress": bench.look, **options}
    return counted(name, **given).count


def agreed(bench: Bench, clues: int) -> int:
    """Count a random board on GPUs and cores; a search finds only so many solutions."""
    [board], methods = random_boards(clues, 1), ("contraction", "search")
    right = bench.count(board, "cpu", "contraction").count
    for device, method in product(("cuda", "cpu"), methods if clues >= 24 else methods[:1]):
        check(f"{board}, {method} on {device}", bench.count(board, device, method).count, right)
    return right


def many(bench: Bench) -> int:
    """Search puzzles together, one of which has no solution."""
    boards = [*random_boards(27, bench.sizes.many), collection.load("needs-search")]
    on_gpu, on_cpu = (
        gpusudoku.count_many(boards, engine=bench.engines[device], method="search")
        for device in ("cuda", "cpu")
    )
    total = 0
    for one, other in zip(on_gpu, on_cpu, strict=True):
        check(f"{one.board}, of {len(boards)} boards together", one.count, other.count)
        total += one.count
    return total


def listed(bench: Bench, name: str, scarce: str, limit: int | None = None) -> int:
    """List the solutions of a board on GPUs: each once, and none but those of the CPU."""
    board, found = collection.load(name), list[list[bytes]]()
    with patch.multiple(search, **SCARCE[scarce]):
        for device, most in (("cuda", limit), ("cpu", None)):
            engine = bench.engines[device]
            with closing(Stream(board, Options(limit=most), engine=engine)) as blocks:
                found.append([bytes(row) for block in blocks for row in block])
    there, right, count = set(found[0]), set(found[1]), collection.entry(name).count
    check(f"@{name}, different solutions listed", len(there), len(found[0]))
    check(f"@{name}, solutions listed that are none", len(there - right), 0)
    check(f"@{name}, solutions listed", len(there), min(limit or count, count))
    return len(there)


def by_gpus(bench: Bench, name: str, method: str, numbers: Sequence[int]) -> int:
    """Count a board on some GPUs, in so short launches that each may run dry before the others."""
    engine = CudaEngine([0])
    engine.gpus = [bench.gpus[number] for number in numbers]
    with patch.multiple(search, **SCARCE["one round a launch"]):
        return known(bench, name, {"engine": engine, "method": method})


def figures(bench: Bench, results: dict[str, Any]) -> Steps:
    """List all that is measured, and the prices."""
    sizes = bench.sizes
    found: Steps = []
    for name, clues in sizes.steady:
        found.append(("kernel", f"the kernel alone on @{name}", time_kernel, name, clues))
    for name, clues, count in sizes.long:
        board, case = without(name, clues)
        for device in list(DEVICES)[:count]:
            step = f"search of {case}, {DEVICES[device]}", time_count, f"{case}, solutions", board
            found.append(("search", *step, "search", device))
    found.append(("puzzles", f"a batch of {bench.source} puzzles", time_puzzles))
    boards = {f"@{name}": collection.load(name) for name in sizes.contracted}
    for board in [expensive_boards(number + 1)[number] for number in sizes.expensive]:
        boards[f"an expensive board of {board.clues} clues"] = board
    for (case, board), device in product(boards.items(), DEVICES):
        step = f"contraction of {case}, {DEVICES[device]}", time_count, case, board
        found.append(("contraction", *step, "contraction", device))
    for limit in (None, FEW_SOLUTIONS):
        found.append(("few clues", f"boards of few clues, limit {limit}", time_few_clues, limit))
    found.append(("start-up", "start-up", time_start))
    return [*found, ("prices", "prices", price, results)]


def asked(gpu: Gpu, names: Sequence[str]) -> dict[str, str]:
    """Ask the driver's own program about a GPU; nothing if it cannot tell, as in a simulator."""
    try:
        place = gpu.xp.cuda.Device(gpu.number).pci_bus_id
        fields = f"--query-gpu={','.join(names)}"
        command = ["nvidia-smi", "-i", place, fields, "--format=csv,noheader"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        [values] = csv.reader(done.stdout.splitlines(), skipinitialspace=True)
    except Exception:  # CuPy's, or of a program that is not ours: figures do without
        return {}
    return dict(zip(names, values, strict=False))


def described(gpu: Gpu) -> dict[str, Any]:
    """Describe a GPU: its name, its size, and what its driver says of it."""
    with gpu.current():
        return {**gpu.card._asdict(), "free bytes": gpu.free_bytes(), **asked(gpu, FACTS)}


def steady(bench: Bench, board: Board, seconds: float) -> Run:
    """Return the rate of the kernel while all threads are busy, and what it is under then."""
    load, made = dict[str, str](), list[searching.Launch]()
    ask = threading.Thread(target=lambda: load.update(asked(bench.gpus[0], UNDER_LOAD)))
    with searching.search_of(board, bench.one) as searched:
        start = time.perf_counter()
        for launch in searching.launches(searched):
            bench.look()
            made.append(launch)
            passed = time.perf_counter() - start
            if passed > seconds / 2 and ask.ident is None:
                ask.start()
            elif passed > seconds:
                ask.join()
                break
    kept = made[len(made) // 2 :]  # the others are short: they make boards for all threads
    _, times, solutions, nodes, _, busy = map(list, zip(*kept, strict=True))
    return {"rate": sum(solutions) / sum(times), "nodes": sum(nodes) / sum(times),
            "busy": median(busy), "launches": len(made), "seconds": median(times),
            **load}  # fmt: skip


def time_kernel(bench: Bench, name: str, clues: int) -> Iterator[Run]:
    """Time launches of the kernel while all threads are busy."""
    board, case = without(name, clues)
    yield {"case": case, "device": "cuda", "box": str(board.geometry),
           **steady(bench, board, bench.sizes.seconds)}  # fmt: skip


def time_count(bench: Bench, case: str, board: Board, method: str, device: str) -> Iterator[Run]:
    """Time a method from board to count, which is compared with a count by the CPU."""
    right = bench.reference(board)
    count = bench.quickest(board, right, device, method)
    run = {"case": case, "device": device, "seconds": count.stats.seconds}
    estimate = count.estimates and count.estimates.contraction_seconds
    yield run | ({"number": right} if method == "search" else {"estimate": float(estimate or 0)})


def time_puzzles(bench: Bench) -> Iterator[Run]:
    """Count many puzzles that are in memory."""
    case = f"{bench.source} puzzles, at most {searching.LIMIT} solutions"
    yield from searching.batch(case, bench.puzzles, bench.sizes.batch, bench.one)


def time_few_clues(bench: Bench, limit: int | None) -> Iterator[Run]:
    """Count a batch of boards with many solutions, as a user does, and tell how it was done."""
    clues, number = bench.sizes.few
    boards, right = random_boards(clues, number), list[Count]()
    case = f"{number} boards of {clues} clues" + (f", at most {limit:,} solutions" if limit else "")
    for device in DEVICES:
        start, counts = time.perf_counter(), list[Count]()
        for count in gpusudoku.count_many(boards, engine=bench.engines[device], limit=limit):
            bench.look()
            counts.append(count)
        seconds = time.perf_counter() - start
        right = right or counts
        for one, other in zip(counts, right, strict=True):
            check(f"{one.board}, on {device}", one.count, other.count)
        work = Counter(f"{each.method} on {each.device}" for each in counts)
        yield {"case": case, "device": device, "number": number, "seconds": seconds, "by": work}


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
            try:
                done = subprocess.run(command, env=environment, check=False, capture_output=True,
                                      text=True, timeout=bench.end - start)  # fmt: skip
            except subprocess.TimeoutExpired:
                raise OutOfTime from None
            seconds = time.perf_counter() - start
            if done.returncode:
                raise GpusudokuError(f"a new process: {done.stderr.strip()}")
            check(f"@{name} in a new process", int(done.stdout), collection.entry(name).count)
            yield {"case": f"@{name}, {case}", "device": "cuda", "seconds": seconds}


def price(bench: Bench, results: dict[str, Any]) -> Iterator[Run]:
    """Compute the prices of the first GPU, and save them for later runs of the program."""
    card, prices = bench.gpus[0].card, prices_of_figures(results)
    if bench.sizes.saves:
        print(f"\nprices saved in {save_prices(card, prices)}", file=sys.stderr)
    yield {"gpu": card.name, **asdict(prices)}


def prices_of_figures(results: dict[str, Any]) -> Prices:
    """Compute how many cores do the work of a GPU by what was measured; OutOfTime if too little."""
    nine, larger = list[float](), list[float]()
    for run in results.get("kernel", []):
        box = Geometry.parse(run["box"])
        seconds = node_seconds(shape_of(box.box_rows, box.box_columns))
        (nine if box == NINE else larger).append(run["nodes"] * seconds)
    sums = [(run["estimate"], run["seconds"]) for run in results.get("contraction", [])
            if run["device"] == "cuda"]  # fmt: skip
    if not (nine and larger and sums):
        raise OutOfTime("because no kernel on 9x9 or larger boards, or no contraction, was timed")
    estimate, seconds = max(sums)
    cores = estimate / max(seconds - SUM_SECONDS, SUM_SECONDS / 4)
    return Prices(min(nine), min(larger), max(1.0, cores))


def profiled(bench: Bench, path: Path) -> Iterator[Run]:
    """Write what kernels take, and what every launch of a search does, to a file of its own."""
    name, gpu = bench.sizes.profiled, bench.gpus[0]
    boxes = dict.fromkeys(collection.load(each).geometry for each, _ in bench.sizes.steady)
    with searching.search_of(collection.load(name), bench.one) as searched:
        launches = [launch._asdict() for launch in searching.launches(searched)]
    row = searched.shape.row_bytes + 8  # a board, and its root
    rows = {"stacks": searched.threads * searched.depth, "pool": len(searched.pool.boards)}
    size = {where: row * number for where, number in rows.items()}
    found = {"board": f"@{name}", "threads": searched.threads, "bytes": size, "launches": launches}
    kernels = [taken_by(gpu, box) for box in boxes]
    results = {"machine": {**machine(), "gpu": described(gpu)}, "kernels": kernels, "search": found}
    write(path, results)
    seconds = sum(each["seconds"] for each in launches)
    yield {"case": f"@{name}", "launches": len(launches), "seconds": seconds, "file": path.name}


def taken_by(gpu: Gpu, box: Geometry) -> Run:
    """Return what the kernel of a search takes, as it was compiled for a GPU."""
    with gpu.errors(), gpu.current():
        shape = shape_of(box.box_rows, box.box_columns)
        kernel = search.load_kernel(gpu, shape, searching.SETTINGS)
        threads = gpu.launch_settings(shape).block
        blocks = gpu.blocks_at_once(kernel, threads)
        run: Run = {"box": str(box), "threads of a block": threads, "blocks at once": blocks}
        if not gpu.simulated:
            from gpusudoku.kernels.cuda_driver import device_attribute  # CUDA is there

            most = device_attribute("MAX_THREADS_PER_MULTIPROCESSOR")
            run["registers of a thread"] = kernel.attribute("NUM_REGS")
            run["local bytes of a thread"] = kernel.attribute("LOCAL_SIZE_BYTES")
            run["shared bytes of a block"] = kernel.attribute("SHARED_SIZE_BYTES")
            run["occupancy"] = blocks * threads / (gpu.card.multiprocessors * most)
    return run
