"""What every CUDA kernel takes: registers, memory, instructions, and how many threads then fit.

Compiles for real architectures, which needs no GPU, prints a Markdown table and writes every figure
to a JSON file. The instructions of a step are those of the longest piece of the kernel that has no
jump in it: a 9x9 search's step has none. Below the table stands what follows from the figures for
the search's speed: a prediction by arithmetic, of bounds. Nothing is measured here.

    python benchmarks/kernel_resources.py                     two minutes
    python benchmarks/kernel_resources.py --architecture 9.0  one architecture only
    python benchmarks/kernel_resources.py --show              what was recorded before
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
import compiling
from machine import RESULTS, machine

from gpusudoku.kernels.contraction.nine import cuda as nine_cuda
from gpusudoku.kernels.search import cuda
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import (
    FIRST,
    HIDDEN_SINGLE,
    LOCKED_CANDIDATES,
    MIN,
    NAKED_SINGLE,
    SearchSettings,
)
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
"""Techniques of the searches of 9x9 boards,"""
BOTH = ["singles", "none"]
"""with both strategies one for each of the two searches: techniques do not choose,"""
LARGER = [4, 5, 8]
"""and sides of larger boxes."""
PACKAGES = ["numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvdisasm"]

# For the prediction. Of the search of board 1f, measured on the CPU:
STEPS = 4.7
"""steps a solution,"""
GUESSES = 1.04
"""and guesses, each of which pushes a board and pops it again."""
# Of an H200, as its maker has it:
MULTIPROCESSORS, LANES, SCHEDULERS, HERTZ = 132, 64, 4, 1.75e9
MEMORY, SECOND_LEVEL = 4.8e12, 50e6
"""Bytes a second from memory, and bytes of the cache that all multiprocessors share."""
WORDS, SECTOR = 27, 32
"""Words of 32 bits of a board on a stack; bytes that memory moves at least."""


def kernels() -> list[tuple[str, Callable[..., None], str]]:
    """Every kernel, by name, with the types of its arguments."""
    layout, made = Layout(3, 3), []
    searches = [
        (f"9x9, {words}, {name}", layout, SearchSettings(techniques, strategy))
        for words, techniques in NINE.items()
        for name, strategy in {"min": MIN, "first": FIRST}.items()
        if strategy == MIN or words in BOTH
    ]
    for side in LARGER:
        name = f"{side**2}x{side**2}, singles, min"
        searches.append((name, Layout(side, side), SearchSettings()))
    for name, layout, settings in searches:
        made.append((name, cuda.build_kernel(layout, settings), cuda.signature(layout, settings)))
        if name == "9x9, singles, min":
            kernel = cuda.build_kernel(layout, settings, contiguous=True)
            made.append((f"{name}, contiguous", kernel, cuda.signature(layout, settings)))
    return [*made, ("contraction", nine_cuda.build_kernel(), nine_cuda.SIGNATURE)]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--architecture", multiple=True, help="Such as 9.0; by default all.")
@click.option("--output", default=str(RESULTS / "kernels.json"), help="JSON file.")
@click.option("--show", "only_show", is_flag=True, help="Print that file's table; run nothing.")
def main(architecture: tuple[str, ...], output: str, only_show: bool) -> None:
    """Compile every CUDA kernel and say what it takes."""
    path = Path(output)
    if not only_show:
        if reason := compiling.missing():
            sys.exit(f"kernel_resources.py: {reason}")
        known = {f"{major}.{minor}": (major, minor) for major, minor in compiling.MULTIPROCESSORS}
        if unknown := sorted(set(architecture) - set(known)):
            sys.exit(f"kernel_resources.py: architecture {unknown[0]}: one of {', '.join(known)}")
        compile_all([known[name] for name in architecture or known], path)
    show(path)


def compile_all(capabilities: list[tuple[int, int]], path: Path) -> None:
    """Compile every kernel for every architecture and write the file."""
    program, runs = compiling.disassembler(), []
    for name, kernel, types in kernels():
        for capability in capabilities:
            click.echo(f"\r{name}, {capability[0]}.{capability[1]:<30}", nl=False, err=True)
            try:
                ptx = compiling.compile_ptx(kernel, types, capability)
                code, log = compiling.assemble(ptx, capability)
            except Exception as error:  # of Numba's or NVIDIA's: too new, or too old
                click.echo(f"\rleft out: {str(error).splitlines()[0]:<40}", err=True)
                continue
            text = compiling.disassemble(code, program) if program else ptx
            pieces = compiling.blocks(text)
            runs.append(
                {
                    "kernel": name,
                    "capability": list(capability),
                    **asdict(compiling.parse_log(log)),
                    "instructions": "SASS" if program else "PTX",
                    "all": compiling.by_class([each for piece in pieces for each in piece]),
                    "step": compiling.by_class(max(pieces, key=len)),
                }
            )
    click.echo("", err=True)
    described = {**machine(), **versions()}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": described, "runs": runs}, indent=1) + "\n")


def versions() -> dict[str, str]:
    """The compilers' versions."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def occupancy(run: dict[str, Any], threads: int) -> float:
    """The share of a multiprocessor's threads that run at once, in blocks of so many."""
    has = compiling.MULTIPROCESSORS[tuple(run["capability"])]
    return has.blocks_of(threads, run["registers"], run["shared"]) * threads / has.threads


def show(path: Path) -> None:
    """Print the table of a recorded file, and what follows from it."""
    recorded = json.loads(path.read_text())
    described, runs = recorded["machine"], recorded["runs"]
    told = [described["commit"] or "", *(f"{k} {described[k]}" for k in PACKAGES if k in described)]
    print(f"{', '.join(filter(None, told))}, {described['date']}\n")
    kinds = list(compiling.CLASSES)
    heads = ["kernel", "arch", "registers", "local B", "spilt B", "shared B", "constant B"]
    heads += ["barriers", *(f"{threads} a block" for threads in THREADS), "code"]
    heads += [f"{kind} (step)" for kind in kinds]
    print(f"| {' | '.join(heads)} |")
    print("|---|---|" + "---:|" * (len(heads) - 2))
    for run in sorted(runs, key=lambda run: run["capability"]):
        names = ["registers", "stack", "spill_stores", "shared", "constant", "barriers"]
        cells = [run["kernel"], ".".join(map(str, run["capability"]))]
        cells += [str(run[name]) for name in names]
        cells += [f"{occupancy(run, threads):.0%}" for threads in THREADS]
        cells += [run["instructions"]]
        cells += [f"{run['all'][kind]} ({run['step'][kind]})" for kind in kinds]
        print(f"| {' | '.join(cells)} |")
    print(f"\nPercentages are occupancy, in blocks of so many threads.\n\n{prediction(runs)}")


def prediction(runs: list[dict[str, Any]]) -> str:
    """Bounds of the 9x9 search's speed on an H200, in words. Computed, not measured."""
    case = ("9x9, singles, min", [9, 0])
    run = next((run for run in runs if (run["kernel"], run["capability"]) == case), None)
    if run is None:
        return "No prediction without the search of 9x9 boards on architecture 9.0."
    threads = round(occupancy(run, 128) * 2048) * MULTIPROCESSORS
    step, whole = run["step"], run["all"]

    def solutions(cycles_of_a_warp: float) -> float:
        return MULTIPROCESSORS * HERTZ * 32 / cycles_of_a_warp / STEPS

    bounds = [
        ("32-bit units, steps alone", solutions(step["32-bit"] * 32 / LANES)),
        (
            "32-bit units, if some thread of every warp takes every branch at every step",
            solutions((whole["32-bit"] + 2 * whole["64-bit"]) * 32 / LANES),
        ),
        ("issuing instructions, steps alone", solutions(sum(step.values()) / SCHEDULERS)),
        ("local memory in the first-level cache, steps alone", solutions(step["local"])),
    ]
    row = 4 * WORDS + 8  # a board and its root
    contiguous = (-(-4 * WORDS // SECTOR) + 1) * SECTOR
    for layout, size in [
        ("every byte moved once", row),
        ("contiguous, whole sectors", contiguous),
        ("interleaved, no neighbour at the same depth", (WORDS + 1) * SECTOR),
    ]:
        bounds.append((f"stacks in memory, {layout}", MEMORY / (2 * GUESSES * size)))
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


if __name__ == "__main__":
    main()
