"""The command ``gpusudoku``, which is also ``python -m gpusudoku``."""

import gc
import os
from typing import NoReturn

from gpusudoku.jobs.interrupts import catch_interrupts

GARBAGE = 500_000
"""Objects after which garbage is looked for. Importing makes many that all stay: with Python's 700
it is looked for in vain for a twentieth of the time until a board is read, and once among all of
them takes as long as a tenth of a short command."""


def main() -> NoReturn:
    """Run the command line in a process of its own, and exit with its status."""
    gc.set_threshold(GARBAGE)
    # NumPy's library starts these threads when imported, and sends SIGINT where it cannot; unused.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _fill_descriptors()
    catch_interrupts()
    # Imported only now: it is slow, and signals are handled before.
    from gpusudoku.cli.process import run_alone

    run_alone()


def _fill_descriptors() -> None:
    """Let no file that is opened later take the place of a standard stream that is closed.

    What stands in for stdin cannot be read, and what does for stdout and stderr cannot be written.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # it is the lowest that is free, so this opens it
            os.open(os.devnull, os.O_RDONLY if descriptor else os.O_WRONLY)


if __name__ == "__main__":
    main()
