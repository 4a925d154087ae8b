"""What is checked on a GPU before anything is timed: counts that are known, or found on the CPU.

Steps come in order of importance, for where there is no time for all of them. A wrong count is a
``MismatchError`` that names the board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

from generated import random_boards
from gpu_bench import Bench, Step, nine_puzzles
from script import Run, check

import gpusudoku
from gpusudoku import Board, collection
from gpusudoku.engines.cuda import launch, worker
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.jobs.watch import reporting
from gpusudoku.options import STRATEGIES, Options
from gpusudoku.planning.search import SearchPlan
from gpusudoku.planning.streaming import Stream
from gpusudoku.search.frontier import Frontier

PART = "correctness"
ALONE = 1e300
"""A cutoff that leaves all of a board to one thread, until the others have none."""
FEW_BYTES = 1 << 20
"""A GPU with hardly any memory."""
SOLUTIONS = 10
"""Solutions for which there is room when lists are checked."""
SCARCE: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "budgets of three nodes": lambda: patch.object(worker, "FIRST_BUDGET", 3),
    "hardly any memory": lambda: patch.object(Gpu, "free_bytes", lambda self: FEW_BYTES),
}
"""What may be scarce, and how it is made so."""


def steps(bench: Bench) -> Iterator[Step]:
    """All checks; what compiles most comes last."""
    sizes = bench.sizes
    yield from _searches(bench, sizes.first)
    for name in sizes.contracted:
        run = partial(bench.known, name, method="contraction")
        yield _step(f"contraction of @{name}", run)
    for clues in sizes.clues:
        board = random_boards(clues, 1)[0]
        # Both methods, where a search can find so many solutions.
        run = partial(bench.agreed if clues >= 24 else partial(_contracted, bench), board)
        yield _step(f"a board of {clues} clues", run)
    yield from _limits(bench)
    yield _step("many puzzles", partial(_many, bench))
    yield _step("many puzzles in one search", partial(_together, bench))
    yield from _lists(bench)
    yield from _launches(bench)
    yield from _several_gpus(bench)
    yield from _techniques(bench)
    yield from _searches(bench, sizes.last)


def _step(name: str, run: Callable[[], Run]) -> Step:
    return Step(PART, name, lambda: [{"check": name, **run()}])


def _searches(bench: Bench, names: tuple[str, ...]) -> Iterator[Step]:
    for name in names:
        yield _step(f"search of @{name}", partial(bench.known, name, method="search"))


def _contracted(bench: Bench, board: Board) -> Run:
    """Contract a board on both devices."""
    found, right = (
        bench.count(board, device, method="contraction").count for device in ("cuda", "cpu")
    )
    check(f"{board}, contraction on cuda", found, right)
    return {"count": str(right)}


def _limits(bench: Bench) -> Iterator[Step]:
    """Searches that stop early, and at exactly their limit."""
    name = bench.sizes.nine
    right = collection.entry(name).count
    for limit in dict.fromkeys([1, max(1, right - 1), right, right + 1]):
        run = partial(bench.known, name, method="search", limit=limit)
        yield _step(f"search of @{name}, limit {limit}", run)


def _many(bench: Bench) -> Run:
    """Count a list of puzzles on both devices."""
    boards = nine_puzzles(bench.sizes.many, 30)
    found, right = (
        [each.count for each in gpusudoku.count_many(boards, engine=bench.engines[device])]
        for device in ("cuda", "cpu")
    )
    _compare(boards, found, right)
    return {"count": str(sum(right))}


def _together(bench: Bench) -> Run:
    """Search puzzles as one frontier, whose counts must not get mixed up."""
    boards = nine_puzzles(bench.sizes.many, 27)
    with reporting(bench.clock.look):
        found, right = (
            SearchPlan(Frontier.of(boards), Options()).run(bench.engines[device]).counts
            for device in ("cuda", "cpu")
        )
    _compare(boards, found, right)
    return {"count": str(sum(right))}


def _compare(boards: list[Board], found: list[int], right: list[int]) -> None:
    for board, one, other in zip(boards, found, right, strict=True):
        check(f"{board}, of {len(boards)} boards together", one, other)


def _lists(bench: Bench) -> Iterator[Step]:
    """Every solution once: with room for all of them, for a few, and up to a limit."""
    for name in (bench.sizes.nine, bench.sizes.small):
        room = SOLUTIONS * collection.load(name).geometry.cells
        little = partial(patch.object, launch, "ROOM_BYTES", room)
        run = partial(_listed, bench, name)
        yield _step(f"solutions of @{name}", run)
        yield _step(f"solutions of @{name}, little room", partial(run, little))
        yield _step(f"solutions of @{name}, limit 2", partial(run, little, limit=2))


def _listed(
    bench: Bench,
    name: str,
    scarce: Callable[[], AbstractContextManager[Any]] = nullcontext,
    **options: Any,
) -> Run:
    """List the solutions of a board on the GPUs; they are compared with those of the CPU."""
    board, most = collection.load(name), options.get("limit", collection.entry(name).count)
    with scarce():
        found = _solutions(bench, board, "cuda", **options)
    right = set(_solutions(bench, board, "cpu"))
    check(f"@{name}, different solutions listed", len(set(found)), len(found))
    check(f"@{name}, solutions listed that are none", len(set(found) - right), 0)
    check(f"@{name}, solutions listed", len(found), min(most, len(right)))
    return {"count": str(len(found))}


def _solutions(bench: Bench, board: Board, device: str, limit: int | None = None) -> list[bytes]:
    found: list[bytes] = []
    with closing(Stream(board, Options(limit=limit), engine=bench.engines[device])) as listing:
        for block in listing:
            bench.clock.look()
            found.extend(map(bytes, block))
    return found


def _launches(bench: Bench) -> Iterator[Step]:
    """Searches that are launched in other ways, or have little of something."""
    tunings = {
        f"threads_per_block={threads}": {"threads_per_block": threads} for threads in (1, 32, 1024)
    }
    tunings["one block"] = {"blocks_per_multiprocessor": 1, "launch_seconds": 1e-6}
    for name in (bench.sizes.nine, bench.sizes.small):
        for what, changes in tunings.items():
            run = partial(_tuned, bench, name, changes, nullcontext)
            yield _step(f"search of @{name}, {what}", run)
        for what, scarce in SCARCE.items():
            run = partial(_tuned, bench, name, {"launch_seconds": 1e-6}, scarce)
            yield _step(f"search of @{name}, {what}", run)


def _tuned(
    bench: Bench,
    name: str,
    changes: dict[str, Any],
    scarce: Callable[[], AbstractContextManager[Any]],
) -> Run:
    """Search a board that starts in one thread on the first GPU, launched in another way."""
    with scarce():
        engine = CudaEngine([0], replace(bench.gpus[0].tuning, **changes))
        return bench.known(name, method="search", engine=engine, cutoff=ALONE)


def _several_gpus(bench: Bench) -> Iterator[Step]:
    """Each of several GPUs alone; all together is how the other searches run."""
    for gpu in bench.gpus if len(bench.gpus) > 1 else []:
        name, engine = bench.sizes.nine, CudaEngine([gpu.number])
        run = partial(bench.known, name, engine=engine)
        yield _step(f"search of @{name} on GPU {gpu.number}", partial(run, method="search"))
        yield _step(
            f"contraction of @{name} on GPU {gpu.number}", partial(run, method="contraction")
        )


def _techniques(bench: Bench) -> Iterator[Step]:
    """Every set of techniques with every strategy: each of them is a kernel of its own."""
    names = bench.sizes.nine, bench.sizes.small
    for propagate, strategy, name in product(bench.sizes.techniques, STRATEGIES, names):
        run = partial(bench.known, name, method="search", propagate=propagate, strategy=strategy)
        yield _step(f"search of @{name}, {propagate}, {strategy}", run)
