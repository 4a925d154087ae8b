"""How fast the search of a board can be on a GPU at most: bounds, computed without a GPU.

Compiles and assembles its kernel for compute capability 9.0, takes the machine code apart, and runs
it here a warp at a time, 32 threads in lock step (``warp_machine``). Whole boards must be counted
right, whichever party goes first where threads part; then every instruction is counted that a warp
takes for a solution, and what multiprocessors can take of them in a second bounds the search.

The bounds see how many instructions there are, of which kind, and that threads wait for each other.
They do not see how long memory, caches and results take, nor what clock a GPU keeps under load: a
GPU is slower than they say, by how much only a GPU can show.

    python benchmarks/warp.py                        two minutes
    python benchmarks/warp.py --board 16x16-many     a board of 16x16 cells; half a minute
    python benchmarks/warp.py --puzzles FILE         also puzzles a second
    python benchmarks/warp.py --show                 what was recorded before
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click
import compiling
import numpy as np
import warp_code
from kernel_resources import HERTZ, MULTIPROCESSORS, SCHEDULERS, versions
from machine import record, recorded
from numpy.typing import NDArray
from script import Run, board_names, check, script, table
from searching import LIMIT, packed
from searching import puzzles as read_puzzles
from warp_machine import Machine

import gpusudoku
from gpusudoku import collection
from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.kernels.search import arguments, cuda
from gpusudoku.kernels.search.arguments import NODES, TOP, Found, Stack, Work
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.search.frontier import Frontier

CAPABILITY = (9, 0)
NINE, SETTINGS = Shape(3, 3), SearchSettings()
CHECKED = {NINE: ["2c", "1c"], Shape(4, 4): ["16x16-few"]}
"""Boards that are counted to the end, in both orders."""
BOARDS = ["1f", "2f"]
WARPS, THREADS = 2, 32
FEW, MANY, TAKEN = 128, 675_000, 4000
"""Boards of the frontier of threads that are deep in a board, and of that of a full card, ten for
each of its threads; of the latter so many in a row are taken. Boards of fewer solutions than MANY
have the first only."""
WARM_UP, BUDGET = 200, 3000
"""Nodes that a thread may look at before and while instructions are counted."""
NO_BUDGET = 1 << 40


class Unit(NamedTuple):
    """A kind of units of a multiprocessor, each of which does something for one thread."""

    names: str
    """The beginnings of the names of instructions that it does."""
    threads: int | None
    """How many results a multiprocessor gives a cycle; None if it bounds nothing here."""


UNITS = {
    "branches": Unit(r"BRA|BSSY|BSYNC|BREAK|EXIT|YIELD|NOP|WARPSYNC|ENDCOLLECTIVE", None),
    "once for a warp": Unit(r"U[A-Z]|VOTEU|R2UR|S2UR", None),
    "memory": Unit(r"LD|ST|ATOM|RED|SHFL|S2R", 32),
    "bits": Unit(r"POPC|FLO|BREV", 16),
    "products": Unit(r"IMAD|HFMA2", 64),
    "whole numbers": Unit(r"[A-Z]", 64),
}
"""By the first pattern that matches. The rates of whole numbers (sums, comparisons, shifts, logic),
products, and counting or reversing bits are in NVIDIA's CUDA C++ programming guide, in the table of
arithmetic throughput for compute capability 9.0. That a product's high half, 64-bit products and
IMAD in place of a move or shift take as long as a product, that moves and selections run with
whole numbers, and that every access to memory takes one cycle is assumed. Each of SCHEDULERS starts
an instruction of a warp a cycle, whichever it is."""


class MissingTool(GpusudokuError):  # noqa: N818 - nothing went wrong
    """NVIDIA's compiler or disassembler is not installed."""

    exit_status = 2


class Kernel(NamedTuple):
    """The search of boards of a shape in machine code."""

    code: warp_code.Code
    resources: compiling.Resources


class Search:
    """A search on WARPS warps, launch by launch."""

    def __init__(self, kernel: Kernel, frontier: Frontier, limit: int | None = None) -> None:
        shape, threads = frontier.shape, WARPS * THREADS
        depth = shape.n**2 + 2  # as many as are ever needed
        self._kernel, self._limit = kernel, limit
        self._work = Work(frontier.boards, frontier.roots, np.zeros(1, np.int64))
        self._stacks = Stack(
            np.zeros((threads, depth, shape.words), shape.word),
            np.zeros((threads, depth), np.int64),
            np.full((arguments.STATES, threads), -1, np.int64),
            np.zeros((arguments.TALLIES, threads), np.uint64),
        )
        self.found = Found.empty(int(frontier.roots.max(initial=0)) + 1, 0, shape.n**2)

    def launch(self, budget: int, jumpers_first: bool = True) -> NDArray[np.int64]:
        """Launch the kernel once; returns how often every instruction was taken."""
        numbers = budget, int(arguments.limit_of(self._limit))
        groups = self._work, self._stacks, self.found
        frame = self._kernel.resources.stack
        machine = Machine(self._kernel.code, frame, (*groups, *numbers))
        machine.launch(WARPS, jumpers_first)
        arrays = iter(machine.arrays)
        self._work, self._stacks, self.found = (
            type(group)(*(next(arrays) for _ in group)) for group in groups
        )
        return machine.counts

    @property
    def nodes(self) -> int:
        """The boards that were looked at."""
        return int(self._stacks.tally[NODES].sum())

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        taken = int(self._work.cursor[0]) >= len(self._work.boards)
        return taken and bool((self._stacks.state[TOP] < 0).all())


def compiled(shape: Shape = NINE) -> Kernel:
    """The kernel, compiled and assembled.

    Raises
    ------
    MissingTool
        If NVIDIA's compiler or disassembler is missing.
    """
    program = compiling.disassembler()
    without = "NVIDIA's disassembler is missing: pip install nvidia-cuda-nvdisasm"
    if reason := compiling.missing() or (None if program else without):
        raise MissingTool(reason)
    function, types = cuda.build_kernel(shape, SETTINGS), cuda.signature(shape)
    ptx = compiling.compile_ptx(function, types, CAPABILITY)
    assembled, log = compiling.assemble(ptx, CAPABILITY)
    listing = compiling.disassemble(assembled, str(program))
    return Kernel(warp_code.parse(listing), compiling.parse_log(log))


def unit_of(name: str) -> str:
    """The kind of units that do an instruction."""
    return next(kind for kind, unit in UNITS.items() if re.match(unit.names, name))


def counted(code: warp_code.Code, counts: NDArray[np.int64]) -> Run:
    """Instructions of warps by the units that do them, and threads that took part, in all."""
    instructions: Counter[str] = Counter(dict.fromkeys(UNITS, 0))
    for instruction, times in zip(code.instructions, counts[:, 0].tolist(), strict=True):
        instructions[unit_of(instruction.name)] += times
    return {"instructions": dict(instructions), "threads": int(counts[:, 1].sum())}


def cycles(run: Run) -> dict[str, float]:
    """Cycles of a multiprocessor that what bounds it takes for a solution or puzzle, at least."""
    done = run["instructions"]
    found = {"issuing": sum(done.values()) / SCHEDULERS}
    found |= {kind: done[kind] * THREADS / unit.threads for kind, unit in UNITS.items()
              if unit.threads}  # fmt: skip
    return {kind: taken / run["number"] for kind, taken in found.items()}


def frontier_of(name: str, width: int) -> Frontier:
    """The frontier of a board of the collection."""
    root = Frontier.of([collection.load(name)])
    if root.shape not in CHECKED:
        raise InputError(f"@{name}: expected a board of 9x9 or 16x16 cells")
    return root.expanded(SETTINGS, width)


def check_counts(kernel: Kernel, names: Sequence[str]) -> None:
    """Count whole boards, in both orders.

    Raises
    ------
    MismatchError
        If a count is wrong.
    """
    for name in names:
        for jumpers_first in (True, False):
            click.echo(f"counting @{name}", err=True)
            search = Search(kernel, frontier_of(name, FEW))
            search.launch(NO_BUDGET, jumpers_first)
            check(f"@{name}", int(search.found.counts.sum()), collection.entry(name).count)
            if not search.done:
                raise warp_code.CodeError(f"@{name}: the search ended before its end")


def measure(kernel: Kernel, name: str, start: str) -> Run:
    """The instructions of a search that is some way into a board."""
    click.echo(f"measuring @{name}, {start}", err=True)
    frontier = frontier_of(name, FEW if start == "deep" else MANY)
    if start != "deep":
        first = int(np.random.default_rng(0).integers(0, max(1, len(frontier) - TAKEN + 1)))
        frontier = frontier.part(first, first + TAKEN)
    search = Search(kernel, frontier)
    search.launch(WARM_UP)
    before, nodes = int(search.found.counts.sum()), search.nodes
    counts = search.launch(BUDGET)
    number = int(search.found.counts.sum()) - before
    if number == 0:
        raise InputError(f"@{name}: too few solutions")
    case = {"board": f"@{name}", "start": start, "boards": len(frontier), "of": "solutions"}
    return {**case, "number": number, "nodes": search.nodes - nodes, **counted(kernel.code, counts)}


def measure_puzzles(kernel: Kernel, path: Path, number: int) -> Run:
    """The instructions for puzzles, each of which is counted up to two solutions."""
    click.echo(f"measuring {path.name}", err=True)
    cells = read_puzzles(path)[:number]
    search = Search(kernel, packed([cells], len(cells)), LIMIT)
    counts = search.launch(NO_BUDGET)
    boards = [gpusudoku.Board(each) for each in cells]
    right = [one.count for one in gpusudoku.count_many(boards, limit=LIMIT)]
    for index, (found, expected) in enumerate(zip(search.found.counts, right, strict=True)):
        check(f"{path}, puzzle {index + 1}", min(LIMIT, int(found)), expected)
    case = {"board": path.name, "start": "many puzzles", "boards": len(cells), "of": "puzzles"}
    return {**case, "number": len(cells), "nodes": search.nodes, **counted(kernel.code, counts)}


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    results = recorded(path)
    described = results["machine"]
    clock, multiprocessors = described["hertz"], described["multiprocessors"]
    print(
        f"Upper bounds, computed and not measured, for {multiprocessors}"
        f" multiprocessors at {clock / 1e9:g} GHz; threads take up to {described['registers']}"
        " registers. Not seen: memory, caches, waiting for results, the clock under load.\n"
    )
    heads = ["board", "start", "at most a second", "bound by", "instructions of a warp for one"]
    kinds = ["whole numbers", "products", "memory"]
    rows = []
    for run in results["runs"]:
        taken, done = cycles(run), run["instructions"]
        most = max(taken, key=lambda kind: taken[kind])
        rate, all_of_them = multiprocessors * clock / taken[most], sum(done.values())
        start = f"{run['start']}, {run['boards']:,} boards"
        cells = [run["board"], start, f"{rate:.2e} {run['of']}", most]
        cells += [f"{each / run['number']:.1f}" for each in (all_of_them, *map(done.get, kinds))]
        rows.append([*cells, f"{run['threads'] / all_of_them:.1f} of {THREADS}"])
    table([*heads, *kinds, "threads taking part"], rows, left=4)


@script("warp", show)
@click.option("--board", "boards", multiple=True, help="Of 9x9 or 16x16 cells; else 1f and 2f.")
@click.option("--puzzles", type=click.Path(exists=True, dir_okay=False), help="9x9 puzzles.")
@click.option("--number", type=click.IntRange(min=1), default=1500, show_default=True,
              help="How many of them to count.")  # fmt: skip
@click.option("--clock", type=click.FloatRange(min=0, min_open=True), default=HERTZ / 1e9,
              show_default=True, help="Of the GPU, in GHz.")  # fmt: skip
@click.option("--multiprocessors", type=click.IntRange(min=1), default=MULTIPROCESSORS,
              show_default=True, help="Of the GPU.")  # fmt: skip
def main(
    path: Path,
    boards: tuple[str, ...],
    puzzles: str | None,
    number: int,
    clock: float,
    multiprocessors: int,
) -> None:
    """Compute how many solutions a second a GPU can find at most."""
    names = board_names(boards or BOARDS)
    shapes = {name: frontier_of(name, 1).shape for name in names}
    needed = dict.fromkeys([*shapes.values(), *([NINE] if puzzles else [])])
    kernels = {shape: compiled(shape) for shape in needed}
    for shape, kernel in kernels.items():
        check_counts(kernel, CHECKED[shape])
    large = [name for name in names if collection.entry(name).count > MANY]
    cases = [(name, "deep") for name in names] + [(name, "frontier") for name in large]
    runs = [measure(kernels[shapes[name]], name, start) for name, start in cases]
    if puzzles:
        runs.append(measure_puzzles(kernels[NINE], Path(puzzles), number))
    gpu = {"hertz": clock * 1e9, "multiprocessors": multiprocessors}
    registers = max(kernel.resources.registers for kernel in kernels.values())
    record(path, runs, **gpu, registers=registers, **versions())


if __name__ == "__main__":
    main()
