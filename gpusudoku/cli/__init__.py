"""The command line: a thin layer over the Python interface; no logic of its own.

stdout carries results only; all else goes to stderr. Exit status 0: answered. 1: could not
finish. 2: bad input or usage. 128 and the number of the signal that ended it, as shells have it.
"""

from gpusudoku.cli.commands import cli
from gpusudoku.cli.process import main

__all__ = ["cli", "main"]
