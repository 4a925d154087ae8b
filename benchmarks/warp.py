"""How fast the search of a board can be on a GPU at most: bounds, computed without a GPU.

Compiles and assembles its kernel for compute capability 9.0, takes the machine code apart, and runs
it here a warp at a time, 32 threads in lock step (``warp_machine``). Whole boards must be counted
right, whichever party goes first where threads part; then every instruction is counted that a warp
takes for a solution, and what multiprocessors can take of them in a second bounds the search. A
second table has the registers and memory of every kernel, and how many threads can run at once.

The bounds see how many instructions there are, of which kind, and that threads wait for each other.
They do not see how long memory, caches and results take, nor what clock a GPU keeps under load: a
GPU is slower than they say, by how much only a GPU can show.

    python benchmarks/warp.py                        two minutes
    python benchmarks/warp.py --board 16x16-many     a board of 16x16 cells
    python benchmarks/warp.py --puzzles FILE         also puzzles a second
    python benchmarks/warp.py --architecture 8.9     the second table for other GPUs, too
    python benchmarks/warp.py --show                 what was recorded before
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import compiling
import numpy as np
from machine import machine, recorded, write
from numpy.typing import NDArray
from script import Run, board_names, check, script, table
from searching import LIMIT, packed
from searching import puzzles as read_puzzles
from warp_code import SECTOR, THREADS, Code
from warp_machine import WARPS, launch

import gpusudoku
from gpusudoku import collection
from gpusudoku.errors import DeviceError, InputError
from gpusudoku.kernels.contraction.nine import cuda as nine
from gpusudoku.kernels.search import arguments, cuda
from gpusudoku.kernels.search.arguments import NODES, Found, Pool, Stack
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.search.frontier import Frontier
from gpusudoku.search.techniques import parse_techniques

ARCHITECTURE = "9.0"
SETTINGS = SearchSettings()
CHECKED = {Shape(3, 3): {"2c": True, "1c": False}, Shape(4, 4): {"16x16-few": True}}
"""Boards that are counted to the end, and whether those that jump go first where threads part."""
BOARDS = ["1f", "2f"]
FEW, MANY, TAKEN = 128, 675_000, 4000
"""Boards of the frontier of threads that are deep in a board, and of that of a full card, ten for
each of its threads; of the latter so many in a row are taken. Boards of fewer solutions than MANY
have the first only."""
WARM_UP, COUNTED, TO_THE_END = 400, 7000, 1 << 40
"""Rounds before and while instructions are counted, some 200 and 3000 nodes of a thread; and more
than any search takes."""
MOST_PUZZLES = 1500
BYTES = ("loaded", "stored")
SEARCHES = [(3, "singles"), (3, "locked"), (3, "all"), (3, "none")]
SEARCHES += [(4, "singles"), (5, "singles"), (8, "singles")]
"""The sides of boxes, and the techniques, of the searches of the second table."""
BLOCKS = (64, 128, 256, 512)
"""Threads of a block: occupancy is that of the best."""
MULTIPROCESSORS, SCHEDULERS, HERTZ = 132, 4, 1.75e9
"""The maker's figures of an H100 or H200. A scheduler starts an instruction of a warp a cycle."""

UNITS = {
    "branches": (r"BRA|BSSY|BSYNC|BREAK|EXIT|YIELD|NOP|WARPSYNC|ENDCOLLECTIVE", None),
    "once for a warp": (r"U[A-Z]|VOTEU|R2UR|S2UR", None),
    "memory": (r"LD|ST|ATOM|RED|SHFL|S2R", 32),
    "bits": (r"POPC|FLO|BREV", 16),
    "products": (r"IMAD|HFMA2", 64),
    "whole numbers": (r"[A-Z]", 64),
}
"""Kinds of units of a multiprocessor: the beginnings of the names of the instructions that they do,
of which the first match counts, and for how many threads they do one in a cycle; None if they bound
nothing here. The rates of whole numbers (sums, comparisons, shifts, logic), products, and counting
or reversing bits are in NVIDIA's CUDA C++ programming guide, in the table of arithmetic throughput
for compute capability 9.0. That a product's high half, 64-bit products and IMAD in place of a move
or shift take as long as a product, that moves and selections run with whole numbers, and that every
access to memory takes one cycle is assumed."""


class Search:
    """A search of a frontier, launch by launch: the one place that knows the arguments."""

    def __init__(self, frontier: Frontier, limit: int | None = None) -> None:
        shape, threads = frontier.shape, WARPS * THREADS
        depth = shape.n**2 + 2  # as many as are ever needed
        state = np.array([0, len(frontier), len(frontier), len(frontier), 0], np.int64)
        pool = Pool(frontier.boards, frontier.roots, state)
        self.stacks = Stack(
            np.zeros((threads, depth, shape.words), shape.word),
            np.zeros((threads, depth), np.int64),
            np.full((arguments.STATES, threads), -1, np.int64),
            np.zeros((arguments.TALLIES, threads), np.uint64),
        )
        self.found = Found.empty(int(frontier.roots.max(initial=0)) + 1, 0, shape.n**2)
        self._arrays = *pool, *self.stacks, *self.found
        self._limit = int(arguments.limit_of(limit))
        self._code = compiled(shape)

    def launch(self, rounds: int = TO_THE_END, jumpers_first: bool = True) -> Run:
        """Launch the kernel once; return the instructions and bytes that this took, in all."""
        counts = launch(self._code, self._arrays, [rounds, 0, self._limit], jumpers_first)
        return counted(self._code, counts)

    def done(self) -> tuple[int, int]:
        """Return the solutions that were found, and the boards that were looked at."""
        return int(self.found.counts.sum()), int(self.stacks.tally[NODES].sum())


@cache
def compiled(shape: Shape) -> Code:
    """Return the machine code of the search."""
    function, types = cuda.build_kernel(shape, SETTINGS), cuda.signature(shape)
    listing, figures = compiling.build(ARCHITECTURE, function, types)
    return Code(listing, figures["local bytes"], figures["shared bytes"])


def counted(code: Code, counts: NDArray[np.int64]) -> Run:
    """Return warps' instructions by units, threads that took part, and bytes of global memory."""
    instructions, moved = dict.fromkeys(UNITS, 0), dict.fromkeys(BYTES, 0)
    for (_, name, _), (times, _, sectors) in zip(code.instructions, counts.tolist(), strict=True):
        instructions[next(kind for kind in UNITS if re.match(UNITS[kind][0], name))] += times
        moved["loaded" if name.startswith("LD") else "stored"] += SECTOR * sectors
    return {"instructions": instructions, "threads": int(counts[:, 1].sum()), "bytes": moved}


def cycles(run: Run) -> dict[str, float]:
    """Return the cycles of a multiprocessor that each bound takes for a solution or puzzle."""
    done = run["instructions"]
    found = {kind: done[kind] * THREADS / rate for kind, (_, rate) in UNITS.items() if rate}
    found["issuing"] = sum(done.values()) / SCHEDULERS
    return {kind: taken / run["number"] for kind, taken in found.items()}


def frontier_of(name: str, width: int) -> Frontier:
    """Return the frontier of a board of the collection."""
    root = Frontier.of([collection.load(name)])
    if root.shape not in CHECKED:
        raise InputError(f"@{name}: expected a board of 9x9 or 16x16 cells")
    return root.expanded(SETTINGS, width)


def check_count(name: str, jumpers_first: bool) -> None:
    """Count a whole board; MismatchError is raised if the count is wrong."""
    click.echo(f"counting @{name}", err=True)
    search = Search(frontier_of(name, FEW))
    search.launch(jumpers_first=jumpers_first)
    check(f"@{name}", search.done()[0], collection.entry(name).count)


def measure(name: str, start: str) -> Run:
    """Return the instructions of a search that is some way into a board."""
    click.echo(f"measuring @{name}, {start}", err=True)
    frontier = frontier_of(name, FEW if start == "deep" else MANY)
    if start != "deep":
        first = int(np.random.default_rng(0).integers(0, max(1, len(frontier) - TAKEN + 1)))
        frontier = frontier.part(first, first + TAKEN)
    search = Search(frontier)
    search.launch(WARM_UP)
    before = search.done()
    taken = search.launch(COUNTED)
    number, nodes = (now - then for now, then in zip(search.done(), before, strict=True))
    if number == 0:
        raise InputError(f"@{name}: too few solutions")
    case = {"board": f"@{name}", "start": start, "boards": len(frontier), "of": "solutions"}
    return {**case, "number": number, "nodes": nodes, **taken}


def measure_puzzles(path: Path) -> Run:
    """Return the instructions for puzzles, each of which is counted up to two solutions."""
    click.echo(f"measuring {path.name}", err=True)
    cells = read_puzzles(path)[:MOST_PUZZLES]
    search = Search(packed([cells], len(cells)), LIMIT)
    taken = search.launch()
    right = gpusudoku.count_many([gpusudoku.Board(each) for each in cells], limit=LIMIT)
    for index, (found, expected) in enumerate(zip(search.found.counts, right, strict=True)):
        check(f"{path}, puzzle {index + 1}", min(LIMIT, int(found)), expected.count)
    case = {"board": path.name, "start": "many puzzles", "boards": len(cells), "of": "puzzles"}
    return {**case, "number": len(cells), "nodes": search.done()[1], **taken}


def resources(architecture: str) -> Iterator[Run]:
    """Compile every kernel; give its figures, and the share of all threads that run at once."""
    has = compiling.MULTIPROCESSORS[architecture]
    given: dict[str, tuple[Any, ...]] = {}
    for side, techniques in SEARCHES:
        shape, settings = Shape(side, side), SearchSettings(parse_techniques(techniques))
        name = f"{side**2}x{side**2}, {techniques}"
        given[name] = cuda.build_kernel(shape, settings), cuda.signature(shape)
    for name, wide in {"contraction, narrow": False, "contraction, wide": True}.items():
        given[name] = nine.build_kernel(wide), nine.SIGNATURE, nine.MOST_REGISTERS
    for name, kernel in given.items():
        click.echo(f"compiling {name}, for {architecture}", err=True)
        listing, figures = compiling.build(architecture, *kernel)
        taken = figures["registers"], figures["shared bytes"]
        figures["instructions"] = listing.count(";")
        most = max(has.blocks_of(threads, *taken) * threads for threads in BLOCKS)
        yield {"kernel": name, "for": architecture, **figures, "occupancy": most / has.threads}


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    clock, multiprocessors = (results["machine"][key] for key in ("hertz", "multiprocessors"))
    print(
        f"Upper bounds, computed and not measured, for {multiprocessors} multiprocessors at"
        f" {clock / 1e9:g} GHz. Not seen: memory, caches, waiting for results, the clock under"
        f" load. Bytes are what warps ask of global memory, in sectors of {SECTOR}.\n"
    )
    heads = ["board", "start", "at most a second", "bound by", "instructions of a warp for one"]
    kinds = ["whole numbers", "products", "memory"]
    rows = []
    for run in results["runs"]:
        taken, done, number = cycles(run), run["instructions"], run["number"]
        most, all_of_them = max(taken, key=lambda kind: taken[kind]), sum(done.values())
        cells = [run["board"], f"{run['start']}, {run['boards']:,} boards"]
        cells += [f"{multiprocessors * clock / taken[most]:.2e} {run['of']}", most]
        cells += [f"{each / number:.1f}" for each in (all_of_them, *map(done.get, kinds))]
        moved = run.get("bytes")  # older results have none
        cells += [f"{moved[kind] / number:.0f}" if moved else "" for kind in BYTES]
        rows.append([*cells, f"{run['threads'] / all_of_them:.1f} of {THREADS}"])
    heads += [*kinds, *(f"bytes {kind}" for kind in BYTES), "threads taking part"]
    table(heads, rows, left=4)
    if kernels := results.get("kernels"):
        print()
        table(list(kernels[0]), [[*map(str, kernel.values())] for kernel in kernels], left=2)


@script("warp", show)
@click.option("--board", "boards", multiple=True, help="Of 9x9 or 16x16 cells; else 1f and 2f.")
@click.option("--puzzles", type=click.Path(exists=True, dir_okay=False), help="9x9 puzzles.")
@click.option("--architecture", "others", type=click.Choice(list(compiling.MULTIPROCESSORS)),
              multiple=True, help="For all kernels, beside 9.0.")  # fmt: skip
def main(path: Path, boards: tuple[str, ...], puzzles: str | None, others: tuple[str, ...]) -> None:
    """Compute how many solutions a second a GPU can find at most."""
    names = board_names(boards or BOARDS)
    shapes = dict.fromkeys(frontier_of(name, 1).shape for name in names)
    if reason := compiling.missing():
        raise DeviceError(reason)
    for shape in shapes:
        for name, jumpers_first in CHECKED[shape].items():
            check_count(name, jumpers_first)
    large = [name for name in names if collection.entry(name).count > MANY]
    cases = [(name, "deep") for name in names] + [(name, "frontier") for name in large]
    runs = [measure(*case) for case in cases]
    if puzzles:
        runs.append(measure_puzzles(Path(puzzles)))
    taken = [run for each in dict.fromkeys([ARCHITECTURE, *others]) for run in resources(each)]
    described = {**machine(), "hertz": HERTZ, "multiprocessors": MULTIPROCESSORS}
    described |= compiling.versions()
    write(path, {"machine": described, "runs": runs, "kernels": taken})


if __name__ == "__main__":
    main()
