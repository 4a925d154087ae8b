"""Making the engine for the device of the options. For ``auto`` with a GPU it is an ``AutoEngine``.

Importing CuPy and loading kernels takes seconds. Therefore an ``AutoEngine`` starts the GPUs only
for work that is expected to take longer than that on the CPU. Lists of solutions are made on the
CPU. Batches are counted on the CPU, too, because reading and writing them takes longer than a GPU
could save; only single boards of a batch that take long go to the GPUs.
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
    """A ``CpuEngine`` that uses GPUs for long work.

    ``fallback`` is called with the error if a GPU cannot be used, or fails. By default that gives a
    RuntimeWarning.
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
        """Return the expected seconds on the GPUs, including their start; inf if they cannot."""
        if not self._usable or (method == "contraction" and geometry != NINE):
            return inf
        if self._gpus is not None:
            return self._gpus.seconds(core_seconds, method, geometry)
        prices = prices_of_all(availability.cards())
        return START_SECONDS + prices.seconds(core_seconds, method, geometry)

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        cpu_seconds = super().seconds(core_seconds, method, geometry)
        return min(cpu_seconds, self.gpu_seconds(core_seconds, method, geometry))

    def best(self, work: Priced, geometry: Geometry, share: float = 1.0) -> Engine:
        # Checked first, because ``work.seconds`` may cost an estimate.
        if not self._usable:
            return self
        core_seconds = work.seconds * share
        cpu_seconds = super().seconds(core_seconds, work.method, geometry)
        if cpu_seconds <= self.gpu_seconds(core_seconds, work.method, geometry):
            return self
        return self.gpus() or self

    @property
    def _usable(self) -> bool:
        """False if the GPUs could not be started, or the last one has failed."""
        all_lost = self._gpus is not None and self._gpus.is_lost
        return not (self._unusable or all_lost)

    def for_long_work(self) -> Engine:
        return self.gpus() or self

    def gpus(self) -> Engine | None:
        """Return the engine of the GPUs, started if necessary; None if they cannot be used."""
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
    """Make an engine, to share it between calls: ``count(board, engine=engine)``.

    Parameters
    ----------
    fallback
        A function that is called with the error if ``auto`` would use a GPU but cannot, and uses
        the CPU instead; also if one of several GPUs fails during a count. By default that gives a
        RuntimeWarning.
    **options
        The fields of ``Options``. The engine depends on ``device``, ``jobs`` and ``gpus``.

    Raises
    ------
    DeviceError
        If the options require CUDA and it cannot be used.
    InputError
        If an option is wrong, or there is no GPU with a number in ``gpus``.
    """
    return engine_for(Options(**options), fallback=fallback)


def engine_for(
    options: Options,
    engine: Engine | None = None,
    fallback: Callable[[DeviceError], None] | None = None,
) -> Engine:
    """Return ``engine``, if it suits the options, or make one as ``make_engine`` does."""
    if engine is not None:
        if not hasattr(engine, "explore"):
            raise InputError(f"engine {described(engine)}: expected one from make_engine")
        if options.device not in ("auto", engine.device):
            raise InputError(
                f"an engine for {engine.device}: pass device={options.device!r} to make_engine"
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
    """Raise an InputError if there are both an engine and a cluster."""
    if engine is not None and cluster is not None:
        raise InputError("an engine is of this process, and a cluster has its own")
