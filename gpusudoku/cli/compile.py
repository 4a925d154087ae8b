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
from gpusudoku.cli.options import OwnOptions, box_of, quiet_option
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.jobs.watch import duration
from gpusudoku.options import MAX_JOBS, STRATEGIES, Options
from gpusudoku.pipeline.messages import note, quietly
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.search.techniques import GROUPS

if TYPE_CHECKING:
    from gpusudoku.kernels.kernel import Kernel

own = OwnOptions("compile")


@click.command("compile")
@own(
    "--box",
    callback=box_of,
    shell_complete=complete_boxes,
    default="3x3",
    metavar="ROWSxCOLUMNS",
    help="The shape of the boxes of the boards to compile for.",
)
@own(
    "--all",
    "everything",
    is_flag=True,
    help="Also for all boards that come with gpusudoku, and for other techniques and strategies.",
)
@own("-j", "--jobs", type=Integer(1, MAX_JOBS), help="Processes.  [default: usable cores]")
@quiet_option
def compile_(box: Geometry, everything: bool, jobs: int | None, quiet: bool) -> None:
    """Compile and cache the kernels of all commands in advance.

    Without this, each command compiles the code it needs when it first needs it, and caches it.
    This compiles all that the commands need with their default options, for boards of one shape.
    Processors of the same kind can share the cache.

    \b
    Examples:
      gpusudoku compile
      gpusudoku compile --box 4x4
      gpusudoku compile --all -j 8
    """
    from gpusudoku.kernels import kernel_store
    from gpusudoku.kernels.kernel_store import obstacle, short_path

    with quietly(quiet):
        kernels = all_kernels(box) if everything else usual_kernels(box)
        missing = [kernel for kernel in kernels if not kernel.fetch()]
        store = kernel_store.user_store()
        if missing:
            if (why := obstacle(store)) is not None:
                raise GpusudokuError(why)
            _compile(missing, jobs)
        where = "" if store is None else f", in {short_path(store.folder.parent)}"
        kept = len(kernels) - len(missing)
        note(f"compiled {_number(len(missing))}; {kept} were kept already{where}")


def _compile(missing: list[Kernel], jobs: int | None) -> None:
    """Compile kernels, with progress shown."""
    from gpusudoku.kernels import compile_many

    start = time.perf_counter()
    done = list[float]()
    whole = sum(kernel.seconds for kernel in missing)

    with _Compiling() as line:

        def compiled(kernel: Kernel) -> None:
            done.append(kernel.seconds)
            share = sum(done) / whole
            seconds = time.perf_counter() - start
            left = duration(seconds * (1 - share) / share)
            line.share(share, f"{len(done)} of {len(missing)}  {seconds:.0f} s, {left} left")

        compile_many.ready(missing, jobs, compiled)


class _Compiling(ProgressLine):
    """A line of progress, and announcements of the number of kernels and the time."""

    def compiling(self, kernels: Sequence[Kernel], seconds: float, kept: str) -> None:
        """See ``Watch``."""
        note(f"compiling {_number(len(kernels))}, {duration(max(1.0, round(seconds)))}")

    def not_kept(self, why: str) -> None:
        """Raise the error of a command that keeps nothing."""
        from gpusudoku.kernels.kernel_store import NOT_KEPT

        raise GpusudokuError(f"{NOT_KEPT}: {why}")


def _number(kernels: int) -> str:
    return "1 kernel" if kernels == 1 else f"{kernels} kernels"


def usual_kernels(geometry: Geometry) -> list[Kernel]:
    """Return all kernels that a command needs for boards of a shape, with its default options."""
    from gpusudoku import kernels
    from gpusudoku.board.geometry import NINE
    from gpusudoku.contraction.nine.shares import share_stages
    from gpusudoku.contraction.nine.sum import stages
    from gpusudoku.kernels.kernel import Kernel
    from gpusudoku.logic import simplify_kernels
    from gpusudoku.planning.search import search_kernels
    from gpusudoku.puzzles.canonical import canonical_kernels
    from gpusudoku.puzzles.difficulty import rate_kernels
    from gpusudoku.puzzles.neighbours import placements_kernel
    from gpusudoku.puzzles.remove_clues import minimise_kernel

    def kernels_in(thing: object) -> Iterator[Kernel]:
        return (value for value in vars(thing).values() if isinstance(value, Kernel))

    needed = [*search_kernels(geometry, Options()), *simplify_kernels(geometry)]
    needed += [minimise_kernel(geometry), placements_kernel(geometry), *rate_kernels(geometry)]
    with suppress(InputError):  # some shapes have none
        needed += canonical_kernels(geometry)
    for module in walk_packages(kernels.__path__, f"{kernels.__name__}."):
        if "cuda" not in module.name:  # those of all modules are the same for all boards
            needed += kernels_in(import_module(module.name))
    if geometry == NINE:
        needed += [*kernels_in(stages()), *kernels_in(share_stages())]
    return list({kernel.name: kernel for kernel in needed}.values())


def all_kernels(geometry: Geometry) -> list[Kernel]:
    """Return those of all boards of the program, and for either strategy and each group."""
    from gpusudoku.planning.search import search_kernels

    shapes = dict.fromkeys([geometry, *(entry.box for entry in collection.entries())])
    needed = [kernel for shape in shapes for kernel in usual_kernels(shape)]
    for strategy in STRATEGIES:
        for group in GROUPS:
            needed += search_kernels(geometry, Options(strategy=strategy, propagate=group))
    return list({kernel.name: kernel for kernel in needed}.values())
