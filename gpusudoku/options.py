"""The options of counting and searching, and their validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from math import inf
from numbers import Integral
from typing import Any, ParamSpec, TypedDict, TypeVar

from gpusudoku.errors import InputError, described
from gpusudoku.search.techniques import DEFAULT, parse_techniques, technique_names

DEVICES = ("auto", "cpu", "cuda")
STRATEGIES = ("first", "min")
METHODS = ("auto", "search", "contraction")
CUTOFFS_BY = ("space", "empty")
_CHOICES = {
    "device": DEVICES, "method": METHODS, "strategy": STRATEGIES, "cutoff_by": CUTOFFS_BY,
}  # fmt: skip
MAX_JOBS = 1024
MAX_PARTS = 1 << 16
"""Parts of one run. Every part lists all tasks, so more parts would cost more than they save."""
MAX_NUMBER = (1 << 63) - 1
"""Puzzles or samples of one run: their numbers are signed 64-bit integers."""
MAX_SECONDS = 1e9
"""The longest time limit, about 30 years."""
MEMORY = 2 << 30
"""The default memory of a contraction, in bytes."""
MIN_MEMORY = 256 << 20
"""The smallest value of the option, in bytes: a 9x9 board takes less on one thread."""
SEED_BITS = 128
"""The size of a random seed."""
ESTIMATE_SECONDS = 60.0
ESTIMATE_ERROR = 0.01
"""The default limits of an estimate, if no other limit is given."""
MIN_SAMPLES = 16
"""The least number of samples of an estimate. Fewer show little of their standard deviation."""


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class OptionFields(TypedDict, total=False):
    """The fields of ``Options`` as keyword arguments, for type checkers."""

    device: str
    method: str
    memory: int
    jobs: int | None
    gpus: tuple[int, ...] | None
    limit: int | None
    seconds: float | None
    cutoff: float | None
    cutoff_by: str
    strategy: str
    propagate: str


@dataclass(frozen=True, repr=False)
class Options:
    """The options of a count: its device, its method, and the details of a search.

    Parameters
    ----------
    device
        ``cpu``, ``cuda``, or ``auto`` for the device that is expected to be faster.
    method
        ``search`` visits every solution, ``contraction`` counts without visiting them, ``auto``
        chooses the method that is expected to be faster.
    memory
        The memory that a contraction may use, in bytes; 2 GiB by default.
    jobs
        The number of CPU threads; None for all usable cores.
    gpus
        The numbers of the GPUs to use, such as ``(0, 1)``; None for all.
    limit
        The number of solutions at which the search stops; None for no limit.
    seconds
        The time limit for each board, not counting compilation. A count that it ends is a lower
        bound. None for no limit.
    cutoff
        The size of board above which the frontier is expanded; None to expand it until it is wide
        enough.
    cutoff_by
        The size that the cutoff limits: the search ``space``, or the number of ``empty`` cells.
    strategy
        The cell to guess: the ``first`` empty one, or ``min``, one with the fewest candidates
        (minimum remaining values, MRV).
    propagate
        The techniques to apply at every node, separated by commas: see ``simplify``.

    Raises
    ------
    InputError
        If a value is out of range, or has the wrong type.
    """

    device: str = "auto"
    method: str = "auto"
    memory: int = MEMORY
    jobs: int | None = None
    gpus: tuple[int, ...] | None = None
    limit: int | None = None
    seconds: float | None = None
    cutoff: float | None = None
    cutoff_by: str = "space"
    strategy: str = "min"
    propagate: str = DEFAULT

    def refuse_seconds(self, work: str) -> None:
        """Raise an InputError if there is a time limit, which ``work`` does not support."""
        if self.seconds is not None:
            raise InputError(f"seconds {self.seconds:g}: {work} has no time limit")

    def search_facts(self) -> dict[str, Any]:
        """Return the options that affect the results of a search or their order, as JSON types."""
        return {
            "method": self.method,
            "limit": self.limit,
            "strategy": self.strategy,
            "propagate": technique_names(parse_techniques(self.propagate)),
            "cutoff": self.cutoff,
            "cutoff_by": self.cutoff_by,
        }

    def __repr__(self) -> str:
        """Return the fields that differ from the defaults."""
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"Options({', '.join(changed)})"

    def __post_init__(self) -> None:
        for name in ("memory", "jobs", "limit"):
            value = getattr(self, name)
            if not (is_integer(value) or (value is None and name != "memory")):
                of_what = ", the number of bytes" if name == "memory" else ""
                raise InputError(f"{name} {described(value)}: expected an integer{of_what}")
        # One line per error, which names the option and the value.
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                words = name.replace("_", " ")
                raise InputError(f"{words} {described(value)}: expected {', '.join(choices)}")
        if self.memory < MIN_MEMORY:
            minimum = f"{MIN_MEMORY >> 20} MiB"
            raise InputError(
                f"memory {described(self.memory)} bytes: at least {minimum} are needed"
            )
        if self.jobs is not None and not 1 <= self.jobs <= MAX_JOBS:
            raise InputError(f"jobs {described(self.jobs)}: expected from 1 to {MAX_JOBS}")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit {described(self.limit)}: at least 1 is needed")
        if self.seconds is not None:
            # The comparison also excludes NaN and infinity.
            is_number = is_integer(self.seconds) or isinstance(self.seconds, float)
            if not (is_number and 0 < self.seconds <= MAX_SECONDS):
                expected = f"expected a number above 0 and at most {MAX_SECONDS:g}"
                raise InputError(f"seconds {described(self.seconds)}: {expected}")
        if self.cutoff is not None:
            if not (is_integer(self.cutoff) or isinstance(self.cutoff, float)):
                raise InputError(f"cutoff {described(self.cutoff)}: expected a number")
            if not 1 <= self.cutoff < inf:
                raise InputError(
                    f"cutoff {described(self.cutoff)}: a finite number from 1 up is needed"
                )
        if self.gpus is not None:
            are_numbers = isinstance(self.gpus, tuple) and all(
                is_integer(gpu) and gpu >= 0 for gpu in self.gpus
            )
            if not (are_numbers and self.gpus):
                raise InputError(
                    f"gpus {described(self.gpus)}: expected the numbers of GPUs, such as (0, 1)"
                )
            if self.device == "cpu":
                raise InputError("gpus cannot be combined with device cpu")
        if not isinstance(self.propagate, str):
            raise InputError(
                f"propagate {described(self.propagate)}: expected names, separated by commas"
            )
        parse_techniques(self.propagate)


@dataclass(frozen=True)
class EstimateOptions:
    """When an estimate ends, and its random numbers; see ``estimate`` and ``estimate_shares``."""

    seconds: float | None = None
    error: float | None = None
    """The relative error of a number, or the largest error of all shares."""
    samples: int | None = None
    seed: int = 0
    confidence: float = 0.95
    error_name: str = "relative error"
    """The name of the error in messages."""

    def __post_init__(self) -> None:
        Options(seconds=self.seconds)  # checks the time limit
        for name, value in (self.error_name, self.error), ("confidence", self.confidence):
            if value is not None and not (isinstance(value, float) and 0 < value < 1):
                raise InputError(f"{name} {described(value)}: expected a number between 0 and 1")
        if self.samples is not None and not (
            is_integer(self.samples) and MIN_SAMPLES <= self.samples <= MAX_NUMBER
        ):
            raise InputError(
                f"samples {described(self.samples)}: expected an integer of at least {MIN_SAMPLES}"
            )

    def with_defaults(self) -> EstimateOptions:
        """Return these options with the default limits if there are no others."""
        if (self.seconds, self.error, self.samples) == (None, None, None):
            return replace(self, seconds=ESTIMATE_SECONDS, error=ESTIMATE_ERROR)
        return self


def takes_options(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a function with ``**options`` refuse keywords that neither it nor ``Options`` has."""
    parameters = signature(function).parameters.values()
    # The function declares the options as ``**options``, so Python would accept any keyword.
    keywords = [
        parameter.name for parameter in parameters if parameter.kind is not Parameter.VAR_KEYWORD
    ]
    keywords += [field.name for field in fields(Options)]

    @wraps(function)
    def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for name in kwargs:
            if name not in keywords:
                similar = get_close_matches(name, keywords, n=1)
                guess = f"; did you mean {similar[0]!r}?" if similar else ""
                raise TypeError(
                    f"{function.__name__}() got an unexpected keyword argument {name!r}{guess}"
                )
        return function(*args, **kwargs)

    return checked


def is_integer(value: object) -> bool:
    """Return whether a value is an integer, also one of NumPy, but not a bool."""
    # In Python, bool is a subclass of int.
    return isinstance(value, Integral) and not isinstance(value, bool)


def checked_seed(seed: int | None) -> int:
    """Return a seed as a Python integer, a random one for None.

    Raises
    ------
    InputError
        If it is out of range.
    """
    if seed is None:
        import secrets  # imported lazily: few commands need it

        return secrets.randbits(SEED_BITS)
    if not is_integer(seed) or not 0 <= seed < 1 << SEED_BITS:
        raise InputError(f"seed {described(seed)}: expected an integer from 0 to 2^{SEED_BITS} - 1")
    return int(seed)
