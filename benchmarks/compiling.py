"""CUDA kernels compiled and assembled for any architecture, on a machine without a GPU."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from numba import config

from gpusudoku.engines.cuda.device import Multiprocessor

KIB = 1 << 10
MULTIPROCESSORS = {
    (7, 5): Multiprocessor(threads=1024, blocks=16, shared=64 * KIB),
    (8, 0): Multiprocessor(threads=2048, blocks=32, shared=164 * KIB, reserved=KIB),
    (8, 9): Multiprocessor(threads=1536, blocks=24, shared=100 * KIB, reserved=KIB),
    (9, 0): Multiprocessor(threads=2048, blocks=32, shared=228 * KIB, reserved=KIB),
    (10, 0): Multiprocessor(threads=2048, blocks=32, shared=228 * KIB, reserved=KIB),
}
"""By compute capability, from the table of technical specifications in the CUDA C++ guide."""


@dataclass
class Resources:
    """The resources of a kernel, as the assembler reports them."""

    registers: int
    """Registers of a thread."""
    stack: int
    """Bytes of local memory of a thread, for arrays that are indexed at run time."""
    spill_stores: int
    """Bytes that are written to local memory because registers did not suffice."""
    spill_loads: int
    """Bytes that are read back."""
    shared: int
    """Bytes of shared memory of a block."""
    constant: int
    """Bytes of constant memory."""
    barriers: int
    """Barriers of a block."""


def missing() -> str | None:
    """Why nothing can be compiled here; None if kernels can be."""
    if config.ENABLE_CUDASIM:
        return "the CUDA simulator is on, which compiles nothing: unset NUMBA_ENABLE_CUDASIM"
    try:
        from cuda.bindings import nvjitlink
        from numba.cuda.cudadrv.nvvm import NVVM

        NVVM()
        nvjitlink.version()
    except Exception:  # whatever the loaders of NVIDIA's libraries raise
        return "NVIDIA's compiler is missing: pip install 'numba-cuda[cu13]'"
    return None


def compile_ptx(kernel: Callable[..., None], types: Any, capability: tuple[int, int]) -> str:
    """The PTX of a kernel for GPUs of a compute capability; ``types`` is its signature."""
    from numba import cuda
    from numba.core import sigutils
    from numba.cuda import dispatcher

    class Device:
        compute_capability = capability

    # Compiling a device function asks for the current device, that is, for a driver.
    dispatcher.get_current_device = lambda: Device
    arguments, _ = sigutils.normalize_signature(types)
    ptx, _ = cuda.compile_ptx(kernel, arguments, cc=capability)
    return str(ptx)


def assemble(
    ptx: str, capability: tuple[int, int], most_registers: int | None = None
) -> tuple[bytes, str]:
    """Machine code for an architecture, and the assembler's report.

    A thread has no more than ``most_registers``, if they are limited.
    """
    from cuda.bindings import nvjitlink

    options = [f"-arch=sm_{capability[0]}{capability[1]}", "-verbose", "-O3"]
    if most_registers is not None:
        options.append(f"-maxrregcount={most_registers}")
    handle = nvjitlink.create(len(options), options)
    try:
        source = ptx.encode()
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, source, len(source), "kernel")
        nvjitlink.complete(handle)
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
        code = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, code)
    finally:
        nvjitlink.destroy(handle)
    return bytes(code), log.decode().rstrip("\0")


def parse_log(log: str) -> Resources:
    """The figures in the assembler's report; those of the kernel, if it calls functions."""

    def figures(pattern: str) -> list[int]:
        return [int(figure) for figure in re.findall(pattern, log, re.IGNORECASE)]

    registers = figures(r"used (\d+) registers")
    if not registers:
        raise ValueError(f"the assembler's report is not understood: {log}")
    return Resources(
        registers=max(registers),
        stack=max(figures(r"(\d+) bytes stack frame"), default=0),
        spill_stores=max(figures(r"(\d+) bytes spill stores"), default=0),
        spill_loads=max(figures(r"(\d+) bytes spill loads"), default=0),
        shared=max(figures(r"(\d+) bytes smem"), default=0),
        constant=max(figures(r"(\d+) bytes cmem\[0\]"), default=0),
        # The linker's line also counts those that the hardware reserves.
        barriers=(figures(r"used (\d+) barriers") or [0])[0],
    )


def disassembler() -> str | None:
    """NVIDIA's nvdisasm, from the path or from the package nvidia-cuda-nvdisasm."""
    spec = find_spec("nvidia")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    found = (str(path) for folder in folders for path in folder.glob("*/bin/nvdisasm"))
    return shutil.which("nvdisasm") or next(found, None)


def disassemble(code: bytes, program: str) -> str:
    """The instructions of machine code (SASS) as text."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        command = [program, "-c", file.name]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


PTX = re.compile(r"^\s*(?:@!?%p\d+\s+)?([a-z][\w.:]*)[^;]*;")
SASS = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)[^;]*;")
LABEL = re.compile(r"^\s*[.$]?\w+:")
ENDS = re.compile(r"bra|brx|ret|exit|BRA|BRX|EXIT|RET")

CLASSES = {
    "local": r"(ld|st)\.local|LDL|STL",
    "shared": r"(ld|st|atom)\.shared|LDS|STS",
    "memory": r"ld|st\b|atom|red|LD|ST|ATOM|RED|CCTL",
    "branch": r"bra|brx|ret|exit|bar|BRA|BRX|EXIT|RET|BSSY|BSYNC|BREAK|BAR|WARPSYNC",
    "64-bit": r".*\.[busf]64$|mul\.wide|.*\.WIDE",
    "multiplier": r"IMAD|IDP|HFMA|FFMA",
    "32-bit": r".*\.[busf]32$|[A-TV-Z]",
    "other": r".",
}
"""Classes of instructions by the beginning of their names; the first that matches counts. IMAD,
which SASS also uses to move and shift, runs on separate units; U... runs once for a warp."""


def blocks(text: str) -> list[list[str]]:
    """The names of a program's instructions, PTX or SASS, cut wherever it may jump."""
    pattern = PTX if ".visible .entry" in text else SASS
    pieces: list[list[str]] = [[]]
    for line in text.splitlines():
        if LABEL.match(line):
            pieces.append([])
        elif match := pattern.match(line):
            pieces[-1].append(match[1])
            if ENDS.match(match[1]):
                pieces.append([])
    return [piece for piece in pieces if piece]


def by_class(names: list[str]) -> dict[str, int]:
    """How many instructions of each class."""
    counts = Counter(
        next(kind for kind, pattern in CLASSES.items() if re.match(pattern, name)) for name in names
    )
    return {kind: counts[kind] for kind in CLASSES}
