"""The CUDA engine: one search per GPU thread, relaunched until nothing is left.

A launch ends when every thread has spent its budget of nodes or found no board to fetch, so none
holds the card for long. What threads leave on their stacks they go on with in the next launch;
when most threads have run dry, the boards left are gathered, expanded by the CPU and shared anew.
CuPy holds the memory on the card; in the simulator NumPy stands in for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.contraction import Contraction
from gpusudoku.engines import Tally
from gpusudoku.engines.cores import usable_cores
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.contraction import contract_on_gpus
from gpusudoku.engines.cuda.device import Gpu, one_line_errors
from gpusudoku.engines.cuda.tuning import CONTIGUOUS, Tuning
from gpusudoku.engines.threads import contract_on_threads
from gpusudoku.errors import DeviceError, InputError
from gpusudoku.jobs.job import Job, Progress, Task, Worker
from gpusudoku.kernels.search import loop as search
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

GATHER_BOARDS = 1 << 20
"""Boards brought back from a card at a time."""

LEAST_DEPTH = 64
"""Where memory is short there are fewer threads, before stacks become shallower than this."""

MEMORY_SHARE = 0.5
"""Share of a card's free memory that stacks may take."""

ROOM_BYTES = 64 << 20
"""Size of a card's buffer for solutions."""


class CudaEngine:
    """All GPUs, or those whose numbers are given.

    ``tuning`` is how kernels are launched; by default what the tuning file says of each card.

    Raises
    ------
    DeviceError
        If CUDA cannot be used on this machine.
    InputError
        If there is no GPU of a given number, or the tuning file is no such file.
    """

    name = "cuda"
    most_boards = 1 << 20

    def __init__(self, gpus: Sequence[int] | None = None, tuning: Tuning | None = None) -> None:
        reason = availability.unusable_because()
        if reason is not None:
            raise DeviceError(f"CUDA cannot be used: {reason}")
        count = 1 if availability.simulated() else len(availability.gpu_names())
        for gpu in gpus or ():
            if not 0 <= gpu < count:
                raise InputError(f"no GPU {gpu}: GPUs are numbered from 0 to {count - 1}")
        numbers = range(count) if gpus is None else sorted(set(gpus))
        with one_line_errors():
            self.gpus = [Gpu(number, tuning) for number in numbers]
        self.workers = len(self.gpus)
        self.width = self.workers
        """Set by ``prepare``: how many threads fill a card depends on what they run."""
        self._widths: dict[tuple[Layout, SearchSettings], int] = {}

    def prepare(self, frontier: Frontier, settings: SearchSettings) -> None:
        """Compile the kernel for every card, and launch it on one board without a budget."""
        key = frontier.layout, settings
        if key not in self._widths:
            self._widths[key] = sum(self._warm_up(card, frontier, settings) for card in self.gpus)
        self.width = self._widths[key]

    def _warm_up(self, card: Gpu, frontier: Frontier, settings: SearchSettings) -> int:
        """All that a card does the first time; returns how many boards nonpeers it busy."""
        nothing = Job(1)
        with one_line_errors(), card.current():
            worker = Driver(card, frontier, settings, nothing)
            task = Task((frontier.boards[:1], frontier.roots[:1]), 0.0)
            worker.collect(worker.launch(task, budget=0), nothing)
            return card.tuning.boards_per_thread * card.threads_for(worker.kernel())

    def explore(
        self,
        frontier: Frontier,
        settings: SearchSettings,
        job: Job,
        progress: Callable[[Progress], None] | None = None,
    ) -> Tally:
        """Run the job on all cards; see ``Engine``."""
        drivers = [Driver(card, frontier, settings, job) for card in self.gpus]
        job.run(_pieces(frontier, len(drivers)), drivers, progress)
        total = Tally()
        for tally in (each.tally for each in drivers):
            total.nodes += tally.nodes
            total.guesses += tally.guesses
            total.deepest = max(total.deepest, tally.deepest)
        return total

    def contract(
        self,
        contraction: Contraction,
        job: Job,
        memory: int,
        progress: Callable[[Progress], None] | None = None,
    ) -> int:
        """Run the job, of a 9x9 board on the gpus, of any other on CPU threads; see ``Engine``."""
        if contraction.device_sum is not None:
            return contract_on_gpus(contraction, self.gpus, job, progress)
        threads = min(usable_cores(), contraction.most_threads(memory))
        return contract_on_threads(contraction, job, threads, progress)


def _pieces(frontier: Frontier, gpus: int) -> Iterator[Task]:
    """One piece of the frontier per card; later differences are evened out by sharing."""
    for boards, roots in zip(
        np.array_split(frontier.boards, gpus), np.array_split(frontier.roots, gpus), strict=True
    ):
        yield Task((boards, roots), len(boards) / max(1, len(frontier)))


class Driver(Worker):
    """The thread that drives one card: its memory there, and the task it is at."""

    def __init__(self, card: Gpu, frontier: Frontier, settings: SearchSettings, job: Job) -> None:
        self.card, self.settings, self.layout = card, settings, frontier.layout
        self.roots = len(job.counts)
        self.room = ROOM_BYTES // self.layout.n**2 if job.on_solutions else 0
        self.search = search_for(frontier.layout, settings)
        self.contiguous = card.tuning.stacks == CONTIGUOUS
        self.limit = search.limit_of(job.limit)
        self.tally = Tally()

    def kernel(self) -> Any:
        """The kernel; for the thread whose current device is the card."""
        # Imported here because Numba looks for the simulator only once, at its first import.
        from gpusudoku.kernels.search.cuda import kernel

        return kernel(self.layout, self.settings, self.contiguous, self.card.tuning.max_registers)

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy = 0.0
        with one_line_errors(), self.card.current():
            while (task := job.take()) is not None:
                start = time.perf_counter()
                while task is not None and not job.stopped:
                    task = self._explore(task, job)
                busy += time.perf_counter() - start
        return busy

    def _explore(self, task: Task, job: Job) -> Task | None:
        """Launch until most threads have run dry; returns what is left, expanded."""
        launch = self.launch(task, budget=256)
        while True:
            self.collect(launch, job)
            tops = launch.states[search.TOP]
            alive = int((tops >= 0).sum())
            fetched = min(int(launch.cursor[0]), len(launch.boards))
            if alive == 0 and fetched == len(launch.boards):
                job.report([], task.weight)
                return None
            # A thread with a full stack waits; one without a board may fetch one.
            full = int((tops == launch.stacks.shape[0] - 1).sum())
            fetching = min(launch.threads - alive, len(launch.boards) - fetched)
            dry = alive - full + fetching < max(1, launch.threads // 2)
            if job.stopped:
                return None
            if dry or job.has_idle_workers:
                return self._gather(launch, fetched, task, job)
            launch.again()

    def launch(self, task: Task, budget: int) -> Launch:
        """Bring a task to the card and launch the kernel on it once."""
        boards, roots = task.payload
        launch = Launch(self, boards, roots, budget)
        launch.again()
        return launch

    def collect(self, launch: Launch, job: Job) -> None:
        """Report what the last launch found."""
        host = self.card.host
        rows = min(int(launch.used[0]), self.room)
        if rows and job.on_solutions:
            job.on_solutions(host(launch.solutions[:rows]), host(launch.solution_roots[:rows]))
        launch.used[...] = 0
        counts = host(launch.counts)
        job.report_all(counts - launch.reported)
        launch.reported = counts
        tallies = host(launch.tallies)
        self.tally.nodes += int(tallies[search.NODES].sum())
        self.tally.guesses += int(tallies[search.GUESSES].sum())
        self.tally.deepest = max(self.tally.deepest, int(tallies[search.DEEPEST].max()))
        launch.tallies[...] = 0

    def _gather(self, launch: Launch, fetched: int, task: Task, job: Job) -> Task:
        """Take what is left from the card, share it if others wait, and widen the rest."""
        xp, host = self.card.xp, self.card.host
        counts = host(launch.states[search.TOP]) + 1
        thread = np.repeat(np.arange(launch.threads), counts)
        level = np.arange(len(thread)) - np.repeat(np.cumsum(counts) - counts, counts)
        parts = [(host(launch.boards[fetched:]), host(launch.roots[fetched:]))]
        for start in range(0, len(thread), GATHER_BOARDS):  # the card may have little memory left
            part = slice(start, start + GATHER_BOARDS)
            row, column = xp.asarray(level[part]), xp.asarray(thread[part])
            rows = host(launch.stacks[row, :, column])
            parts.append((self.search.boards_of(rows), host(launch.stack_roots[row, column])))
        boards, roots = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        if job.has_idle_workers and len(boards) > 1:
            half = len(boards) // 2
            task.weight /= 2
            job.offer([Task((boards[:half], roots[:half]), task.weight)])
            boards, roots = boards[half:], roots[half:]
        frontier = Frontier(self.layout, boards, roots)
        frontier = frontier.expanded(self.settings, launch.threads, job=job)
        self.tally.nodes += frontier.nodes
        self.tally.guesses += frontier.guesses
        return Task((frontier.boards, frontier.roots), task.weight)


class Launch:
    """The kernel's arguments on the card, kept from launch to launch."""

    def __init__(
        self, root: Driver, boards: NDArray[np.uint64], roots: NDArray[np.int64], budget: int
    ) -> None:
        xp, card, layout = root.card.xp, root.card, root.layout
        self.kernel, self.root, self.budget = root.kernel(), root, budget
        # Board k of a stack has at least k cells fixed, so no more than n^2 wait while one is at
        # hand; and none is split without a row for the one at hand and a free one. Stacks that
        # are too short only make their threads stop early: the host widens and relaunches.
        words, word = root.search.words, root.search.word
        level_bytes = words * np.dtype(word).itemsize + 8  # a board, and its root
        levels = max(2, int(card.free_bytes() * MEMORY_SHARE) // level_bytes)
        most = card.threads_for(self.kernel)
        depth = min(layout.n**2 + 2, max(LEAST_DEPTH, levels // most), levels)
        self.threads = min(most, levels // depth)
        self.boards, self.roots = xp.asarray(boards), xp.asarray(roots)
        self.cursor = xp.zeros(1, np.int64)
        if root.contiguous:
            stacks = xp.empty((self.threads, depth, words), word)
            stack_roots = xp.empty((self.threads, depth), np.int64)
            self.stacks, self.stack_roots = stacks.transpose(1, 2, 0), stack_roots.T
        else:
            self.stacks = stacks = xp.empty((depth, words, self.threads), word)
            self.stack_roots = stack_roots = xp.empty((depth, self.threads), np.int64)
        self.states = xp.full((search.STATES, self.threads), -1, np.int64)
        self.counts = xp.zeros(root.roots, np.uint64)
        self.reported = np.zeros(root.roots, np.uint64)
        self.solutions = xp.empty((root.room, layout.n**2), np.uint8)
        self.solution_roots = xp.empty(root.room, np.int64)
        self.used = xp.zeros(1, np.int64)
        self.tallies = xp.zeros((search.TALLIES, self.threads), np.uint64)
        before = self.boards, self.roots, self.cursor, stacks, stack_roots, self.states
        after = (
            self.counts, self.solutions, self.solution_roots, self.used, self.tallies,
            xp.asarray(layout.nonpeers),
        )  # fmt: skip
        self._before = [card.for_kernel(array) for array in before]
        self._after = [card.for_kernel(array) for array in after]

    def again(self) -> None:
        """Launch the kernel and wait for it; sets the next budget by the time it took."""
        card, tuning = self.root.card, self.root.card.tuning
        blocks = -(-self.threads // tuning.threads_per_block)
        start = time.perf_counter()
        self.kernel[blocks, tuning.threads_per_block](
            *self._before, self.budget, self.root.limit, *self._after
        )
        card.finish()
        seconds = time.perf_counter() - start
        spent = int(self.tallies[search.NODES].max()) == self.budget
        if spent and seconds < tuning.launch_seconds / 2:
            self.budget *= 2
        elif seconds > tuning.launch_seconds * 2:
            self.budget = max(1, self.budget // 2)
