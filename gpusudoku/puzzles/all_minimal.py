"""All minimal puzzles inside a puzzle: those with some of its clues, all of them necessary.

An *edge* is the set of the puzzle's clues in which another completion differs, an unavoidable set.
A set of clues has one solution if it hits every edge, and is minimal if each of its clues is the
only one to hit some edge. These sets are listed as MMCS lists the minimal hitting sets of a
hypergraph (Murakami and Uno, Efficient algorithms for dualizing large-scale hypergraphs, Discrete
Applied Mathematics 170, 2014). A node is a set of chosen clues, and clues that may be chosen, too;
its children choose one of those in an edge that no chosen clue hits. A chosen clue that is no more
the only one to hit an edge never will be again, so that child is dropped.

A grid has far too many edges to list them. Some are known from the start, and where they do not
decide, a search looks for a completion that does: its edge is then known, too.

Sets of clues are rows of uint64 words: clue i is bit i % 64 of word i // 64.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board, digit_masks
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.engine import Engine
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, check_cancelled, interruptible, made_in
from gpusudoku.jobs.job import Cost
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.options import Options
from gpusudoku.planning.batch import find_solutions
from gpusudoku.puzzles.clue_patterns import kept_cells
from gpusudoku.solving import only_solution

NODES = 128
"""Nodes that are worked on together: enough to keep the lanes of a search full."""
SEARCHED_BOARDS = 128
"""Boards that one thread searches together."""
SHARED_SECONDS = 0.01
"""Searches of so many boards that take less are not worth handing to other threads."""
KNOWN_EDGES = 256
"""Edges that are kept, the smallest: twice as many are known before they are thinned out."""
FIRST_SOLUTIONS = 64
"""The most completions of each of the boards whose edges are known from the start."""

Sets = NDArray[np.uint64]
"""uint64 (k, words): sets of clues."""


def minimal_puzzles(
    board: BoardLike,
    *,
    keep: str | Iterable[int] = (),
    box: Geometry | str | None = None,
    jobs: int | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[Board]:
    """List all minimal puzzles inside a puzzle, each once, as they are found.

    They have some of its clues, its solution and no other, and no clue that could go. Their order
    depends on board, ``keep`` and the width of the processor's vectors. A puzzle of 9x9 cells with
    30 clues has some dozens, one with 35 some thousands, and a full grid more than could ever be
    listed: the first of them mostly come within a second, of a few grids after ten. Memory stays
    small however many there are. Larger boards may take very long: a search of one with too few
    clues does.

    Parameters
    ----------
    board, box
        As for ``count``. Candidates that are given for empty cells stay as they are; a cell whose
        clue is removed may have any digit.
    keep
        Cells whose clues are always there, necessary or not; as for ``minimise``.
    jobs
        Threads; by default as many as there are usable cores.
    cancel
        Stops it, whichever thread cancels it: see ``CancelToken``.

    Raises
    ------
    InputError
        If the board cannot be read, or has no solution or several; if there is no such cell.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    puzzle = board_of(board, box)
    kept = kept_cells(keep, puzzle.geometry)
    engine = CpuEngine(Options(jobs=jobs).jobs)
    with interruptible(cancel):
        solution = only_solution(puzzle, engine).cells
    boards = _boards(puzzle, solution, kept, engine)
    return made_in(lambda: interruptible(cancel), boards)


def _boards(
    puzzle: Board, solution: NDArray[np.uint8], keep: NDArray[np.bool_], engine: Engine
) -> Iterator[Board]:
    """Yield the minimal puzzles as boards."""
    for block in minimal_blocks(puzzle, solution, keep, engine):
        yield from Batch.of([puzzle]).with_cells(block)


def minimal_blocks(
    puzzle: Board, solution: NDArray[np.uint8], keep: NDArray[np.bool_], engine: Engine
) -> Generator[NDArray[np.uint8], None, None]:
    """List all minimal puzzles inside a puzzle, whose only solution is given, uint8 (cells).

    ``keep``, bool (cells), are clues that are always there. Gives blocks of puzzles, uint8 (k,
    cells), in an order that depends on puzzle, ``keep`` and the width of the processor's vectors.
    """
    clues = _Clues(puzzle, solution, keep, engine)
    found, _ = clues.search(clues.none)
    if len(found) == 0:
        yield clues.boards(clues.none)
        return
    edges = _smallest(np.concatenate([found, clues.first_edges()]))
    waiting = [(clues.none, clues.all)]
    """Nodes: the sets that they have chosen, and those of which they may choose."""
    while waiting:
        check_cancelled()
        chosen, may = _taken(waiting)
        unhit = _hits(chosen, edges) == 0
        done = ~unhit.any(axis=1)
        if done.any():
            found, indices = clues.search(chosen[done])
            done[np.flatnonzero(done)[indices]] = False
            if done.any():
                yield clues.boards(chosen[done])
            chosen, may = chosen[~done], may[~done]
            edges = np.concatenate([edges, found])
            unhit = _hits(chosen, edges) == 0
        # The edge with the fewest clues that may be chosen has the fewest children: none if even
        # all of them together leave another completion.
        sizes = np.where(unhit, _hits(may, edges), np.iinfo(np.uint16).max)
        branching = edges[sizes.argmin(axis=1)] & may
        parents, added = np.nonzero(clues.members(branching))
        children = chosen[parents] | clues.each[added]
        alive, found = clues.all_needed(children, edges)
        parents, added, children = parents[alive], added[alive], children[alive]
        # So that none is found twice, a child may choose the clues of the siblings before it, and
        # not those of the siblings after it.
        siblings = np.zeros_like(may)
        np.bitwise_or.at(siblings, parents, clues.each[added])
        if len(children):
            others = (may & ~branching)[parents]
            waiting.append((children, others | clues.before(siblings[parents], added)))
        edges = np.concatenate([edges, found])
        if len(edges) > 2 * KNOWN_EDGES:
            edges = _smallest(edges)


class _Clues:
    """The clues of a puzzle that may go, and searches of the boards with some of them."""

    def __init__(
        self,
        puzzle: Board,
        solution: NDArray[np.uint8],
        keep: NDArray[np.bool_],
        engine: Engine,
    ) -> None:
        self._geometry, self._solution, self._threads = puzzle.geometry, solution, engine.threads
        self._places = np.flatnonzero((puzzle.cells > 0) & ~keep)
        self._digits = solution[self._places]
        self._cells = puzzle.cells.copy()
        self._cells[self._places] = 0
        self._masks: NDArray[np.uint64] | None = None
        if puzzle.given_candidates is not None:
            self._masks = puzzle.given_candidates.copy()
            self._masks[self._places] = self._geometry.all_digits
        self._cost = Cost()
        number = len(self._places)
        self._words = max(1, -(-number // 64))
        self.each = self._sets(np.eye(number, dtype=np.bool_))
        """Sets of one clue, one for each."""
        self._before = self._sets(np.tri(number, k=-1, dtype=np.bool_))
        """For each clue the set of those before it."""
        self.none = np.zeros((1, self._words), np.uint64)
        self.all = self._sets(np.ones((1, number), np.bool_))

    def _sets(self, members: NDArray[np.bool_]) -> Sets:
        """Pack sets of clues, bool (k, clues)."""
        padded = np.zeros((len(members), 64 * self._words), np.bool_)
        padded[:, : members.shape[1]] = members
        return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)

    def members(self, sets: Sets) -> NDArray[np.bool_]:
        """Unpack sets to bool (k, clues)."""
        bits = np.unpackbits(sets.view(np.uint8), axis=1, bitorder="little")
        return bits[:, : len(self._places)].view(np.bool_)

    def before(self, sets: Sets, clues: NDArray[np.int64]) -> Sets:
        """Return of each set the clues before one, int64 (k)."""
        return sets & self._before[clues]

    def boards(self, sets: Sets) -> NDArray[np.uint8]:
        """Return the boards with some of the clues, uint8 (k, cells)."""
        cells = np.tile(self._cells, (len(sets), 1))
        cells[:, self._places] = np.where(self.members(sets), self._digits, 0)
        return cells

    def first_edges(self) -> Sets:
        """Return edges that are quick to find.

        They are of puzzles that lack one clue, and of grids that lack two digits, lines or boxes.
        An edge of one clue tells that it is necessary: it is chosen first, without any search.
        """
        units = self._geometry.unit_of
        groups = [self._solution == digit for digit in range(1, self._geometry.n + 1)]
        groups += [(units == unit).any(axis=1) for unit in range(len(self._geometry.units))]
        lacking = np.array([one | other for one, other in combinations(groups, 2)])
        grids = np.where(lacking & (self._cells == 0), np.uint8(0), self._solution)
        edges, _ = self._search(self._batch(grids), FIRST_SOLUTIONS)
        return np.concatenate([edges, self.search(self.all & ~self.each)[0]])

    def all_needed(self, sets: Sets, edges: Sets) -> tuple[NDArray[np.bool_], Sets]:
        """Tell of which sets every clue is the only one to hit an edge; give edges found for it."""
        needed = np.ones(len(sets), np.bool_)
        indices, doubtful = np.nonzero(self.members(sets & ~_alone(sets, edges)))
        found, searched = self.search(sets[indices] & ~self.each[doubtful], doubtful, limit=1)
        needed[np.delete(indices, searched)] = False
        return needed, found

    def search(
        self, sets: Sets, changed: NDArray[np.int64] | None = None, limit: int = 2
    ) -> tuple[Sets, NDArray[np.int64]]:
        """Search the boards with some of the clues for completions other than the solution.

        If a clue is given for each, int64 (k), its cell must have another digit there. Returns the
        edges of the completions, and the indices of their boards, int64.
        """
        boards = self._batch(self.boards(sets))
        if changed is not None:
            given = boards.candidates
            masks = (
                np.full(boards.cells.shape, self._geometry.all_digits) if given is None else given
            )
            places = np.arange(len(sets)), self._places[changed]
            masks[places] &= ~digit_masks(self._digits[changed])
            boards = replace(boards, candidates=masks)
        return self._search(boards, limit)

    def _batch(self, cells: NDArray[np.uint8]) -> Batch:
        """Make a batch of boards, uint8 (k, cells), with the candidates that are given."""
        masks = None if self._masks is None else np.tile(self._masks, (len(cells), 1))
        return Batch(self._geometry, cells, masks)

    def _search(self, boards: Batch, limit: int) -> tuple[Sets, NDArray[np.int64]]:
        """Search boards; see ``search``."""
        starts = range(0, len(boards), SEARCHED_BOARDS)
        pieces = [slice(start, start + SEARCHED_BOARDS) for start in starts]
        edges, indices = [self.none[:0]], [np.empty(0, np.int64)]

        def search(piece: slice) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
            # By one thread, which finds the same completions every time.
            return find_solutions(boards.chosen(piece), Options(limit=limit), CpuEngine(1))[:2]

        is_long = self._cost.of(SEARCHED_BOARDS) > SHARED_SECONDS
        threads = self._threads if is_long and len(pieces) > 1 else 1
        with closing(ordered_map(pieces, search, threads)) as results:
            for done in results:
                assert done.result is not None
                number = min(SEARCHED_BOARDS, len(boards) - done.item.start)
                self._cost.took(done.seconds, number)
                rows, roots = done.result
                differs = rows != self._solution
                other = differs.any(axis=1)
                edges.append(self._sets(differs[other][:, self._places]))
                indices.append(roots[other] + done.item.start)
        return np.concatenate(edges), np.concatenate(indices)


def _taken(waiting: list[tuple[Sets, Sets]]) -> tuple[Sets, Sets]:
    """Take the last nodes of a list, at most NODES."""
    taken, number = [], 0
    while waiting and number < NODES:
        chosen, may = waiting.pop()
        if (left := number + len(chosen) - NODES) > 0:
            waiting.append((chosen[:left], may[:left]))
            chosen, may = chosen[left:], may[left:]
        taken.append((chosen, may))
        number += len(chosen)
    return np.concatenate([each for each, _ in taken]), np.concatenate([each for _, each in taken])


def _hits(sets: Sets, edges: Sets) -> NDArray[np.uint16]:
    """Count the clues that each set has of each edge, uint16 (sets, edges)."""
    counts = np.zeros((len(sets), len(edges)), np.uint16)
    for one, other in zip(sets.T, edges.T, strict=True):
        counts += np.bitwise_count(one[:, None] & other)
    return counts


def _alone(sets: Sets, edges: Sets) -> Sets:
    """Return of each set the clues that hit one of the edges alone."""
    once, alone = _hits(sets, edges) == 1, np.zeros_like(sets)
    for word, (one, other) in enumerate(zip(sets.T, edges.T, strict=True)):
        alone[:, word] = np.bitwise_or.reduce(np.where(once, one[:, None] & other, 0), axis=1)
    return alone


def _smallest(edges: Sets) -> Sets:
    """Return the smallest edges, none of which contains another, KNOWN_EDGES at most."""
    edges = np.unique(edges, axis=0)
    sizes = np.bitwise_count(edges).sum(axis=1)
    kept, number = np.empty((KNOWN_EDGES, edges.shape[1]), np.uint64), 0
    for edge in edges[np.argsort(sizes, kind="stable")]:
        if number == KNOWN_EDGES:
            break
        if not (kept[:number] & ~edge == 0).all(axis=1).any():
            kept[number] = edge
            number += 1
    return kept[:number]
