"""CUDA kernels are compiled, cached and loaded. Without a GPU that is possible, but no launch.

The simulator has no compiler, so the tests use processes without the simulator.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.compiler import need_compiler, need_numba_cuda, said

SCRIPT = """
from contextlib import nullcontext
from types import SimpleNamespace

from numba import cuda, int64
from numba.cuda import dispatcher
from numba.cuda.cudadrv import devices

from gpusudoku.kernels import compile_cuda, cuda_driver, kernel_store

capability = tuple(map(int, sys.argv[1].split(".")))
device = SimpleNamespace(compute_capability=capability)
dispatcher.get_current_device = cuda.get_current_device = lambda: device
devices.get_context = lambda: SimpleNamespace(device=device)
# After compiling, Numba loads the code to the GPU, which is impossible without a driver.
dispatcher._Kernel.bind = lambda self: None
cuda.gpus = {0: nullcontext()}
cuda_driver.current_device = lambda: 0
names = "COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR"
cuda_driver.device_attribute = dict(zip(names, capability)).get
cuda_driver.Kernel = lambda code: SimpleNamespace(code=code)
compiled_names = []
compile = dispatcher._Kernel.__init__


def record_and_compile(self, function, *arguments, **options):
    compiled_names.append(function.__name__)
    compile(self, function, *arguments, **options)


dispatcher._Kernel.__init__ = record_and_compile


def double(numbers):
    numbers[cuda.grid(1)] *= 2


def kernel(registers):
    return compile_cuda.kernel(double, (int64[::1],), max_registers=registers)


code = cuda_driver.load("__main__", "kernel", int(sys.argv[2])).code
assert code.binary.startswith(b"\\x7fELF")
assert code.entry in code.ptx
folder = str(kernel_store.user_store().folder)
print(json.dumps({"compiled": compiled_names, "ptx": code.ptx, "folder": folder}))
"""


def run(cache: Path, capability: str = "9.0", registers: int = 32) -> dict[str, Any]:
    """Compile or load a kernel in a process of its own."""
    need_numba_cuda()
    lines = said(SCRIPT, capability, str(registers), GPUSUDOKU_CACHE_DIR=str(cache))
    need_compiler(lines)
    return lines[0]


def test_a_kernel_is_compiled_once(tmp_path: Path) -> None:
    output = run(tmp_path)
    assert output["compiled"] == ["double"]
    assert ".target sm_90" in output["ptx"]
    assert run(tmp_path) == {**output, "compiled": []}


@pytest.mark.slow
def test_it_is_compiled_again_for_another_gpu_and_if_it_is_damaged_or_cannot_be_cached(
    tmp_path: Path,
) -> None:
    output = run(tmp_path)
    [cached_file] = Path(output["folder"]).iterdir()
    content = cached_file.read_bytes()
    cached_file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert run(tmp_path) == output

    other_gpu = run(tmp_path, "8.0")
    other_registers = run(tmp_path, registers=64)
    assert other_gpu["compiled"] == other_registers["compiled"] == ["double"]
    assert ".target sm_80" in other_gpu["ptx"]
    assert len(list(cached_file.parent.iterdir())) == 3

    (tmp_path / "file").write_text("no folder")
    assert run(tmp_path / "file")["compiled"] == ["double"]
