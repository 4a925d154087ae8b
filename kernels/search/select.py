"""Which search a board gets: that of ``nine``, or the one for all boards.

``nine`` searches 9x9 boards with singles, and with locked candidates. Everything else has the
general search, which also makes the frontiers of 9x9 boards. Both keep to one interface, so that
nobody who runs a search needs to know which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.jit import Jit
from gpusudoku.kernels.lanes import LANES
from gpusudoku.kernels.search import loop
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.nine import loop as nine_loop
from gpusudoku.kernels.search.nine import planes, rows
from gpusudoku.kernels.search.nine import thread as nine_thread
from gpusudoku.kernels.search.settings import SearchSettings


class Search(Protocol):
    """What those who run a search need to know of it."""

    lanes: int
    """The boards that a thread works on at once. Each may need room for a solution at any time."""
    words: int
    """The number of words of a board on the stack."""
    word: type[np.unsignedinteger[Any]]
    """The type of such a word."""
    node_seconds: float
    """About how long a core of 2024 takes for a node from which the search goes on, for
    estimates."""
    dead_seconds: float
    """The same for a node where it does not: a contradiction is found after many singles."""

    def build_run(
        self, jit: Jit, claim: Callable[..., Any], add: Callable[..., Any]
    ) -> Callable[..., None]:
        """Make the loop of a CPU thread; see ``loop.build_run``."""

    def scratch(self) -> Any:
        """Make the last argument of the loop of a CPU thread."""

    def boards_of(self, stack: NDArray[Any]) -> NDArray[np.uint64]:
        """Rows of a stack as boards of the layout."""


class GpuSearch(Protocol):
    """What those who run a search on a GPU need to know of it."""

    words: int
    """The number of words of a row: a board of the frontier, or on a stack."""
    word: type[np.unsignedinteger[Any]]
    """The type of such a word."""
    contiguous: bool
    """Whether a stack must lie in one place: it is then moved board by board, else word by word."""

    def build_run(
        self,
        jit: Jit,
        claim: Callable[..., Any],
        add: Callable[..., Any],
        any_of_warp: Callable[..., Any],
    ) -> Callable[..., None]:
        """Make the loop of a CUDA thread: ``nonpeers`` in place of the scratch, which it makes."""

    def rows_of(self, boards: NDArray[np.uint64]) -> NDArray[Any]:
        """Boards of the layout as rows; arrays of NumPy or CuPy."""

    def boards_of(self, rows: NDArray[Any]) -> NDArray[np.uint64]:
        """Rows as boards of the layout."""


DIGIT_SECONDS, WORD_SECONDS, FOLD_SECONDS = 8.8e-9, 2.4e-9, 1.5e-10
"""What a node takes for every digit, for every word of its plane, and for every column of every
band, which is folded onto its box. ``benchmarks/estimates.py`` compares this with searches."""
DEAD_NODES = 8
"""A dead node takes as long as so many others."""


class GeneralSearch:
    """The search for all geometries and techniques; one board at a time."""

    lanes = 1
    word = np.uint64

    def __init__(self, layout: Layout, settings: SearchSettings) -> None:
        self._layout, self._settings = layout, settings
        self.words = layout.words
        columns = layout.box_columns**2
        digit = DIGIT_SECONDS + WORD_SECONDS * layout.plane_words + FOLD_SECONDS * columns
        self.node_seconds = layout.n * digit
        self.dead_seconds = DEAD_NODES * self.node_seconds

    def build_run(
        self, jit: Jit, claim: Callable[..., Any], add: Callable[..., Any]
    ) -> Callable[..., None]:
        """See ``Search``."""
        return loop.build_run(self._layout, self._settings, jit, claim, add)

    def scratch(self) -> loop.Scratch:
        """See ``Search``."""
        return loop.Scratch(self._layout.nonpeers, np.empty(self._layout.scratch_words, np.uint64))

    def boards_of(self, stack: NDArray[Any]) -> NDArray[np.uint64]:
        """See ``Search``."""
        return stack


class GeneralGpuSearch:
    """The same on a GPU. It works on the board on top of the stack, in memory, word by word."""

    word = np.uint64
    contiguous = False

    def __init__(self, layout: Layout, settings: SearchSettings) -> None:
        self._layout, self._settings = layout, settings
        self.words = layout.words

    def build_run(
        self,
        jit: Jit,
        claim: Callable[..., Any],
        add: Callable[..., Any],
        any_of_warp: Callable[..., Any],
    ) -> Callable[..., None]:
        """See ``GpuSearch``. Its threads go their own ways."""
        from gpusudoku.kernels.search.cuda_thread import build_general_run

        run = loop.build_run(self._layout, self._settings, jit, claim, add)
        return build_general_run(self._layout, jit, run)

    def rows_of(self, boards: NDArray[np.uint64]) -> NDArray[Any]:
        """See ``GpuSearch``."""
        return boards

    def boards_of(self, rows: NDArray[Any]) -> NDArray[np.uint64]:
        """See ``GpuSearch``."""
        return rows


class NineSearch:
    """The search for 9x9 boards; as many at a time as there are lanes."""

    word = np.uint32
    words = planes.WORDS
    node_seconds = dead_seconds = 25e-9

    def __init__(self, settings: SearchSettings, lanes: int) -> None:
        self._settings, self.lanes = settings, lanes

    def build_run(
        self, jit: Jit, claim: Callable[..., Any], add: Callable[..., Any]
    ) -> Callable[..., None]:
        """See ``Search``."""
        return nine_loop.build_run(self._settings, self.lanes, jit, claim, add)

    def scratch(self) -> planes.Lanes:
        """See ``Search``."""
        return planes.Lanes.empty(self.lanes)

    def boards_of(self, stack: NDArray[Any]) -> NDArray[np.uint64]:
        """See ``Search``."""
        return planes.boards_of(stack)


class NineGpuSearch:
    """The search for 9x9 boards on a GPU; the threads of a warp in step."""

    word = np.uint32
    words = rows.ROW_WORDS
    contiguous = True

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings

    def build_run(
        self,
        jit: Jit,
        claim: Callable[..., Any],
        add: Callable[..., Any],
        any_of_warp: Callable[..., Any],
    ) -> Callable[..., None]:
        """See ``GpuSearch``."""
        from gpusudoku.kernels.search.cuda_thread import build_nine_run

        run = nine_thread.build_thread_run(self._settings, jit, claim, add, any_of_warp)
        return build_nine_run(jit, run)

    def rows_of(self, boards: NDArray[np.uint64]) -> NDArray[Any]:
        """See ``GpuSearch``."""
        return rows.rows_of(boards)

    def boards_of(self, rows: NDArray[Any]) -> NDArray[np.uint64]:
        """See ``GpuSearch``."""
        return planes.boards_of(rows[:, : planes.WORDS])


def search_for(layout: Layout, settings: SearchSettings, lanes: int = LANES) -> Search:
    """The search for boards of a layout, in as many lanes if it can do that."""
    nine = _searched_by_nine(layout, settings)
    return NineSearch(settings, lanes) if nine else GeneralSearch(layout, settings)


def gpu_search_for(layout: Layout, settings: SearchSettings) -> GpuSearch:
    """The same on a GPU."""
    nine = _searched_by_nine(layout, settings)
    return NineGpuSearch(settings) if nine else GeneralGpuSearch(layout, settings)


def _searched_by_nine(layout: Layout, settings: SearchSettings) -> bool:
    return layout == planes.NINE and nine_loop.can_search(settings)
