"""The resources of every CUDA kernel: registers, memory, instructions, and how many threads fit.

Compiles for real architectures, which needs no GPU, prints a Markdown table and writes every figure
to a JSON file. The instructions of a step are those of the longest branch-free part of the kernel;
a step of the 9x9 search by singles is such a part, other steps are loops. The text below the table
says what follows for the speed of the search: bounds, predicted by arithmetic. Nothing is measured.

    python benchmarks/kernel_resources.py                     two minutes
    python benchmarks/kernel_resources.py --architecture 9.0  one architecture only
    python benchmarks/kernel_resources.py --show              what was recorded before
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import click
import compiling
from machine import record, recorded
from script import Run, script, table

from gpusudoku.errors import DeviceError, InputError
from gpusudoku.kernels.contraction.nine import cuda as nine_cuda
from gpusudoku.kernels.search import cuda
from gpusudoku.kernels.search.settings import (
    FIRST,
    HIDDEN_SINGLE,
    LOCKED_CANDIDATES,
    MIN,
    NAKED_SINGLE,
    SearchSettings,
)
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.search.techniques import parse_techniques

THREADS = [64, 128, 256]
"""Block sizes for which the occupancy is computed."""
SINGLES = NAKED_SINGLE | HIDDEN_SINGLE
NINE = {
    "singles": SINGLES,
    "singles and locked candidates": SINGLES | LOCKED_CANDIDATES,
    "naked-single": NAKED_SINGLE,
    "none": 0,
    "all": parse_techniques("all"),
}
"""Techniques of the searches of 9x9 boards."""
BOTH = ["singles", "none"]
"""The names in NINE that are compiled with both strategies."""
LARGER = [4, 5, 8]
"""Sides of the boxes of larger boards."""
PACKAGES = ["numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvdisasm"]

# Figures for the prediction. The search of board 1f by one GPU thread, which splits boards early:
STEPS = 4.0
"""Steps for every solution."""
GUESSES = 1.1
"""Guesses for every solution, each of which pushes a board and pops it again."""
# The maker's figures of an H200:
MULTIPROCESSORS, LANES, SCHEDULERS, HERTZ = 132, 64, 4, 1.75e9
MEMORY, SECOND_LEVEL = 4.8e12, 50e6
"""Bytes a second from memory, and bytes of the cache that all multiprocessors share."""
SECTOR = 32
"""The fewest bytes that memory moves at once."""


class CudaKernel(NamedTuple):
    """A kernel to compile."""

    name: str
    function: Callable[..., None]
    types: tuple[Any, ...]
    """The types of its arguments, as Numba takes them."""
    most_registers: int | None = None
    """Those that a thread may have, if they are limited."""


def search_kernel(name: str, shape: Shape, settings: SearchSettings) -> CudaKernel:
    """The kernel of a search."""
    function = cuda.build_kernel(shape, settings)
    return CudaKernel(name, function, cuda.signature(shape))


def contraction_kernel(wide: bool) -> CudaKernel:
    """A kernel of contractions of 9x9 boards."""
    name = f"contraction, {'wide' if wide else 'narrow'}"
    function, most = nine_cuda.build_kernel(wide), nine_cuda.MOST_REGISTERS
    return CudaKernel(name, function, nine_cuda.SIGNATURE, most)


def kernels() -> list[CudaKernel]:
    """Every kernel."""
    nine = Shape(3, 3)
    found = []
    for words, techniques in NINE.items():
        for name, strategy in {"min": MIN, "first": FIRST}.items():
            if strategy == MIN or words in BOTH:
                settings = SearchSettings(techniques, strategy)
                found.append(search_kernel(f"9x9, {words}, {name}", nine, settings))
    for side in LARGER:
        name = f"{side**2}x{side**2}, singles, min"
        found.append(search_kernel(name, Shape(side, side), SearchSettings()))
    return [*found, contraction_kernel(wide=False), contraction_kernel(wide=True)]


def measure(capabilities: list[tuple[int, int]]) -> list[Run]:
    """Compile every kernel for every architecture."""
    program, runs = compiling.disassembler(), []
    for kernel in kernels():
        for capability in capabilities:
            progress = f"{kernel.name}, {capability[0]}.{capability[1]}"
            click.echo(f"\r{progress:<60}", nl=False, err=True)
            try:
                ptx = compiling.compile_ptx(kernel.function, kernel.types, capability)
                code, log = compiling.assemble(ptx, capability, kernel.most_registers)
            except Exception as error:  # of Numba's or NVIDIA's: too new, or too old
                click.echo(f"\rleft out: {str(error).splitlines()[0]:<60}", err=True)
                continue
            pieces = compiling.blocks(compiling.disassemble(code, program) if program else ptx)
            runs.append(
                {
                    "kernel": kernel.name,
                    "capability": list(capability),
                    **asdict(compiling.parse_log(log)),
                    "instructions": "SASS" if program else "PTX",
                    "all": compiling.by_class([each for piece in pieces for each in piece]),
                    "step": compiling.by_class(max(pieces, key=len)),
                }
            )
    click.echo("", err=True)
    return runs


def versions() -> dict[str, str]:
    """The versions of the compilers that are installed."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def occupancy(run: Run, threads: int) -> float:
    """The share of a multiprocessor's threads that run at once, in blocks of ``threads``."""
    has = compiling.MULTIPROCESSORS[tuple(run["capability"])]
    return has.blocks_of(threads, run["registers"], run["shared"]) * threads / has.threads


def show(path: Path) -> None:
    """Print the table of a recorded file, and what follows from it."""
    results = recorded(path)
    described, runs = results["machine"], results["runs"]
    told = [described["commit"] or "", *(f"{k} {described[k]}" for k in PACKAGES if k in described)]
    print(f"{', '.join(filter(None, told))}, {described['date']}\n")
    kinds = list(compiling.CLASSES)
    heads = ["kernel", "arch", "registers", "local B", "spilt B", "shared B", "constant B"]
    heads += ["barriers", *(f"{threads} a block" for threads in THREADS), "code"]
    heads += [f"{kind} (step)" for kind in kinds]
    rows = []
    for run in sorted(runs, key=lambda run: run["capability"]):
        names = ["registers", "stack", "spill_stores", "shared", "constant", "barriers"]
        cells = [run["kernel"], ".".join(map(str, run["capability"]))]
        cells += [str(run[name]) for name in names]
        cells += [f"{occupancy(run, threads):.0%}" for threads in THREADS]
        cells += [run["instructions"]]
        rows.append([*cells, *(f"{run['all'][kind]} ({run['step'][kind]})" for kind in kinds)])
    table(heads, rows, left=2)
    print(
        f"\nPercentages are occupancy, by the number of threads of a block.\n\n{prediction(runs)}"
    )


def prediction(runs: list[Run]) -> str:
    """The bounds of the 9x9 search's speed on an H200, in words. Computed, not measured."""
    case = ("9x9, singles, min", [9, 0])
    run = next((run for run in runs if (run["kernel"], run["capability"]) == case), None)
    if run is None:
        return "No prediction without the search of 9x9 boards on architecture 9.0."
    threads = round(occupancy(run, 128) * 2048) * MULTIPROCESSORS
    step = run["step"]

    def solutions(cycles_of_a_warp: float) -> float:
        return MULTIPROCESSORS * HERTZ * 32 / cycles_of_a_warp / STEPS

    bounds = [
        ("32-bit units, steps alone", solutions(step["32-bit"] * 32 / LANES)),
        ("units that multiply, steps alone", solutions(step["multiplier"] * 32 / LANES)),
        ("issuing instructions, steps alone", solutions(sum(step.values()) / SCHEDULERS)),
        ("local memory in the first-level cache, steps alone", solutions(step["local"])),
    ]
    row = Shape(3, 3).row_bytes
    for moved, size in [("bytes", row), ("sectors", -(-row // SECTOR) * SECTOR)]:
        bounds.append((f"stacks in memory, {moved} moved once", MEMORY / (2 * GUESSES * size)))
    lines = [
        f"PREDICTION, NOT MEASURED: solutions a second of the 9x9 search on an H200, from these"
        f" figures ({run['instructions']}), {STEPS} steps and {GUESSES} guesses a solution,"
        f" {MULTIPROCESSORS} multiprocessors of {LANES} lanes at {HERTZ / 1e9} GHz. At most, if"
        " bound by",
        "",
        *(f"- {name}: {bound:.2g}" for name, bound in bounds),
        "",
        f"The second-level cache holds the top {SECOND_LEVEL / threads / row:.1f} boards of each of"
        f" {threads:,} stacks, so less than the stacks' traffic goes to memory.",
    ]
    return "\n".join(lines)


@script("kernel_resources", show, results="kernels")
@click.option("--architecture", multiple=True, help="Such as 9.0; by default all.")
def main(path: Path, architecture: tuple[str, ...]) -> None:
    """Compile every CUDA kernel, and list its resources."""
    if reason := compiling.missing():
        raise DeviceError(reason)
    known = {f"{major}.{minor}": (major, minor) for major, minor in compiling.MULTIPROCESSORS}
    if unknown := sorted(set(architecture) - set(known)):
        raise InputError(f"architecture {unknown[0]}: expected one of {', '.join(known)}")
    record(path, measure([known[name] for name in architecture or known]), **versions())


if __name__ == "__main__":
    main()
