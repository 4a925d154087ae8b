"""Makes the engine for the device of the options; ``AutoEngine`` is that of ``auto`` beside a GPU.

To import CuPy and Numba, and to load kernels, takes seconds. So an ``AutoEngine`` only starts the
GPUs for work that the CPU would take longer for than that. Lists stay on the CPU, and batches begin
there, where reading and writing bound what a GPU could do; of these, only a board that alone is
worth it goes to the GPUs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Unpack

from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.prices import START_SECONDS, prices_of_all
from gpusudoku.engines.engine import Engine, Priced, warn_of
from gpusudoku.errors import DeviceError, InputError, described
from gpusudoku.options import OptionFields, Options, takes_options

if TYPE_CHECKING:
    from gpusudoku.engines.cuda.engine import CudaEngine


class AutoEngine(CpuEngine):
    """A ``CpuEngine`` that knows of GPUs; ``fallback`` is told why one cannot be used, or is lost.

    By default that is a RuntimeWarning.
    """

    device = "auto"

    def __init__(
        self, jobs: int | None, fallback: Callable[[DeviceError], None] | None = None
    ) -> None:
        super().__init__(jobs)
        self._fallback = fallback or warn_of
        self._gpus: CudaEngine | None = None
        self._unusable = False

    def gpu_seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        """Return the expected seconds on the GPUs, starting them included; inf if they cannot."""
        asked = core_seconds, method, geometry
        if not self._usable or (method == "contraction" and geometry != NINE):
            return inf
        if self._gpus is not None:
            return self._gpus.seconds(*asked)
        return START_SECONDS + prices_of_all(availability.cards()).seconds(*asked)

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        own = super().seconds(core_seconds, method, geometry)
        return min(own, self.gpu_seconds(core_seconds, method, geometry))

    def best(self, work: Priced, geometry: Geometry, share: float = 1.0) -> Engine:
        if not self._usable:  # so that nothing is estimated in vain
            return self
        asked = work.seconds * share, work.method, geometry
        if super().seconds(*asked) <= self.gpu_seconds(*asked):
            return self
        return self.gpus() or self

    @property
    def _usable(self) -> bool:
        """False once the GPUs could not be started, or the last one was lost."""
        return not (self._unusable or (self._gpus is not None and self._gpus.is_lost))

    def for_long_work(self) -> Engine:
        return self.gpus() or self

    def gpus(self) -> Engine | None:
        """Start the GPUs, unless they are; None if they cannot be used, or no more."""
        if self._gpus is None and self._usable:
            # Imported here because CuPy takes a second to import.
            from gpusudoku.engines.cuda.engine import CudaEngine

            try:
                self._gpus = CudaEngine(on_loss=self._fallback)
            except DeviceError as error:
                self._unusable = True
                self._fallback(error)
        return self._gpus if self._usable else None


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
        return AutoEngine(options.jobs, fallback)
    return CpuEngine(options.jobs)


def refuse_both(engine: Engine | None, cluster: object) -> None:
    """Raise InputError if there are both an engine and a cluster."""
    if engine is not None and cluster is not None:
        raise InputError("an engine is of this process, and a cluster has its own")
