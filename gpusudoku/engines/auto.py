"""The engine of ``--device auto`` beside a GPU: the CPU, and the GPUs where these are quicker.

To import CuPy and Numba, and to load kernels, takes seconds. So the GPUs are only started for work
that the CPU would take longer for than that. Batches and lists stay on the CPU: there, reading and
writing bounds what a GPU could do.
"""

from __future__ import annotations

from collections.abc import Callable
from warnings import warn

from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda.availability import cards
from gpusudoku.engines.cuda.prices import START_SECONDS, prices_of_all
from gpusudoku.engines.engine import Engine, Priced
from gpusudoku.errors import DeviceError


class AutoEngine(CpuEngine):
    """A ``CpuEngine`` that knows of GPUs; ``fallback`` is told why one cannot be used, or is lost.

    By default that is a RuntimeWarning.
    """

    def __init__(
        self, jobs: int | None, fallback: Callable[[DeviceError], None] | None = None
    ) -> None:
        super().__init__(jobs)
        self._fallback = fallback or (lambda error: warn(str(error), RuntimeWarning, stacklevel=2))
        self._gpus: Engine | None = None
        self._unusable = False

    def gpu_seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float | None:
        """Return the expected seconds on the GPUs, starting them included; None if they cannot."""
        if self._unusable or (method == "contraction" and geometry != NINE):
            return None
        if self._gpus is not None:
            return self._gpus.seconds(core_seconds, method, geometry)
        return START_SECONDS + prices_of_all(cards()).seconds(core_seconds, method, geometry)

    def seconds(self, core_seconds: float, method: str, geometry: Geometry) -> float:
        own = super().seconds(core_seconds, method, geometry)
        there = self.gpu_seconds(core_seconds, method, geometry)
        return own if there is None else min(own, there)

    def best(self, work: Priced, geometry: Geometry) -> Engine:
        asked = work.seconds, work.method, geometry
        there = self.gpu_seconds(*asked)
        if there is None or super().seconds(*asked) <= there:
            return self
        return self.gpus() or self

    def gpus(self) -> Engine | None:
        """Start the GPUs, unless they are; None if they cannot be used."""
        if self._gpus is None and not self._unusable:
            # Imported here because CuPy takes a second to import.
            from gpusudoku.engines.cuda.engine import CudaEngine

            try:
                self._gpus = CudaEngine(on_loss=self._fallback)
            except DeviceError as error:
                self._unusable = True
                self._fallback(error)
        return self._gpus
