"""Cross-checks: counting a board again by another method, device or strategy."""

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
"""A check may always take this time."""
CHECK_RATIO = 10.0
"""A check may take this many times the time of the first count, if that is longer."""


@takes_options
def cross_check(
    result: Count, *, cancel: CancelToken | None = None, **options: Unpack[OptionFields]
) -> str | None:
    """Count again in another way. Return its name, or None if every other way takes too long.

    The ways are tried in this order: the other method on the other device, the same method on the
    other device, the other method on the same device, and for a search the other strategy. The
    first one whose estimated time is not much longer than that of the count is used.

    Parameters
    ----------
    result
        A ``Count`` returned by ``count`` or ``count_many``.
    cancel
        As for ``count``.
    **options
        The options of the count, without its limit. With device ``cpu`` no GPU is used.

    Raises
    ------
    InputError
        If ``result`` is not a ``Count``, or an option is wrong.
    MismatchError
        If the two counts differ.
    Interrupted, Cancelled
        As ``count`` does.
    """
    if not isinstance(result, Count):
        raise InputError(f"result {described(result)}: expected a Count returned by count")
    with cancelling(cancel):
        return Checker(Options(**options)).check(result)


class Checker:
    """Cross-checks any number of counts with the same options, on the same engines.

    ``on_loss`` is called if a GPU fails during a check. By default that gives a RuntimeWarning.
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
        """Yield other ways to count, as text and as options, the most different ones first."""
        if result.count == 0 and not result.exact:
            return  # any count agrees with 0+
        allowed_devices = ("cpu",) if self._options.device == "cpu" else ("cpu", "cuda")
        first_device = _working_device(result, result.device, result.method)
        other_device = "cuda" if first_device == "cpu" else "cpu"
        other_method = "search" if result.method == "contraction" else "contraction"
        combinations = product((other_device, first_device), (other_method, result.method))
        ways = [
            (_working_device(result, device, method), method) for device, method in combinations
        ]
        # Another device is more independent than another method. Sorted again, because some
        # contractions stay on the CPU.
        ways.sort(key=lambda way: way[0] == first_device)
        for device, method in dict.fromkeys(ways):
            if (device, method) == (first_device, result.method):
                continue
            if device not in allowed_devices:
                continue
            changes = []
            if device != result.device:
                changes.append(f"device {device}")
            if method != result.method:
                changes.append(f"method {method}")
            yield ", ".join(changes), self._with(result, device, method)
        if result.method == "search" and first_device in allowed_devices:
            strategy = next(name for name in STRATEGIES if name != self._options.strategy)
            options = self._with(result, first_device, "search")
            yield f"strategy {strategy}", replace(options, strategy=strategy)

    def _with(self, result: Count, device: str, method: str) -> Options:
        """Return the options with another device and method, limited as the result is."""
        limit = self._options.limit
        if result.ended_after is not None or (limit is None and not result.exact):
            # The result is a lower bound, so counting further would prove nothing.
            limit = result.count
        gpus = self._options.gpus if device == "cuda" else None
        return replace(self._options, device=device, gpus=gpus, method=method, limit=limit)

    def _count_again(self, result: Count, options: Options) -> Count | None:
        """Count again. Return None if that is too expensive, or the device is not available."""
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
            check_cancelled()  # raises if the caller cancelled
            return None  # the deadline has passed

    def _engine(self, options: Options) -> Engine | None:
        """Return the engine of a device; None if the device cannot be used."""
        if options.device not in self._engines:
            # If the next line fails, None stays, and the device is not tried again.
            self._engines[options.device] = None
            self._engines[options.device] = engine_for(options, fallback=self._on_loss)
        return self._engines[options.device]


def _working_device(result: Count, device: str, method: str) -> str:
    """Return the device that does the work: GPUs contract only 9x9 boards."""
    if method == "contraction" and result.board.geometry != NINE:
        return "cpu"
    return device


def _affordable(result: Count, options: Options, seconds: float, engine: Engine) -> Plan | None:
    """Return a plan that is expected to take at most ``seconds``, or None.

    The time of a search with a limit cannot be estimated, so such a search is always tried.
    """
    if options.method == "contraction" and result.board.given_candidates is not None:
        return None
    try:
        plan = choose(result.board, options, worth=seconds, engine=engine)
    except TooExpensive:
        return None
    if plan.method == "search" and options.limit is not None:
        return plan
    expected_seconds = engine.seconds(plan.seconds, plan.method, result.board.geometry)
    return plan if expected_seconds <= seconds else None
