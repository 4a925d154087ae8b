"""One GPU: its size, its memory, its arrays, and the settings of launches on it.

CuPy holds the memory; in the simulator, NumPy does. ``launch`` allocates the arrays of a search.

A ``Tuning`` has every number whose best value depends on the GPU. The defaults should suit any GPU.
``benchmarks/tune_gpu.py --save`` measures the best values for the one that is there, and writes
them to a file that every later run reads: a JSON object whose keys are names of GPUs, and whose
values are objects with fields of ``Tuning``, all or some.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.cuda import availability
from gpusudoku.errors import DeviceError, GpusudokuError, InputError

WARP = 32
"""Threads that are given registers together."""
REGISTERS_AT_ONCE = 256
"""Registers are given to a warp in multiples of this."""
PARTS = 4
"""A multiprocessor has this many parts, each with its share of the registers and its own warps."""
MOST_THREADS = 1024
"""The most threads of a block, on any GPU so far."""

LARGEST = {
    "threads_per_block": 1024,
    "blocks_per_multiprocessor": 1024,
    "boards_per_thread": 1024,
    "max_registers": 255,
    "sum_threads_per_block": 1024,
    "sum_tasks_per_multiprocessor": 1024,
}
"""The largest value of each setting: a limit of the hardware, or of sense."""
MAY_BE_NONE = ("blocks_per_multiprocessor", "max_registers", "sum_threads_per_block")

MOST_TOLD = 200
"""Characters of messages of other libraries: NVIDIA's go on with other possible causes."""

_CONFIGURING = threading.Lock()
"""Held during changes of Numba's global state: its settings, its list of GPUs."""


@dataclass(frozen=True)
class Multiprocessor:
    """The resources that the threads on a multiprocessor share."""

    threads: int
    """The most threads."""
    blocks: int
    """The most blocks."""
    registers: int = 1 << 16
    """Registers of 32 bits."""
    block_registers: int = 1 << 16
    """Registers that a block may have."""
    shared: int = 0
    """Bytes of shared memory; 0 if no kernel in question uses it."""
    reserved: int = 0
    """Bytes of shared memory that every block takes in addition to its own."""

    def blocks_of(self, threads_per_block: int, registers: int, shared: int = 0) -> int:
        """Return the blocks that run at once, by registers a thread and shared bytes a block."""
        warps = -(-threads_per_block // WARP)
        with_registers = self._warps_with(registers)
        most = [self.blocks, self.threads // (warps * WARP), with_registers // warps]
        if shared:
            most.append(self.shared // (shared + self.reserved))
        return min(most)

    def most_threads(self, registers: int) -> int:
        """Return the most threads of a block, by registers a thread."""
        warps = min(self._warps_with(registers), self.block_registers // _of_warp(registers))
        return min(self.threads, MOST_THREADS, warps * WARP)

    def _warps_with(self, registers: int) -> int:
        """Return the number of warps for which there are registers."""
        return self.registers // PARTS // _of_warp(registers) * PARTS


def _of_warp(registers: int) -> int:
    """Return the registers that a warp is given."""
    return -(-max(1, registers) * WARP // REGISTERS_AT_ONCE) * REGISTERS_AT_ONCE


@dataclass(frozen=True)
class Tuning:
    """Settings of launches; InputError is raised if a value is out of range."""

    threads_per_block: int = 128
    """Threads per block of the search."""
    blocks_per_multiprocessor: int | None = None
    """Blocks of the search; None for as many as the registers of the kernel allow at once. More
    would wait for the first ones to end, and threads that take boards until none is left end
    together."""
    boards_per_thread: int = 8
    """Frontier boards per thread: enough that most threads end together."""
    launch_seconds: float = 0.2
    """Budgets are set so that a launch takes about this long: Ctrl-C waits for no more."""
    max_registers: int | None = None
    """Registers per thread; None leaves the number to the compiler. With fewer, more threads run at
    once, but some values are kept in memory."""
    sum_threads_per_block: int | None = None
    """Threads per block of the contraction; None for as many as let most threads run at once, given
    the GPU's registers and shared memory."""
    sum_tasks_per_multiprocessor: int = 32
    """Tasks of the contraction per launch: enough to even out short and long ones."""

    def __post_init__(self) -> None:
        seconds = self.launch_seconds
        if type(seconds) not in (int, float) or not 0 < seconds < inf:
            raise InputError(f"launch_seconds {seconds!r}: a number above 0 is needed")
        for name, most in LARGEST.items():
            value = getattr(self, name)
            if value is None and name in MAY_BE_NONE:
                continue
            if type(value) is not int or not 1 <= value <= most:
                raise InputError(f"{name} {value!r}: a whole number from 1 to {most} is needed")


def tuning_file() -> Path | None:
    """Return GPUSUDOKU_CUDA_TUNING, or a file in the user's cache; None if there is no home."""
    named = os.environ.get("GPUSUDOKU_CUDA_TUNING")
    if named:
        return Path(named)
    try:
        user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        return None
    return Path(user_cache) / "gpusudoku" / "cuda-tuning.json"


def tuning_of(gpu: str, default: Tuning | None = None) -> Tuning:
    """Read the settings for a GPU; the default if there is no file, or it does not name the GPU."""
    default = default or Tuning()
    return Tuning(**(asdict(default) | _read(tuning_file()).get(gpu, {})))


def save_tuning(gpu: str, tuning: Tuning) -> Path:
    """Write the settings for a GPU to the file; those for others stay."""
    path = tuning_file()
    if path is None:
        raise InputError("no home folder for the tuning file: set GPUSUDOKU_CUDA_TUNING")
    known = _read(path) | {gpu: asdict(tuning)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def _read(path: Path | None) -> dict[str, dict[str, Any]]:
    """Read and check the settings of all GPUs."""
    try:
        text = path.read_text(encoding="utf-8") if path is not None else "{}"
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise _unusable(path, str(reason)) from None
    try:
        known = json.loads(text)
    except ValueError as error:
        raise _unusable(path, f"not JSON: {error}") from None
    if not isinstance(known, dict):
        raise _unusable(path, "expected an object with the names of GPUs as keys")
    names = {field.name for field in fields(Tuning)}
    for gpu, values in known.items():
        if not isinstance(values, dict):
            raise _unusable(path, f"{gpu}: expected an object")
        if unknown := sorted(values.keys() - names):
            raise _unusable(path, f"{gpu}: unknown setting {unknown[0]!r}")
        try:
            Tuning(**values)
        except InputError as error:
            raise _unusable(path, f"{gpu}: {error}") from None
    return known


def _unusable(path: Path | None, reason: str) -> InputError:
    return InputError(f"tuning file {path}: {reason} (mend it, or delete it for the defaults)")


SIMULATED = Tuning(threads_per_block=4, blocks_per_multiprocessor=2, sum_threads_per_block=4)
"""The simulator runs every thread of a kernel as a thread of Python."""


class OutOfMemoryError(DeviceError):
    """There was too little memory on a GPU: with less to hold, it may suffice."""


@contextmanager
def one_line_errors(what: str = "CUDA") -> Iterator[None]:
    """Turn the many errors of CuPy, Numba and the driver into a DeviceError of one line."""
    try:
        yield
    except GpusudokuError:
        raise
    except Exception as error:
        reason = shorten(str(error) or type(error).__name__, MOST_TOLD, placeholder=" …")
        # CuPy, NumPy and the driver name it in different ways.
        named = "out of memory" in str(error).lower().replace("_", " ")
        kind = OutOfMemoryError if named or isinstance(error, MemoryError) else DeviceError
        raise kind(f"{what} cannot be used: {reason}") from error


class Gpu:
    """One GPU; without a tuning it takes that of the tuning file."""

    def __init__(self, number: int, tuning: Tuning | None = None) -> None:
        self.number = number
        if availability.simulated():
            self.name = "simulator"
            self.xp: Any = np
            """The array module."""
            self.warp = 1
            """The threads that go in step; each is for itself in the simulator."""
            self.multiprocessors, self.multiprocessor = 1, Multiprocessor(2048, 32)
        else:
            import cupy

            self.name = availability.gpu_names()[number]
            self.xp = cupy
            self.warp = WARP
            self._try()
            has = cupy.cuda.runtime.getDeviceProperties(number)
            self.multiprocessors = has["multiProcessorCount"]
            self.multiprocessor = Multiprocessor(
                threads=has["maxThreadsPerMultiProcessor"],
                blocks=has["maxBlocksPerMultiProcessor"],
                registers=has["regsPerMultiprocessor"],
                block_registers=has["regsPerBlock"],
                shared=has["sharedMemPerMultiprocessor"],
                reserved=has["reservedSharedMemPerBlock"],
            )
        self.tuning = tuning or tuning_of(self.name, SIMULATED if self.xp is np else None)

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
            if not availability.simulated():
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

    def block_of(self, kernel: Any, threads: int) -> int:
        """Round the threads of a block to whole warps, within the registers there are."""
        whole = -(-threads // self.warp) * self.warp
        return min(whole, self.multiprocessor.most_threads(self._registers(kernel)))

    def grid_of(self, kernel: Any) -> tuple[int, int]:
        """Return the blocks, and threads of a block, of a search that fills the GPU at once."""
        threads = self.block_of(kernel, self.tuning.threads_per_block)
        blocks = self.tuning.blocks_per_multiprocessor
        if blocks is None:
            blocks = self.multiprocessor.blocks_of(threads, self._registers(kernel))
        return blocks * self.multiprocessors, threads

    def blocks_at_once(self, kernel: Any, threads: int) -> int:
        """Return the blocks of a kernel that run on the GPU at once."""
        needed = threads, self._registers(kernel), self._shared(kernel)
        return self.multiprocessors * self.multiprocessor.blocks_of(*needed)

    def fullest_block(self, kernel: Any, most: int) -> int:
        """Return the least threads of a block, at most ``most``, that fill the GPU best."""
        sizes = range(self.warp, self.block_of(kernel, most) + 1, self.warp)
        return max(sizes, key=lambda threads: threads * self.blocks_at_once(kernel, threads))

    def _shared(self, kernel: Any) -> int:
        """Return the shared bytes of a block of a compiled kernel; the simulator has any number."""
        return 0 if self.xp is np else max(kernel.get_shared_mem_per_block().values())

    def _registers(self, kernel: Any) -> int:
        """Return the registers of a thread of a compiled kernel; the simulator has none."""
        return 0 if self.xp is np else max(kernel.get_regs_per_thread().values())

    def configured(self, kernel: Any, blocks: int, threads: int) -> Any:
        """Configure a kernel for a launch in ``blocks`` of ``threads`` each."""
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
        if self.xp is np:
            return array
        from numba import cuda

        return cuda.as_cuda_array(array)

    def finish(self) -> None:
        """Wait until all launched kernels are done, in any stream."""
        from numba import cuda

        cuda.synchronize()

    def free_bytes(self) -> int:
        """Return the bytes of memory that are free on the GPU."""
        if availability.simulated():
            return 1 << 28
        unused = self.xp.get_default_memory_pool().free_bytes()
        return int(self.xp.cuda.runtime.memGetInfo()[0] + unused)

    def free_unused(self) -> None:
        """Give back to the GPU the memory that CuPy keeps for later."""
        if self.xp is not np:
            self.xp.get_default_memory_pool().free_all_blocks()

    def host(self, array: Any) -> NDArray[Any]:
        """Copy an array from the GPU to the host."""
        return np.array(array) if self.xp is np else self.xp.asnumpy(array)
