"""CUDA kernels compiled and assembled for any architecture, on a machine without a GPU."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from numba import config

KIB = 1 << 10
WARP, REGISTERS, UNIT, PARTS = 32, 1 << 16, 256, 4
"""Threads of a warp; registers of a multiprocessor, of which warps get multiples of a unit; and its
parts, each of which has its share of them and warps of its own."""


class Multiprocessor(NamedTuple):
    """What the threads on a multiprocessor share."""

    threads: int
    blocks: int
    shared: int
    """Bytes of shared memory."""
    reserved: int = 0
    """Bytes of it that every block takes in addition to its own."""

    def blocks_of(self, threads: int, registers: int, shared: int) -> int:
        """Return the blocks that run at once, by their threads, registers and shared bytes."""
        warps = -(-threads // WARP)
        of_warp = -(-registers * WARP // UNIT) * UNIT
        with_registers = REGISTERS // PARTS // of_warp * PARTS // warps
        most = min(self.blocks, self.threads // (warps * WARP), with_registers)
        return min(most, self.shared // (shared + self.reserved)) if shared else most


MULTIPROCESSORS = {
    "7.5": Multiprocessor(threads=1024, blocks=16, shared=64 * KIB),
    "8.0": Multiprocessor(threads=2048, blocks=32, shared=164 * KIB, reserved=KIB),
    "8.9": Multiprocessor(threads=1536, blocks=24, shared=100 * KIB, reserved=KIB),
    "9.0": Multiprocessor(threads=2048, blocks=32, shared=228 * KIB, reserved=KIB),
    "10.0": Multiprocessor(threads=2048, blocks=32, shared=228 * KIB, reserved=KIB),
    "12.0": Multiprocessor(threads=1536, blocks=24, shared=100 * KIB, reserved=KIB),
}
"""By compute capability, from the table of technical specifications in the CUDA C++ guide; those of
12.0 are also in NVIDIA's header cuda_occupancy.h."""
COUNTS_RESERVED = ("9.0", "10.0")
"""For these the assembler counts what is reserved, if a block has any shared memory of its own."""
PACKAGES = {"numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvdisasm"}
FIGURES = {
    "registers": r"used (\d+) registers",
    "local bytes": r"(\d+) bytes stack frame",
    "spilled bytes": r"(\d+) bytes spill stores",
    "shared bytes": r"(\d+) bytes smem",
}
"""The figures in the assembler's report: of a thread, and shared memory of a block."""


def missing() -> str | None:
    """Return why no kernel can be compiled and disassembled here; None if they can be."""
    if config.ENABLE_CUDASIM:
        return "the CUDA simulator is on, which compiles nothing: unset NUMBA_ENABLE_CUDASIM"
    try:
        from cuda.bindings import nvjitlink
        from numba.cuda.cudadrv.nvvm import NVVM

        NVVM()
        nvjitlink.version()
    except Exception:  # whatever the loaders of NVIDIA's libraries raise
        return "NVIDIA's compiler is missing: pip install 'numba-cuda[cu13]'"
    if disassembler() is None:
        return "NVIDIA's disassembler is missing: pip install nvidia-cuda-nvdisasm"
    return None


def disassembler() -> str | None:
    """Find NVIDIA's nvdisasm, on the path or in the package nvidia-cuda-nvdisasm."""
    spec = find_spec("nvidia")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    found = (str(path) for folder in folders for path in folder.glob("*/bin/nvdisasm"))
    return shutil.which("nvdisasm") or next(found, None)


def versions() -> dict[str, str]:
    """Return the versions of the compilers that are installed."""
    return {each.name: each.version for each in distributions() if each.name in PACKAGES}


def build(
    architecture: str, function: Callable[..., None], types: Any, most_registers: int | None = None
) -> tuple[str, dict[str, int]]:
    """Compile a kernel of a signature, assemble and disassemble it; also return its FIGURES.

    A thread has no more than ``most_registers``, if they are limited.
    """
    options = [f"-arch=sm_{architecture.replace('.', '')}", "-verbose", "-O3"]
    if most_registers is not None:
        options.append(f"-maxrregcount={most_registers}")
    code, log = _assembled(_ptx(function, types, architecture).encode(), options)
    figures = {}
    for name, pattern in FIGURES.items():
        # Of the kernel, if it calls functions.
        figures[name] = max(map(int, re.findall(pattern, log, re.IGNORECASE)), default=0)
    if architecture in COUNTS_RESERVED and figures["shared bytes"]:
        figures["shared bytes"] -= MULTIPROCESSORS[architecture].reserved
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        command = [str(disassembler()), "-c", file.name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout, figures


def _ptx(kernel: Callable[..., None], types: Any, architecture: str) -> str:
    """Compile a kernel."""
    from numba import cuda
    from numba.core import sigutils
    from numba.cuda import dispatcher

    class Device:
        compute_capability = tuple(map(int, architecture.split(".")))

    # Compiling a device function asks for the current device, that is, for a driver.
    dispatcher.get_current_device = lambda: Device
    arguments, _ = sigutils.normalize_signature(types)
    ptx, _ = cuda.compile_ptx(kernel, arguments, cc=Device.compute_capability)
    return str(ptx)


def _assembled(source: bytes, options: list[str]) -> tuple[bytes, str]:
    """Make machine code of PTX; also return the assembler's report."""
    from cuda.bindings import nvjitlink

    handle = nvjitlink.create(len(options), options)
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, source, len(source), "kernel")
        nvjitlink.complete(handle)
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
        code = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, code)
    finally:
        nvjitlink.destroy(handle)
    return bytes(code), log.decode()
