"""How fast the search of a board can be on a GPU at most: bounds, computed without a GPU.

Compiles and assembles its kernel for compute capability 9.0, takes the machine code apart, and runs
it here a warp at a time, 32 threads in lock step (``warp_machine``). Whole boards must be counted
right, whichever party goes first where threads part; then every instruction is counted that a warp
takes for a solution, and what multiprocessors can take of them in a second bounds the search.

Further tables have the registers and memory of every kernel, and how many threads can run at once.
For the search of 9x9 to 25x25 boards they are of several compute capabilities, with the
instructions of a warp for a node, where machine code of that capability can be run. Where it
cannot, there are only the instructions of the loop, each once: inner loops make a node take more.

The bounds see how many instructions there are, of which kind, and that threads wait for each other.
They do not see how long memory, caches and results take, nor what clock a GPU keeps under load: a
GPU is slower than they say, by how much only a GPU can show.

    python benchmarks/warp.py                        four minutes
    python benchmarks/warp.py --kernels-only         no bounds
    python benchmarks/warp.py --board 16x16-many     a board of 16x16 cells
    python benchmarks/warp.py --puzzles FILE         also puzzles a second
    python benchmarks/warp.py --architecture 10.0    the tables of kernels for other GPUs, too
    python benchmarks/warp.py --show                 what was recorded before
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import click
import compiling
import numpy as np
from generated import thinned
from machine import machine, recorded, write
from numpy.typing import NDArray
from script import Run, board_names, check, script, table
from searching import BUSY_BOARDS, LIMIT, packed
from searching import puzzles as read_puzzles
from warp_code import LAYOUTS, SECTOR, THREADS, Code, CodeError, loop_of
from warp_machine import WARPS, launch

import gpusudoku
from gpusudoku import collection
from gpusudoku.errors import DeviceError, InputError
from gpusudoku.kernels.contraction.nine import cuda as nine
from gpusudoku.kernels.search import arguments, cuda
from gpusudoku.kernels.search.arguments import NODES, Found, Pool, Stack
from gpusudoku.kernels.search.launch import launch_settings
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.search.frontier import Frontier
from gpusudoku.search.techniques import parse_techniques

ARCHITECTURE, ARCHITECTURES = "9.0", ("8.0", "8.9", "9.0", "12.0")
"""The one of the bounds, and those of the figures of the search."""
SETTINGS = SearchSettings()
CHECKED = {
    Shape(3, 3): {"2c": True, "1c": False},
    Shape(3, 4): {"box3x4-many": True},
    Shape(4, 4): {"16x16-few": True},
    Shape(5, 5): {"25x25-few": True},
}
"""Boards that are counted to the end, and whether those that jump go first where threads part."""
CELLS = 20_000
"""Cells that a thread looks at before and while the instructions of a node are counted, in rounds
of a board each."""
BOARDS = ["1f", "2f"]
FEW, MANY, TAKEN = 128, 675_000, 4000
"""Boards of the frontier of threads that are deep in a board, and of that of a full card, ten for
each of its threads; of the latter so many in a row are taken. Boards of fewer solutions than MANY
have the first only."""
WARM_UP, COUNTED, TO_THE_END = 400, 2500, 1 << 40
"""Rounds before and while instructions are counted, some 200 and 1000 nodes of a thread; and more
than any search takes."""
MOST_PUZZLES = 1500
BYTES = ("loaded", "stored", "local")
SEARCHES = [(3, "locked"), (3, "all"), (3, "none"), (8, "singles")]
"""The sides of boxes, and the techniques, of the searches of the last table."""
BLOCKS = (64, 128, 256, 512)
"""Threads of a block: occupancy is that of the best."""
MULTIPROCESSORS, SCHEDULERS, HERTZ = 132, 4, 1.75e9
"""The maker's figures of an H100 or H200. A scheduler starts an instruction of a warp a cycle."""

UNITS = {
    "branches": (r"BRA|BSSY|BSYNC|BREAK|EXIT|YIELD|NOP|WARPSYNC|ENDCOLLECTIVE|CALL", None),
    "once for a warp": (r"U[A-Z]|VOTEU|R2UR|S2UR", None),
    "local memory": (r"(LD|ST)L", None),
    "shared memory": (r"(LD|ST|ATOM)S", None),
    "other memory": (r"LD|ST|ATOM|RED|SHFL|S2R", None),
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
access to memory takes one cycle, or one for each pass over shared memory, is assumed."""
COUNTS = ("instructions", "threads", "bytes", "passes")
"""What ``counted`` gives."""


class Built(NamedTuple):
    """A search in machine code."""

    listing: str
    figures: dict[str, int]
    block: int
    """Threads of a block."""


@cache
def built(shape: Shape, settings: SearchSettings, architecture: str) -> Built:
    """Compile a search as the program does on a GPU: the one place that knows how."""
    major, minor = map(int, architecture.split("."))
    settings_of_launch = launch_settings(shape, (major, minor))
    function = cuda.build_kernel(shape, settings, settings_of_launch)
    limit = settings_of_launch.registers
    listing, figures = compiling.build(architecture, function, cuda.signature(shape), limit)
    return Built(listing, figures, settings_of_launch.block)


@cache
def code_of(shape: Shape, architecture: str) -> Code:
    """Return the machine code of a search, to be run."""
    listing, figures, _ = built(shape, SETTINGS, architecture)
    return Code(listing, figures["local bytes"], figures["shared bytes"])


class Search:
    """A search of a frontier, launch by launch: the one place that knows the arguments."""

    def __init__(
        self, frontier: Frontier, limit: int | None = None, architecture: str = ARCHITECTURE
    ) -> None:
        shape, threads = frontier.shape, WARPS * THREADS
        depth = shape.n**2 + 2  # as many as are ever needed
        boards, never_stopped = len(frontier), -1 << 40
        state = np.array([0, boards, boards, boards, 0, never_stopped], np.int64)
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
        self._code = code_of(shape, architecture)

    def launch(self, rounds: int = TO_THE_END, jumpers_first: bool = True) -> Run:
        """Launch the kernel once; return the instructions and bytes that this took, in all."""
        counts = launch(self._code, self._arrays, [rounds, 0, self._limit], jumpers_first)
        return counted(self._code, counts)

    def done(self) -> tuple[int, int]:
        """Return the solutions that were found, and the boards that were looked at."""
        return int(self.found.counts.sum()), int(self.stacks.tally[NODES].sum())


def kind_of(name: str) -> str:
    """Return the kind of units that do an instruction."""
    return next(kind for kind, (names, _) in UNITS.items() if re.match(names, name))


def counted(code: Code, counts: NDArray[np.int64]) -> Run:
    """Return what warps took: the COUNTS.

    These are instructions by units, threads that took part, bytes of global memory loaded and
    stored, bytes of local memory, and passes over shared memory.
    """
    instructions, moved, passes = dict.fromkeys(UNITS, 0), dict.fromkeys(BYTES, 0), 0
    for (_, name, _), (times, _, units) in zip(code.instructions, counts.tolist(), strict=True):
        kind = kind_of(name)
        instructions[kind] += times
        if kind == "shared memory":
            passes += units
        elif kind == "local memory":
            moved["local"] += SECTOR * units
        else:
            moved["loaded" if name.startswith("LD") else "stored"] += SECTOR * units
    threads = int(counts[:, 1].sum())
    return dict(zip(COUNTS, (instructions, threads, moved, passes), strict=True))


def cycles(run: Run) -> dict[str, float]:
    """Return the cycles of a multiprocessor that each bound takes for a solution or puzzle."""
    done = run["instructions"]
    found = {kind: done[kind] * THREADS / rate for kind, (_, rate) in UNITS.items() if rate}
    conflicts = run.get("passes", 0) - done.get("shared memory", 0)
    found["memory"] = memory_of(done) + conflicts
    found["issuing"] = sum(done.values()) / SCHEDULERS
    return {kind: taken / run["number"] for kind, taken in found.items()}


def memory_of(instructions: dict[str, int]) -> int:
    """Return the accesses to memory of any kind."""
    return sum(number for kind, number in instructions.items() if kind.endswith("memory"))


def frontier_of(name: str, width: int) -> Frontier:
    """Return the frontier of a board of the collection."""
    root = Frontier.of([collection.load(name)])
    if root.shape not in CHECKED:
        sides = ", ".join(f"{shape.n}x{shape.n}" for shape in CHECKED)
        raise InputError(f"@{name}: expected a board of one of {sides} cells")
    return root.expanded(SETTINGS, width)


def check_count(name: str, jumpers_first: bool, architecture: str = ARCHITECTURE) -> None:
    """Count a whole board; MismatchError is raised if the count is wrong."""
    click.echo(f"counting @{name}, for {architecture}", err=True)
    search = Search(frontier_of(name, FEW), architecture=architecture)
    search.launch(jumpers_first=jumpers_first)
    check(f"@{name}, for {architecture}", search.done()[0], collection.entry(name).count)


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


def occupancy(architecture: str, figures: dict[str, int], blocks: Sequence[int]) -> Run:
    """Return what runs on a multiprocessor at once, in blocks of the size that fills it best."""
    has = compiling.MULTIPROCESSORS[architecture]
    taken = figures["registers"], figures["shared bytes"]
    block = max(blocks, key=lambda threads: has.blocks_of(threads, *taken) * threads)
    number = has.blocks_of(block, *taken)
    warps = number * block // THREADS
    share = round(number * block / has.threads, 4)
    return {"threads of a block": block, "blocks": number, "warps": warps, "occupancy": share}


def search_figures(board: str, clues: int, small: str, architecture: str) -> Run:
    """Give the figures of the search of a board without its last clues, and what a node takes.

    Before, the same code counts a small board.
    """
    frontier = Frontier.of([thinned(board, clues)])
    shape = frontier.shape
    listing, figures, block = built(shape, SETTINGS, architecture)
    loop = loop_of(listing)
    run = {
        "kernel": f"{shape.n}x{shape.n}",
        "for": architecture,
        **figures,
        **occupancy(architecture, figures, [block]),
        "loop": len(loop),
        "local in loop": sum("LDL" in line or "STL" in line for line in loop),
    }
    if is_known(shape, architecture):
        check_count(small, True, architecture)
        click.echo(f"measuring @{board} without {clues} clues, for {architecture}", err=True)
        search = Search(frontier.expanded(SETTINGS, FEW), architecture=architecture)
        rounds = CELLS // shape.n**2
        search.launch(rounds)
        before = search.done()
        taken = search.launch(rounds)
        number, nodes = (now - then for now, then in zip(search.done(), before, strict=True))
        run |= {"number": number, "nodes": nodes, **taken}
    return run


@cache
def is_known(shape: Shape, architecture: str) -> bool:
    """Compile a search, and tell whether its machine code can be run."""
    built(shape, SETTINGS, architecture)
    if architecture.replace(".", "") not in LAYOUTS:
        return False
    try:
        code_of(shape, architecture)
    except CodeError as error:
        click.echo(f"not run, for {architecture}: {error}", err=True)
        return False
    return True


def resources(architecture: str) -> Iterator[Run]:
    """Compile all other kernels; give their figures."""
    given: dict[str, tuple[str, dict[str, int], Sequence[int]]] = {}
    for side, techniques in SEARCHES:
        name = f"{side**2}x{side**2}, {techniques}"
        click.echo(f"compiling {name}, for {architecture}", err=True)
        settings = SearchSettings(parse_techniques(techniques))
        listing, figures, block = built(Shape(side, side), settings, architecture)
        given[name] = listing, figures, [block]
    for name, wide in {"contraction, narrow": False, "contraction, wide": True}.items():
        click.echo(f"compiling {name}, for {architecture}", err=True)
        kernel = nine.build_kernel(wide), nine.SIGNATURE, nine.MOST_REGISTERS
        given[name] = *compiling.build(architecture, *kernel), BLOCKS
    for name, (listing, figures, blocks) in given.items():
        instructions = {"instructions": listing.count(";")}
        most = occupancy(architecture, figures, blocks)
        yield {"kernel": name, "for": architecture, **figures, **instructions, **most}


def show(path: Path) -> None:
    """Print the bounds of a recorded file."""
    results = recorded(path)
    clock, multiprocessors = (results["machine"][key] for key in ("hertz", "multiprocessors"))
    print(
        f"Upper bounds, computed and not measured, for {multiprocessors} multiprocessors at"
        f" {clock / 1e9:g} GHz. Not seen: memory, caches, waiting for results, the clock under"
        f" load. Bytes are what warps ask of global memory, in sectors of {SECTOR}.\n"
    )
    heads = ["board", "start", "at most a second", "bound by", "instructions of a warp for one"]
    kinds = ["whole numbers", "products"]
    rows = []
    for run in results["runs"]:
        taken, done, number = cycles(run), run["instructions"], run["number"]
        most, all_of_them = max(taken, key=lambda kind: taken[kind]), sum(done.values())
        cells = [run["board"], f"{run['start']}, {run['boards']:,} boards"]
        cells += [f"{multiprocessors * clock / taken[most]:.2e} {run['of']}", most]
        values = all_of_them, *map(done.get, kinds), memory_of(done)
        cells += [f"{value / number:.1f}" for value in values]
        moved = run.get("bytes", {})  # older results have fewer
        cells += [f"{moved[kind] / number:.0f}" if kind in moved else "" for kind in BYTES]
        rows.append([*cells, f"{run['threads'] / all_of_them:.1f} of {THREADS}"])
    heads += [*kinds, "memory", *(f"bytes {kind}" for kind in BYTES), "threads taking part"]
    table(heads, rows, left=4)


@script("warp", show)
@click.option("--board", "boards", multiple=True, help="Of 9x9 to 25x25 cells; else 1f and 2f.")
@click.option("--puzzles", type=click.Path(exists=True, dir_okay=False), help="9x9 puzzles.")
@click.option("--architecture", "others", type=click.Choice(list(compiling.MULTIPROCESSORS)),
              multiple=True, help="All kernels, also for this.")  # fmt: skip
@click.option("--kernels-only", is_flag=True, help="Compute no bounds.")
def main(path: Path, boards: tuple[str, ...], puzzles: str | None, others: tuple[str, ...],
         kernels_only: bool) -> None:  # fmt: skip
    """Compute how many solutions a second a GPU can find at most."""
    names = [] if kernels_only else board_names(boards or BOARDS)
    shapes = dict.fromkeys(frontier_of(name, 1).shape for name in names)
    if reason := compiling.missing():
        raise DeviceError(reason)
    architectures = list(dict.fromkeys([*ARCHITECTURES, *others]))
    # Machine code is compiled and decoded before any is run: see ``warp_code.calculator``.
    for architecture, shape in product(architectures, CHECKED):
        click.echo(f"compiling {shape.n}x{shape.n}, for {architecture}", err=True)
        is_known(shape, architecture)
    searches = [search_figures(*board, each) for board, each in product(BUSY_BOARDS, architectures)]
    for shape in shapes:
        for name, jumpers_first in CHECKED[shape].items():
            check_count(name, jumpers_first)
    large = [name for name in names if collection.entry(name).count > MANY]
    cases = [(name, "deep") for name in names] + [(name, "frontier") for name in large]
    runs = [measure(*case) for case in cases]
    if puzzles:
        runs.append(measure_puzzles(Path(puzzles)))
    kernels = [run for each in dict.fromkeys([ARCHITECTURE, *others]) for run in resources(each)]
    described = {**machine(), "hertz": HERTZ, "multiprocessors": MULTIPROCESSORS}
    described |= compiling.versions()
    write(path, {"machine": described, "runs": runs, "searches": searches, "kernels": kernels})


if __name__ == "__main__":
    main()
