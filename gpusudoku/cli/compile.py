"""``gpusudoku compile``: the kernels that commands need, compiled in advance."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING

import click

from gpusudoku import collection
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.completing import complete_boxes
from gpusudoku.cli.options import CommandOptions, parse_box, quiet_option
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.jobs.watch import duration
from gpusudoku.options import MAX_JOBS, STRATEGIES, Options
from gpusudoku.pipeline.messages import print_note, quietly
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.search.techniques import GROUPS

if TYPE_CHECKING:
    from gpusudoku.kernels.kernel import Kernel

compile_option = CommandOptions("compile")


@click.command("compile")
@compile_option(
    "--box",
    callback=parse_box,
    shell_complete=complete_boxes,
    default="3x3",
    metavar="ROWSxCOLUMNS",
    help="Box shape of the boards to compile for.",
)
@compile_option(
    "--all",
    "everything",
    is_flag=True,
    help="Also compile for all boards that come with gpusudoku, and for other techniques and"
    " strategies.",
)
@compile_option(
    "-j",
    "--jobs",
    type=Integer(1, MAX_JOBS),
    help="Number of processes.  [default: all usable cores]",
)
@quiet_option
def compile_(box: Geometry, everything: bool, jobs: int | None, quiet: bool) -> None:
    """Compile and cache the kernels of all commands in advance.

    Without this command, every command compiles a kernel when it first needs it, and caches it.
    This command compiles all kernels that the commands need with their default options, for one
    box shape. Computers with the same kind of processor can share the cache.

    \b
    Examples:
      gpusudoku compile
      gpusudoku compile --box 4x4
      gpusudoku compile --all -j 8
    """
    from gpusudoku.kernels import kernel_store
    from gpusudoku.kernels.kernel_store import find_obstacle, short_path

    with quietly(quiet):
        kernels = all_kernels(box) if everything else usual_kernels(box)
        # fetch loads a kernel from the cache, if it is there.
        missing = [kernel for kernel in kernels if not kernel.load_from_cache()]
        store = kernel_store.user_store()
        if missing:
            if (reason := find_obstacle(store)) is not None:
                raise GpusudokuError(reason)
            _compile(missing, jobs)
        folder = "" if store is None else f", in {short_path(store.folder.parent)}"
        cached = len(kernels) - len(missing)
        print_note(f"compiled {_number(len(missing))}; {cached} already cached{folder}")


def _compile(missing: list[Kernel], jobs: int | None) -> None:
    """Compile kernels, and show the progress."""
    from gpusudoku.kernels import compile_many

    start = time.perf_counter()
    expected_seconds = sum(kernel.seconds for kernel in missing)
    finished_seconds = list[float]()  # the expected seconds of each finished kernel

    with _CompileLine() as line:

        def show_progress(kernel: Kernel) -> None:
            finished_seconds.append(kernel.seconds)
            # Kernels take very different times, so the share is not their number.
            share = sum(finished_seconds) / expected_seconds
            seconds = time.perf_counter() - start
            remaining_time = duration(seconds * (1 - share) / share)
            kernels_done = f"{len(finished_seconds)} of {len(missing)}"
            line.share(share, f"{kernels_done}  {seconds:.0f} s, {remaining_time} left")

        compile_many.load_kernels(missing, jobs, show_progress)


class _CompileLine(ProgressLine):
    """A progress line that announces the number of kernels and the time."""

    def compiling(self, kernels: Sequence[Kernel], seconds: float, details: str) -> None:
        """See ``Watch``."""
        print_note(f"compiling {_number(len(kernels))}, {duration(max(1.0, round(seconds)))}")

    def not_cached(self, why: str) -> None:
        """Raise an error: other commands continue, but this one exists to fill the cache."""
        from gpusudoku.kernels.kernel_store import NOT_CACHED

        raise GpusudokuError(f"{NOT_CACHED}: {why}")


def _number(kernels: int) -> str:
    return "1 kernel" if kernels == 1 else f"{kernels} kernels"


def usual_kernels(geometry: Geometry) -> list[Kernel]:
    """Return all kernels that commands need with default options, for boards of a box shape."""
    from gpusudoku import kernels
    from gpusudoku.board.geometry import NINE
    from gpusudoku.contraction.nine.shares import share_stages
    from gpusudoku.contraction.nine.sum import stages
    from gpusudoku.enumeration.splitting import walk_kernel
    from gpusudoku.kernels.kernel import Kernel
    from gpusudoku.logic import simplify_kernels
    from gpusudoku.planning.search import search_kernels
    from gpusudoku.puzzles.canonical import canonical_kernels
    from gpusudoku.puzzles.difficulty import rate_kernels
    from gpusudoku.puzzles.neighbours import placements_kernel
    from gpusudoku.puzzles.remove_clues import minimise_kernel

    def kernels_in(namespace: object) -> Iterator[Kernel]:
        return (value for value in vars(namespace).values() if isinstance(value, Kernel))

    # Kernels that are made for a box shape.
    usual = [*search_kernels(geometry, Options()), *simplify_kernels(geometry)]
    usual += [minimise_kernel(geometry), placements_kernel(geometry), *rate_kernels(geometry)]
    usual.append(walk_kernel(geometry))
    with suppress(InputError):  # some box shapes have no canonical form
        usual += canonical_kernels(geometry)

    # Kernels that are the same for all boards are attributes of their modules.
    for module in walk_packages(kernels.__path__, f"{kernels.__name__}."):
        if "cuda" not in module.name:
            usual += kernels_in(import_module(module.name))

    if geometry == NINE:
        usual += [*kernels_in(stages()), *kernels_in(share_stages())]
    return _distinct(usual)


def all_kernels(geometry: Geometry) -> list[Kernel]:
    """Return the usual kernels of all boards of the program, and those of other search options."""
    from gpusudoku.planning.search import search_kernels

    shapes = dict.fromkeys([geometry, *(entry.box for entry in collection.entries())])
    kernels = [kernel for shape in shapes for kernel in usual_kernels(shape)]
    for strategy in STRATEGIES:
        for group in GROUPS:
            kernels += search_kernels(geometry, Options(strategy=strategy, propagate=group))
    return _distinct(kernels)


def _distinct(kernels: list[Kernel]) -> list[Kernel]:
    """Remove kernels with equal names, which are the same code."""
    return list({kernel.name: kernel for kernel in kernels}.values())
