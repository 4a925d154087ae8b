"""One GPU: its arrays, its memory, its kernels, and the number of threads that run at once.

CuPy manages the memory. In the simulator, NumPy does.
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
# Few, because the simulator runs every thread of a kernel as a thread of Python.
SIMULATED_BLOCKS = 2
SIMULATED_THREADS = 4

MAX_QUOTED = 200
"""Characters of a quoted message of another library: NVIDIA's are long lists of possible causes."""

TRIAL = 9
"""The value that the trial kernel writes."""
_SIMULATING = threading.Lock()
"""Held while the simulator runs a kernel, because it can run only one."""


@contextmanager
def one_line_errors(subject: str = "CUDA") -> Iterator[None]:
    """Convert errors of CuPy, Numba and the driver to a DeviceError of one line."""
    try:
        yield
    except GpusudokuError:
        raise
    except Exception as error:
        reason = shorten(str(error) or type(error).__name__, MAX_QUOTED, placeholder=" …")
        raise DeviceError(f"{subject} cannot be used: {reason}") from error


def import_packages(compiler: bool = True) -> None:
    """Import CuPy and numba-cuda. A DeviceError of one line names a package that fails.

    Without ``compiler``, only what launching kernels needs is imported: CuPy, and cuda-bindings,
    which is installed with numba-cuda.
    """
    with one_line_errors("CuPy"):
        import_module("cupy")
    with one_line_errors("numba-cuda"):
        import_module(f"gpusudoku.kernels.{'compile_cuda' if compiler else 'cuda_driver'}")


def _simulate(launch: Any, *arguments: Any) -> None:
    """Launch a kernel in the simulator, which can run only one at a time."""
    with _SIMULATING:
        launch(*arguments)


class Gpu:
    """One GPU."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.card = SIMULATED
        self.warp = 1
        """The number of threads that execute the same instruction together."""
        self.xp: Any = np
        """The array module."""
        self.taking_memory = threading.Lock()
        """Held from reading the free memory until it is allocated: several searches may run."""
        self.simulated = availability.simulated()
        if not self.simulated:
            import cupy

            self.card = availability.cards()[number]
            self.warp = WARP
            self.xp = cupy
            if reason := availability.unusable_card(self.card):
                raise DeviceError(f"GPU {number} cannot be used: {reason}")
            self._try()

    def _try(self) -> None:
        """Run a trivial kernel, to fail immediately if the GPU cannot be used."""
        with self.current():
            numbers = self.xp.zeros(1, np.int64)
            self.prepare_launch(self.kernel("compile_cuda", "trial", TRIAL), 1, 1, numbers)()
            if int(numbers[0]) != TRIAL:
                raise DeviceError(f"GPU {self.number} cannot be used: a trial kernel had no effect")

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this GPU the device of the calling thread in the block, for CuPy and the driver."""
        with ExitStack() as devices:
            if not self.simulated:
                with self.errors():
                    from gpusudoku.kernels import cuda_driver

                    devices.enter_context(self.xp.cuda.Device(self.number))
                    devices.enter_context(cuda_driver.current(self.number))
            try:
                yield
            finally:
                with self.errors():
                    devices.close()

    def kernel(self, module: str, function: str, *key: Any) -> Any:
        """Return the kernel that ``function(*key)`` builds, loaded or compiled for this GPU.

        ``module`` is the name of its module in ``gpusudoku.kernels``. This GPU must be current.
        """
        module = f"gpusudoku.kernels.{module}"
        if self.simulated:
            return getattr(import_module(module), function)(*key)
        from gpusudoku.kernels import cuda_driver

        return cuda_driver.load(module, function, *key)

    def errors(self) -> AbstractContextManager[None]:
        """Convert errors on this GPU to a DeviceError of one line that names it."""
        return one_line_errors(f"GPU {self.number}")

    def launch_settings(self, shape: Shape) -> LaunchSettings:
        """Return the settings with which the kernel of a search is compiled and launched."""
        if self.simulated:
            return LaunchSettings(is_shared=False, block=SIMULATED_THREADS)
        return launch_settings(shape, self.card.capability)

    def blocks_at_once(self, kernel: Any, threads: int) -> int:
        """Return the number of blocks of ``threads`` threads that run on the GPU at once."""
        return SIMULATED_BLOCKS if self.simulated else int(kernel.blocks_at_once(threads))

    def fullest_block(self, kernel: Any, max_threads: int) -> int:
        """Return the smallest block size, up to ``max_threads``, that fills the GPU best."""
        if self.simulated:
            return SIMULATED_THREADS
        max_threads = min(max_threads, kernel.attribute("MAX_THREADS_PER_BLOCK"))
        sizes = range(WARP, max_threads + 1, WARP)
        # ``max`` returns the first of several best sizes.
        return max(sizes, key=lambda threads: threads * self.blocks_at_once(kernel, threads))

    def prepare_launch(self, kernel: Any, blocks: int, threads: int, *arrays: Any) -> Any:
        """Return a kernel for launches of ``blocks`` blocks with ``threads`` threads each.

        ``arrays`` are its first arguments in every launch.
        """
        if self.simulated:
            return partial(_simulate, kernel[blocks, threads], *arrays)
        return kernel.prepare_launch(blocks, threads, *arrays)

    def set_bytes(self, array: Any, value: int) -> None:
        """Set all bytes of an array, by the driver: CuPy would compile a kernel for it."""
        if self.simulated:
            array.view(np.uint8)[...] = value
        else:
            array.data.memset(value, array.nbytes)

    def free_bytes(self) -> int:
        """Return the free memory of the GPU in bytes."""
        if self.simulated:
            return 1 << 28
        unused = self.xp.get_default_memory_pool().free_bytes()
        return int(self.xp.cuda.runtime.memGetInfo()[0] + unused)

    def write(self, array: Any, values: NDArray[Any]) -> None:
        """Copy values from the host to an array on the GPU, of the same shape and type."""
        if self.simulated:
            array[...] = values
        else:
            array.set(values)

    def host(self, array: Any) -> NDArray[Any]:
        """Copy an array from the GPU to the host, after earlier kernels have ended."""
        return np.array(array) if self.simulated else self.xp.asnumpy(array)
