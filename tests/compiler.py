"""Scripts that use NVIDIA's compiler, in subprocesses: it does not work under the simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

COMPILING_SECONDS = 1000
"""The time limit of a process that compiles GPU kernels. It takes a minute on an idle machine.
Tests that need such kernels have the same limit, as they may wait for another test process."""

CHECK_COMPILER = """
import json
import sys

from numba.cuda.cudadrv.error import NvvmSupportError
from numba.cuda.cudadrv.nvvm import NVVM

try:
    NVVM()
except (NvvmSupportError, ImportError, OSError, RuntimeError) as error:
    print(json.dumps({"missing": str(error).splitlines()[0]}))
    sys.exit()
"""
"""The first lines of all scripts: without a compiler they print why, and end the script."""


def run_script(
    script: str, *arguments: str, stdin: str = "", **variables: str
) -> list[dict[str, Any]]:
    """Run ``CHECK_COMPILER`` and a script; return what it prints, a JSON object on each line."""
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    root = str(Path(__file__).resolve().parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    process = subprocess.run(
        [sys.executable, "-c", CHECK_COMPILER + script, *arguments],
        input=stdin,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=COMPILING_SECONDS,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return [json.loads(line) for line in process.stdout.splitlines()]


def need_numba_cuda() -> None:
    """Skip the test if numba-cuda is not installed."""
    if find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed (pip install 'numba-cuda[cu13]')")


def need_compiler(lines: list[dict[str, Any]]) -> None:
    """Skip the test if the script that printed ``lines`` found no compiler."""
    if "missing" in lines[0]:
        pytest.skip(f"NVIDIA's compiler is not installed: {lines[0]['missing']}")
