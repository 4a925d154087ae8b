"""The device of a command: the engine of this machine, or with ``--cluster`` a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from gpusudoku.cli.messages import note
from gpusudoku.errors import DeviceError
from gpusudoku.jobs.interrupts import patient_interrupts
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.engines.cuda.engine import CudaEngine
    from gpusudoku.engines.engine import Engine

CLUSTER_HELP = "Count on a Dask cluster: the address of its scheduler, or local."
PATIENCE_SECONDS = 5.0
"""Time after Ctrl-C until all connections are closed."""


@contextmanager
def machine_of(cluster: str | None, options: Options) -> Iterator[Engine]:
    """Make the engine of this machine, or connect to a cluster, which has the same properties."""
    if cluster is None:
        yield start_engine(options)
        return
    from gpusudoku.runs.cluster.connect import connected, hush
    from gpusudoku.runs.cluster.machine import OnCluster

    hush()
    with patient_interrupts(PATIENCE_SECONDS), connected(cluster, options.jobs) as client:
        yield cast("Engine", OnCluster(client, note))


def start_engine(options: Options) -> Engine:
    """Make the engine, and say which device ``auto`` took."""
    from gpusudoku.engines.make import engine_for

    engine = engine_for(options, fallback=warn_of_device)
    if options.device != "auto":
        return engine
    if engine.name == "cuda":
        gpus = cast("CudaEngine", engine).gpus
        note(f"device cuda ({', '.join(gpu.name for gpu in gpus)})")
    else:
        threads = "1 thread" if engine.workers == 1 else f"{engine.workers} threads"
        note(f"device cpu, {threads}")
    return engine


def warn_of_device(error: DeviceError) -> None:
    """Say why ``auto`` did not take a GPU that is there, or that a GPU was lost."""
    note(str(error))
