"""Marks on functions that kernels call, to be compiled as parts of these and not by themselves.

A mark costs nothing: Numba learns of the functions when a kernel is compiled, see ``jit.learn``.
Until then, and in a process that only loads what was compiled before, they are plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Jit = Callable[[Callable[..., Any]], Callable[..., Any]]
"""The decorator that a compiler wants on a function that kernels call."""

marked: list[tuple[Callable[..., Any], bool]] = []
"""The functions that are marked and not yet known to Numba; True if they are to be inlined."""
lessons: list[Callable[[], None]] = []
"""Functions that teach Numba what kernels need, each to be called once before it compiles."""


def jitable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that kernels call."""
    marked.append((function, False))
    return function


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate one that is too short to be worth a call."""
    marked.append((function, True))
    return function


def when_compiling(teach: Callable[[], None]) -> None:
    """Decorate a function that teaches Numba something; it imports Numba by itself."""
    lessons.append(teach)
