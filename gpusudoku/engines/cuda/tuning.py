"""How kernels are launched: every number whose best value depends on the GPU.

The defaults should suit any GPU. ``benchmarks/tune_gpu.py --save`` measures what suits the one that
is there, and writes it to a file that every later run reads: a JSON object whose keys are names of
GPUs, and whose values are objects with fields of ``Tuning``, all or some.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path
from typing import Any

from gpusudoku.errors import InputError

INTERLEAVED, CONTIGUOUS = "interleaved", "contiguous"

MOST = {
    "threads_per_block": 1024,
    "blocks_per_multiprocessor": 1024,
    "boards_per_thread": 1024,
    "max_registers": 255,
    "sum_threads_per_block": 1024,
    "sum_tasks_per_multiprocessor": 1024,
}
"""The largest values: limits of the hardware, or of what makes sense."""
MAY_BE_NONE = ("blocks_per_multiprocessor", "max_registers", "sum_threads_per_block")


@dataclass(frozen=True)
class Tuning:
    """How kernels are launched.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    threads_per_block: int = 128
    """Threads per block of the search."""
    blocks_per_multiprocessor: int | None = None
    """Blocks of the search; None for as many as the registers of the kernel allow at once. More
    would wait for the first ones to end, and threads that take boards until none is left end
    together."""
    boards_per_thread: int = 8
    """Frontier boards per thread: enough that most threads end together."""
    launch_seconds: float = 0.2
    """Budgets are set so that a launch takes about this long: Ctrl-C waits for no more."""
    stacks: str = INTERLEAVED
    """With INTERLEAVED, neighbouring threads at the same depth touch neighbouring words. With
    CONTIGUOUS, every stack is contiguous, and so is every board on it. The search of 9x9 boards
    with singles moves whole boards, and has that in any case."""
    max_registers: int | None = None
    """Registers per thread; None leaves the number to the compiler. With fewer, more threads run at
    once, but what does not fit is kept in memory."""
    sum_threads_per_block: int | None = None
    """Threads per block of the contraction; None for as many as let most threads run at once, given
    the GPU's registers and shared memory."""
    sum_tasks_per_multiprocessor: int = 32
    """Tasks of the contraction per launch: enough to even out short and long ones."""

    def __post_init__(self) -> None:
        if self.stacks not in (INTERLEAVED, CONTIGUOUS):
            raise InputError(f"stacks {self.stacks!r}: expected {INTERLEAVED} or {CONTIGUOUS}")
        seconds = self.launch_seconds
        if type(seconds) not in (int, float) or not 0 < seconds < inf:
            raise InputError(f"launch_seconds {seconds!r}: a number above 0 is needed")
        for name, most in MOST.items():
            value = getattr(self, name)
            if value is None and name in MAY_BE_NONE:
                continue
            if type(value) is not int or not 1 <= value <= most:
                raise InputError(f"{name} {value!r}: a whole number from 1 to {most} is needed")


def tuning_file() -> Path | None:
    """GPUSUDOKU_CUDA_TUNING, else a file in the user's cache; None if this user has no home."""
    named = os.environ.get("GPUSUDOKU_CUDA_TUNING")
    if named:
        return Path(named)
    try:
        user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        return None
    return Path(user_cache) / "gpusudoku" / "cuda-tuning.json"


def tuning_of(gpu: str, default: Tuning | None = None) -> Tuning:
    """What the file says of a GPU; the default if there is no file, or it does not name the GPU.

    Raises
    ------
    InputError
        If it is not a tuning file.
    """
    default = default or Tuning()
    return Tuning(**(asdict(default) | _read(tuning_file()).get(gpu, {})))


def save_tuning(gpu: str, tuning: Tuning) -> Path:
    """Write what suits a GPU to the file; what it says of others stays.

    Raises
    ------
    InputError
        If there is another file of that name, or it cannot be written.
    """
    path = tuning_file()
    if path is None:
        raise InputError("no home folder for the tuning file: set GPUSUDOKU_CUDA_TUNING")
    known = _read(path) | {gpu: asdict(tuning)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def _read(path: Path | None) -> dict[str, dict[str, Any]]:
    """What the file says of every GPU, checked."""
    try:
        text = path.read_text(encoding="utf-8") if path is not None else "{}"
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise _unusable(path, str(reason)) from None
    try:
        known = json.loads(text)
    except ValueError as error:
        raise _unusable(path, f"not JSON: {error}") from None
    if not isinstance(known, dict):
        raise _unusable(path, "expected an object with the names of GPUs as keys")
    names = {field.name for field in fields(Tuning)}
    for gpu, values in known.items():
        if not isinstance(values, dict):
            raise _unusable(path, f"{gpu}: expected an object")
        if unknown := sorted(values.keys() - names):
            raise _unusable(path, f"{gpu}: unknown setting {unknown[0]!r}")
        try:
            Tuning(**values)
        except InputError as error:
            raise _unusable(path, f"{gpu}: {error}") from None
    return known


def _unusable(path: Path | None, reason: str) -> InputError:
    return InputError(f"tuning file {path}: {reason} (mend it, or delete it for the defaults)")
