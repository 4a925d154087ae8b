"""The engine of ``--device auto`` beside a GPU: the CPU, and the GPUs where these are quicker.

To import CuPy and Numba, and to load kernels, takes seconds. So the GPUs are only started for work
that the CPU would take longer for than that. Lists stay on the CPU, and batches begin there, where
reading and writing bound what a GPU could do; of these, only a board that alone is worth it goes to
the GPUs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda.availability import cards
from gpusudoku.engines.cuda.prices import START_SECONDS, prices_of_all
from gpusudoku.engines.engine import Engine, Priced, warn_of
from gpusudoku.errors import DeviceError

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
        return START_SECONDS + prices_of_all(cards()).seconds(*asked)

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
