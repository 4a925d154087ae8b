"""PTX in native code, and its launches: a grid of threads, block by block.

The kernels are a witness of what NVIDIA's compiler made. Every access is checked for bounds and
alignment, memory and registers begin as garbage, atomic additions are atomic. It does not show what
a card does with caches, warps and time.
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
"""What memory and registers hold before they are written; a seed changes it."""
MAX_BLOCKS = 2**31 - 1
MAX_THREADS = 1024
"""Blocks of a grid and threads of a block, at most."""


@dataclass(frozen=True)
class Pointer:
    """An array of which a kernel gets nothing but the address, as C would have it."""

    array: NDArray[Any]


@dataclass(frozen=True)
class Region:
    """Memory of the host that a kernel may touch."""

    start: int
    size: int
    name: str


class Fault(Exception):  # noqa: N818
    """A kernel touched what it may not, divided by zero, or went apart at a barrier."""

    def __init__(
        self, site: Site, address: int, block: int, thread: int, regions: Sequence[Region]
    ) -> None:
        self.site = site
        self.block = block
        self.thread = thread
        where = f"block {block}, thread {thread}, line {site.line} ({site.text})"
        super().__init__(f"{reason(site, address, regions)}: {where}, in {site.function}")


def reason(site: Site, address: int, regions: Sequence[Region]) -> str:
    """What happened, in a few words."""
    if site.what == "division":
        return "division by zero"
    if site.what in ("barrier", "vote"):
        return "threads of a warp wait at different places"
    if site.what == "part":
        return "a vote of a part of a warp"
    what = f"{site.width} bytes at {address:#x} of {site.space} memory"
    if address % site.width:
        return f"{what}: misaligned"
    if not regions or site.space in ("local", "shared"):
        return f"{what}: out of bounds"
    near = min(regions, key=lambda r: max(r.start - address, address - r.start - r.size))
    return f"{what}: out of bounds, {address - near.start} bytes from {near.name} of {near.size}"


def load(ptx: str, checked: bool = True) -> dict[str, Kernel]:
    """Build the kernels of a module, by name; ``checked`` looks at every access to memory.

    Raises
    ------
    PtxError
        If something in the module is not known; the message names the line and the opcode.
    """
    module = parse(ptx)
    layout = Layout(module)
    functions = module.functions
    texts = [write_function(layout, function, checked) for function in functions.values()]
    code = Code("\n".join([runtime(layout), *texts]))
    return {name: Kernel(function, layout, code) for name, function in functions.items()}


def memory(size: int) -> NDArray[np.uint8]:
    """So many bytes, aligned like a card's memory."""
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
        """Run the kernel on arrays, whole numbers and tuples of such, as numba-cuda takes them.

        Arrays are changed in place; see ``run`` for the options and for what is raised.
        """
        parameters, regions = marshalled(self.function.parameters, arguments)
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
        """Run so many blocks of so many threads, given all that the kernel may touch.

        Garbage, what is not written yet, depends on the seed; an odd one runs threads backwards.
        Workers are threads of the CPU, each with its share of the blocks. Raises Fault if a thread
        does what it may not, and ValueError if no card could run a grid or a block of that size.
        """
        if not (0 < grid <= MAX_BLOCKS and 0 < block <= MAX_THREADS):
            raise ValueError(f"no card runs {grid} blocks of {block} threads")
        run = [
            Worker(self, grid, block, parameters, regions, seed) for _ in range(min(workers, grid))
        ]
        if len(run) == 1:
            run[0](range(grid))
            return
        with ThreadPoolExecutor(len(run)) as pool:
            shares = [range(i, grid, len(run)) for i in range(len(run))]
            for done in [pool.submit(one, share) for one, share in zip(run, shares, strict=True)]:
                done.result()


class Worker:
    """One thread of the CPU: it runs block after block in memory of its own."""

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
        frame = layout.spaces["local"].size + layout.kept
        frame += -frame % 256
        # If none waits, threads run one after the other and take turns with one frame.
        waits = any(site.what in ("barrier", "vote") for site in layout.sites)
        params = memory(len(parameters))
        params[:] = np.frombuffer(parameters, np.uint8)
        sites = np.zeros((len(layout.sites), 2), np.uint64)
        sites[:, 0] = 2**63 + 1  # no array is there
        self._shared, self._states = memory(layout.spaces["shared"].size), np.zeros(block, np.int64)
        arrays = {
            "params": params,
            "regions": np.array([[r.start, r.size] for r in regions], np.uint64).reshape(-1, 2),
            "sites": sites,
            "shared": self._shared,
            "frames": memory(frame * (block if waits else 1)),
            "votes": np.zeros(block, np.int64),
        }
        words = {name: array.ctypes.data for name, array in arrays.items()}
        words |= {"region_count": len(regions), "stride": frame if waits else 0, "threads": block}
        words |= {"backwards": seed % 2, "poison": self._poison, "ntid": block, "nctaid": grid}
        self._arrays = arrays  # they have to outlive the launch
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


def flattened(value: Any, name: str) -> tuple[list[int], list[Region]]:
    """The numbers that stand for an argument in numba-cuda, and the memory that it brings.

    An array is meminfo, parent, items, bytes of an item, data, shape and strides; a tuple is its
    elements, one after the other.
    """
    if isinstance(value, Pointer):
        numbers, regions = flattened(value.array, name)
        return numbers[4:5], regions
    if isinstance(value, np.ndarray):
        low, high = np.lib.array_utils.byte_bounds(value)
        start = value.__array_interface__["data"][0]
        numbers = [0, 0, value.size, value.itemsize, start, *value.shape, *value.strides]
        return numbers, [Region(low, high - low, name)] if value.size else []
    if isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        parts = [flattened(one, f"{name}.{part}") for one, part in zip(value, names, strict=True)]
        return (
            [number for numbers, _ in parts for number in numbers],
            [region for _, regions in parts for region in regions],
        )
    if isinstance(value, bool | int | np.integer | np.bool_):
        return [int(value)], []
    raise TypeError(f"{name}: a kernel cannot be given a {type(value).__name__}")


def marshalled(
    parameters: Sequence[Variable], arguments: Sequence[Any]
) -> tuple[bytes, list[Region]]:
    """The memory of a kernel's parameters, and what its arguments bring."""
    numbers, regions = flattened(tuple(arguments), "arguments")
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
