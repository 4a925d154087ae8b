"""How the stages of the contraction of 9x9 boards are compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba.extending import register_jitable

from gpusudoku.kernels.jit import Jit, compiled

jitable: Jit = register_jitable(_nrt=False)
"""The decorator of functions that compiled functions call. Python can call them, too."""


class Stage:
    """A function with the Numba types of its arguments, to be called like the function.

    Parameters
    ----------
    function
        Written for Numba.
    arguments
        The type of every argument.
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._function, self._arguments = function, arguments

    def compile(self) -> Callable[..., Any]:
        """Return the compiled function: compiled now or loaded from disk, if it is not yet.

        A call does so, too. But Ctrl-C waits for a thread that compiles, so whoever starts threads
        calls this before.
        """
        return self._compiled

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        return compiled(self._function, self._arguments)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self._compiled(*arguments)
