"""Counting a board again in another way, to check the first count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import product
from typing import Unpack

from gpusudoku.contraction.prepare import NINE
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.errors import (
    Cancelled,
    DeviceError,
    InputError,
    MismatchError,
    TooExpensive,
    described,
)
from gpusudoku.jobs.cancel import CancelToken, Deadline, cancelling, check_cancelled
from gpusudoku.jobs.watch import watching
from gpusudoku.options import STRATEGIES, OptionFields, Options, takes_options
from gpusudoku.planning.choose import choose
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.run import run_plan
from gpusudoku.results import Count

CHECK_SECONDS = 20.0
"""A check may take this long."""
CHECK_RATIO = 10.0
"""It may also take this many times as long as the first count."""


@takes_options
def cross_check(
    result: Count, *, cancel: CancelToken | None = None, **options: Unpack[OptionFields]
) -> str | None:
    """Count again another way; say which, or None if none is affordable.

    The other method on the other device; else the same method there; else the other method on the
    same device; else, of a search, the other strategy: the first that by its estimate does not take
    much longer than the count.

    Parameters
    ----------
    result
        A ``Count`` of ``count`` or ``count_many``.
    cancel
        As for ``count``.
    **options
        Those of the count; the limit is known, and device ``cpu`` uses no GPU.

    Raises
    ------
    InputError
        If ``result`` is no ``Count``, or an option's value is wrong.
    MismatchError
        If the two counts differ.
    Interrupted, Cancelled
        As ``count`` does.
    """
    if not isinstance(result, Count):
        raise InputError(f"result {described(result)}: expected a Count, which count gives")
    with cancelling(cancel):
        return Checker(Options(**options)).check(result)


class Checker:
    """Does what ``cross_check`` does, for any number of counts; engines are made once.

    Parameters
    ----------
    options
        Those of the counts.
    on_loss
        Told if a GPU is lost meanwhile; by default that is a RuntimeWarning.
    """

    def __init__(
        self, options: Options, on_loss: Callable[[DeviceError], None] | None = None
    ) -> None:
        self._options, self._on_loss = options, on_loss
        self._engines: dict[str, Engine | None] = {}

    def check(self, result: Count) -> str | None:
        """Count again; see ``cross_check``."""
        for way, options in self._ways(result):
            with watching(None):
                again = self._counted(result, options)
            if again is None:
                continue
            if (again.count, again.exact) != (result.count, result.exact):
                raise MismatchError(f"cross-check failed: {result} solutions, but {again} by {way}")
            return way
        return None

    def _ways(self, result: Count) -> Iterator[tuple[str, Options]]:
        """Other ways to count, in words and as options; first what has least in common."""
        working = _working(result, result.device, result.method)
        other_device = "cuda" if working == "cpu" else "cpu"
        other_method = "search" if result.method == "contraction" else "contraction"
        asked = product((other_device, working), (other_method, result.method))
        ways = [(_working(result, *way), way[1]) for way in asked]
        ways.sort(key=lambda way: way[0] == working)  # some contractions stay on the CPU
        for device, method in dict.fromkeys(ways):
            if (device, method) != (working, result.method) and self._may_use(device):
                changed = [f"device {device}"] * (device != result.device)
                changed += [f"method {method}"] * (method != result.method)
                yield ", ".join(changed), self._with(result, device, method)
        if result.method == "search" and self._may_use(working):
            strategy = next(name for name in STRATEGIES if name != self._options.strategy)
            options = self._with(result, working, "search")
            yield f"strategy {strategy}", replace(options, strategy=strategy)

    def _may_use(self, device: str) -> bool:
        """Whether the options let a device take part."""
        return device == "cpu" or self._options.device != "cpu"

    def _with(self, result: Count, device: str, method: str) -> Options:
        """The options with another device and method, up to what the result counted."""
        limit = self._options.limit or (None if result.exact else result.count)
        gpus = self._options.gpus if device == "cuda" else None
        return replace(self._options, device=device, gpus=gpus, method=method, limit=limit)

    def _counted(self, result: Count, options: Options) -> Count | None:
        """Count again; None if that is too expensive, or there is no such device."""
        seconds = max(CHECK_SECONDS, CHECK_RATIO * result.stats.seconds)
        try:
            engine = self._engine(options)
            plan = None if engine is None else _affordable(result, options, seconds, engine)
            if engine is None or plan is None:
                return None
            with Deadline(seconds):
                return run_plan(plan, result.board, options, engine)
        except DeviceError:
            return None
        except Cancelled:
            check_cancelled()  # by whoever asked for the check, not for lack of time
            return None

    def _engine(self, options: Options) -> Engine | None:
        """The engine of a device; None if it cannot be used."""
        if options.device not in self._engines:
            self._engines[options.device] = None
            self._engines[options.device] = engine_for(options, fallback=self._on_loss)
        return self._engines[options.device]


def _working(result: Count, device: str, method: str) -> str:
    """The device that does the work: only contractions of 9x9 boards have a kernel for a GPU."""
    on_cpu = method == "contraction" and result.board.geometry != NINE
    return "cpu" if on_cpu else device


def _affordable(result: Count, options: Options, seconds: float, engine: Engine) -> Plan | None:
    """A plan, compiled, that should not take longer; a GPU is taken to be no slower than the CPU.

    Nobody knows how long a search takes until it has found so many solutions: it is tried.
    """
    if options.method == "contraction" and result.board.given_candidates is not None:
        return None
    try:
        plan = choose(result.board, options, worth=seconds, engine=engine)
    except TooExpensive:
        return None
    tried = plan.method == "search" and options.limit is not None
    return plan if tried or plan.seconds / engine.threads <= seconds else None


def is_chosen(name: str, share: float) -> bool:
    """Whether what has this name is one of a share, 0 to 1, of all: a sample, always the same."""
    return int.from_bytes(sha256(name.encode()).digest()[:8]) < share * (1 << 64)
