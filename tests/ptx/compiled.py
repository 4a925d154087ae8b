"""The kernels of the project as PTX, compiled in subprocesses: this process has the simulator."""

from __future__ import annotations

import json
import re
from functools import cache, partial

import pytest

from tests import shared
from tests.compiler import COMPILING_SECONDS, need_compiler, need_numba_cuda, run_script
from tests.ptx.launch import Kernel, load

WAITING = pytest.mark.timeout(2 * COMPILING_SECONDS)
"""The mark of tests that need kernels: the first of them waits for the compiler."""

COMPILE = """
import gc
from functools import cache
from numba import cuda
from numba.core import sigutils
from numba.cuda import dispatcher


class Device:
    compute_capability = None


gc.disable()  # there is hardly any garbage, and collecting it takes a tenth of the time

# Compiling a device function asks for the current device, that is, for a driver.
dispatcher.get_current_device = lambda: Device

from gpusudoku.kernels.contraction.nine import cuda as nine_cuda
from gpusudoku.kernels.search.cuda import build_kernel, signature
from gpusudoku.kernels.search.launch import launch_settings
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.kernels.search.shape import Shape

# Most of the time goes into device functions, which are the same for all GPUs.
build_search = cache(build_kernel)
build_sum = cache(nine_cuda.build_kernel)

for *settings, major, minor in json.load(sys.stdin):
    Device.compute_capability = (major, minor)
    if len(settings) > 1:
        rows, columns, techniques, strategy = settings
        shape = Shape(rows, columns)
        launch = launch_settings(shape, (major, minor))
        kernel = build_search(shape, SearchSettings(techniques, strategy), launch)
        types = signature(shape)
    else:
        kernel = build_sum(bool(settings[0]))
        types = nine_cuda.SIGNATURE
    arguments, _ = sigutils.normalize_signature(types)
    ptx, result = cuda.compile_ptx(kernel, arguments, cc=(major, minor))
    print(json.dumps({"ptx": ptx, "result": str(result)}))
"""
"""A script that reads cases, compiles them, and prints a line for each."""

COMPILE_FOR_CPU = """
# A process that has compiled for a GPU can also compile functions of the same names for the CPU.
from gpusudoku.kernels.search import cpu

cpu.run(Shape(3, 3), SearchSettings()).compile()
print(json.dumps({"cpu": "compiled"}))
"""

Case = tuple[int, ...]
"""A kernel and the compute capability (two numbers) for which it is compiled.

    (box rows, box columns, techniques, strategy, major, minor)     the search
    (1 if wide else 0, major, minor)                                the sum of the contraction
"""

DEFAULT = (3, 1)
ALL = (31, 1)
"""Techniques and strategy, as in ``SearchSettings``."""

CAPABILITIES = [(7, 5), (9, 0), (10, 0), (12, 0)]
DIALECTS = [(9, 0), (10, 0)]
"""One capability of each dialect of the compiler: up to 9.0, and from 10.0. The code of a dialect
is the same for every card (see ``test_coverage``), so tests run only these."""
RARE: list[Case] = [
    (*settings, *capability)
    for settings in [(3, 3, *DEFAULT), (0,)]
    for capability in [(7, 5), (12, 0)]
]
RARE += [(3, 3, *ALL, *capability) for capability in DIALECTS]
RARE += [(3, 3, 0, 0, 9, 0), (5, 5, *DEFAULT, 9, 0), (8, 8, *DEFAULT, 9, 0)]
"""The cases that only slow tests need."""
KINDS: dict[str, list[Case]] = {
    "9x9": [(3, 3, *DEFAULT, *capability) for capability in DIALECTS],
    "others": [
        *((2, 3, *DEFAULT, *capability) for capability in DIALECTS),
        (4, 4, *DEFAULT, 9, 0),
    ],
    "sums": [(wide, *capability) for wide in (0, 1) for capability in DIALECTS],
    "rare": RARE,
}
"""The cases that are compiled together, by the name of their kind: a process compiles the device
functions that they share only once."""
CASES = [case for cases in KINDS.values() for case in cases]

NAME = re.compile(r"_(?:Z[\w$]*?|cudapy_smem_\d+)(?=_param_\d|[^\w$])")
"""The names that numba-cuda gives to kernels and variables: they contain types, options and a
number."""


def kind(case: Case) -> str:
    """Return the kind of a case."""
    return next(name for name, cases in KINDS.items() if case in cases)


def compile_kind(name: str) -> list[dict[str, str]]:
    """Compile the cases of a kind in a subprocess; return a line for each.

    For the kind "rare" a last line reports that a kernel for the CPU was compiled, too.
    """
    script = COMPILE
    if name == "rare":
        script += COMPILE_FOR_CPU
    return run_script(script, stdin=json.dumps(KINDS[name]))


@cache
def output(*names: str) -> dict[str, list[dict[str, str]]]:
    """Return the lines of these kinds, or skip the test if there is no compiler.

    Each kind is compiled once for all test processes.
    """
    need_numba_cuda()
    lines_of = shared.compute_all({f"ptx {name}": partial(compile_kind, name) for name in names})
    for lines in lines_of.values():
        need_compiler(lines)
    return dict(zip(names, lines_of.values(), strict=True))


def results(*names: str) -> dict[Case, dict[str, str]]:
    """Return the PTX and the type of the result of every case of these kinds."""
    return {
        case: line
        for name, lines in output(*names).items()
        for case, line in zip(KINDS[name], lines, strict=False)  # one for the CPU may follow
    }


def texts() -> dict[Case, str]:
    """Return the PTX of every case."""
    return {case: line["ptx"] for case, line in results(*KINDS).items()}


def plain(ptx: str) -> str:
    """Return PTX with short names and without a compute capability, so that it can be compared."""
    names: dict[str, str] = {}
    short = NAME.sub(lambda match: names.setdefault(match[0], f"name_{len(names)}"), ptx)
    return re.sub(r"^\.target .*$", ".target any", short, flags=re.MULTILINE)


def kernel(case: Case, checked: bool = True) -> Kernel:
    """Return the kernel of a case, built to run on the CPU."""
    return build(plain(results(kind(case))[case]["ptx"]), checked)


@cache
def build(ptx: str, checked: bool) -> Kernel:
    [only_kernel] = load(ptx, checked).values()
    return only_kernel
