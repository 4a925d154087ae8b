"""The CUDA engine: one search per GPU thread, relaunched until nothing is left.

A launch ends when every thread has spent its budget of nodes or found no board to fetch, so none
holds the card for long. What threads leave on their stacks they go on with in the next launch;
when most threads have run dry, the boards left are gathered, widened by the CPU and shared anew.
CuPy holds the memory on the card; in the simulator NumPy stands in for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.chunks import Chunk, Job, Progress, Worker
from gpusudoku.contraction import Contraction
from gpusudoku.contraction.nine import Nine
from gpusudoku.engines import Tally, driver
from gpusudoku.engines.cards import Card, one_line_errors
from gpusudoku.engines.cores import usable_cores
from gpusudoku.engines.cuda_sum import contract_on_cards
from gpusudoku.engines.summing import contract_on_threads
from gpusudoku.engines.tuning import CONTIGUOUS, Tuning
from gpusudoku.errors import DeviceError, InputError
from gpusudoku.frontier import Frontier
from gpusudoku.kernels import search
from gpusudoku.kernels.layout import Layout
from gpusudoku.kernels.rules import Rules
from gpusudoku.kernels.searches import search_for

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
        reason = driver.unusable_because()
        if reason is not None:
            raise DeviceError(f"CUDA cannot be used: {reason}")
        count = 1 if driver.simulated() else len(driver.gpu_names())
        for gpu in gpus or ():
            if not 0 <= gpu < count:
                raise InputError(f"no GPU {gpu}: GPUs are numbered from 0 to {count - 1}")
        numbers = range(count) if gpus is None else sorted(set(gpus))
        with one_line_errors():
            self.cards = [Card(number, tuning) for number in numbers]
        self.workers = len(self.cards)
        self.width = self.workers
        """Set by ``prepare``: how many threads fill a card depends on what they run."""
        self._widths: dict[tuple[Layout, Rules], int] = {}

    def prepare(self, frontier: Frontier, rules: Rules) -> None:
        """Compile the kernel for every card, and launch it on one board without a budget."""
        key = frontier.layout, rules
        if key not in self._widths:
            self._widths[key] = sum(self._warm_up(card, frontier, rules) for card in self.cards)
        self.width = self._widths[key]

    def _warm_up(self, card: Card, frontier: Frontier, rules: Rules) -> int:
        """All that a card does the first time; returns how many boards keep it busy."""
        nothing = Job(1)
        with one_line_errors(), card.current():
            worker = Driver(card, frontier, rules, nothing)
            chunk = Chunk((frontier.boards[:1], frontier.owners[:1]), 0.0)
            worker.collect(worker.launch(chunk, budget=0), nothing)
            return card.tuning.boards_per_thread * card.threads_for(worker.kernel())

    def explore(
        self,
        frontier: Frontier,
        rules: Rules,
        job: Job,
        progress: Callable[[Progress], None] | None = None,
    ) -> Tally:
        """Run the job on all cards; see ``Engine``."""
        drivers = [Driver(card, frontier, rules, job) for card in self.cards]
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
        """Run the job, of a 9x9 board on the cards, of any other on CPU threads; see ``Engine``."""
        if isinstance(contraction, Nine):
            return contract_on_cards(contraction, self.cards, job, progress)
        threads = min(usable_cores(), contraction.most_threads(memory))
        return contract_on_threads(contraction, job, threads, progress)


def _pieces(frontier: Frontier, cards: int) -> Iterator[Chunk]:
    """One piece of the frontier per card; later differences are evened out by sharing."""
    for boards, owners in zip(
        np.array_split(frontier.boards, cards), np.array_split(frontier.owners, cards), strict=True
    ):
        yield Chunk((boards, owners), len(boards) / max(1, len(frontier)))


class Driver(Worker):
    """The thread that drives one card: its memory there, and the chunk it is at."""

    def __init__(self, card: Card, frontier: Frontier, rules: Rules, job: Job) -> None:
        self.card, self.rules, self.layout = card, rules, frontier.layout
        self.owners = len(job.counts)
        self.room = ROOM_BYTES // self.layout.n**2 if job.sink else 0
        self.search = search_for(frontier.layout, rules)
        self.contiguous = card.tuning.stacks == CONTIGUOUS
        self.limit = search.limit_of(job.limit)
        self.tally = Tally()

    def kernel(self) -> Any:
        """The kernel; for the thread whose current device is the card."""
        # Imported here because Numba looks for the simulator only once, at its first import.
        from gpusudoku.kernels.cuda import kernel

        return kernel(self.layout, self.rules, self.contiguous, self.card.tuning.max_registers)

    def __call__(self, job: Job) -> float:
        """See ``Worker``."""
        busy = 0.0
        with one_line_errors(), self.card.current():
            while (chunk := job.take()) is not None:
                start = time.perf_counter()
                while chunk is not None and not job.stopped:
                    chunk = self._explore(chunk, job)
                busy += time.perf_counter() - start
        return busy

    def _explore(self, chunk: Chunk, job: Job) -> Chunk | None:
        """Launch until most threads have run dry; returns what is left, widened."""
        launch = self.launch(chunk, budget=256)
        while True:
            self.collect(launch, job)
            tops = launch.states[search.TOP]
            alive = int((tops >= 0).sum())
            fetched = min(int(launch.cursor[0]), len(launch.boards))
            if alive == 0 and fetched == len(launch.boards):
                job.report([], chunk.weight)
                return None
            # A thread with a full stack waits; one without a board may fetch one.
            full = int((tops == launch.stacks.shape[0] - 1).sum())
            fetching = min(launch.threads - alive, len(launch.boards) - fetched)
            dry = alive - full + fetching < max(1, launch.threads // 2)
            if job.stopped:
                return None
            if dry or job.hungry:
                return self._gather(launch, fetched, chunk, job)
            launch.again()

    def launch(self, chunk: Chunk, budget: int) -> Launch:
        """Bring a chunk to the card and launch the kernel on it once."""
        boards, owners = chunk.payload
        launch = Launch(self, boards, owners, budget)
        launch.again()
        return launch

    def collect(self, launch: Launch, job: Job) -> None:
        """Report what the last launch found."""
        host = self.card.host
        rows = min(int(launch.used[0]), self.room)
        if rows and job.sink:
            job.sink(host(launch.solutions[:rows]), host(launch.solution_owners[:rows]))
        launch.used[...] = 0
        counts = host(launch.counts)
        job.report_all(counts - launch.reported)
        launch.reported = counts
        tallies = host(launch.tallies)
        self.tally.nodes += int(tallies[search.NODES].sum())
        self.tally.guesses += int(tallies[search.GUESSES].sum())
        self.tally.deepest = max(self.tally.deepest, int(tallies[search.DEEPEST].max()))
        launch.tallies[...] = 0

    def _gather(self, launch: Launch, fetched: int, chunk: Chunk, job: Job) -> Chunk:
        """Take what is left from the card, share it if others wait, and widen the rest."""
        xp, host = self.card.xp, self.card.host
        counts = host(launch.states[search.TOP]) + 1
        thread = np.repeat(np.arange(launch.threads), counts)
        level = np.arange(len(thread)) - np.repeat(np.cumsum(counts) - counts, counts)
        parts = [(host(launch.boards[fetched:]), host(launch.owners[fetched:]))]
        for start in range(0, len(thread), GATHER_BOARDS):  # the card may have little memory left
            part = slice(start, start + GATHER_BOARDS)
            row, column = xp.asarray(level[part]), xp.asarray(thread[part])
            rows = host(launch.stacks[row, :, column])
            parts.append((self.search.boards_of(rows), host(launch.stack_owners[row, column])))
        boards, owners = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        if job.hungry and len(boards) > 1:
            half = len(boards) // 2
            chunk.weight /= 2
            job.offer([Chunk((boards[:half], owners[:half]), chunk.weight)])
            boards, owners = boards[half:], owners[half:]
        frontier = Frontier(self.layout, boards, owners)
        frontier = frontier.widened(self.rules, launch.threads, job=job)
        self.tally.nodes += frontier.nodes
        self.tally.guesses += frontier.guesses
        return Chunk((frontier.boards, frontier.owners), chunk.weight)


class Launch:
    """The kernel's arguments on the card, kept from launch to launch."""

    def __init__(
        self, owner: Driver, boards: NDArray[np.uint64], owners: NDArray[np.int64], budget: int
    ) -> None:
        xp, card, layout = owner.card.xp, owner.card, owner.layout
        self.kernel, self.owner, self.budget = owner.kernel(), owner, budget
        # Board k of a stack has at least k cells fixed, so no more than n^2 wait while one is at
        # hand; and none is split without a row for the one at hand and a free one. Stacks that
        # are too short only make their threads stop early: the host widens and relaunches.
        words, word = owner.search.words, owner.search.word
        level_bytes = words * np.dtype(word).itemsize + 8  # a board, and its owner
        levels = max(2, int(card.free_bytes() * MEMORY_SHARE) // level_bytes)
        most = card.threads_for(self.kernel)
        depth = min(layout.n**2 + 2, max(LEAST_DEPTH, levels // most), levels)
        self.threads = min(most, levels // depth)
        self.boards, self.owners = xp.asarray(boards), xp.asarray(owners)
        self.cursor = xp.zeros(1, np.int64)
        if owner.contiguous:
            stacks = xp.empty((self.threads, depth, words), word)
            stack_owners = xp.empty((self.threads, depth), np.int64)
            self.stacks, self.stack_owners = stacks.transpose(1, 2, 0), stack_owners.T
        else:
            self.stacks = stacks = xp.empty((depth, words, self.threads), word)
            self.stack_owners = stack_owners = xp.empty((depth, self.threads), np.int64)
        self.states = xp.full((search.STATES, self.threads), -1, np.int64)
        self.counts = xp.zeros(owner.owners, np.uint64)
        self.reported = np.zeros(owner.owners, np.uint64)
        self.solutions = xp.empty((owner.room, layout.n**2), np.uint8)
        self.solution_owners = xp.empty(owner.room, np.int64)
        self.used = xp.zeros(1, np.int64)
        self.tallies = xp.zeros((search.TALLIES, self.threads), np.uint64)
        before = self.boards, self.owners, self.cursor, stacks, stack_owners, self.states
        after = (
            self.counts, self.solutions, self.solution_owners, self.used, self.tallies,
            xp.asarray(layout.keep),
        )  # fmt: skip
        self._before = [card.for_kernel(array) for array in before]
        self._after = [card.for_kernel(array) for array in after]

    def again(self) -> None:
        """Launch the kernel and wait for it; sets the next budget by the time it took."""
        card, tuning = self.owner.card, self.owner.card.tuning
        blocks = -(-self.threads // tuning.threads_per_block)
        start = time.perf_counter()
        self.kernel[blocks, tuning.threads_per_block](
            *self._before, self.budget, self.owner.limit, *self._after
        )
        card.finish()
        seconds = time.perf_counter() - start
        spent = int(self.tallies[search.NODES].max()) == self.budget
        if spent and seconds < tuning.launch_seconds / 2:
            self.budget *= 2
        elif seconds > tuning.launch_seconds * 2:
            self.budget = max(1, self.budget // 2)
