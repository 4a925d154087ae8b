"""The sum of a 9x9 contraction on GPUs: the tensors are made by the CPU and brought there once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpusudoku.chunks import Chunk, Job, Progress, Worker
from gpusudoku.contraction.nine import Nine, ranges
from gpusudoku.engines.cards import Card, one_line_errors
from gpusudoku.engines.cores import usable_cores
from gpusudoku.kernels.nine_space import A, C, P


def contract_on_cards(
    nine: Nine,
    cards: Sequence[Card],
    job: Job,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """Run the job on the cards; see ``Engine.contract``."""
    nine.prepare(usable_cores())
    blocks = cards[0].tuning.pairs_per_multiprocessor * cards[0].multiprocessors
    pieces = ranges(nine.pairs, -(-nine.pairs // blocks))
    chunks = [Chunk(ends, (ends[1] - ends[0]) / nine.pairs) for ends in pieces]
    job.run(chunks, [_Summer(nine, card) for card in cards], progress)
    return nine.products


class _Summer(Worker):
    """The thread that drives one card."""

    def __init__(self, nine: Nine, card: Card) -> None:
        self.nine, self.card = nine, card

    def __call__(self, job: Job) -> float:
        from gpusudoku.kernels.nine_cuda import kernel

        busy, arrays = 0.0, None
        with one_line_errors(), self.card.current():
            while (chunk := job.take()) is not None:
                begin = time.perf_counter()
                arrays = arrays or self._arrays()
                first, last = chunk.payload
                sums = self.card.xp.zeros(last - first, np.uint64)
                threads = self.card.tuning.sum_threads_per_block
                kernel()[last - first, threads](first, *arrays, sums)
                found = self.card.host(sums).tolist()  # waits for the kernel
                sizes = self.nine.space.pairs[first:last, 2].tolist()
                total = sum(one * size for one, size in zip(found, sizes, strict=True))
                job.report([(0, total * self.nine.factor)], chunk.weight)
                busy += time.perf_counter() - begin
        return busy

    def _arrays(self) -> tuple[Any, ...]:
        """The kernel's arguments, from pairs to terms, on the card."""
        space, xp = self.nine.space, self.card.xp
        plan = space.plan.tolist()
        lines = plan[A : C + 1]
        places = [crossing % 3 for crossing in plan[P : P + 3]]
        sizes = np.array([[space.occurring[line, place] for place in places] for line in lines])
        tensors = [
            xp.asarray(space.tensors[slot, : int(np.prod(sizes[:, role]))])
            for role, slot in enumerate(space.slot.tolist())
        ]
        terms = int(space.size[plan[C]])
        pairs = xp.asarray(space.pairs[: self.nine.pairs])
        maps, start = xp.asarray(space.maps), xp.asarray(space.start)
        return pairs, *tensors, xp.asarray(sizes), maps, start, terms
