"""The options of a count, a search or a listing, as the user gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from math import inf
from numbers import Integral
from typing import ParamSpec, TypedDict, TypeVar

from gpusudoku.errors import InputError, described
from gpusudoku.search.techniques import DEFAULT, parse_techniques

DEVICES = ("auto", "cpu", "cuda")
STRATEGIES = ("first", "min")
METHODS = ("auto", "search", "contraction")
CUTOFFS_BY = ("space", "empty")
MOST_JOBS = 1024
MOST_PARTS = 1 << 16
"""Of one run: every part makes all tasks, of which it takes some."""
MEMORY = 2 << 30
"""The bytes that a contraction may take by default."""
LEAST_MEMORY = 256 << 20
"""A 9x9 board takes no more than this on one thread."""


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class OptionFields(TypedDict, total=False):
    """The fields of ``Options`` as keyword arguments, for those who check types."""

    device: str
    method: str
    memory: int
    jobs: int | None
    gpus: tuple[int, ...] | None
    limit: int | None
    cutoff: float | None
    cutoff_by: str
    strategy: str
    propagate: str


@dataclass(frozen=True, repr=False)
class Options:
    """How to count: on which device, by which method, and how a search proceeds.

    Parameters
    ----------
    device
        ``auto`` (CUDA if it can be used), ``cpu`` or ``cuda``.
    method
        ``search`` visits solutions, ``contraction`` counts without visiting, ``auto`` takes what is
        estimated to take less time.
    memory
        The most bytes that a contraction may take; 2 GiB by default.
    jobs
        The number of CPU threads; None for all usable cores.
    gpus
        The numbers of the GPUs to use, such as ``(0, 1)``; None for all.
    limit
        The search stops once this many solutions are found; None for never.
    cutoff
        The frontier is expanded until no board is larger; None: until it is wide enough.
    cutoff_by
        What the cutoff measures: the search ``space``, or the number of ``empty`` cells.
    strategy
        Which cell to guess: the ``first`` empty one, or one with the fewest candidates, ``min``
        (minimum remaining values, MRV).
    propagate
        The techniques applied at every node, comma-separated: see ``simplify``.

    Raises
    ------
    InputError
        If a value is out of range, or of another type.
    """

    device: str = "auto"
    method: str = "auto"
    memory: int = MEMORY
    jobs: int | None = None
    gpus: tuple[int, ...] | None = None
    limit: int | None = None
    cutoff: float | None = None
    cutoff_by: str = "space"
    strategy: str = "min"
    propagate: str = DEFAULT

    def __repr__(self) -> str:
        """Only what differs from the defaults."""
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"Options({', '.join(changed)})"

    def __post_init__(self) -> None:
        self._check_types()
        if self.device not in DEVICES:
            raise InputError(f"device {described(self.device)}: expected {', '.join(DEVICES)}")
        if self.method not in METHODS:
            raise InputError(f"method {described(self.method)}: expected {', '.join(METHODS)}")
        if self.memory < LEAST_MEMORY:
            least = f"{LEAST_MEMORY >> 20} MiB"
            raise InputError(f"memory {described(self.memory)} bytes: at least {least} are needed")
        if self.strategy not in STRATEGIES:
            raise InputError(
                f"strategy {described(self.strategy)}: expected {', '.join(STRATEGIES)}"
            )
        if self.jobs is not None and not 1 <= self.jobs <= MOST_JOBS:
            raise InputError(f"jobs {described(self.jobs)}: expected from 1 to {MOST_JOBS}")
        if self.gpus is not None and self.device == "cpu":
            raise InputError("GPUs are chosen, but the device is cpu")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit {described(self.limit)}: at least 1 is needed")
        if self.cutoff is not None and not 1 <= self.cutoff < inf:
            raise InputError(
                f"cutoff {described(self.cutoff)}: a finite number from 1 up is needed"
            )
        if self.cutoff_by not in CUTOFFS_BY:
            raise InputError(
                f"cutoff by {described(self.cutoff_by)}: expected {', '.join(CUTOFFS_BY)}"
            )
        parse_techniques(self.propagate)

    def _check_types(self) -> None:
        """Complain about what no comparison of values would notice, or only with a TypeError."""
        for name in ("memory", "jobs", "limit"):
            value = getattr(self, name)
            if not (is_integer(value) or (value is None and name != "memory")):
                of_what = ", the number of bytes" if name == "memory" else ""
                raise InputError(f"{name} {described(value)}: expected an integer{of_what}")
        number = is_integer(self.cutoff) or isinstance(self.cutoff, float)
        if not (number or self.cutoff is None):
            raise InputError(f"cutoff {described(self.cutoff)}: expected a number")
        if not isinstance(self.propagate, str):
            raise InputError(
                f"propagate {described(self.propagate)}: expected names, separated by commas"
            )
        gpus = self.gpus
        if gpus is not None and not (
            isinstance(gpus, tuple) and gpus and all(is_integer(gpu) and gpu >= 0 for gpu in gpus)
        ):
            raise InputError(
                f"gpus {described(gpus)}: expected the numbers of GPUs, such as (0, 1)"
            )


def takes_options(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function that takes the fields of ``Options`` complain about other keywords itself."""
    parameters = signature(function).parameters.values()
    known = [each.name for each in parameters if each.kind is not Parameter.VAR_KEYWORD]
    known += [field.name for field in fields(Options)]

    @wraps(function)
    def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for name in kwargs:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                guess = f"; did you mean {close[0]!r}?" if close else ""
                raise TypeError(
                    f"{function.__name__}() got an unexpected keyword argument {name!r}{guess}"
                )
        return function(*args, **kwargs)

    return checked


def is_integer(value: object) -> bool:
    """Whether a value is a whole number, NumPy's included, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)
