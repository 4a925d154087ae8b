"""The command line: options in, lines out, around the functions that the Python interface has.

A command opens a ``Run`` with the values of its options, calls an operation such as
``planning.count.count_batches``, and writes its results in a loop. Only this package uses click.

stdout carries results only; all else goes to stderr. Exit status 0: answered. 1: could not
finish. 2: bad input or usage. 128 and the number of the signal that ended it, as shells have it.
"""

from gpusudoku.cli.commands import cli
from gpusudoku.cli.process import main

__all__ = ["cli", "main"]
