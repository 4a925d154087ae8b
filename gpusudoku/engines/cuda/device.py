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

MAX_TOLD = 200
"""Characters of messages of other libraries: NVIDIA's go on with other possible causes."""

TRIAL = 9
"""What the trial kernel writes."""
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
        reason = shorten(str(error) or type(error).__name__, MAX_TOLD, placeholder=" …")
        raise DeviceError(f"{what} cannot be used: {reason}") from error


def import_packages(compiler: bool = True) -> None:
    """Import CuPy and numba-cuda; a DeviceError of one line names the one that fails.

    Without ``compiler`` it is only cuda-bindings, which numba-cuda brings, to launch kernels.
    """
    with one_line_errors("CuPy"):
        import_module("cupy")
    with one_line_errors("numba-cuda"):
        import_module(f"gpusudoku.kernels.{'compile_cuda' if compiler else 'cuda_driver'}")


def _simulate(launch: Any, *arguments: Any) -> None:
    """Launch a kernel in the simulator, which runs one at a time."""
    with _SIMULATING:
        launch(*arguments)


class Gpu:
    """One GPU."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.card = SIMULATED
        self.warp = 1
        """``warp`` is the number of threads that go in step."""
        self.xp: Any = np
        """The array module."""
        self.taking_memory = threading.Lock()
        """Held from asking for the free memory until it is taken: searches run side by side."""
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
        """Run a kernel of a line, to fail here and now if the GPU cannot be used."""
        with self.current():
            numbers = self.xp.zeros(1, np.int64)
            self.configured(self.kernel("compile_cuda", "trial", TRIAL), 1, 1, numbers)()
            if int(numbers[0]) != TRIAL:
                raise DeviceError(f"GPU {self.number} cannot be used: it computes nothing")

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this the device of the calling thread, for CuPy and for the driver, for a while."""
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
        """Return the kernel of ``function(*key)``, loaded or compiled for this, the current GPU.

        ``module`` is the name of one in ``gpusudoku.kernels``.
        """
        module = f"gpusudoku.kernels.{module}"
        if self.simulated:
            return getattr(import_module(module), function)(*key)
        from gpusudoku.kernels import cuda_driver

        return cuda_driver.load(module, function, *key)

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
        return SIMULATED_BLOCKS if self.simulated else int(kernel.blocks_at_once(threads))

    def fullest_block(self, kernel: Any, most: int) -> int:
        """Return the least threads of a block, at most ``most``, that fill the GPU best."""
        if self.simulated:
            return SIMULATED_THREADS
        most = min(most, kernel.attribute("MAX_THREADS_PER_BLOCK"))
        sizes = range(WARP, most + 1, WARP)
        return max(sizes, key=lambda threads: threads * self.blocks_at_once(kernel, threads))

    def configured(self, kernel: Any, blocks: int, threads: int, *arrays: Any) -> Any:
        """Configure a kernel for launches in ``blocks`` of ``threads`` each.

        All its launches have the first arguments, ``arrays``, in common.
        """
        if self.simulated:
            return partial(_simulate, kernel[blocks, threads], *arrays)
        return kernel.configured(blocks, threads, *arrays)

    def set_bytes(self, array: Any, value: int) -> None:
        """Set all bytes of an array: by the driver, where CuPy would compile a kernel."""
        if self.simulated:
            array.view(np.uint8)[...] = value
        else:
            array.data.memset(value, array.nbytes)

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
