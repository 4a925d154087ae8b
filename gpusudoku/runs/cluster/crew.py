"""The workers of a Dask cluster: who is there, who can work at a run, and how to have them stop."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from gpusudoku.errors import ClusterError
from gpusudoku.runs.cluster.worker import dismiss, versions

if TYPE_CHECKING:
    from distributed import Client

LOOK_SECONDS = 0.5
"""How often it is looked who is there."""
DISMISS_SECONDS = 0.4
"""No longer is waited for workers to hear that they are to stop; their steps end anyway."""


class Crew:
    """Knows the workers, who may join and leave at any time.

    Parameters
    ----------
    client
        It is connected.
    note
        Told in words what a user should know.
    """

    def __init__(self, client: Client, note: Callable[[str], None]) -> None:
        self.ready: dict[str, int] = {}
        """The addresses of those that can be given work now, and their threads."""
        self._client, self._note = client, note
        self._fit: dict[str, bool] = {}
        """Whether a worker that was there can work at all."""
        self._here: Mapping[str, Any] = {}
        self._next = 0.0
        self._told = False

    def look(self) -> bool:
        """Look who is there, if it is time; whether it was.

        Raises
        ------
        ClusterError
            If one of the first workers has other versions. Later ones are only not given work.
        """
        if time.monotonic() < self._next:
            return False
        if self._client.status != "running":
            raise ClusterError("the scheduler of the cluster was lost")
        self._here = self._client.scheduler_info(n_workers=-1)["workers"]
        self._admit([worker for worker in self._here if worker not in self._fit])
        self.ready = {
            worker: facts["nthreads"]
            for worker, facts in self._here.items()
            if self._fit.get(worker) and facts["status"] == "running"
        }
        self._tell_waiting()
        self._next = time.monotonic() + LOOK_SECONDS
        return True

    def is_here(self, worker: str) -> bool:
        """Whether a worker was there at the last look, if only to leave soon."""
        return worker in self._here

    def dismiss(self, key: str, cancel: Callable[[], None]) -> None:
        """Have a run stopped by all workers, and its futures cancelled; wait only a moment."""
        if sys.is_finalizing():  # Python has stopped all threads, and Dask its clients
            return

        def call_off() -> None:
            with suppress(Exception):  # whoever is gone need not stop
                cancel()
                self._client.run(dismiss, key, workers=list(self.ready), on_error="ignore")

        thread = Thread(target=call_off, daemon=True)
        thread.start()
        thread.join(DISMISS_SECONDS)

    def _admit(self, workers: list[str]) -> None:
        """Find out which of these can work."""
        if not workers:
            return
        first = not any(self._fit.values())
        told = self._client.run(versions, workers=workers, on_error="return")
        for worker, has in told.items():
            if isinstance(has, OSError):  # it is gone
                continue
            why = _unfit(versions(), has)
            if why is not None and first:
                raise ClusterError(f"worker {worker} {why}")
            if why is not None:
                self._note(f"worker {worker} {why}: it gets no work")
            self._fit[worker] = why is None

    def _tell_waiting(self) -> None:
        """Say once that there is nobody to work, until there is again."""
        if not self.ready and not self._told:
            self._note("the cluster has no workers: waiting for some")
        self._told = not self.ready


def _unfit(wanted: Mapping[str, str], has: Mapping[str, str] | BaseException) -> str | None:
    """Why a worker cannot be used that told its versions, or that could not; None if it can."""
    if isinstance(has, ModuleNotFoundError) and has.name == "gpusudoku":
        return "has no gpusudoku"
    if isinstance(has, BaseException):  # there is no function of this name
        return f"has another gpusudoku, not {wanted['gpusudoku']}"
    differences = (
        f"has {name} {has.get(name)}, not {version}"
        for name, version in wanted.items()
        if has.get(name) != version
    )
    return next(differences, None)
