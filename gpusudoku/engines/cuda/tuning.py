"""How kernels are launched: every number that a GPU may like better in another size.

The defaults are meant to suit any card. ``benchmarks/tune_gpu.py --save`` measures what suits the
one that is there, and writes it to a file that every later run looks at: a JSON object whose keys
are names of gpus, and whose values are objects with fields of ``Tuning``, all or some.
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
"""Limits of the hardware, or of what makes sense."""
MAY_BE_NONE = ("blocks_per_multiprocessor", "max_registers")


@dataclass(frozen=True)
class Tuning:
    """How kernels are launched.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    threads_per_block: int = 128
    blocks_per_multiprocessor: int | None = None
    """None: as many as the kernel's registers allow at once. More would wait for the first to
    end, and threads that take boards until none is left end together."""
    boards_per_thread: int = 8
    """Frontier boards for every thread: enough that most threads end together."""
    launch_seconds: float = 0.2
    """Budgets are set so that a launch takes about this long: Ctrl-C waits for no more."""
    stacks: str = INTERLEAVED
    """INTERLEAVED: neighbouring threads at the same depth touch neighbouring words. CONTIGUOUS:
    every stack is one piece, and so is every board on it."""
    max_registers: int | None = None
    """Registers a thread; None leaves it to the compiler. Fewer let more threads run at once, but
    what does not fit is kept in memory."""
    sum_threads_per_block: int = 128
    """Of the contraction's kernel, where a block sums a pair,"""
    sum_tasks_per_multiprocessor: int = 32
    """and tasks in a launch: enough to even out short and long ones."""

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


def tuning_of(card: str, default: Tuning | None = None) -> Tuning:
    """What the file says of a card, or the default if there is no file, or nothing of it in there.

    Raises
    ------
    InputError
        If the file is no such file.
    """
    default = default or Tuning()
    return Tuning(**(asdict(default) | _read(tuning_file()).get(card, {})))


def save_tuning(card: str, tuning: Tuning) -> Path:
    """Write what suits a card to the file, which keeps what it says of others.

    Raises
    ------
    InputError
        If there is a file of that name that is no such file, or it cannot be written.
    """
    path = tuning_file()
    if path is None:
        raise InputError("no home folder for the tuning file: set GPUSUDOKU_CUDA_TUNING")
    known = _read(path) | {card: asdict(tuning)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def _read(path: Path | None) -> dict[str, dict[str, Any]]:
    """What the file says of every card, checked."""
    try:
        text = path.read_text(encoding="utf-8") if path is not None else "{}"
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise _unusable(path, str(reason)) from None
    try:
        known = json.loads(text)
    except ValueError as error:
        raise _unusable(path, f"no JSON: {error}") from None
    if not isinstance(known, dict):
        raise _unusable(path, "expected an object with the names of GPUs as keys")
    names = {field.name for field in fields(Tuning)}
    for card, values in known.items():
        if not isinstance(values, dict):
            raise _unusable(path, f"{card}: expected an object")
        if unknown := sorted(values.keys() - names):
            raise _unusable(path, f"{card}: unknown setting {unknown[0]!r}")
        try:
            Tuning(**values)
        except InputError as error:
            raise _unusable(path, f"{card}: {error}") from None
    return known


def _unusable(path: Path | None, reason: str) -> InputError:
    return InputError(f"tuning file {path}: {reason} (mend it, or delete it for the defaults)")
