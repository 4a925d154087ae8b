"""The options of a count, a search or a listing, as the user gives them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Integral
from typing import TypedDict

from gpusudoku.errors import InputError
from gpusudoku.search.techniques import DEFAULT, parse_techniques

DEVICES = ("auto", "cpu", "cuda")
STRATEGIES = ("first", "min")
METHODS = ("auto", "search", "contraction")
CUTOFFS_BY = ("space", "empty")
MOST_JOBS = 1024
MEMORY = 2 << 30
"""The bytes that a contraction may take by default."""
LEAST_MEMORY = 256 << 20
"""A 9x9 board takes no more than this on one thread."""


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


@dataclass(frozen=True)
class Options:
    """How to count: on which device, by which method, and how a search proceeds.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    device: str = "auto"
    """``auto`` (CUDA if it can be used), ``cpu`` or ``cuda``."""
    method: str = "auto"
    """``search`` visits solutions, ``contraction`` counts without visiting, ``auto`` takes what is
    estimated to take less time."""
    memory: int = MEMORY
    """The most bytes that a contraction may take."""
    jobs: int | None = None
    """The number of CPU threads; None for all usable cores."""
    gpus: tuple[int, ...] | None = None
    """The numbers of the GPUs to use; None for all."""
    limit: int | None = None
    """The search stops once this many solutions are found; None for never."""
    cutoff: float | None = None
    """The frontier is expanded until no board is larger; None: until it is wide enough."""
    cutoff_by: str = "space"
    """What the cutoff measures: the search ``space``, or the number of ``empty`` cells."""
    strategy: str = "min"
    """Which cell to guess: the ``first`` empty one, or one with the fewest candidates, ``min``
    (minimum remaining values, MRV)."""
    propagate: str = DEFAULT
    """The techniques applied at every node, comma-separated: see ``simplify``."""

    def __post_init__(self) -> None:
        self._check_types()
        if self.device not in DEVICES:
            raise InputError(f"device {self.device!r}: expected {', '.join(DEVICES)}")
        if self.method not in METHODS:
            raise InputError(f"method {self.method!r}: expected {', '.join(METHODS)}")
        if self.memory < LEAST_MEMORY:
            least = f"{LEAST_MEMORY >> 20} MiB"
            raise InputError(f"memory {self.memory} bytes: at least {least} are needed")
        if self.strategy not in STRATEGIES:
            raise InputError(f"strategy {self.strategy!r}: expected {', '.join(STRATEGIES)}")
        if self.jobs is not None and not 1 <= self.jobs <= MOST_JOBS:
            raise InputError(f"jobs {self.jobs}: expected from 1 to {MOST_JOBS}")
        if self.gpus is not None and self.device == "cpu":
            raise InputError("GPUs are chosen, but the device is cpu")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit {self.limit}: at least 1 is needed")
        if self.cutoff is not None and not 1 <= self.cutoff < inf:
            raise InputError(f"cutoff {self.cutoff}: a finite number from 1 up is needed")
        if self.cutoff_by not in CUTOFFS_BY:
            raise InputError(f"cutoff by {self.cutoff_by!r}: expected {', '.join(CUTOFFS_BY)}")
        parse_techniques(self.propagate)

    def _check_types(self) -> None:
        """Complain about what no comparison of values would notice, or only with a TypeError."""
        for name in ("memory", "jobs", "limit"):
            value = getattr(self, name)
            if not (is_integer(value) or (value is None and name != "memory")):
                raise InputError(f"{name} {value!r}: expected an integer")
        number = is_integer(self.cutoff) or isinstance(self.cutoff, float)
        if not (number or self.cutoff is None):
            raise InputError(f"cutoff {self.cutoff!r}: expected a number")
        if not isinstance(self.propagate, str):
            raise InputError(f"propagate {self.propagate!r}: expected names, separated by commas")
        gpus = self.gpus
        if gpus is not None and not (
            isinstance(gpus, tuple) and gpus and all(is_integer(gpu) and gpu >= 0 for gpu in gpus)
        ):
            raise InputError(f"gpus {gpus!r}: expected the numbers of GPUs, such as (0, 1)")


def is_integer(value: object) -> bool:
    """Whether a value is a whole number, NumPy's included, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)
