"""All minimal puzzles inside a puzzle: those with some of its clues, all of them necessary.

An *edge* is the set of the puzzle's clues in which another completion differs, an unavoidable set.
A set of clues has one solution if it hits every edge, and is minimal if each of its clues is the
only one that hits some edge. So the minimal puzzles are the minimal hitting sets of a hypergraph.
They are listed as MMCS does (Murakami and Uno, Efficient algorithms for dualizing large-scale
hypergraphs, Discrete Applied Mathematics 170, 2014). A node consists of chosen clues and of clues
that may still be chosen. Each of its children chooses one more clue of an edge that no chosen clue
hits. A chosen clue that is no longer the only one to hit an edge never becomes that again, so
such a child is dropped.

A grid has far too many edges to list them all. The search starts with some of them. Where these do
not decide, it looks for a completion that does, and adds its edge.

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
from gpusudoku.jobs.cancel import CancelToken, check_cancelled, interruptible, iterate_in
from gpusudoku.jobs.job import MeanCost
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.options import Options
from gpusudoku.planning.count import find_solutions
from gpusudoku.puzzles.clue_patterns import kept_cells
from gpusudoku.solving import only_solution

NODES = 128
"""Nodes that are expanded together: enough to keep the lanes of a search full."""
SEARCHED_BOARDS = 128
"""Boards that one thread searches together."""
SHARED_SECONDS = 0.01
"""A search of SEARCHED_BOARDS boards that takes less time is not given to other threads."""
KNOWN_EDGES = 256
"""Edges that are kept, the smallest. They are thinned out when there are twice as many."""
FIRST_SOLUTIONS = 64
"""Completions of each board whose edges are collected at the start, at most."""

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
    kept_clues = kept_cells(keep, puzzle.geometry)
    engine = CpuEngine(Options(jobs=jobs).jobs)
    with interruptible(cancel):
        solution = only_solution(puzzle, engine).cells
    boards = _boards(puzzle, solution, kept_clues, engine)
    return iterate_in(lambda: interruptible(cancel), boards)


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
    edges_of_none, _ = clues.search(clues.none)
    if len(edges_of_none) == 0:
        yield clues.boards(clues.none)
        return
    edges = _smallest(np.concatenate([edges_of_none, clues.first_edges()]))
    # Nodes: the sets of chosen clues, and the sets of clues that may be chosen.
    stack = [(clues.none, clues.all)]
    while stack:
        check_cancelled()
        chosen, allowed = _pop_nodes(stack)
        is_unhit = _hits(chosen, edges) == 0
        hits_all = ~is_unhit.any(axis=1)
        if hits_all.any():
            # Sets without another completion are minimal puzzles; the others get a new edge.
            new_edges, indices = clues.search(chosen[hits_all])
            is_minimal = hits_all.copy()
            is_minimal[np.flatnonzero(hits_all)[indices]] = False
            if is_minimal.any():
                yield clues.boards(chosen[is_minimal])
            chosen = chosen[~is_minimal]
            allowed = allowed[~is_minimal]
            edges = np.concatenate([edges, new_edges])
            is_unhit = _hits(chosen, edges) == 0
        # The edge with the fewest allowed clues has the fewest children: none if even all allowed
        # clues together leave another completion.
        sizes = np.where(is_unhit, _hits(allowed, edges), np.iinfo(np.uint16).max)
        branching = edges[sizes.argmin(axis=1)] & allowed
        parents, added_clues = np.nonzero(clues.members(branching))
        children = chosen[parents] | clues.each[added_clues]
        is_alive, new_edges = clues.all_needed(children, edges)
        parents = parents[is_alive]
        added_clues = added_clues[is_alive]
        children = children[is_alive]
        # So that no set is found twice, a child may choose the clues of the siblings before it, and
        # not those of the siblings after it.
        siblings = np.zeros_like(allowed)
        np.bitwise_or.at(siblings, parents, clues.each[added_clues])
        if len(children):
            not_branching = (allowed & ~branching)[parents]
            earlier_siblings = clues.before(siblings[parents], added_clues)
            stack.append((children, not_branching | earlier_siblings))
        edges = np.concatenate([edges, new_edges])
        if len(edges) > 2 * KNOWN_EDGES:
            edges = _smallest(edges)


class _Clues:
    """The removable clues of a puzzle, and searches of the boards with some of them."""

    def __init__(
        self,
        puzzle: Board,
        solution: NDArray[np.uint8],
        keep: NDArray[np.bool_],
        engine: Engine,
    ) -> None:
        self._geometry = puzzle.geometry
        self._solution = solution
        self._threads = engine.threads
        self._places = np.flatnonzero((puzzle.cells > 0) & ~keep)
        self._digits = solution[self._places]
        self._cells = puzzle.cells.copy()
        self._cells[self._places] = 0
        self._masks: NDArray[np.uint64] | None = None
        if puzzle.given_candidates is not None:
            self._masks = puzzle.given_candidates.copy()
            self._masks[self._places] = self._geometry.all_digits
        self._cost = MeanCost()
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
        """Return the clues of each set that come before a clue, int64 (k)."""
        return sets & self._before[clues]

    def boards(self, sets: Sets) -> NDArray[np.uint8]:
        """Return the boards with some of the clues, uint8 (k, cells)."""
        cells = np.tile(self._cells, (len(sets), 1))
        cells[:, self._places] = np.where(self.members(sets), self._digits, 0)
        return cells

    def first_edges(self) -> Sets:
        """Return edges that are quick to find.

        They are those of puzzles that lack one clue, and of grids that lack two digits, lines or
        boxes. The clue of an edge with a single clue is necessary: it is chosen first, without any
        search.
        """
        units = self._geometry.unit_of
        regions = [self._solution == digit for digit in range(1, self._geometry.n + 1)]
        regions += [(units == unit).any(axis=1) for unit in range(len(self._geometry.units))]
        is_removed = np.array([first | second for first, second in combinations(regions, 2)])
        grids = np.where(is_removed & (self._cells == 0), np.uint8(0), self._solution)
        edges, _ = self._search(self._batch(grids), FIRST_SOLUTIONS)
        return np.concatenate([edges, self.search(self.all & ~self.each)[0]])

    def all_needed(self, sets: Sets, edges: Sets) -> tuple[NDArray[np.bool_], Sets]:
        """Tell in which sets every clue is the only one to hit an edge.

        Returns that, bool (k), and new edges: where the known edges do not decide about a clue, a
        completion without it decides.
        """
        all_needed = np.ones(len(sets), np.bool_)
        indices, undecided = np.nonzero(self.members(sets & ~_sole_hitters(sets, edges)))
        without_clue = sets[indices] & ~self.each[undecided]
        new_edges, decided = self.search(without_clue, undecided, limit=1)
        all_needed[np.delete(indices, decided)] = False
        return all_needed, new_edges

    def search(
        self, sets: Sets, changed: NDArray[np.int64] | None = None, limit: int = 2
    ) -> tuple[Sets, NDArray[np.int64]]:
        """Search the boards with some of the clues for completions other than the solution.

        ``changed``, int64 (k), has a clue for each set: its cell must have another digit. Returns
        the edges of the completions, and the indices of their boards, int64.
        """
        boards = self._batch(self.boards(sets))
        if changed is not None:
            masks = boards.candidates
            if masks is None:
                masks = np.full(boards.cells.shape, self._geometry.all_digits)
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
        chunks = [slice(start, start + SEARCHED_BOARDS) for start in starts]
        edges = [self.none[:0]]
        indices = [np.empty(0, np.int64)]

        def search(chunk: slice) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
            # By one thread, which finds the same completions every time.
            return find_solutions(boards.select(chunk), Options(limit=limit), CpuEngine(1))[:2]

        is_long = self._cost.of(SEARCHED_BOARDS) > SHARED_SECONDS
        threads = self._threads if is_long and len(chunks) > 1 else 1
        with closing(ordered_map(chunks, search, threads)) as results:
            for finished in results:
                assert finished.result is not None
                start = finished.item.start
                self._cost.took(finished.seconds, min(SEARCHED_BOARDS, len(boards) - start))
                rows, roots = finished.result
                differs = rows != self._solution
                is_other = differs.any(axis=1)
                edges.append(self._sets(differs[is_other][:, self._places]))
                indices.append(roots[is_other] + start)
        return np.concatenate(edges), np.concatenate(indices)


def _pop_nodes(stack: list[tuple[Sets, Sets]]) -> tuple[Sets, Sets]:
    """Take the last nodes of a stack, at most NODES."""
    nodes = []
    number = 0
    while stack and number < NODES:
        chosen, allowed = stack.pop()
        surplus = number + len(chosen) - NODES
        if surplus > 0:
            stack.append((chosen[:surplus], allowed[:surplus]))
            chosen = chosen[surplus:]
            allowed = allowed[surplus:]
        nodes.append((chosen, allowed))
        number += len(chosen)
    all_chosen, all_allowed = zip(*nodes, strict=True)
    return np.concatenate(all_chosen), np.concatenate(all_allowed)


def _hits(sets: Sets, edges: Sets) -> NDArray[np.uint16]:
    """Count the clues that each set shares with each edge, uint16 (sets, edges)."""
    counts = np.zeros((len(sets), len(edges)), np.uint16)
    for set_word, edge_word in zip(sets.T, edges.T, strict=True):
        counts += np.bitwise_count(set_word[:, None] & edge_word)
    return counts


def _sole_hitters(sets: Sets, edges: Sets) -> Sets:
    """Return the clues of each set that are the only ones to hit one of the edges."""
    hit_once = _hits(sets, edges) == 1
    sole = np.zeros_like(sets)
    for word, (set_word, edge_word) in enumerate(zip(sets.T, edges.T, strict=True)):
        hitters = np.where(hit_once, set_word[:, None] & edge_word, 0)
        sole[:, word] = np.bitwise_or.reduce(hitters, axis=1)
    return sole


def _smallest(edges: Sets) -> Sets:
    """Return the smallest edges, none of which contains another, KNOWN_EDGES at most."""
    edges = np.unique(edges, axis=0)
    sizes = np.bitwise_count(edges).sum(axis=1)
    smallest = np.empty((KNOWN_EDGES, edges.shape[1]), np.uint64)
    number = 0
    for edge in edges[np.argsort(sizes, kind="stable")]:
        if number == KNOWN_EDGES:
            break
        contains_another = (smallest[:number] & ~edge == 0).all(axis=1).any()
        if not contains_another:
            smallest[number] = edge
            number += 1
    return smallest[:number]
