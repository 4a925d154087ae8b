"""A computer with cards: programs in processes of their own, over the stand-in for the driver."""

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

from tests.compiler import COMPILING_SECONDS, need_compiler, need_numba_cuda, said

HERE = Path(__file__).parent
ROOT = HERE.parents[2]

SESSION = """
from tests.ptx.driver.machine import machine
from tests.session import captured

for arguments, failures in json.load(sys.stdin):
    machine.mend(failures)
    print(json.dumps(captured(arguments)), flush=True)
"""
"""Runs one command after the other: what is built for the first need not be built again."""

NOTHING_COMPILED = """
from numba.cuda.cudadrv import nvvm

def refused(*_, **__):
    raise RuntimeError("compiled, though it was kept")

nvvm.compile_ir = refused
"""
"""Lets no kernel be compiled for a card."""

Command = tuple[Sequence[str], Mapping[str, Sequence[int]]]
"""Arguments of the program, and what goes wrong while it runs: see ``Machine``."""


class Answer(NamedTuple):
    status: int
    out: str
    err: str


def without_compiling(err: str) -> str:
    """What was said on stderr but for what is compiled, which the first to need it says."""
    lines = err.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("gpusudoku: compiling "))


def first(path: Path | str, variable: str) -> str:
    """A list of folders that begins with this, and goes on as a variable has it."""
    return os.pathsep.join(filter(None, [str(path), os.environ.get(variable)]))


class Computer:
    """Everywhere ``cards`` are what the cards are to be: see ``Machine``."""

    def __init__(self, folder: Path) -> None:
        """Make the library in a folder; skips the test where that, or NVIDIA's compiler, fails."""
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
            "LD_LIBRARY_PATH": first(self._folder, "LD_LIBRARY_PATH"),
            "PYTHONPATH": first(f"{ROOT}{os.pathsep}{HERE / 'arrays'}", "PYTHONPATH"),
            "PTX_CARDS": json.dumps(cards),
        }

    def gpusudoku(self, *arguments: str, **cards: Any) -> Answer:
        """Run one command in a process."""
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
        done = subprocess.run(
            [sys.executable, "-m", "gpusudoku", *arguments],
            env=environment | self._variables(cards),
            capture_output=True,
            text=True,
            timeout=COMPILING_SECONDS,
            check=False,
        )
        return Answer(done.returncode, done.stdout, without_compiling(done.stderr))

    def session(
        self,
        commands: Sequence[Command],
        before: str = "",
        variables: Mapping[str, str] | None = None,
        **cards: Any,
    ) -> list[Answer]:
        """Run commands in one process; ``before`` is what the process runs first."""
        variables = {**(variables or {}), **self._variables(cards)}
        lines = said(before + SESSION, given=json.dumps(commands), **variables)
        return [Answer(status, out, without_compiling(err)) for status, out, err in lines]

    def script(self, text: str, **cards: Any) -> list[Any]:
        """Run Python; what it prints are lines of JSON."""
        return said(text, **self._variables(cards))
