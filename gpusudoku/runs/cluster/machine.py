"""Counting a board on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import uuid4

from gpusudoku.jobs.job import Progress
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.runs.cluster.driver import Driver
from gpusudoku.runs.cluster.worker import Run
from gpusudoku.runs.keeper import Keeper

if TYPE_CHECKING:
    from distributed import Client


class OnCluster:
    """The workers of a cluster, and what is said of them, as of an engine.

    Parameters
    ----------
    client
        It is connected.
    note
        Told in words what a user should know.
    """

    def __init__(self, client: Client, note: Callable[[str], None] | None = None) -> None:
        self.utilisation: tuple[float, ...] = ()
        """For every worker the share of the last run in which it worked."""
        self._client, self._note = client, note
        self._devices = {"cpu"}

    @property
    def name(self) -> str:
        """On what workers have worked: ``cpu`` or ``cuda``, or, where both are, ``cpu+cuda``."""
        return "+".join(sorted(self._devices))

    @property
    def workers(self) -> int:
        """How many threads they have now."""
        return sum(self._client.nthreads().values()) or 1

    threads = workers

    def work(
        self,
        plan: Plan,
        make: Callable[[], Plan],
        options: Options,
        keeper: Keeper,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        """Have all done that a keeper has left of a plan, which ``make`` makes on every worker.

        Raises
        ------
        ClusterError, Cancelled
            As ``Driver.drive`` does.
        """
        run = Run(uuid4().hex, make, plan.tasks(), options)
        driver = Driver(self._client, run, keeper, self._note)
        driver.drive(progress)
        self._devices = driver.devices or self._devices
        self.utilisation = driver.utilisation
