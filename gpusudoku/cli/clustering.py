"""Where boards are counted, for the command line: here, or with ``--cluster`` on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gpusudoku.cli.messages import note
from gpusudoku.cli.report import start_engine
from gpusudoku.jobs.interrupts import patient_interrupts
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.runs.cluster.machine import OnCluster

PATIENCE_SECONDS = 5.0
"""After Ctrl-C it may take so long until all connections are closed."""


@contextmanager
def machine_of(cluster: str | None, options: Options) -> Iterator[Engine | OnCluster]:
    """What counts a board in tasks: the engine of this machine, or a cluster.

    Raises
    ------
    InputError, ClusterError
        If the cluster cannot be used.
    """
    if cluster is None:
        yield start_engine(options)
        return
    from gpusudoku.runs.cluster.connect import connected, hush
    from gpusudoku.runs.cluster.machine import OnCluster

    hush()
    with patient_interrupts(PATIENCE_SECONDS), connected(cluster, options.jobs) as client:
        yield OnCluster(client, note)
