"""The engine for the device that the options ask for."""

from __future__ import annotations

from collections.abc import Callable

from gpusudoku.engines.cuda import availability
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import DeviceError, InputError, described
from gpusudoku.options import Options


def make_engine(options: Options, fallback: Callable[[DeviceError], None] | None = None) -> Engine:
    """Make the engine that the options ask for.

    ``fallback`` is told why, where ``auto`` finds a GPU but cannot use it and takes the CPU; and
    later, if a GPU is lost while it counts: by default that is a RuntimeWarning.

    Raises
    ------
    DeviceError
        If CUDA is asked for, or GPUs are by number, and it cannot be used.
    InputError
        If what is given are no ``Options``, or if there is no GPU of a given number.
    """
    if not isinstance(options, Options):
        raise InputError(f"options {described(options)}: expected Options(device=...) or the like")
    # Imported here because CuPy takes a second to import.
    auto = options.device == "auto" and options.gpus is None
    wanted = options.device == "cuda" or options.gpus is not None
    if wanted or (auto and availability.unusable_because() is None):
        from gpusudoku.engines.cuda.engine import CudaEngine

        try:
            return CudaEngine(options.gpus, on_loss=fallback)
        except DeviceError as error:
            if not auto:
                raise
            if fallback is not None:
                fallback(error)
    from gpusudoku.engines.cpu import CpuEngine

    return CpuEngine(options.jobs)


def engine_for(options: Options, engine: Engine | None) -> Engine:
    """The engine that is given, or else one made as the options ask.

    Raises
    ------
    InputError
        If what is given is no engine.
    DeviceError
        As ``make_engine`` does.
    """
    if engine is None:
        return make_engine(options)
    if not hasattr(engine, "explore"):
        raise InputError(f"engine {described(engine)}: expected one that make_engine gives")
    return engine


def refuse_both(engine: Engine | None, cluster: object) -> None:
    """Complain of an engine beside a cluster.

    Raises
    ------
    InputError
        If there are both.
    """
    if engine is not None and cluster is not None:
        raise InputError("an engine is of this process, and a cluster has its own")
