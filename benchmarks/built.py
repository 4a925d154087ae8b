"""Programs for 9x9 boards that are built from source, and gpusudoku, each as one command.

An environment variable names the executable file of each program. Another variable names a build
of the same program whose vectors have at most 256 bits. Most of the programs are drivers, which do
nothing but count boards; README.md defines what a driver reads and prints. ``own.py`` is the driver
of gpusudoku.
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

from adapters import Answer, Program
from llvmlite.binding import get_host_cpu_features

import gpusudoku
from gpusudoku import Board, formats
from gpusudoku.errors import GpusudokuError

NARROW_BITS = 256
"""Bits of a vector without AVX-512."""
WIDE_BITS = 512
"""Bits of a vector with AVX-512."""
WIDE_INSTRUCTIONS = "AVX-512"
"""The end of a program's version if it was compiled for vectors of WIDE_BITS."""


def max_vector_bits() -> int:
    """Return the size of the processor's vectors in bits, at least NARROW_BITS."""
    has_avx512 = get_host_cpu_features().get("avx512vl")
    return WIDE_BITS if has_avx512 else NARROW_BITS


def narrow_features() -> str:
    """Return the processor's features without AVX-512, in the format of NUMBA_CPU_FEATURES."""
    features = []
    for name, is_present in get_host_cpu_features().items():
        is_enabled = is_present and not name.startswith(("avx512", "evex512", "avx10"))
        features.append(("+" if is_enabled else "-") + name)
    return ",".join(features)


def title(name: str, bits: int) -> str:
    """Return the name of a build of a program in messages and tables."""
    return f"{name}, {bits} bits"


class BoardCounts(NamedTuple):
    """The numbers of solutions of some boards, in the order of the boards."""

    counts: list[int]
    seconds: float
    """CPU seconds for all of them."""


class Driver(Program):
    """A program that you build; an environment variable has the path of its executable file.

    Parameters
    ----------
    name
        The name in tables.
    variable
        The environment variable.
    bits
        The maximum size of the vectors that the program was compiled for.
    """

    is_proof_only = False
    """Whether the program only proves that a board has exactly one solution, without counting."""

    def __init__(self, name: str, variable: str, bits: int) -> None:
        self.name = name
        self.variable = variable
        self.bits = bits

    def __str__(self) -> str:
        return title(self.name, self.bits)

    def command(self) -> list[str]:
        """Return the command line of the program."""
        return [os.environ.get(self.variable, "")]

    def environment(self) -> dict[str, str]:
        """Return the environment variables that the program needs in addition."""
        return {}

    def unusable_because(self) -> str | None:
        [program, *_] = self.command()
        if not program:
            return f"{self.variable} names no program (benchmarks/README.md says which)"
        if shutil.which(program) is None:
            return f"{self.variable}: {program} cannot be run"
        return None

    def version(self) -> str:
        """Return the version and the widest vector instructions that the program is compiled for.

        Raises
        ------
        GpusudokuError
            If the program fails, prints something else, or has vectors of another size.
        """
        text = self.output("--version", lines=[]).strip()
        if len(text.splitlines()) != 1 or len(text.split()) < 2:
            raise GpusudokuError(
                f"{self}: --version prints {text[:60]!r}, expected a version and instructions"
            )
        is_wide = self.bits > NARROW_BITS
        if text.endswith(WIDE_INSTRUCTIONS) != is_wide:
            expected = f"{WIDE_INSTRUCTIONS} at the end" if is_wide else f"no {WIDE_INSTRUCTIONS}"
            raise GpusudokuError(f"{self}: --version prints {text!r}, expected {expected}")
        return text

    def can_count(self, board: Board) -> bool:
        return str(board.geometry) == "3x3"

    def load(self, board: Board) -> None:
        pass

    def count(self, board: Board, seconds: float) -> Answer:
        line = formats.write(board, "line")
        try:
            [solution_count], cpu_seconds = self.count_lines([line], seconds)
        except subprocess.TimeoutExpired:
            return Answer(None, False)
        return Answer(solution_count, True, cpu_seconds)

    def count_lines(self, lines: Sequence[str], time_limit: float | None = None) -> BoardCounts:
        """Count the solutions of boards, each a text of 81 digits and dots.

        Raises
        ------
        GpusudokuError
            If the program fails, or does not print counts and seconds.
        subprocess.TimeoutExpired
            If it takes longer than ``time_limit``, in seconds.
        """
        text = self.output(lines=lines, time_limit=time_limit)
        words = [line.strip() for line in text.splitlines()]
        if len(words) != len(lines) + 1:
            raise GpusudokuError(
                f"{self} prints {len(words)} lines for {len(lines)} boards, "
                f"expected {len(lines) + 1}: a count of each, and the seconds"
            )
        counts = words[:-1]
        for index, word in enumerate(counts):
            if not (word.isascii() and word.isdecimal()):
                raise GpusudokuError(
                    f"{self}: line {index + 1} is {word[:60]!r}, "
                    f"expected the count of {lines[index]}"
                )
        cpu_seconds = _parse_positive(words[-1])
        if cpu_seconds is None:
            raise GpusudokuError(
                f"{self}: the last line is {words[-1][:60]!r}, expected seconds, more than 0"
            )
        return BoardCounts([int(word) for word in counts], cpu_seconds)

    def output(self, *arguments: str, lines: Sequence[str], time_limit: float | None = None) -> str:
        """Run the program with ``lines`` as standard input, and return what it prints.

        Raises
        ------
        GpusudokuError
            If it fails.
        subprocess.TimeoutExpired
            If it takes longer than ``time_limit``, in seconds.
        """
        try:
            process = subprocess.run(
                [*self.command(), *arguments], input="".join(f"{line}\n" for line in lines),
                capture_output=True, text=True, errors="replace", timeout=time_limit,
                env={**os.environ, **self.environment()}, check=False,
            )  # fmt: skip
        except OSError as error:
            raise GpusudokuError(f"{self}: cannot be run: {error.strerror}") from None
        if process.returncode:
            error_lines = process.stderr.strip().splitlines() or ["no message"]
            message = error_lines[-1][-200:]
            raise GpusudokuError(f"{self} ends with status {process.returncode}: {message}")
        return process.stdout


class GpusudokuDriver(Driver):
    """The driver of gpusudoku, ``own.py``, on one thread."""

    name = "gpusudoku"

    def __init__(self, bits: int) -> None:
        super().__init__(self.name, "", bits)

    def command(self) -> list[str]:
        return [sys.executable, str(Path(__file__).with_name("own.py"))]

    def environment(self) -> dict[str, str]:
        folders = [str(Path(gpusudoku.__file__).parents[1]), os.environ.get("PYTHONPATH")]
        variables = {"PYTHONPATH": os.pathsep.join(filter(None, folders))}
        if self.bits < max_vector_bits():
            variables["NUMBA_CPU_FEATURES"] = narrow_features()
        return variables


class Schoku(Driver):
    """A solver that reports how many puzzles have one solution, several or none, but no counts.

    Its vectors have 256 bits. It reads and writes files while it solves, so its time is the CPU
    time of the whole process.
    """

    is_proof_only = True

    def __init__(self) -> None:
        super().__init__("Schoku", "GPUSUDOKU_SCHOKU", NARROW_BITS)

    def version(self) -> str:
        lines = self.output("-h", lines=[]).splitlines()
        first_line = lines[0] if lines else ""
        if "version" not in first_line:
            raise GpusudokuError(f"{self}: -h prints {first_line[:60]!r}, expected a version")
        return f"{first_line.split()[-1]} AVX2"

    def can_count(self, board: Board) -> bool:
        return False

    def count_lines(self, lines: Sequence[str], time_limit: float | None = None) -> BoardCounts:
        with tempfile.TemporaryDirectory() as folder:
            puzzles = Path(folder, "puzzles")
            puzzles.write_text("".join(f"{line}\n" for line in lines))
            solutions = Path(folder, "solutions")
            # One thread, a search for second solutions, and statistics.
            arguments = ["-t1", "-rM", "-x", str(puzzles), str(solutions)]
            start = _cpu_seconds_of_children()
            text = self.output(*arguments, lines=[], time_limit=time_limit)
            cpu_seconds = _cpu_seconds_of_children() - start
        solved = _read_statistic(text, "puzzles solved")
        proper = solved - _read_statistic(text, "puzzles had multiple solutions")
        if proper != len(lines):
            raise GpusudokuError(
                f"{self}: {proper} of {len(lines)} puzzles have one solution, "
                "and it reports no counts of the others"
            )
        return BoardCounts([1] * len(lines), cpu_seconds)


def _parse_positive(word: str) -> float | None:
    """Return a finite number greater than 0, or None if the word is something else."""
    try:
        number = float(word)
    except ValueError:
        return None
    return number if number > 0 and isfinite(number) else None


def _read_statistic(text: str, label: str) -> int:
    """Return the number at the start of the line that ends with a label; 0 without such a line."""
    for line in text.splitlines():
        if line.endswith(label):
            return int(line.split()[0])
    return 0


def _cpu_seconds_of_children() -> float:
    """Return the CPU seconds of all processes that this one has started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def peer_drivers(bits: int) -> list[Driver]:
    """Return the other programs that count, with vectors of at most ``bits`` bits."""
    suffix = "" if bits == max_vector_bits() else f"_{bits}"
    return [
        Driver("tdoku", f"GPUSUDOKU_TDOKU{suffix}", bits),
        Driver("sudoku (Rust)", f"GPUSUDOKU_RUST_SUDOKU{suffix}", bits),
    ]


def all_drivers() -> list[Driver]:
    """Return all programs in the order of the tables.

    Builds with the widest vectors come first, and gpusudoku is the first program of each size.
    """
    drivers: list[Driver] = []
    sizes = [max_vector_bits()] if max_vector_bits() > NARROW_BITS else []
    for bits in (*sizes, NARROW_BITS):
        drivers += [GpusudokuDriver(bits), *peer_drivers(bits)]
    return [*drivers, Schoku()]
