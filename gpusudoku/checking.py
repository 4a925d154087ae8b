"""Cross-check: counting a board again in another way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Unpack

from gpusudoku.board.geometry import NINE
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
from gpusudoku.planning.count import run_plan
from gpusudoku.planning.plan import Plan
from gpusudoku.results import Count

CHECK_SECONDS = 20.0
"""The time that a check may take in any case."""
CHECK_RATIO = 10.0
"""It may take this many times the seconds of the first count, if that is more."""


@takes_options
def cross_check(
    result: Count, *, cancel: CancelToken | None = None, **options: Unpack[OptionFields]
) -> str | None:
    """Count again in another way; return which, or None if none is affordable.

    The way is the first of these whose estimated time is not much longer than that of the count:
    the other method on the other device, the same method on the other device, the other method on
    the same device, and for a search the other strategy.

    Parameters
    ----------
    result
        A ``Count`` of ``count`` or ``count_many``.
    cancel
        As for ``count``.
    **options
        Those of the count; the limit is known, and with device ``cpu`` no GPU is used.

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
    """Cross-checks any number of counts with the same options, on the same engines.

    ``on_loss`` is called if a GPU is lost meanwhile; by default that is a RuntimeWarning.
    """

    def __init__(
        self, options: Options, on_loss: Callable[[DeviceError], None] | None = None
    ) -> None:
        self._options = replace(options, seconds=None)
        self._on_loss = on_loss
        self._engines: dict[str, Engine | None] = {}

    def check(self, result: Count) -> str | None:
        """Count again; see ``cross_check``."""
        for way, options in self._ways(result):
            with watching(None):
                second = self._count_again(result, options)
            if second is None:
                continue
            if (second.count, second.exact) != (result.count, result.exact):
                raise MismatchError(
                    f"cross-check failed: {result} solutions, but {second} by {way}"
                )
            return way
        return None

    def _ways(self, result: Count) -> Iterator[tuple[str, Options]]:
        """Yield other ways to count, in words and as options; the most different ones first."""
        if not (result.exact or result.count):  # any count agrees with 0+
            return
        devices = ("cpu",) if self._options.device == "cpu" else ("cpu", "cuda")
        working = _working(result, result.device, result.method)
        other_device = "cuda" if working == "cpu" else "cpu"
        other_method = "search" if result.method == "contraction" else "contraction"
        combinations = product((other_device, working), (other_method, result.method))
        ways = [(_working(result, device, method), method) for device, method in combinations]
        ways.sort(key=lambda way: way[0] == working)  # some contractions stay on the CPU
        for device, method in dict.fromkeys(ways):
            if (device, method) != (working, result.method) and device in devices:
                changed = [f"device {device}"] * (device != result.device)
                changed += [f"method {method}"] * (method != result.method)
                yield ", ".join(changed), self._with(result, device, method)
        if result.method == "search" and working in devices:
            strategy = next(name for name in STRATEGIES if name != self._options.strategy)
            options = self._with(result, working, "search")
            yield f"strategy {strategy}", replace(options, strategy=strategy)

    def _with(self, result: Count, device: str, method: str) -> Options:
        """Return the options with another device and method, limited to the count of the result."""
        limit = self._options.limit or (None if result.exact else result.count)
        if result.ended_after is not None:
            limit = result.count
        gpus = self._options.gpus if device == "cuda" else None
        return replace(self._options, device=device, gpus=gpus, method=method, limit=limit)

    def _count_again(self, result: Count, options: Options) -> Count | None:
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
            check_cancelled()  # raises if the caller cancelled; else the time is over
            return None

    def _engine(self, options: Options) -> Engine | None:
        """Return the engine of a device; None if it cannot be used."""
        if options.device not in self._engines:
            self._engines[options.device] = None
            self._engines[options.device] = engine_for(options, fallback=self._on_loss)
        return self._engines[options.device]


def _working(result: Count, device: str, method: str) -> str:
    """Return the device that does the work: GPUs contract only 9x9 boards."""
    is_on_cpu = method == "contraction" and result.board.geometry != NINE
    return "cpu" if is_on_cpu else device


def _affordable(result: Count, options: Options, seconds: float, engine: Engine) -> Plan | None:
    """Make a plan that should take at most some seconds, or return None.

    The time of a search up to a limit cannot be estimated, so such a search is tried.
    """
    if options.method == "contraction" and result.board.given_candidates is not None:
        return None
    try:
        plan = choose(result.board, options, worth=seconds, engine=engine)
    except TooExpensive:
        return None
    has_no_estimate = plan.method == "search" and options.limit is not None
    expected = engine.seconds(plan.seconds, plan.method, result.board.geometry)
    return plan if has_no_estimate or expected <= seconds else None
