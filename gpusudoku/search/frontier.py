"""The frontier: a wide list of partial boards that share no solution, packed in bitmask arrays.

Every engine starts from one. A frontier board is whole in itself, so engines can take frontier
boards in any order, on any thread or card, and their counts add up to the count of the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log2

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.layout import ONE, Layout, layout_of
from gpusudoku.kernels.search.settings import SearchSettings

FRONTIER_BYTES = 1 << 28
"""A frontier is not expanded past this many bytes of packed boards. Making it takes four times as
much for a moment: parents, children, and the lists of both."""


SLICE = 1 << 15
"""Boards split per call of the compiled code: an interrupt waits for no more than that."""


@dataclass(frozen=True)
class Frontier:
    """Packed partial boards.

    ``boards`` is uint64 (B, layout.words), one board a row, packed as ``kernels.layout`` draws
    it. ``roots`` is int64 (B): the index of the root that each board descends from.
    To make it ``nodes`` boards were looked at and ``guesses`` of them split in two; ``capped``
    says that a cutoff was not reached for want of memory.
    """

    layout: Layout
    boards: NDArray[np.uint64]
    roots: NDArray[np.int64]
    nodes: int = 0
    guesses: int = 0
    capped: bool = False

    def __len__(self) -> int:
        return len(self.boards)

    @classmethod
    def of(cls, roots: Batch | Sequence[Board], settings: SearchSettings) -> Frontier:
        """The roots themselves, in order; all of one geometry.

        A root whose clues contradict each other has no candidates left and counts 0.
        """
        batch = Batch.of(roots)
        layout = layout_of(batch.geometry.box_rows, batch.geometry.box_columns)
        boards = np.empty((len(batch), layout.words), np.uint64)
        cpu.kernels(layout, settings).load(batch.cells, layout.index_of, layout.nonpeers, boards)
        return cls(layout, boards, np.arange(len(batch)))

    def expanded(
        self,
        settings: SearchSettings,
        width: int,
        cutoff: float | None = None,
        job: Job | None = None,
        cutoff_by: str = "space",
    ) -> Frontier:
        """Split boards breadth first, dropping dead ones.

        Without a cutoff until there are ``width`` boards or none can be split; with a cutoff
        until the search space of every board, or the number of its empty cells, is at most that.
        Logarithms of search spaces are compared, so that any size will do. It stops in any case
        before FRONTIER_BYTES would be passed, and once the job is stopped.
        """
        most = FRONTIER_BYTES // (8 * self.layout.words)
        by_empty = cutoff_by == "empty"
        threshold = -1.0 if not cutoff else cutoff if by_empty else log2(cutoff)
        done: list[Frontier] = []
        todo, ready, nodes, guesses = self, 0, self.nodes, self.guesses
        while len(todo) and ready + 2 * len(todo) <= most:
            if cutoff is None and ready + len(todo) >= width:
                break
            parts: list[Frontier] = []
            for start in range(0, len(todo), SLICE):
                if job is not None and job.stopped:
                    return self
                finished, split = todo.part(start, start + SLICE).split(
                    settings, threshold, by_empty
                )
                guesses += split.guesses
                done.append(finished)
                parts.append(split)
                ready += len(finished)
            nodes += len(todo)
            todo = self._joined(parts)
        whole = self._joined([*done, todo])
        capped = cutoff is not None and len(todo) > 0
        return Frontier(self.layout, whole.boards, whole.roots, nodes, guesses, capped)

    def part(self, start: int, end: int) -> Frontier:
        """The boards from start to before end."""
        return Frontier(self.layout, self.boards[start:end], self.roots[start:end])

    def split(
        self, settings: SearchSettings, threshold: float, by_empty: bool = False
    ) -> tuple[Frontier, Frontier]:
        """Simplify every board once, and split it in two.

        Returns the boards that need no splitting, solved or of a search space of at most
        2^threshold (by_empty: of as many empty cells), and the others, halved. Dead boards are in
        neither.
        """
        expand = cpu.kernels(self.layout, settings).expand
        scratch = np.empty(self.layout.scratch_words, np.uint64)
        children = np.empty((2 * len(self), self.layout.words), np.uint64)
        parents = np.empty(2 * len(self), np.int64)
        ready = np.empty(2 * len(self), np.bool_)
        count = expand(
            self.boards,
            threshold,
            by_empty,
            children,
            parents,
            ready,
            self.layout.nonpeers,
            scratch,
        )
        children, ready, roots = children[:count], ready[:count], self.roots[parents[:count]]
        guesses = int(np.count_nonzero(np.diff(parents[:count]) == 0))  # two of a parent
        return (
            Frontier(self.layout, children[ready], roots[ready]),
            Frontier(self.layout, children[~ready], roots[~ready], guesses=guesses),
        )

    def simplified(self, settings: SearchSettings) -> Frontier:
        """The boards that are not seen to be dead, simplified, not split."""
        return self.split(settings, inf)[0]

    @property
    def candidates(self) -> NDArray[np.uint64]:
        """uint64 (B, cells): the digits possible in every cell, digit d as bit d - 1."""
        word, bit = np.divmod(self.layout.index_of, 64)
        masks = np.zeros((len(self), len(word)), np.uint64)
        for digit in range(self.layout.n):
            plane = self.boards[:, digit * self.layout.plane_words + word]
            masks |= (plane >> bit.astype(np.uint64) & ONE) << np.uint64(digit)
        return masks

    def _joined(self, parts: Sequence[Frontier]) -> Frontier:
        if len(parts) == 1:
            return parts[0]
        return Frontier(
            self.layout,
            np.concatenate([part.boards for part in parts]),
            np.concatenate([part.roots for part in parts]),
        )
