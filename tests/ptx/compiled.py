"""The project's kernels as PTX, compiled in subprocesses, because the simulator is on here."""

from __future__ import annotations

import json
import re
from functools import cache, partial

import pytest

from tests import shared
from tests.compiler import COMPILING_SECONDS, need_compiler, need_numba_cuda, said
from tests.ptx.launch import Kernel, load

WAITING = pytest.mark.timeout(2 * COMPILING_SECONDS)
"""For tests that need kernels: the first of them waits for the compiler."""

COMPILE = """
import gc
from functools import cache
from numba import cuda
from numba.core import sigutils
from numba.cuda import dispatcher


class Device:
    compute_capability = None


gc.disable()  # there is hardly any garbage, and looking for it takes a tenth of the time

# Compiling a device function asks for the current device, that is, for a driver.
dispatcher.get_current_device = lambda: Device

from gpusudoku.kernels.contraction.nine import cuda as nine_cuda
from gpusudoku.kernels.search.cuda import build_kernel, signature
from gpusudoku.kernels.search.launch import launch_settings
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.kernels.search.shape import Shape

# Most of the time goes into device functions, which are the same for all GPUs.
build_kernel, nine_kernel = cache(build_kernel), cache(nine_cuda.build_kernel)

for *what, major, minor in json.load(sys.stdin):
    Device.compute_capability = (major, minor)
    if len(what) > 1:
        rows, columns, techniques, strategy = what
        shape, settings = Shape(rows, columns), SearchSettings(techniques, strategy)
        launch = launch_settings(shape, (major, minor))
        kernel, types = build_kernel(shape, settings, launch), signature(shape)
    else:
        kernel, types = nine_kernel(bool(what[0])), nine_cuda.SIGNATURE
    arguments, _ = sigutils.normalize_signature(types)
    ptx, result = cuda.compile_ptx(kernel, arguments, cc=(major, minor))
    print(json.dumps({"ptx": ptx, "result": str(result)}))
"""
"""Compiles the cases that it reads, and prints a line for each."""

FOR_THE_CPU = """
# A process that has compiled for a GPU compiles for the CPU, too, with functions of the same names.
from gpusudoku.kernels.search import cpu

cpu.run(Shape(3, 3), SearchSettings()).compile()
print(json.dumps({"cpu": "compiled"}))
"""

Case = tuple[int, ...]
"""Box rows, box columns, techniques, strategy, and the compute capability, as in ``test_ptx``;
1 if wide, and the capability, is the sum of the contraction."""

DEFAULT = (3, 1)
ALL = (31, 1)
"""Techniques and strategy, as in ``SearchSettings``."""

CAPABILITIES = [(7, 5), (9, 0), (10, 0), (12, 0)]
DIALECTS = [(9, 0), (10, 0)]
"""One of each dialect of the compiler: one to compute capability 9.0, and one from 10.0 on. In each
the code is the same for every card, so only these are run: see ``test_coverage``."""
RARE: list[Case] = [(*what, *c) for what in [(3, 3, *DEFAULT), (0,)] for c in [(7, 5), (12, 0)]]
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
"""Which cases are compiled together: what they have in common is compiled once."""
CASES = [case for cases in KINDS.values() for case in cases]

NAME = re.compile(r"_(?:Z[\w$]*?|cudapy_smem_\d+)(?=_param_\d|[^\w$])")
"""What numba-cuda calls a kernel or a variable: types, options and a number are in it."""


def kind(case: Case) -> str:
    """The name of the cases that this one is compiled with."""
    return next(name for name, cases in KINDS.items() if case in cases)


def compile_kind(name: str) -> list[dict[str, str]]:
    """What a subprocess says: a line for each case, and for one kind one for the CPU."""
    script = COMPILE + FOR_THE_CPU * (name == "rare")
    return said(script, given=json.dumps(KINDS[name]))


@cache
def output(*names: str) -> dict[str, list[dict[str, str]]]:
    """What is said of these kinds, each compiled once for all processes; skips where none can."""
    need_numba_cuda()
    found = shared.all_of({f"ptx {name}": partial(compile_kind, name) for name in names})
    for lines in found.values():
        need_compiler(lines)
    return dict(zip(names, found.values(), strict=True))


def results(*names: str) -> dict[Case, dict[str, str]]:
    """The PTX and the result's type of every case of these kinds."""
    return {
        case: line
        for name, lines in output(*names).items()
        for case, line in zip(KINDS[name], lines, strict=False)  # one for the CPU may follow
    }


def texts() -> dict[Case, str]:
    """The PTX of every case."""
    return {case: line["ptx"] for case, line in results(*KINDS).items()}


def plain(ptx: str) -> str:
    """The same code with short names and for any card."""
    names: dict[str, str] = {}
    short = NAME.sub(lambda match: names.setdefault(match[0], f"name_{len(names)}"), ptx)
    return re.sub(r"^\.target .*$", ".target any", short, flags=re.MULTILINE)


def kernel(case: Case, checked: bool = True) -> Kernel:
    """The kernel of a case, built to run here."""
    return built(plain(results(kind(case))[case]["ptx"]), checked)


@cache
def built(ptx: str, checked: bool) -> Kernel:
    [found] = load(ptx, checked).values()
    return found
