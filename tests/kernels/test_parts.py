"""Functions that kernels call are compiled with these: not optimised, nor run, by themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os
import sys

from numba import int64
from numba.core.codegen import JITCodeLibrary

os.environ["GPUSUDOKU_CACHE_DIR"] = sys.argv[1]
from gpusudoku.kernels.kernel import inlined, jitable, kernel

translated = []
finalize = JITCodeLibrary._finalize_specific


def note(library):
    translated.append(library.name)
    finalize(library)


JITCodeLibrary._finalize_specific = note


@inlined
def twice(x):
    return x + x


@jitable
def six_times(x):
    return twice(x) + twice(twice(x))


@kernel(int64)
def counted(x):
    return six_times(x) + twice(x)


print(counted(5), counted.python(5), *translated)
"""


def test_only_kernels_are_translated(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(tmp_path / "cache")]
    for _ in "compiled", "loaded":
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        value, plain, *translated = run.stdout.split()
        assert value == plain == "40"
        assert [name for name in translated if name != "nrt"] == ["counted"]
