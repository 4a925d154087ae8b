"""Contractions on CPU threads: for the CPU, and where a device has no kernel of its own."""

from __future__ import annotations

import time
from collections.abc import Callable

from gpusudoku.chunks import Job, Progress, Worker
from gpusudoku.contraction import Contraction


def contract_on_threads(
    contraction: Contraction,
    job: Job,
    threads: int,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """Run the job on so many threads; see ``Engine.contract``."""
    contraction.prepare(threads)
    workers = [_Summer(contraction) for _ in range(threads)]
    job.run(contraction.chunks(threads), workers, progress)
    return sum(worker.products for worker in workers)


class _Summer(Worker):
    """One thread."""

    def __init__(self, contraction: Contraction) -> None:
        self.contraction, self.products = contraction, 0

    def __call__(self, job: Job) -> float:
        busy, scratch = 0.0, None
        while (chunk := job.take()) is not None:
            start = time.perf_counter()
            scratch = scratch or self.contraction.scratch()
            value, products = self.contraction.sum(chunk.payload, scratch, job.flag)
            if not job.stopped:
                job.report([(0, value * self.contraction.factor)], chunk.weight)
                self.products += products
            busy += time.perf_counter() - start
        return busy
