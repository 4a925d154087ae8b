"""Dask clusters for tests: workers are threads of this process, or processes that die."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager

import distributed

from gpusudoku.runs import worker


@contextmanager
def cluster_of(workers, **settings):
    """Start a cluster; yield a client of it."""
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
    """Start a cluster whose workers are threads of this process; yield a client of it."""
    with cluster_of(workers, processes=False, protocol="tcp") as client:
        yield client


class WorkItemCounter:
    """Counts the work items that workers begin, and calls ``on_item`` with the number each time."""

    def __init__(self, monkeypatch, on_item):
        self.item_count = 0
        self.workers = set()
        """The addresses of the workers that have worked."""
        self._lock = threading.Lock()
        this_worker = worker._this_worker

        def counting():
            address, threads = this_worker()
            with self._lock:
                self.item_count += 1
                self.workers.add(address)
                item_count = self.item_count
            on_item(item_count)
            return address, threads

        # Workers call it once for each work item.
        monkeypatch.setattr(worker, "_this_worker", counting)


def texts(results):
    """Return each result as the texts of its board and its count."""
    return [(str(result.board), str(result)) for result in results]
