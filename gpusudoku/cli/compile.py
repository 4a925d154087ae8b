"""``gpusudoku compile``: what commands would compile when they are first used, compiled before."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.completing import complete_boxes
from gpusudoku.cli.messages import note, quietly
from gpusudoku.cli.options import box_of, own_option, quiet_option
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import GpusudokuError
from gpusudoku.jobs.watch import duration
from gpusudoku.options import MOST_JOBS

if TYPE_CHECKING:
    from gpusudoku.kernels.kernel import Kernel

own = own_option("compile")


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
@own("-j", "--jobs", type=Integer(1, MOST_JOBS), help="Processes.  [default: usable cores]")
@quiet_option
def compile_(box: Geometry, everything: bool, jobs: int | None, quiet: bool) -> None:
    """Compile and cache the kernels of all commands in advance.

    Every command compiles what it needs when it first needs it, and keeps it. This does so for all
    that the commands need with their default options, for boards of one shape. What is kept
    serves processors of the same kind.

    \b
    Examples:
      gpusudoku compile
      gpusudoku compile --box 4x4
      gpusudoku compile --all -j 8
    """
    from gpusudoku.kernels import jit
    from gpusudoku.kernels.store import not_kept, short_path
    from gpusudoku.warming import all_kernels, usual_kernels

    with quietly(quiet):
        kernels = all_kernels(box) if everything else usual_kernels(box)
        missing = [kernel for kernel in kernels if not kernel.fetch()]
        store = jit.store()
        if missing and (store is None or not store.writable()):
            raise GpusudokuError(not_kept(store))
        _compile(missing, jobs)
        if store is not None and store.trouble:
            raise GpusudokuError(not_kept(store))
        where = "" if store is None else f", in {short_path(store.folder.parent)}"
        kept = len(kernels) - len(missing)
        note(f"compiled {_number(len(missing))}; {kept} were kept already{where}")


def _compile(missing: list[Kernel], jobs: int | None) -> None:
    """Compile what is missing, with progress shown."""
    from gpusudoku.kernels import compiling

    if not missing:
        return
    expected = compiling.seconds(missing, jobs)
    note(f"compiling {_number(len(missing))}, {duration(max(1.0, round(expected)))}")
    start, lock, done = time.perf_counter(), Lock(), [0.0, 0.0]
    whole = sum(kernel.seconds for kernel in missing)

    with _Compiling() as line:

        def compiled(kernel: Kernel) -> None:
            with lock:
                done[0] += 1
                done[1] += kernel.seconds / whole
                seconds = time.perf_counter() - start
                left = duration(seconds * (1 - done[1]) / done[1])
                line.share(
                    done[1], f"{done[0]:.0f} of {len(missing)}  {seconds:.0f} s, {left} left"
                )

        compiling.ready(missing, jobs, compiled)


class _Compiling(ProgressLine):
    """The line of what is compiled, which is said before it, and complained of after it."""

    def compiling(self, *_: Any) -> None:
        """See ``Watch``."""

    def not_kept(self, why: str) -> None:
        """See ``Watch``."""


def _number(kernels: int) -> str:
    return "1 kernel" if kernels == 1 else f"{kernels} kernels"
