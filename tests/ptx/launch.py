"""Run PTX on the CPU: build it as native code, and launch it block by block.

This tests the code that NVIDIA's compiler generates. Every access is checked for bounds and
alignment, memory and registers begin with garbage, atomic additions are atomic. Caches, the
scheduling of warps and speed are not simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ptx.function import offsets, write_function
from tests.ptx.layout import CONTEXT, WORD, Layout, Site
from tests.ptx.native import Code
from tests.ptx.parse import Function, Variable, parse
from tests.ptx.runtime import runtime

POISON = 0xA5A5A5A5A5A5A5A5
"""The initial contents of memory and registers; a seed changes it."""
MAX_BLOCKS = 2**31 - 1
"""The largest grid."""
MAX_THREADS = 1024
"""The largest block."""


@dataclass(frozen=True)
class Pointer:
    """An array that is passed to a kernel as an address only, as in C."""

    array: NDArray[Any]


@dataclass(frozen=True)
class Region:
    """Memory of the host that a kernel may touch."""

    start: int
    size: int
    name: str


class Fault(Exception):  # noqa: N818
    """A kernel made an invalid access, divided by zero, or its threads diverged at a barrier."""

    def __init__(
        self, site: Site, address: int, block: int, thread: int, regions: Sequence[Region]
    ) -> None:
        self.site = site
        self.block = block
        self.thread = thread
        place = f"block {block}, thread {thread}, line {site.line} ({site.text})"
        super().__init__(f"{reason(site, address, regions)}: {place}, in {site.function}")


def reason(site: Site, address: int, regions: Sequence[Region]) -> str:
    """Describe a fault."""
    if site.kind == "division":
        return "division by zero"
    if site.kind in ("barrier", "vote"):
        return "threads of a warp wait at different places"
    if site.kind == "part":
        return "a vote of a part of a warp"
    access = f"{site.width} bytes at {address:#x} of {site.space} memory"
    if address % site.width:
        return f"{access}: misaligned"
    if not regions or site.space in ("local", "shared"):
        return f"{access}: out of bounds"
    nearest = min(regions, key=lambda r: max(r.start - address, address - r.start - r.size))
    distance = address - nearest.start
    return f"{access}: out of bounds, {distance} bytes from {nearest.name} of {nearest.size}"


def load(ptx: str, checked: bool = True) -> dict[str, Kernel]:
    """Build the kernels of a module, by name; ``checked`` adds a check to every memory access.

    Raises
    ------
    PtxError
        If the module has an unknown statement or opcode; the message names the line.
    """
    module = parse(ptx)
    layout = Layout(module)
    functions = module.functions
    texts = [write_function(layout, function, checked) for function in functions.values()]
    code = Code("\n".join([runtime(layout), *texts]))
    return {name: Kernel(function, layout, code) for name, function in functions.items()}


def memory(size: int) -> NDArray[np.uint8]:
    """Return an array of ``size`` bytes that is aligned like the memory of a card."""
    array = np.zeros(size + 256, np.uint8)
    start = -array.ctypes.data % 256
    return array[start : start + size]


class Kernel:
    """A kernel, ready to be launched."""

    def __init__(self, function: Function, layout: Layout, code: Code) -> None:
        self.function = function
        self.layout = layout
        self.code = code
        self.address = code.address(function.name)

    def launch(self, grid: int, block: int, arguments: Sequence[Any], **options: int) -> None:
        """Run the kernel on arrays, integers and tuples of them, as numba-cuda takes them.

        Arrays are changed in place; see ``run`` for the options and the errors.
        """
        parameters, regions = marshal(self.function.parameters, arguments)
        self.run(grid, block, parameters, regions, **options)

    def run(
        self,
        grid: int,
        block: int,
        parameters: bytes,
        regions: Sequence[Region],
        *,
        seed: int = 0,
        workers: int = 1,
    ) -> None:
        """Run ``grid`` blocks of ``block`` threads.

        Parameters
        ----------
        parameters
            The memory of the kernel's parameters.
        regions
            The memory that the kernel may touch.
        seed
            Changes the garbage in memory and registers. An odd seed also runs the threads of a
            block in descending order.
        workers
            The number of CPU threads that run blocks.

        Raises
        ------
        Fault
            If a thread makes an invalid access, divides by zero, or waits alone.
        ValueError
            If no card can run a grid or a block of that size.
        """
        if not (0 < grid <= MAX_BLOCKS and 0 < block <= MAX_THREADS):
            raise ValueError(f"no card runs {grid} blocks of {block} threads")
        worker_count = min(workers, grid)
        runners = [
            BlockRunner(self, grid, block, parameters, regions, seed) for _ in range(worker_count)
        ]
        if worker_count == 1:
            runners[0](range(grid))
            return
        with ThreadPoolExecutor(worker_count) as pool:
            # Each runner takes every `worker_count`-th block.
            futures = [
                pool.submit(runner, range(start, grid, worker_count))
                for start, runner in enumerate(runners)
            ]
            for future in futures:
                future.result()


class BlockRunner:
    """Runs blocks one after the other, in memory of its own; one thread of the CPU calls it."""

    def __init__(
        self,
        kernel: Kernel,
        grid: int,
        block: int,
        parameters: bytes,
        regions: Sequence[Region],
        seed: int,
    ) -> None:
        layout = kernel.layout
        self._kernel = kernel
        self._regions = regions
        self._poison = (POISON + seed * 0x0B0B0B0B0B0B0B0B) % 2**64
        self._shared = memory(layout.spaces["shared"].size)
        self._states = np.zeros(block, np.int64)

        # Without barriers and votes each thread runs to its end, so all threads use the same frame.
        frame_bytes = layout.spaces["local"].size + layout.saved_bytes
        frame_bytes += -frame_bytes % 256
        can_wait = any(site.kind in ("barrier", "vote") for site in layout.sites)
        stride = frame_bytes if can_wait else 0
        frame_count = block if can_wait else 1

        params = memory(len(parameters))
        params[:] = np.frombuffer(parameters, np.uint8)
        sites = np.zeros((len(layout.sites), 2), np.uint64)
        sites[:, 0] = 2**63 + 1  # an address without an array
        # The object keeps these arrays: the native code has only their addresses.
        self._arrays = {
            "params": params,
            "regions": np.array([[r.start, r.size] for r in regions], np.uint64).reshape(-1, 2),
            "sites": sites,
            "shared": self._shared,
            "frames": memory(frame_bytes * frame_count),
            "votes": np.zeros(block, np.int64),
        }
        words = {name: array.ctypes.data for name, array in self._arrays.items()}
        words |= {"region_count": len(regions), "stride": stride, "threads": block}
        words |= {"backwards": seed % 2, "poison": self._poison, "ntid": block, "nctaid": grid}
        self._context = np.array([words.get(name, 0) for name in CONTEXT], np.uint64)

    def __call__(self, blocks: Sequence[int]) -> None:
        kernel = self._kernel
        context = self._context
        for block in blocks:
            context[WORD["ctaid"]] = block
            self._shared[:] = self._poison % 256
            self._states[:] = 0
            states = self._states.ctypes.data
            if kernel.code.run_block(context.ctypes.data, states, kernel.address):
                names = ("fault_site", "fault_address", "tid")
                site, address, thread = (int(context[WORD[name]]) for name in names)
                raise Fault(kernel.layout.sites[site], address, block, thread, self._regions)


def flatten(value: Any, name: str) -> tuple[list[int], list[Region]]:
    """Return the numbers that numba-cuda passes for an argument, and the memory of its arrays.

    An array is passed as meminfo, parent, number of items, bytes of an item, data, shape and
    strides. A tuple is passed as its elements, one after the other.
    """
    if isinstance(value, Pointer):
        numbers, regions = flatten(value.array, name)
        return numbers[4:5], regions  # only the data
    if isinstance(value, np.ndarray):
        low, high = np.lib.array_utils.byte_bounds(value)
        start = value.__array_interface__["data"][0]
        numbers = [0, 0, value.size, value.itemsize, start, *value.shape, *value.strides]
        return numbers, [Region(low, high - low, name)] if value.size else []
    if isinstance(value, tuple):
        field_names = getattr(value, "_fields", range(len(value)))
        numbers = []
        regions = []
        for element, field_name in zip(value, field_names, strict=True):
            element_numbers, element_regions = flatten(element, f"{name}.{field_name}")
            numbers += element_numbers
            regions += element_regions
        return numbers, regions
    if isinstance(value, bool | int | np.integer | np.bool_):
        return [int(value)], []
    raise TypeError(f"{name}: a kernel cannot be given a {type(value).__name__}")


def marshal(parameters: Sequence[Variable], arguments: Sequence[Any]) -> tuple[bytes, list[Region]]:
    """Return the memory of a kernel's parameters, and the memory of the arrays among them."""
    numbers, regions = flatten(tuple(arguments), "arguments")
    if len(numbers) != len(parameters):
        raise TypeError(f"arguments are {len(numbers)} words, the kernel takes {len(parameters)}")
    memory = bytearray()
    for number, (variable, offset) in zip(numbers, offsets(list(parameters)), strict=True):
        bits = 8 * variable.size
        if not -(2 ** (bits - 1)) <= number < 2**bits:
            raise TypeError(f"{number} does not fit {variable.name}")
        memory += bytes(offset - len(memory))
        memory += (number % 2**bits).to_bytes(variable.size, "little")
    return bytes(memory), regions
