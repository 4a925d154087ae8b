"""The project's kernels as PTX, compiled in one subprocess, because the simulator is on here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.kernels.test_ptx import COMPILE
from tests.ptx.executor import load
from tests.ptx.launch import Kernel

Case = tuple[int, ...]
"""Box rows, box columns, techniques, strategy, 1 if stacks are contiguous, and the compute
capability, as in ``test_ptx``; the capability alone is the sum of the contraction."""

CAPABILITIES = [(7, 5), (8, 0), (9, 0), (10, 0), (12, 0)]
QUICK: list[Case] = [
    *((3, 3, 3, 1, *capability) for capability in CAPABILITIES),
    (3, 3, 3, 1, 1, 9, 0),
    (2, 3, 3, 1, 1, 9, 0),
    (2, 3, 3, 1, 1, 10, 0),
    (4, 4, 3, 1, 9, 0),
    *CAPABILITIES,
]
SLOW: list[Case] = [(3, 3, 31, 1, 9, 0), (3, 3, 31, 1, 10, 0), (5, 5, 19, 1, 9, 0)]
"""They are compiled only if a slow test asks for one."""
NAME = re.compile(r"_(?:Z[\w$]*?|cudapy_smem_\d+)(?=_param_\d|[^\w$])")
"""What numba-cuda calls a kernel or a variable: types, options and a number are in it."""


@cache
def texts(slow: bool) -> dict[Case, str]:
    """The PTX of the quick cases, or of the slow ones, which come from a process of their own."""
    cases = SLOW if slow else QUICK
    if find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed (pip install 'numba-cuda[cu13]')")
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    root = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", COMPILE],
        input=json.dumps(cases),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if "missing" in lines[0]:
        pytest.skip(f"NVIDIA's compiler is not installed: {lines[0]['missing']}")
    return {case: line["ptx"] for case, line in zip(cases, lines, strict=True)}


def plain(ptx: str) -> str:
    """The same code with short names and for any card.

    There are two dialects of the compiler: one to compute capability 9.0, and one from 10.0 on. In
    each the code is the same for every card, so it need not be built for every card.
    """
    names: dict[str, str] = {}
    short = NAME.sub(lambda match: names.setdefault(match[0], f"name_{len(names)}"), ptx)
    return re.sub(r"^\.target .*$", ".target any", short, flags=re.MULTILINE)


def kernel(case: Case, checked: bool = True) -> Kernel:
    """The kernel of a case, built to run here."""
    return built(plain(texts(case in SLOW)[case]), checked)


@cache
def built(ptx: str, checked: bool) -> Kernel:
    [found] = load(ptx, checked).values()
    return found
