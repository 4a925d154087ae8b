"""NVIDIA's compiler, in processes without the simulator, under which there is none."""

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
"""How long a process may take that compiles kernels for cards: a minute, on a machine that is not
busy. Tests that need such kernels have as long, as they may wait for another process's."""

LOOK = """
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
"""What scripts begin with: where there is no compiler they say so, and end."""


def said(script: str, *arguments: str, given: str = "", **variables: str) -> list[dict[str, Any]]:
    """What a script says: a JSON object on every line. It has ``LOOK`` before it."""
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    root = str(Path(__file__).resolve().parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", LOOK + script, *arguments],
        input=given,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=COMPILING_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def need_numba_cuda() -> None:
    """Skip the test where numba-cuda is not installed."""
    if find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed (pip install 'numba-cuda[cu13]')")


def need_compiler(lines: list[dict[str, Any]]) -> None:
    """Skip the test where a script found no compiler."""
    if "missing" in lines[0]:
        pytest.skip(f"NVIDIA's compiler is not installed: {lines[0]['missing']}")
