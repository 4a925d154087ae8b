"""A Dask cluster as what counts: what is known of it, and how it does a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from math import inf
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.runs.cluster.dealer import Dealer
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
        self._devices = set[str]()
        self._limit = inf

    @property
    def name(self) -> str:
        """On what workers have worked: ``cpu`` or ``cuda``, or, where both are, ``cpu+cuda``."""
        return "+".join(sorted(self._devices)) or "cpu"

    @property
    def workers(self) -> int:
        """How many threads they have now."""
        return sum(self._client.nthreads().values()) or 1

    threads = workers

    def up_to(self, limit: int | None) -> OnCluster:
        """The same workers, which need not find more solutions of a plan than that."""
        limited = copy(self)
        limited._limit = inf if limit is None else limit
        return limited

    def dealer(self) -> Dealer[Any]:
        """Who gives them work."""
        return Dealer(self._client, uuid4().hex, self._note)

    def worked_on(self, devices: Iterable[str]) -> None:
        """Learn on what workers have worked."""
        self._devices.update(devices)

    def work(
        self,
        plan: Plan,
        make: Callable[[], Plan],
        options: Options,
        keeper: Keeper,
    ) -> None:
        """Have all done that a keeper has left of a plan, which ``make`` makes on every worker.

        Raises
        ------
        ClusterError, Cancelled
            As ``Driver.drive`` does.
        """
        dealer = self.dealer()
        run = Run(dealer.key, make, plan.tasks(), options)
        driver = Driver(dealer, run, keeper, self._limit)
        driver.drive()
        self.worked_on(driver.devices)
        self.utilisation = driver.utilisation
