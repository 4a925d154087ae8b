"""Boards in parts on CPU threads: each contracts one part at a time, and divides what is left.

What a part takes is not known before. So whoever has parts left shares some of them when others
have none.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from gpusudoku.contraction.general.parts import Part, Parts
from gpusudoku.engines.engine import Tally
from gpusudoku.errors import Cancelled
from gpusudoku.jobs.job import Job, Task, Worker

Counted = list[tuple[int, Part]]
"""What a task's payload is: counters of the job, and a part that each is counted for."""


def contract_parts(
    parts: Parts,
    tasks: Sequence[Task],
    job: Job,
    threads: int,
) -> Tally:
    """Run the job on so many threads; what is left of it if it ends early is ``Counted``, too."""
    workers = [PartWorker(parts) for _ in range(threads)]
    job.run(tasks, workers)
    return Tally(products=sum(worker.products for worker in workers))


class PartWorker(Worker):
    """One thread."""

    def __init__(self, parts: Parts) -> None:
        self.products = 0
        self._parts = parts

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy = 0.0
        while (task := job.take()) is not None:
            start = time.perf_counter()
            self._sum(task, job)
            busy += time.perf_counter() - start
        return busy

    def _sum(self, task: Task, job: Job) -> None:
        """Sum the parts of a task, and those into which they are divided."""
        todo: Counted = list(task.payload)
        while todo:
            counter, part = todo.pop()
            divided = [part]
            value = products = 0
            try:
                value, products = self._parts.sum_one(divided, job.flag)
            except Cancelled:
                if not job.stopped:
                    raise
            if job.stopped:  # the sum may be cut short
                job.leave(Task([*todo, (counter, part)], task.weight))
                return
            todo += [(counter, child) for child in divided]
            # What is left is taken to be as much as what was done, as nobody knows better.
            weight = task.weight / (len(todo) + 1)
            task.weight -= weight
            job.report([(counter, value)], weight)
            self.products += products
            if todo and job.ending:
                job.leave(Task(todo, task.weight))
                return
            if len(todo) > 1 and job.idle_workers > 0:
                half = len(todo) // 2  # the first, which are the largest
                task.weight /= 2
                job.share([Task(todo[:half], task.weight)])
                del todo[:half]
