"""Connections to Dask clusters: a client, an address, or a cluster of this machine."""

from __future__ import annotations

import logging
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

from gpusudoku.errors import ClusterError, InputError, described, not_installed, shown
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.interrupts import in_thread

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

LOCAL = "local"
"""The address that stands for a cluster on this machine, for as long as it is needed."""
CONNECT_SECONDS, TRIES = 10, 3
CLOSE_SECONDS, HURRY_SECONDS = 10.0, 0.4
"""The longest waits for our client and cluster to close: after all is done, and after an error.
What is left of them ends with this process."""


@contextmanager
def connected(cluster: Client | str, jobs: int | None = None) -> Iterator[Client]:
    """Connect to a cluster for a while: a client, which stays open, an address, or ``local``.

    ``local`` are ``jobs`` processes on this machine, by default one on each usable core.
    """
    if jobs is not None and cluster != LOCAL:
        raise InputError("jobs are for a local cluster: other workers have threads of their own")
    try:
        import distributed
    except ImportError:
        raise ClusterError(not_installed("a cluster", "Dask distributed", "cluster")) from None
    if isinstance(cluster, distributed.Client):
        if cluster.asynchronous:
            raise InputError("cluster: expected a client that is not asynchronous")
        yield cluster
        return
    if not isinstance(cluster, str):
        raise InputError(f"cluster {described(cluster)}: expected a client or an address")
    with ExitStack() as stack:
        address = _local(jobs, stack) if cluster == LOCAL else _checked(cluster)
        try:
            client = _client(address)
        except OSError as error:
            raise ClusterError(f"cluster {shown(cluster)}: no scheduler there: {error}") from None
        except AssertionError:
            raise ClusterError(f"cluster {shown(cluster)}: the scheduler is too busy") from None
        stack.push(partial(_close, client))
        yield client


def _client(address: str | LocalCluster) -> Client:
    """Connect to a scheduler; again where a message for all clients broke an assertion of Dask."""
    from distributed import Client

    settings = {"timeout": CONNECT_SECONDS, "set_as_default": False, "name": "gpusudoku"}
    for _ in range(TRIES - 1):
        with suppress(AssertionError):
            return Client(address, **settings)
    return Client(address, **settings)


def hush() -> None:
    """Keep Dask from writing to stderr."""
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore", module=r"(distributed|dask|tornado)\b")
    # Python's own process that tidies up after this one would warn if this one ended in a hurry.
    sys.warnoptions.append("ignore::UserWarning:multiprocessing.resource_tracker")


def _checked(address: str) -> str:
    """Return an address, or refuse it before a client takes a while to find out."""
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        parse_host_port(parse_address(address)[1])
    except ValueError:
        raise InputError(
            f"cluster {shown(address)}: expected an address such as tcp://127.0.0.1:8786, or local"
        ) from None
    return address


def _local(jobs: int | None, stack: ExitStack) -> LocalCluster:
    """Start a cluster on this machine, which is closed with the stack."""

    def start() -> LocalCluster:
        # Threads and processes inherit the mask of this thread. So workers do not get the Ctrl-C
        # of the terminal, which is for this process: it is the one to stop them.
        if hasattr(signal, "pthread_sigmask"):
            resource_tracker.ensure_running()  # which would set the mask back
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        return distributed.LocalCluster(
            n_workers=jobs or usable_cores(),
            threads_per_worker=1,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any port that is free
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )

    import distributed

    cluster = in_thread(start)
    stack.push(partial(_close, cluster))
    return cluster


def _close(
    closable: Client | LocalCluster, kind: type[BaseException] | None, *rest: object
) -> None:
    """Close our client or cluster, in any state: soon where something went wrong."""
    if sys.is_finalizing():  # Dask has closed it
        return
    with suppress(Exception):
        closable.close(timeout=CLOSE_SECONDS if kind is None else HURRY_SECONDS)
