"""Simulated GPUs on which something goes wrong at a given call of whatever the driver does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.cuda.device import Gpu

TURN = threading.Lock()
"""Held while a kernel runs: the simulator runs one at a time."""

LOST = RuntimeError("cudaErrorUnknown: the GPU has fallen off the bus")
SHORT = MemoryError("Out of memory allocating 512 bytes")


class Faulty(Gpu):
    """A simulated GPU whose call number ``at`` raises an error, and all after it if that ``lasts``.

    Calls are those that CuPy, Numba or the driver would be asked for: to allocate, to copy, to
    launch, to wait, to make it the current device.
    """

    def __init__(
        self, number: int = 0, at: int | None = None, error: Exception = LOST, lasts: bool = True
    ) -> None:
        super().__init__(number)
        # The budgets of launches do not depend on how busy the machine is, so the calls do not.
        self.tuning = replace(self.tuning, launch_seconds=1e9)
        self.calls, self.at, self.error, self.lasts = 0, at, error, lasts
        self.held = 0
        """How many arrays there are."""
        self.allocated: Callable[[int], None] = lambda size: None
        """Told how many bytes are allocated; may raise."""
        names = ("asarray", "empty", "zeros", "full")
        made = {name: self._counted(getattr(np, name)) for name in names}
        pool = SimpleNamespace(free_all_blocks=self.called)
        self.xp = SimpleNamespace(get_default_memory_pool=lambda: pool, **made)

    def called(self) -> None:
        """Count a call, which fails if it is its turn."""
        self.calls += 1
        if self.at is not None and (self.calls == self.at or (self.lasts and self.calls > self.at)):
            raise type(self.error)(*self.error.args)  # a new one, which keeps nothing afterwards

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.called()
            array = np.array(function(*arguments))  # a copy, as what comes to a GPU is
            self.allocated(array.nbytes)
            self.held += 1
            finalize(array, self._freed)
            return array

        return counted

    def _freed(self) -> None:
        self.held -= 1

    @contextmanager
    def current(self) -> Iterator[None]:
        with super().current():
            with self.errors():
                self._switched()
            yield
            with self.errors():
                self._switched()

    def _switched(self) -> None:
        if self.error is LOST:  # to make a GPU the current one takes no memory
            self.called()

    def _registers(self, kernel: Any) -> int:
        return 0

    def _shared(self, kernel: Any) -> int:
        return 0

    def for_kernel(self, array: Any) -> Any:
        return array

    def configured(self, kernel: Any, blocks: int, threads: int) -> Any:
        launch = super().configured(kernel, blocks, threads)

        def launched(*arguments: Any) -> None:
            self.called()
            with TURN:
                launch(*arguments)

        return launched

    def finish(self) -> None:
        self.called()

    def free_bytes(self) -> int:
        self.called()
        return 1 << 28

    def host(self, array: Any) -> NDArray[Any]:
        self.called()
        return np.array(array)
