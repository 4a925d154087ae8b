"""The command line: a thin layer around the functions that the Python interface has.

A command opens a ``Run`` with the values of its options, calls an operation such as
``planning.count.count_batches``, and writes the results in a loop. Only this package uses click.

stdout carries results only; all messages go to stderr. Exit status 0: success. 1: the command could
not finish. 2: bad input or usage. 128 plus the number of the signal that ended it, as in shells.
"""

from gpusudoku.cli.commands import cli
from gpusudoku.cli.process import main

__all__ = ["cli", "main"]
