"""Simulated GPUs on which something goes wrong at a given call of whatever the driver does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.cuda.device import Gpu

LOST = RuntimeError("cudaErrorUnknown: the GPU has fallen off the bus")


class Faulty(Gpu):
    """A simulated GPU whose call number ``at`` raises an error, and all after it.

    Calls are those that CuPy, Numba or the driver would be asked for: to allocate, to copy, to
    launch, to make it the current device.
    """

    def __init__(self, number: int = 0, at: int | None = None) -> None:
        super().__init__(number)
        self.calls = 0
        self.at = at
        names = ("asarray", "empty", "zeros", "full")
        self.xp = SimpleNamespace(**{name: self._counted(getattr(np, name)) for name in names})

    def called(self) -> None:
        """Count a call, which fails if it is its turn."""
        self.calls += 1
        if self.at is not None and self.calls >= self.at:
            raise type(LOST)(*LOST.args)  # a new one, which keeps nothing afterwards

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.called()
            return np.array(function(*arguments))  # a copy, as what comes to a GPU is

        return counted

    @contextmanager
    def current(self) -> Iterator[None]:
        with super().current():
            with self.errors():
                self.called()
            yield
            with self.errors():
                self.called()

    def configured(self, kernel: Any, blocks: int, threads: int, *arrays: Any) -> Any:
        launch = super().configured(kernel, blocks, threads, *arrays)

        def launched(*arguments: Any) -> None:
            self.called()
            launch(*arguments)

        return launched

    def free_bytes(self) -> int:
        self.called()
        return super().free_bytes()

    def set_bytes(self, array: Any, value: int) -> None:
        self.called()
        super().set_bytes(array, value)

    def write(self, array: Any, values: NDArray[Any]) -> None:
        self.called()
        super().write(array, values)

    def host(self, array: Any) -> NDArray[Any]:
        self.called()
        return np.array(array)
