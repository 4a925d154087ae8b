"""Everything that is worth compiling before it is needed, for images and class rooms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import walk_packages

import gpusudoku.kernels
from gpusudoku import collection
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.nine.shares import share_stages
from gpusudoku.contraction.nine.sum import stages
from gpusudoku.contraction.prepare import NINE
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.logic import simplify_kernels
from gpusudoku.options import STRATEGIES, Options
from gpusudoku.planning.search import search_kernels
from gpusudoku.search.techniques import GROUPS


def usual_kernels(geometry: Geometry) -> list[Kernel]:
    """All that any command needs for boards of a shape, with its default options."""
    kernels = [*search_kernels(geometry, Options()), *simplify_kernels(geometry), *_plain()]
    if geometry == NINE:
        kernels += [*_in_object(stages()), *_in_object(share_stages())]
    return _once(kernels)


def all_kernels(geometry: Geometry) -> list[Kernel]:
    """The usual ones of a shape and of all boards that come with the program; and more searches.

    Those are the searches of boards of the shape with either strategy and each group of techniques.
    """
    shapes = [geometry, *(entry.box for entry in collection.entries())]
    kernels = [kernel for shape in dict.fromkeys(shapes) for kernel in usual_kernels(shape)]
    for strategy in STRATEGIES:
        for group in GROUPS:
            kernels += search_kernels(geometry, Options(strategy=strategy, propagate=group))
    return _once(kernels)


def _plain() -> Iterator[Kernel]:
    """The kernels that are the same for all boards: every one that a module has."""
    for module in walk_packages(gpusudoku.kernels.__path__, f"{gpusudoku.kernels.__name__}."):
        if "cuda" not in module.name:
            yield from _in_object(import_module(module.name))


def _in_object(thing: object) -> list[Kernel]:
    return [value for value in vars(thing).values() if isinstance(value, Kernel)]


def _once(kernels: Iterable[Kernel]) -> list[Kernel]:
    return list({kernel.name: kernel for kernel in kernels}.values())
