"""The kernels compile for real GPUs, though none is here.

Under the simulator there is no compiler, so all is compiled in one subprocess without it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

COMPILE = """
import gc
import json
import sys
from functools import cache
from numba import cuda
from numba.core import sigutils
from numba.cuda import dispatcher

try:
    from numba.cuda.cudadrv.nvvm import NVVM
    NVVM()
except Exception as error:
    print(json.dumps({"missing": f"{type(error).__name__}: {error}".splitlines()[0]}))
    sys.exit()


class Device:
    compute_capability = None


gc.disable()  # there is hardly any garbage, and looking for it takes a tenth of the time

# Compiling a device function asks for the current device, that is, for a driver.
dispatcher.get_current_device = lambda: Device

from gpusudoku.kernels.contraction.nine import cuda as nine_cuda
from gpusudoku.kernels.search.cuda import build_kernel, signature
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import SearchSettings

# Most of the time goes into device functions, which are the same for all GPUs.
build_kernel, nine_kernel = cache(build_kernel), nine_cuda.build_kernel()

for *what, major, minor in json.load(sys.stdin):
    Device.compute_capability = (major, minor)
    if what:
        rows, columns, techniques, strategy, *contiguous = what
        search = Layout(rows, columns), SearchSettings(techniques, strategy)
        kernel, types = build_kernel(*search, bool(contiguous)), signature(*search)
    else:
        kernel, types = nine_kernel, nine_cuda.SIGNATURE
    arguments, _ = sigutils.normalize_signature(types)
    ptx, result = cuda.compile_ptx(kernel, arguments, cc=(major, minor))
    print(json.dumps({"ptx": ptx, "result": str(result)}))

# A process that has compiled for a GPU compiles for the CPU, too, with functions of the same names.
from gpusudoku.kernels.search import cpu

cpu.run(Layout(3, 3), SearchSettings()).compile()
print(json.dumps({"cpu": "compiled"}))
"""

DEFAULT, LOCKED, ALL = (3, 1), (19, 1), (31, 1)
"""Techniques and strategy, as in ``SearchSettings``."""

CAPABILITIES = [(7, 5), (8, 0), (9, 0), (10, 0)]
CASES = [(3, 3, *DEFAULT, *capability) for capability in CAPABILITIES]
CASES += [(3, 3, *ALL, *capability) for capability in CAPABILITIES]
CASES += [(3, 3, 0, 0, 9, 0), (5, 5, *LOCKED, 9, 0)]
CASES += [(3, 3, *DEFAULT, 1, 9, 0), (2, 3, *DEFAULT, 1, 9, 0)]  # contiguous stacks
CPU = ()
CASES += [(*shape, *DEFAULT, 9, 0) for shape in [(2, 2), (4, 4), (5, 5), (8, 8)]]


@pytest.fixture(scope="module")
def compiled() -> dict[tuple[int, ...], dict[str, Any]]:
    """Compile every case; each is a line of JSON on stdout."""
    if find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed (pip install 'numba-cuda[cu13]')")
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    root = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", COMPILE],
        input=json.dumps([*CASES, *CAPABILITIES]),
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if "missing" in lines[0]:
        pytest.skip(f"NVIDIA's compiler is not installed: {lines[0]['missing']}")
    return dict(zip([*CASES, *CAPABILITIES, CPU], lines, strict=True))


def test_both_in_one_process(compiled: dict[tuple[int, ...], dict[str, Any]]) -> None:
    assert compiled[CPU] == {"cpu": "compiled"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_kernel(case: tuple[int, ...], compiled: dict[tuple[int, ...], dict[str, Any]]) -> None:
    *_, major, minor = case
    ptx = compiled[case]["ptx"]
    assert compiled[case]["result"] == "none"
    assert ptx.count(".visible .entry") == 1
    assert re.search(r"^\.target sm_(\d+)", ptx, re.MULTILINE)[1] == f"{major}{minor}"
    if case[:4] == (3, 3, *DEFAULT):
        # Threads of a warp wait for each other; shifts are multiplications that nobody turned back.
        assert "vote.sync.any.pred" in ptx
        assert ptx.count("mul.hi.u32") > 9 * 10
    else:
        # Masks are counted by the hardware's own instructions. Newer compilers turn the lowest
        # bit's index, brev and clz, into a popc.
        assert "popc.b64" in ptx or ("brev.b64" in ptx and "clz.b64" in ptx)
        if case[2] & 2:  # hidden singles count bits
            assert "popc.b64" in ptx
    # Boards are fetched by an atomic add.
    assert re.search(r"atom\S*add\S*64", ptx)
    # Unresolved calls would only be found when a GPU loads the code.
    assert ".extern .func" not in ptx
    # Doubles are slow on most GPUs, and an accidental one means that types were mixed.
    assert ".f64" not in ptx


@pytest.mark.parametrize("case", CAPABILITIES, ids=lambda case: "-".join(map(str, case)))
def test_contraction(case: tuple[int, int], compiled: dict[tuple[int, ...], Any]) -> None:
    ptx = compiled[case]["ptx"]
    assert compiled[case]["result"] == "none"
    assert re.search(r"^\.target sm_(\d+)", ptx, re.MULTILINE)[1] == f"{case[0]}{case[1]}"
    assert re.search(r"(atom|red)\S*add\S*64", ptx)
    assert "bar.sync" in ptx
    assert "ld.shared" in ptx
    # Static shared memory that every GPU grants a block.
    shared = re.findall(r"\.shared .*\[(\d+)\]", ptx)
    assert 0 < sum(map(int, shared)) <= 48 << 10
    assert ".extern .func" not in ptx
    assert ".f64" not in ptx


def test_the_signatures_name_every_argument() -> None:
    from inspect import signature

    from gpusudoku.kernels.contraction.nine import cuda as nine_cuda
    from gpusudoku.kernels.search import cuda
    from gpusudoku.kernels.search.layout import Layout
    from gpusudoku.kernels.search.settings import SearchSettings

    kernels = [(nine_cuda.build_kernel(), nine_cuda.SIGNATURE)]
    for layout in (Layout(2, 2), Layout(3, 3)):
        kernels.append(
            (cuda.build_kernel(layout, SearchSettings()), cuda.signature(layout, SearchSettings()))
        )
    for kernel, types in kernels:
        assert len(types) == len(signature(kernel).parameters)
