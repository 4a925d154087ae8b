"""One GPU: its arrays, its memory, and how many threads run on it at once.

CuPy holds the memory; in the simulator, NumPy does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from importlib import import_module
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.cuda import availability
from gpusudoku.errors import DeviceError, GpusudokuError
from gpusudoku.kernels.search.launch import WARP, LaunchSettings, launch_settings
from gpusudoku.kernels.search.shape import Shape

SIMULATED = availability.Card("simulator", 1, 1e9, (0, 0))
SIMULATED_BLOCKS, SIMULATED_THREADS = 2, 4
"""The simulator runs every thread of a kernel as a thread of Python."""

MOST_TOLD = 200
"""Characters of messages of other libraries: NVIDIA's go on with other possible causes."""

_CONFIGURING = threading.Lock()
"""Held during changes of Numba's global state: its settings, its list of GPUs."""
_SIMULATING = threading.Lock()
"""Held while the simulator runs a kernel."""


@contextmanager
def one_line_errors(what: str = "CUDA") -> Iterator[None]:
    """Turn the many errors of CuPy, Numba and the driver into a DeviceError of one line."""
    try:
        yield
    except GpusudokuError:
        raise
    except Exception as error:
        reason = shorten(str(error) or type(error).__name__, MOST_TOLD, placeholder=" …")
        raise DeviceError(f"{what} cannot be used: {reason}") from error


def import_packages() -> None:
    """Import CuPy and numba-cuda; a DeviceError of one line names the one that fails."""
    with one_line_errors("CuPy"):
        import_module("cupy")
    with one_line_errors("numba-cuda"):
        import_module("gpusudoku.kernels.cuda_jit")


def _simulate(launch: Any, *arguments: Any) -> None:
    """Launch a kernel in the simulator, which runs one at a time."""
    with _SIMULATING:
        launch(*arguments)


class Gpu:
    """One GPU."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.card, self.warp = SIMULATED, 1
        """``warp`` is the number of threads that go in step."""
        self.xp: Any = np
        """The array module."""
        self.taking_memory = threading.Lock()
        """Held from asking for the free memory until it is taken: searches run side by side."""
        self.simulated = availability.simulated()
        if not self.simulated:
            import cupy

            self.card, self.warp, self.xp = availability.cards()[number], WARP, cupy
            if reason := availability.unusable_card(self.card):
                raise DeviceError(f"GPU {number} cannot be used: {reason}")
            self._try()

    def _try(self) -> None:
        """Compile and run a kernel of a line, to fail here and now if the GPU cannot be used.

        Numba finds the GPU here, too, in one thread: several could not do this at once.
        """
        from gpusudoku.kernels import cuda_jit

        with _CONFIGURING, self.current():
            numbers = self.xp.zeros(1, np.int64)
            kernel = cuda_jit.trial()
        with self.current():
            self.configured(kernel, 1, 1)(self.for_kernel(numbers))
            if int(numbers[0]) != cuda_jit.TRIAL:
                raise DeviceError(f"GPU {self.number} cannot be used: it computes nothing")

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this the device of the calling thread, for CuPy and for Numba, for a while."""
        with ExitStack() as devices:
            if not self.simulated:
                from numba import cuda

                with self.errors():
                    devices.enter_context(self.xp.cuda.Device(self.number))
                    devices.enter_context(cuda.gpus[self.number])
            try:
                yield
            finally:
                with self.errors():
                    devices.close()

    def errors(self) -> AbstractContextManager[None]:
        """Turn errors on this GPU into a DeviceError of one line that names it."""
        return one_line_errors(f"GPU {self.number}")

    def launch_settings(self, shape: Shape) -> LaunchSettings:
        """Return how the kernel of a search is compiled and launched here."""
        if self.simulated:
            return LaunchSettings(is_shared=False, block=SIMULATED_THREADS)
        return launch_settings(shape, self.card.capability)

    def blocks_at_once(self, kernel: Any, threads: int) -> int:
        """Ask the driver how many blocks of so many threads run on the GPU at once."""
        if self.simulated:
            return SIMULATED_BLOCKS
        [compiled] = kernel.overloads.values()
        return int(compiled.max_cooperative_grid_blocks(threads))

    def fullest_block(self, kernel: Any, most: int) -> int:
        """Return the least threads of a block, at most ``most``, that fill the GPU best."""
        if self.simulated:
            return SIMULATED_THREADS
        [compiled] = kernel.overloads.values()
        sizes = range(WARP, min(most, compiled.max_threads_per_block) + 1, WARP)
        return max(sizes, key=lambda threads: threads * self.blocks_at_once(kernel, threads))

    def configured(self, kernel: Any, blocks: int, threads: int) -> Any:
        """Configure a kernel for a launch in ``blocks`` of ``threads`` each."""
        if self.simulated:
            return partial(_simulate, kernel[blocks, threads])
        from numba import config

        # It warns of grids of few blocks, which small GPUs, or full ones, get on purpose.
        with _CONFIGURING:
            warns = config.CUDA_LOW_OCCUPANCY_WARNINGS
            config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
            try:
                return kernel[blocks, threads]
            finally:
                config.CUDA_LOW_OCCUPANCY_WARNINGS = warns

    def for_kernel(self, array: Any) -> Any:
        """Convert an array to Numba's form once, instead of at every launch."""
        if self.simulated:
            return array
        from numba import cuda

        return cuda.as_cuda_array(array)

    def free_bytes(self) -> int:
        """Return the bytes of memory that are free on the GPU."""
        if self.simulated:
            return 1 << 28
        unused = self.xp.get_default_memory_pool().free_bytes()
        return int(self.xp.cuda.runtime.memGetInfo()[0] + unused)

    def write(self, array: Any, values: NDArray[Any]) -> None:
        """Copy values of the host to an array of the GPU, of the same shape and type."""
        if self.simulated:
            array[...] = values
        else:
            array.set(values)

    def host(self, array: Any) -> NDArray[Any]:
        """Copy an array from the GPU to the host, once the kernels before are done."""
        return np.array(array) if self.simulated else self.xp.asnumpy(array)
