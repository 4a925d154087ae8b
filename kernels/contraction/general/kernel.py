"""Kernels that carry their types: compiled, or loaded from disk, when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba import types
from numba.extending import register_jitable

from gpusudoku.kernels.jit import Jit, compiled

inlined: Jit = register_jitable(_nrt=False, forceinline=True)
"""Decorates the functions that kernels call. They cost no call, and run as plain Python too."""


class Kernel:
    """A function for given types of arguments, called like the function itself.

    Attributes
    ----------
    python
        The function as it is written, which runs without compiling.
    """

    def __init__(self, python: Callable[..., Any], signature: tuple[Any, ...]) -> None:
        self.python, self._signature = python, signature

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        return compiled(self.python, self._signature)

    def load(self) -> None:
        """Compile now, so that the first call takes no longer than others."""
        _ = self._compiled

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, compiled."""
        return self._compiled(*arguments)


def kernel(*signature: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a ``Kernel``; the Numba types of its arguments stand above it."""
    return lambda function: Kernel(function, signature)


def type_of(fields: Any) -> Any:
    """The Numba type of a NamedTuple, given one that holds a Numba type in every field."""
    return types.BaseTuple.from_types(tuple(fields), type(fields))
