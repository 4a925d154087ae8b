"""Makes the engine for the device of the options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from gpusudoku.engines.cuda import availability
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import DeviceError, InputError, described
from gpusudoku.options import OptionFields, Options, takes_options


@takes_options
def make_engine(
    *, fallback: Callable[[DeviceError], None] | None = None, **options: Unpack[OptionFields]
) -> Engine:
    """Make an engine, to count and solve several boards with it: ``count(board, engine=engine)``.

    Parameters
    ----------
    fallback
        Called with the reason where ``auto`` would use a GPU but cannot and goes on with the CPU;
        and if one of several GPUs is lost during a count: by default that is a RuntimeWarning.
    **options
        The fields of ``Options``, of which the engine depends on ``device``, ``jobs`` and ``gpus``.

    Raises
    ------
    DeviceError
        If CUDA is asked for, or GPUs are by number, and it cannot be used.
    InputError
        If an option's value is wrong, or if there is no GPU of a given number.
    """
    return engine_for(Options(**options), fallback=fallback)


def engine_for(
    options: Options,
    engine: Engine | None = None,
    fallback: Callable[[DeviceError], None] | None = None,
) -> Engine:
    """Return the given engine, if it suits the options, or make one as ``make_engine``."""
    if engine is not None:
        if not hasattr(engine, "explore"):
            raise InputError(f"engine {described(engine)}: expected one that make_engine gives")
        if options.device not in ("auto", engine.device):
            raise InputError(
                f"an engine for {engine.device}: give device={options.device!r} to make_engine"
            )
        return engine
    if options.device == "cuda" or options.gpus is not None:
        # Imported here because CuPy takes a second to import.
        from gpusudoku.engines.cuda.engine import CudaEngine

        return CudaEngine(options.gpus, on_loss=fallback)
    can_use = options.device == "auto" and not availability.simulated()
    if can_use and availability.unusable_because() is None:
        from gpusudoku.engines.auto import AutoEngine

        return AutoEngine(options.jobs, fallback)
    from gpusudoku.engines.cpu import CpuEngine

    return CpuEngine(options.jobs)


def refuse_both(engine: Engine | None, cluster: object) -> None:
    """Raise InputError if there are both an engine and a cluster."""
    if engine is not None and cluster is not None:
        raise InputError("an engine is of this process, and a cluster has its own")
