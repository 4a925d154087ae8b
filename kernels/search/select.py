"""The two searches: one for all geometries, and one for 9x9 boards with the usual techniques.

Both nonpeers to one interface, so that nobody who runs a search needs to know which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.lanes import LANES
from gpusudoku.kernels.search import loop as search
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.nine import loop as nine_search
from gpusudoku.kernels.search.nine import planes as nine_planes
from gpusudoku.kernels.search.settings import SearchSettings


class Search(Protocol):
    """What those who run a search need to know of it."""

    lanes: int
    """Boards that a thread has at hand at once. Each may need room for a solution at any time."""
    words: int
    """Words of a board on the stack,"""
    word: type[np.unsignedinteger[Any]]
    """and their type."""
    node_seconds: float
    """About how long a core of 2024 takes for a node, for estimates."""

    def build_run(
        self, jit: Jit, claim: Callable[..., Any], add: Callable[..., Any]
    ) -> Callable[..., None]:
        """Make the loop of a thread; see ``search.build_run``."""

    def workspace(self) -> tuple[NDArray[Any], ...]:
        """The last arguments of the loop of a CPU thread."""

    def boards_of(self, stack: NDArray[Any]) -> NDArray[np.uint64]:
        """Rows of a stack as boards of the layout."""


class AnySearch:
    """The search for all geometries and techniques; one board at a time."""

    lanes = 1
    word = np.uint64

    def __init__(self, layout: Layout, settings: SearchSettings) -> None:
        self._layout, self._settings = layout, settings
        self.words = layout.words
        self.node_seconds = 5e-9 * layout.words

    def build_run(
        self, jit: Jit, claim: Callable[..., Any], add: Callable[..., Any]
    ) -> Callable[..., None]:
        """See ``Search``."""
        return search.build_run(self._layout, self._settings, jit, claim, add)

    def workspace(self) -> tuple[NDArray[Any], ...]:
        """See ``Search``."""
        return self._layout.nonpeers, np.empty(self._layout.scratch_words, np.uint64)

    def boards_of(self, stack: NDArray[Any]) -> NDArray[np.uint64]:
        """See ``Search``."""
        return stack


class NineSearch:
    """The search for 9x9 boards; as many at a time as there are lanes."""

    word = np.uint32
    words = nine_planes.WORDS
    node_seconds = 25e-9

    def __init__(self, settings: SearchSettings, lanes: int) -> None:
        self._settings, self.lanes = settings, lanes

    def build_run(
        self, jit: Jit, claim: Callable[..., Any], add: Callable[..., Any]
    ) -> Callable[..., None]:
        """See ``Search``."""
        return nine_search.build_run(self._settings, self.lanes, jit, claim, add)

    def workspace(self) -> tuple[NDArray[Any], ...]:
        """See ``Search``."""
        return np.zeros((nine_planes.WORK_ROWS, self.lanes), np.uint32), np.zeros(
            self.lanes, np.int64
        )

    def boards_of(self, stack: NDArray[Any]) -> NDArray[np.uint64]:
        """See ``Search``."""
        return nine_planes.boards_of(stack)


def search_for(layout: Layout, settings: SearchSettings, lanes: int = LANES) -> Search:
    """The search for boards of a layout by some settings, in as many lanes if it can do that."""
    if layout == nine_planes.NINE and nine_search.can_search(settings):
        return NineSearch(settings, lanes)
    return AnySearch(layout, settings)
