"""Simulated GPUs on which a chosen call of the driver fails."""

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
    """A simulated GPU on which call number ``failing_call`` and all later ones raise an error.

    The calls that count are those that CuPy, Numba or the driver would carry out: allocations,
    copies, launches, and changes of the current device.
    """

    def __init__(self, number: int = 0, failing_call: int | None = None) -> None:
        super().__init__(number)
        self.calls = 0
        self.failing_call = failing_call
        names = ("asarray", "empty", "zeros", "full")
        self.xp = SimpleNamespace(**{name: self._counting(getattr(np, name)) for name in names})

    def count_call(self) -> None:
        """Count a call, and raise the error if the call has to fail."""
        self.calls += 1
        if self.failing_call is not None and self.calls >= self.failing_call:
            # A new error each time: the traceback of a shared one would keep arrays alive.
            raise type(LOST)(*LOST.args)

    def _counting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counting_function(*arguments: Any) -> Any:
            self.count_call()
            return np.array(function(*arguments))  # a copy, as an array on a GPU is

        return counting_function

    @contextmanager
    def current(self) -> Iterator[None]:
        with super().current():
            with self.errors():
                self.count_call()
            yield
            with self.errors():
                self.count_call()

    def prepare_launch(self, kernel: Any, blocks: int, threads: int, *arrays: Any) -> Any:
        launch = super().prepare_launch(kernel, blocks, threads, *arrays)

        def counting_launch(*arguments: Any) -> None:
            self.count_call()
            launch(*arguments)

        return counting_launch

    def free_bytes(self) -> int:
        self.count_call()
        return super().free_bytes()

    def set_bytes(self, array: Any, value: int) -> None:
        self.count_call()
        super().set_bytes(array, value)

    def write(self, array: Any, values: NDArray[Any]) -> None:
        self.count_call()
        super().write(array, values)

    def host(self, array: Any) -> NDArray[Any]:
        self.count_call()
        return np.array(array)
