"""The command ``gpusudoku``, which is also ``python -m gpusudoku``."""

import gc
import os
from typing import NoReturn

from gpusudoku.jobs.interrupts import catch_interrupts

GARBAGE = 500_000
"""New objects after which Python collects garbage. Imports make many objects that stay: with
Python's default of 700, collections take a twentieth of the time until a board is read and free
nothing. One collection of all objects takes a tenth of the time of a short command."""


def main() -> NoReturn:
    """Run the command line in a process of its own, and exit with its status."""
    gc.set_threshold(GARBAGE)
    # When imported, NumPy starts threads for linear algebra, which is not used here, and raises
    # SIGINT if it cannot start them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _fill_descriptors()
    catch_interrupts()
    # Imported only now, because imports are slow and signals must be handled before.
    from gpusudoku.cli.process import run_alone

    run_alone()


def _fill_descriptors() -> None:
    """Open descriptors 0 to 2 if they are closed, so that no later file gets one of them.

    A replaced stdin cannot be read, and a replaced stdout or stderr cannot be written.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # closed; ``open`` takes the lowest free descriptor, which is this one
            os.open(os.devnull, os.O_RDONLY if descriptor else os.O_WRONLY)


if __name__ == "__main__":
    main()
