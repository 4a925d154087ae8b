"""A simulated GPU on which the engine launches compiled PTX instead of Numba's kernels.

Numba's simulator is on, so the memory of the GPU is NumPy's, but no kernel of the simulator runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from numba import typeof

from gpusudoku.engines.cuda import device
from gpusudoku.kernels.contraction.nine import cuda as nine
from gpusudoku.kernels.search import cuda as search
from gpusudoku.kernels.search.launch import LaunchSettings
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from tests.ptx import compiled
from tests.ptx.launch import Kernel


class Launch(NamedTuple):
    """The size of a launch: blocks, and threads of a block."""

    blocks: int
    threads: int


class Dispatcher:
    """A stand-in for that of numba-cuda: ``dispatcher[blocks, threads](*arguments)``.

    Numba would compile the kernel again for arguments of other types; this class refuses them.
    """

    def __init__(self, kernel: Kernel, signature: tuple[Any, ...], card: Card) -> None:
        self._kernel = kernel
        self._signature = signature
        self._card = card

    def __getitem__(self, configuration: tuple[int, int]) -> Callable[..., None]:
        def launch(*arguments: Any) -> None:
            types = tuple(typeof(argument) for argument in arguments)
            assert types == self._signature, "the kernel was compiled for other types"
            card = self._card
            card.launches.append(Launch(*configuration))
            self._kernel.launch(*configuration, arguments, seed=card.seed, workers=card.workers)

        return launch


class Card:
    """Makes the engine launch the PTX of a compute capability.

    ``seed`` and ``workers`` are parameters of ``Kernel.launch``.
    """

    def __init__(
        self, capability: tuple[int, int], seed: int = 0, workers: int = 1, checked: bool = True
    ) -> None:
        self.capability = capability
        self.seed = seed
        self.workers = workers
        self.checked = checked
        self.launches: list[Launch] = []
        self.sums: set[bool] = set()
        """The values of ``wide`` of the launched sums."""

    def insert(self, patch: pytest.MonkeyPatch, blocks: int, threads: int) -> None:
        """Replace the engine's kernels; the card runs ``blocks`` blocks of ``threads`` at once."""
        patch.setattr(device, "SIMULATED_BLOCKS", blocks)
        patch.setattr(device, "SIMULATED_THREADS", threads)
        patch.setattr(search, "kernel", self._search)
        patch.setattr(nine, "kernel", self._sum)

    def _search(self, shape: Shape, settings: SearchSettings, _: LaunchSettings) -> Dispatcher:
        search_case = (shape.box_rows, shape.box_columns, settings.techniques, settings.strategy)
        kernel = compiled.kernel((*search_case, *self.capability), self.checked)
        return Dispatcher(kernel, search.signature(shape), self)

    def _sum(self, wide: bool) -> Dispatcher:
        self.sums.add(wide)
        kernel = compiled.kernel((int(wide), *self.capability), self.checked)
        return Dispatcher(kernel, nine.SIGNATURE, self)
