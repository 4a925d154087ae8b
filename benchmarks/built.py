"""Programs for 9x9 boards that are built from source, and ours, each as one command.

An environment variable names each program, and another the same program with vectors of at most
256 bits. Most are drivers, which do nothing but count boards: README.md says what such a program
reads and prints, and ``own.py`` is ours.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from adapters import Found, Program
from llvmlite.binding import get_host_cpu_features

import gpusudoku
from gpusudoku import Board, formats
from gpusudoku.errors import GpusudokuError

NARROW = 256
"""Bits of a vector without AVX-512."""
WIDE = "AVX-512"
"""What a version ends with if the program has wider vectors."""


def widest() -> int:
    """The bits of the processor's vectors: 512, or at most 256."""
    return 512 if get_host_cpu_features().get("avx512vl") else NARROW


def narrow_features() -> str:
    """The processor's features without AVX-512, as Numba wants them."""
    kept = {
        name: has and not name.startswith(("avx512", "evex512", "avx10"))
        for name, has in get_host_cpu_features().items()
    }
    return ",".join(("+" if has else "-") + name for name, has in kept.items())


def title(name: str, bits: int) -> str:
    """What messages and tables call a program with vectors of at most so many bits."""
    return f"{name}, {bits} bits"


class Counted(NamedTuple):
    """The counts of some boards, in their order."""

    counts: list[int]
    seconds: float
    """Of the processor."""


class Driver(Program):
    """A program that a person built; its path is in an environment variable.

    Parameters
    ----------
    name
        Its name in tables.
    variable
        The environment variable.
    bits
        Of its vectors, at most.
    """

    proves_only = False
    """Whether all it tells of a board is that it has no second solution."""

    def __init__(self, name: str, variable: str, bits: int) -> None:
        self.name = name
        self.variable = variable
        self.bits = bits

    def __str__(self) -> str:
        return title(self.name, self.bits)

    def command(self) -> list[str]:
        """The program with its arguments."""
        return [os.environ.get(self.variable, "")]

    def environment(self) -> dict[str, str]:
        """Environment variables that it needs."""
        return {}

    def unusable_because(self) -> str | None:
        [program, *_] = self.command()
        if not program:
            return f"{self.variable} names no program (benchmarks/README.md says which)"
        return None if shutil.which(program) else f"{self.variable}: {program} cannot be run"

    def version(self) -> str:
        """The version, and the widest vector instructions that it was compiled for.

        Raises
        ------
        GpusudokuError
            If the program fails, says something else, or has vectors of another width.
        """
        text = self.output("--version", lines=[]).strip()
        if len(text.splitlines()) != 1 or len(text.split()) < 2:
            raise GpusudokuError(
                f"{self}: --version prints {text[:60]!r}, expected a version and instructions"
            )
        if text.endswith(WIDE) != (self.bits > NARROW):
            expected = f"{WIDE} at the end" if self.bits > NARROW else f"no {WIDE}"
            raise GpusudokuError(f"{self}: --version prints {text!r}, expected {expected}")
        return text

    def takes(self, board: Board) -> bool:
        return str(board.geometry) == "3x3"

    def load(self, board: Board) -> None:
        pass

    def count(self, board: Board, seconds: float) -> Found:
        try:
            [found], spent = self.count_lines([formats.write(board, "line")], seconds)
        except subprocess.TimeoutExpired:
            return Found(None, False)
        return Found(found, True, spent)

    def count_lines(self, lines: Sequence[str], seconds: float | None = None) -> Counted:
        """Count boards, each a text of 81 digits and dots.

        Raises
        ------
        GpusudokuError
            If the program fails, or prints something else than counts and seconds.
        subprocess.TimeoutExpired
            If it takes longer than some seconds.
        """
        words = [line.strip() for line in self.output(lines=lines, seconds=seconds).splitlines()]
        if len(words) != len(lines) + 1:
            raise GpusudokuError(
                f"{self} prints {len(words)} lines for {len(lines)} boards, "
                f"expected {len(lines) + 1}: a count of each, and the seconds"
            )
        counts = words[:-1]
        spent = _positive(words[-1])
        for index, word in enumerate(counts):
            if not (word.isascii() and word.isdecimal()):
                raise GpusudokuError(
                    f"{self}: line {index + 1} is {word[:60]!r}, "
                    f"expected the count of {lines[index]}"
                )
        if spent is None:
            raise GpusudokuError(
                f"{self}: the last line is {words[-1][:60]!r}, expected seconds, more than 0"
            )
        return Counted([int(word) for word in counts], spent)

    def output(self, *arguments: str, lines: Sequence[str], seconds: float | None = None) -> str:
        """What the program prints.

        Raises
        ------
        GpusudokuError
            If it fails.
        subprocess.TimeoutExpired
            If it takes longer than some seconds.
        """
        try:
            done = subprocess.run(
                [*self.command(), *arguments], input="".join(f"{line}\n" for line in lines),
                capture_output=True, text=True, errors="replace", timeout=seconds,
                env={**os.environ, **self.environment()}, check=False,
            )  # fmt: skip
        except OSError as error:
            raise GpusudokuError(f"{self}: cannot be run: {error.strerror}") from None
        if done.returncode:
            [*_, last] = done.stderr.strip().splitlines() or ["it says nothing"]
            raise GpusudokuError(f"{self} ends with status {done.returncode}: {last[-200:]}")
        return done.stdout


class OwnDriver(Driver):
    """Ours, from the text of the boards to the numbers, on one thread."""

    name = "gpusudoku"

    def __init__(self, bits: int) -> None:
        super().__init__(self.name, "", bits)

    def command(self) -> list[str]:
        return [sys.executable, str(Path(__file__).with_name("own.py"))]

    def environment(self) -> dict[str, str]:
        path = [str(Path(gpusudoku.__file__).parents[1]), os.environ.get("PYTHONPATH")]
        features = {"NUMBA_CPU_FEATURES": narrow_features()} if self.bits < widest() else {}
        return {"PYTHONPATH": os.pathsep.join(filter(None, path)), **features}


class Schoku(Driver):
    """A solver that says of puzzles how many have one solution, several or none; no counts.

    Its vectors have 256 bits. Its time is that of the whole process, as it reads and writes while
    it solves.
    """

    proves_only = True

    def __init__(self) -> None:
        super().__init__("Schoku", "GPUSUDOKU_SCHOKU", NARROW)

    def version(self) -> str:
        [first, *_] = self.output("-h", lines=[]).splitlines() or [""]
        if "version" not in first:
            raise GpusudokuError(f"{self}: -h prints {first[:60]!r}, expected a version")
        return f"{first.split()[-1]} AVX2"

    def takes(self, board: Board) -> bool:
        return False

    def count_lines(self, lines: Sequence[str], seconds: float | None = None) -> Counted:
        with tempfile.TemporaryDirectory() as folder:
            puzzles = Path(folder, "puzzles")
            puzzles.write_text("".join(f"{line}\n" for line in lines))
            before = _spent()
            # One thread, a look for second solutions, and statistics.
            arguments = ["-t1", "-rM", "-x", str(puzzles), str(Path(folder, "solutions"))]
            text = self.output(*arguments, lines=[], seconds=seconds)
            spent = _spent() - before
        solved = _figure(text, "puzzles solved") - _figure(text, "puzzles had multiple solutions")
        if solved != len(lines):
            raise GpusudokuError(
                f"{self}: {solved} of {len(lines)} puzzles have one solution, "
                "and of the others it has no counts"
            )
        return Counted([1] * len(lines), spent)


def _positive(word: str) -> float | None:
    """A number that is more than 0; None if it is something else."""
    try:
        number = float(word)
    except ValueError:
        return None
    return number if number > 0 and isfinite(number) else None


def _figure(text: str, what: str) -> int:
    """The number in the line that ends so; 0 if there is none."""
    lines = [line for line in text.splitlines() if line.endswith(what)]
    return int(lines[0].split()[0]) if lines else 0


def _spent() -> float:
    """The processor's seconds of all processes that this one has started and that ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def drivers(bits: int) -> list[Driver]:
    """Every program that counts, without ours, with vectors of at most so many bits."""
    build = "" if bits == widest() else f"_{bits}"
    return [
        Driver("tdoku", f"GPUSUDOKU_TDOKU{build}", bits),
        Driver("sudoku (Rust)", f"GPUSUDOKU_RUST_SUDOKU{build}", bits),
    ]


def entrants() -> list[Driver]:
    """All programs by width, the widest vectors first, as the tables have them; ours leads each."""
    wide = [OwnDriver(widest()), *drivers(widest())] if widest() > NARROW else []
    return [*wide, OwnDriver(NARROW), *drivers(NARROW), Schoku()]
