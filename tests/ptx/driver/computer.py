"""A simulated computer with GPUs: it runs programs in subprocesses, with the stand-in driver."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.compiler import COMPILING_SECONDS, need_compiler, need_numba_cuda, run_script

HERE = Path(__file__).parent
ROOT = HERE.parents[2]

SESSION = """
from tests.ptx.driver.machine import machine
from tests.session import captured

for arguments, failures in json.load(sys.stdin):
    machine.mend(failures)
    print(json.dumps(captured(arguments)), flush=True)
"""
"""A script that runs commands in one process, so that later commands use kernels already built."""

NOTHING_COMPILED = """
from numba.cuda.cudadrv import nvvm

def refuse(*_, **__):
    raise RuntimeError("compiled, though it was kept")

nvvm.compile_ir = refuse
"""
"""A script that prevents the compiling of kernels for a card."""

Command = tuple[Sequence[str], Mapping[str, Sequence[int]]]
"""The arguments of the program, and the failures while it runs: see ``Machine``."""


class Answer(NamedTuple):
    """The exit status and the output of a command."""

    status: int
    out: str
    err: str


def without_compiling(err: str) -> str:
    """Return stderr without messages about compiling, which depend on the order of the tests."""
    lines = err.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("gpusudoku: compiling "))


def prepend(path: Path | str, variable: str) -> str:
    """Return the list of folders in an environment variable, with ``path`` as the first."""
    return os.pathsep.join(filter(None, [str(path), os.environ.get(variable)]))


class Computer:
    """Runs programs with the stand-in driver; ``cards`` describes its GPUs: see ``Machine``."""

    def __init__(self, folder: Path) -> None:
        """Build the library in a folder; skip the test without a C compiler or NVIDIA's."""
        need_numba_cuda()
        compiler = shutil.which("cc")
        if sys.platform != "linux" or compiler is None:
            pytest.skip("no C compiler to make a library for Linux")
        self._folder = folder
        source = HERE / "libcuda.c"
        command = [compiler, "-shared", "-fPIC", "-o", folder / "libcuda.so.1", source]
        subprocess.run(command, check=True)
        need_compiler(self.script("print(json.dumps({}))"))

    def _variables(self, cards: dict[str, Any]) -> dict[str, str]:
        return {
            "LD_LIBRARY_PATH": prepend(self._folder, "LD_LIBRARY_PATH"),
            "PYTHONPATH": prepend(f"{ROOT}{os.pathsep}{HERE / 'arrays'}", "PYTHONPATH"),
            "PTX_CARDS": json.dumps(cards),
        }

    def gpusudoku(self, *arguments: str, **cards: Any) -> Answer:
        """Run one command in a process of its own."""
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
        process = subprocess.run(
            [sys.executable, "-m", "gpusudoku", *arguments],
            env=environment | self._variables(cards),
            capture_output=True,
            text=True,
            timeout=COMPILING_SECONDS,
            check=False,
        )
        return Answer(process.returncode, process.stdout, without_compiling(process.stderr))

    def session(
        self,
        commands: Sequence[Command],
        before: str = "",
        variables: Mapping[str, str] | None = None,
        **cards: Any,
    ) -> list[Answer]:
        """Run commands in one process; ``before`` is a script that it runs first."""
        variables = {**(variables or {}), **self._variables(cards)}
        lines = run_script(before + SESSION, stdin=json.dumps(commands), **variables)
        return [Answer(status, out, without_compiling(err)) for status, out, err in lines]

    def script(self, text: str, **cards: Any) -> list[Any]:
        """Run a Python script that prints lines of JSON; return their values."""
        return run_script(text, **self._variables(cards))
