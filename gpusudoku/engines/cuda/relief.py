"""Where a GPU is lost, others go on: the GPUs that are left, or threads of the CPU if none is.

A GPU is lost to a job when something goes wrong on it that less memory does not mend: its context
may be unusable from then on, and nothing more can be read from it.

No solution is lost or counted twice, because what is found counts only once the host has what is
left to do, too: a worker brings both from the GPU, and then changes its task and reports to the
job, neither of which needs the GPU. Whatever a GPU found after that is forgotten together with it,
and is found again by whoever takes the task as the host has it. Solutions that are listed wait on
the host in the same way: so a listing can go on as well, and has each of them once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence

from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.errors import DeviceError
from gpusudoku.jobs.job import Job, Task, Worker


class Relief:
    """Who goes on with a job when GPUs are lost to it.

    Parameters
    ----------
    job
        Its workers begin with one for every GPU.
    gpus
        The GPUs.
    on_cpu
        Makes workers that take the same tasks, for when no GPU is left.
    lost
        Told which GPU is lost to the job, and why.
    """

    def __init__(
        self,
        job: Job,
        gpus: Iterable[Gpu],
        on_cpu: Callable[[], Sequence[Worker]],
        lost: Callable[[Gpu, DeviceError], None],
    ) -> None:
        self._job, self._gpus, self._on_cpu, self._lost = job, list(gpus), on_cpu, lost
        self._lock = threading.Lock()

    def lose(self, gpu: Gpu, error: DeviceError, task: Task | None) -> None:
        """Give back the task of a GPU that is lost; called by its worker, which must end then."""
        with self._lock:
            self._gpus.remove(gpu)
            is_last = not self._gpus
        try:
            self._lost(gpu, error)
            if is_last and not self._job.ending:
                self._job.enlist(self._on_cpu())
        finally:  # whatever happens, such as a cancellation: it is not forgotten
            self._job.resign(task, error)


def who_goes_on(gpus: Sequence[Gpu]) -> str:
    """In words: the GPUs that are left, or the CPU."""
    if not gpus:
        return "the CPU goes on"
    numbers = ", ".join(str(gpu.number) for gpu in gpus)
    return f"GPU {numbers} goes on" if len(gpus) == 1 else f"GPUs {numbers} go on"


def drive(gpu: Gpu, job: Job, relief: Relief | None, work: Callable[[Task], None]) -> float:
    """Do tasks on a GPU until the job has none left, or the GPU is lost.

    ``work`` raises a DeviceError where the GPU fails, and has then told the job of nothing but what
    is no longer in the task. Returns the seconds of work.
    """
    busy, task = 0.0, None
    try:
        with gpu.current():
            while (task := job.take()) is not None:
                start = time.perf_counter()
                work(task)
                busy += time.perf_counter() - start
    except DeviceError as error:
        if relief is None:
            raise
        relief.lose(gpu, error, task)
    return busy
