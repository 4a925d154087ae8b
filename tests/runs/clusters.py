"""Dask clusters for tests: workers are threads of this process, or processes that die."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager

import distributed

from gpusudoku.runs import worker


@contextmanager
def cluster_of(workers, **settings):
    """A cluster, and a client of it, for a while."""
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
            **settings,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(workers, timeout=300)
        yield client


@contextmanager
def cluster_here(workers=2):
    """A cluster whose workers are threads of this process."""
    with cluster_of(workers, processes=False, protocol="tcp") as client:
        yield client


class Steps:
    """Calls a function before each unit of work, with the number of units so far."""

    def __init__(self, monkeypatch, before):
        self.number, self.workers, self._lock = 0, set(), threading.Lock()
        me = worker._this_worker

        def counted():
            address, threads = me()
            with self._lock:
                self.number += 1
                self.workers.add(address)
                number = self.number
            before(number)
            return address, threads

        monkeypatch.setattr(worker, "_this_worker", counted)


def texts(results):
    return [(str(result.board), str(result)) for result in results]
