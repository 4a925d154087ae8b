"""CUDA kernels are kept: compiled here, as without a GPU they can be, and loaded, but not launched.

Under the simulator there is no compiler, so all this happens in processes without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.compiler import need_compiler, need_numba_cuda, run_script

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
# Without a driver code cannot be brought to a GPU, which is what comes next.
dispatcher._Kernel.bind = lambda self: None
cuda.gpus = {0: nullcontext()}
cuda_driver.current_device = lambda: 0
names = "COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR"
cuda_driver.device_attribute = dict(zip(names, capability)).get
cuda_driver.Kernel = lambda code: SimpleNamespace(code=code)
compiled, compile = [], dispatcher._Kernel.__init__


def noting(self, function, *arguments, **options):
    compiled.append(function.__name__)
    compile(self, function, *arguments, **options)


dispatcher._Kernel.__init__ = noting


def double(numbers):
    numbers[cuda.grid(1)] *= 2


def kernel(registers):
    return compile_cuda.kernel(double, (int64[::1],), max_registers=registers)


code = cuda_driver.load("__main__", "kernel", int(sys.argv[2])).code
assert code.binary.startswith(b"\\x7fELF")
assert code.entry in code.ptx
folder = str(kernel_store.user_store().folder)
print(json.dumps({"compiled": compiled, "ptx": code.ptx, "folder": folder}))
"""


def run(cache: Path, capability: str = "9.0", registers: int = 32) -> dict[str, Any]:
    """Compile or load a kernel in a process of its own."""
    need_numba_cuda()
    lines = run_script(SCRIPT, capability, str(registers), GPUSUDOKU_CACHE_DIR=str(cache))
    need_compiler(lines)
    return lines[0]


def test_a_kernel_is_compiled_once(tmp_path: Path) -> None:
    first_run = run(tmp_path)
    assert first_run["compiled"] == ["double"]
    assert ".target sm_90" in first_run["ptx"]
    assert run(tmp_path) == {**first_run, "compiled": []}


@pytest.mark.slow
def test_it_is_compiled_anew_for_others_and_if_it_is_damaged_or_cannot_be_kept(
    tmp_path: Path,
) -> None:
    first_run = run(tmp_path)
    [stored_file] = Path(first_run["folder"]).iterdir()
    content = stored_file.read_bytes()
    stored_file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert run(tmp_path) == first_run

    others = [run(tmp_path, "8.0"), run(tmp_path, registers=64)]
    assert [one["compiled"] for one in others] == [["double"]] * 2
    assert ".target sm_80" in others[0]["ptx"]
    assert len(list(stored_file.parent.iterdir())) == 3

    (tmp_path / "file").write_text("no folder")
    assert run(tmp_path / "file")["compiled"] == ["double"]
