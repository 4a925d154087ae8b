"""Kernels that carry the types of their arguments: compiled, or loaded, when first called.

For loops that need no template, because nothing in them depends on the shape of the board.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from gpusudoku.kernels.jit import compiled
from gpusudoku.kernels.parts import inlined, jitable

__all__ = ["Kernel", "inlined", "jitable", "kernel"]


class Kernel:
    """A function for given types of arguments, called like the function itself.

    Parameters
    ----------
    python
        The function as it is written, which runs without compiling, too.
    signature
        The Numba type of every argument.
    """

    def __init__(self, python: Callable[..., Any], signature: tuple[Any, ...]) -> None:
        self.python, self._signature = python, signature

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        return compiled(self.python, self._signature)

    def load(self) -> None:
        """Compile now, or load from disk, so that the first call takes no longer than others.

        Ctrl-C waits for a thread that compiles, so whoever starts threads calls this before.
        """
        _ = self._compiled

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, compiled."""
        return self._compiled(*arguments)


def kernel(*signature: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a ``Kernel``; the Numba types of its arguments stand above it."""
    return lambda function: Kernel(function, signature)
