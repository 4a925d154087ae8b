"""A kernel in native code, and its launches: grids of threads, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ptx.arguments import Region, marshalled
from tests.ptx.faults import Fault, Triple
from tests.ptx.layout import CONTEXT, WORD, Layout
from tests.ptx.model import Function
from tests.ptx.native import Code

POISON = 0xA5A5A5A5A5A5A5A5
"""What memory and registers hold before they are written; a seed changes it."""
MOST_BLOCKS, MOST_THREADS = 2**31 - 1, 1024
"""Blocks of a grid and threads of a block, at most."""


def memory(size: int) -> NDArray[np.uint8]:
    """So many bytes, aligned like a card's memory."""
    array = np.zeros(size + 256, np.uint8)
    start = -array.ctypes.data % 256
    return array[start : start + size]


class Kernel:
    """A kernel, ready to be launched.

    ``launch`` runs it on NumPy arrays, in place; see ``executor.load``.
    """

    def __init__(
        self, function: Function, layout: Layout, code: Code, globals_: NDArray[np.uint8]
    ) -> None:
        self.name, self.function, self.layout = function.name, function, layout
        self.code, self.globals = code, globals_
        self.address = code.address(function.name)

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: Sequence[Any],
        *,
        shared_bytes: int = 0,
        seed: int = 0,
        workers: int = 1,
    ) -> None:
        """Run the kernel to its end.

        Parameters
        ----------
        grid, block
            How many blocks, and threads of a block: a number, or up to three.
        arguments
            Arrays, whole numbers and tuples of such, as numba-cuda takes them.
        shared_bytes
            The size of shared memory that the kernel leaves to the launch.
        seed
            Garbage depends on it: what is not written yet. An odd one runs threads backwards.
        workers
            Threads of the CPU, each with its share of the blocks.

        Raises
        ------
        Fault
            If a thread does what it may not.
        ValueError
            If no card could run a grid or a block of that size.
        TypeError
            If the arguments do not fit the kernel.
        """
        parameters, regions = marshalled(self.function.parameters, arguments)
        options = {"shared_bytes": shared_bytes, "seed": seed, "workers": workers}
        self.run(grid, block, parameters, regions, **options)

    def run(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        parameters: bytes,
        regions: Sequence[Region],
        *,
        shared_bytes: int = 0,
        seed: int = 0,
        workers: int = 1,
    ) -> None:
        """Launch with the memory of the parameters, and all that the kernel may touch."""
        sizes, threads = triple(grid), triple(block)
        for name, size, most in (("grid", sizes, MOST_BLOCKS), ("block", threads, MOST_THREADS)):
            if min(size) < 1 or prod(size) > most:
                raise ValueError(f"no {name} can be {size}")
        regions, start = list(regions), self.globals.ctypes.data
        for place in self.layout.spaces["global"].places.values():
            assert place.variable.size is not None
            regions.append(Region(start + place.offset, place.variable.size, place.variable.name))
        blocks = [(x, y, z) for z, y, x in product(*map(range, reversed(sizes)))]
        run = [
            Worker(self, (sizes, threads), parameters, regions, shared_bytes, seed)
            for _ in range(min(workers, len(blocks)))
        ]
        if len(run) == 1:
            run[0](blocks)
            return
        with ThreadPoolExecutor(len(run)) as pool:
            shares = [blocks[i :: len(run)] for i in range(len(run))]
            for done in [pool.submit(one, share) for one, share in zip(run, shares, strict=True)]:
                done.result()


class Worker:
    """One thread of the CPU: it runs block after block in memory of its own."""

    def __init__(
        self,
        kernel: Kernel,
        sizes: tuple[Triple, Triple],
        parameters: bytes,
        regions: Sequence[Region],
        shared_bytes: int,
        seed: int,
    ) -> None:
        layout, (grid, block) = kernel.layout, sizes
        self._kernel, self._regions, self._layout, self._block = kernel, regions, layout, block
        self._threads = prod(block)
        self._poison = (POISON + seed * 0x0B0B0B0B0B0B0B0B) % 2**64
        frame = layout.spaces["local"].size + layout.kept
        frame += -frame % 256
        # If none waits, threads run one after the other and take turns with one frame.
        waits = any(site.what in ("barrier", "vote") for site in layout.sites)
        self._frames = memory(frame * (self._threads if waits else 1))
        self._shared = memory(layout.spaces["shared"].size + shared_bytes)
        self._params = memory(len(parameters))
        self._params[:] = np.frombuffer(parameters, np.uint8)
        self._table = np.array([[r.start, r.size] for r in regions], np.uint64).reshape(-1, 2)
        self._sites = np.zeros((len(layout.sites), 2), np.uint64)
        self._sites[:, 0] = 2**63 + 1  # no array is there
        self._states = np.zeros(self._threads, np.int64)
        self._votes = np.zeros(self._threads, np.int64)
        self._context = np.zeros(len(CONTEXT), np.uint64)
        self._set("params", self._params.ctypes.data)
        self._set("globals", kernel.globals.ctypes.data)
        self._set("regions", self._table.ctypes.data)
        self._set("region_count", len(regions))
        self._set("sites", self._sites.ctypes.data)
        self._set("votes", self._votes.ctypes.data)
        self._set("shared", self._shared.ctypes.data)
        self._set("shared_size", shared_bytes)
        self._set("frames", self._frames.ctypes.data)
        self._set("stride", frame if waits else 0)
        self._set("threads", self._threads)
        self._set("backwards", seed % 2)
        self._set("poison", self._poison)
        self._set_axes("ntid", block)
        self._set_axes("nctaid", grid)

    def _set(self, word: str, value: int) -> None:
        self._context[WORD[word]] = value

    def _set_axes(self, name: str, values: Triple) -> None:
        for axis, value in zip("xyz", values, strict=True):
            self._set(f"{name}.{axis}", value)

    def __call__(self, blocks: Sequence[Triple]) -> None:
        kernel, context = self._kernel, self._context
        for block in blocks:
            self._set_axes("ctaid", block)
            self._shared[:] = self._poison % 256
            self._states[:] = 0
            status = kernel.code.run_block(
                context.ctypes.data, self._states.ctypes.data, kernel.address
            )
            if status:
                raise self._fault(block)

    def _fault(self, block: Triple) -> Fault:
        words = {name: int(self._context[index]) for name, index in WORD.items()}
        site = self._layout.sites[words["fault_site"]]
        x, y, _ = self._block
        thread = words["fault_thread"]
        place = (thread % x, thread // x % y, thread // (x * y))
        return Fault(site, words["fault_address"], block, place, self._regions)


def triple(sizes: int | Sequence[int]) -> Triple:
    """Sizes in three axes, of a number or of up to three."""
    x, y, z = (*((sizes,) if isinstance(sizes, int) else sizes), 1, 1, 1)[:3]
    return x, y, z
