"""All minimal puzzles inside a puzzle: those with some of its clues, all of them necessary.

A *completion* is a full grid that agrees with some of the puzzle's clues. The *edge* of a
completion is the set of clues with which it disagrees (an unavoidable set). A set of clues *hits*
an edge if it contains one of its clues: then it excludes the completion. So a set of clues has one
solution if it hits all edges, and is minimal if each of its clues is the only one that hits some
edge. In other words, the minimal puzzles are the minimal hitting sets of a hypergraph.

The algorithm is MMCS (Murakami and Uno, Efficient algorithms for dualizing large-scale hypergraphs,
Discrete Applied Mathematics 170, 2014). A node of its search has a set of chosen clues, and a set
of allowed clues that may still be chosen. Each child adds one allowed clue of an edge that the
chosen clues do not hit. If this makes another chosen clue unnecessary, the child is dropped,
because adding more clues cannot make that clue necessary again.

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
from gpusudoku.puzzles.clue_patterns import parse_keep
from gpusudoku.solving import only_solution

MAX_NODES_TOGETHER = 128
"""Nodes that are expanded together: enough to keep the lanes of a search full."""
SEARCH_BOARDS = 128
"""Boards that one thread searches together."""
SHARED_SECONDS = 0.01
"""A search of SEARCH_BOARDS boards that takes less time is not given to other threads."""
MAX_EDGES = 256
"""When there are twice as many edges, only this many are kept, the smallest."""
MAX_FIRST_COMPLETIONS = 64
"""The maximum number of completions per board whose edges are collected at the start."""

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

    They have some of its clues, the same single solution, and no redundant clue. Their order
    depends on the board, ``keep`` and the width of the processor's vectors. A 9x9 puzzle with 30
    clues has dozens of them, one with 35 clues thousands, and a full grid more than could ever be
    listed. For most grids the first ones come within a second, for a few grids after ten seconds.
    Memory use stays small. Larger boards may take very long, because searching a large board with
    too few clues does.

    Parameters
    ----------
    board, box
        As for ``count``. Candidates that are given for empty cells stay as they are; a cell whose
        clue is removed may have any digit.
    keep
        Cells whose clues are never removed, even if they are redundant; as for ``minimise``.
    jobs
        The number of threads; by default one per usable core.
    cancel
        A token that stops the work from any thread: see ``CancelToken``.

    Raises
    ------
    InputError
        If the board cannot be read, or does not have exactly one solution, or if ``keep`` has
        cells that do not exist.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    puzzle = board_of(board, box)
    kept_clues = parse_keep(keep, puzzle.geometry)
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
    """List all minimal puzzles inside a puzzle, in blocks of boards, uint8 (k, cells).

    Their order depends on the puzzle, ``keep`` and the width of the processor's vectors.

    Parameters
    ----------
    puzzle
        The puzzle.
    solution
        Its only solution, uint8 (cells).
    keep
        Clues that are never removed, bool (cells).
    engine
        The engine that determines the number of threads.
    """
    clues = _Clues(puzzle, solution, keep, engine)
    edges_of_none, _ = clues.search(clues.none)
    if len(edges_of_none) == 0:  # no removable clue is necessary
        yield clues.boards(clues.none)
        return
    edges = _smallest(np.concatenate([edges_of_none, clues.first_edges()]))
    # A node is a row of two arrays: its set of chosen clues, and its set of allowed clues.
    stack = [(clues.none, clues.all)]
    while stack:
        check_cancelled()
        chosen_sets, allowed_sets = _pop_nodes(stack)
        is_unhit = _count_hits(chosen_sets, edges) == 0
        hits_all = ~is_unhit.any(axis=1)
        if hits_all.any():
            # Sets without another completion are minimal puzzles. The others get a new edge.
            new_edges, indices = clues.search(chosen_sets[hits_all])
            is_minimal = hits_all.copy()
            is_minimal[np.flatnonzero(hits_all)[indices]] = False
            if is_minimal.any():
                yield clues.boards(chosen_sets[is_minimal])
            chosen_sets = chosen_sets[~is_minimal]
            allowed_sets = allowed_sets[~is_minimal]
            edges = np.concatenate([edges, new_edges])
            is_unhit = _count_hits(chosen_sets, edges) == 0

        # Branch on the unhit edge with the fewest allowed clues, as it has the fewest children. It
        # has none if even all allowed clues together leave another completion.
        sizes = np.where(is_unhit, _count_hits(allowed_sets, edges), np.iinfo(np.uint16).max)
        branching_sets = edges[sizes.argmin(axis=1)] & allowed_sets
        parents, added_clues = np.nonzero(clues.members(branching_sets))
        children = chosen_sets[parents] | clues.each[added_clues]
        is_alive, new_edges = clues.all_needed(children, edges)
        parents = parents[is_alive]
        added_clues = added_clues[is_alive]
        children = children[is_alive]

        # A set of clues that contains several clues of the branching edge could be reached through
        # several children. Therefore a child may only add clues of earlier siblings.
        siblings = np.zeros_like(allowed_sets)
        np.bitwise_or.at(siblings, parents, clues.each[added_clues])
        if len(children):
            not_branching = (allowed_sets & ~branching_sets)[parents]
            earlier_siblings = clues.before(siblings[parents], added_clues)
            stack.append((children, not_branching | earlier_siblings))
        edges = np.concatenate([edges, new_edges])
        if len(edges) > 2 * MAX_EDGES:
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
        """The cell of each clue."""
        self._digits = solution[self._places]
        self._cells = puzzle.cells.copy()
        """The board without these clues."""
        self._cells[self._places] = 0
        self._masks: NDArray[np.uint64] | None = None
        if puzzle.given_candidates is not None:
            self._masks = puzzle.given_candidates.copy()
            self._masks[self._places] = self._geometry.all_digits
        self._search_cost = MeanCost()
        clue_count = len(self._places)
        self._words = max(1, -(-clue_count // 64))
        self.each = self._sets(np.eye(clue_count, dtype=np.bool_))
        """For each clue, the set that contains only it."""
        self._before = self._sets(np.tri(clue_count, k=-1, dtype=np.bool_))
        """For each clue, the set of the clues before it."""
        self.none = np.zeros((1, self._words), np.uint64)
        self.all = self._sets(np.ones((1, clue_count), np.bool_))

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

        They are the edges of completions of puzzles that lack one clue, and of grids that lack two
        digits, lines or boxes. An edge of a single clue means that the clue is necessary. Such
        edges are branched on first, so all necessary clues are chosen without any search.
        """
        units = self._geometry.unit_of
        regions = [self._solution == digit for digit in range(1, self._geometry.n + 1)]
        regions += [(units == unit).any(axis=1) for unit in range(len(self._geometry.units))]
        is_removed = np.array([a | b for a, b in combinations(regions, 2)])
        grids = np.where(is_removed & (self._cells == 0), np.uint8(0), self._solution)
        grid_edges, _ = self._search(self._batch(grids), MAX_FIRST_COMPLETIONS)
        puzzle_edges, _ = self.search(self.all & ~self.each)
        return np.concatenate([grid_edges, puzzle_edges])

    def all_needed(self, sets: Sets, edges: Sets) -> tuple[NDArray[np.bool_], Sets]:
        """Test in which sets every clue is necessary, that is, the only one to hit some edge.

        Returns the answers, bool (k), and new edges, of completions that showed that a clue is
        necessary where the known edges did not.
        """
        undecided_sets = sets & ~_sole_hitters(sets, edges)
        indices, undecided_clues = np.nonzero(self.members(undecided_sets))
        # Each undecided clue is necessary if without it there is a completion that differs in it.
        without_clue = sets[indices] & ~self.each[undecided_clues]
        new_edges, necessary = self.search(without_clue, undecided_clues, limit=1)
        all_needed = np.ones(len(sets), np.bool_)
        all_needed[np.delete(indices, necessary)] = False
        return all_needed, new_edges

    def search(
        self, sets: Sets, changed: NDArray[np.int64] | None = None, limit: int = 2
    ) -> tuple[Sets, NDArray[np.int64]]:
        """Search the boards with some of the clues for completions other than the solution.

        Parameters
        ----------
        sets
            The sets of clues.
        changed
            A clue for each set, int64 (k): completions must have another digit in its cell.
        limit
            The maximum number of completions per board, including the solution.

        Returns
        -------
        The edges of the completions, and the index of the board of each, int64.
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
        """Search boards, see ``search``, in chunks that several threads share if they take long."""
        starts = range(0, len(boards), SEARCH_BOARDS)
        chunks = [slice(start, start + SEARCH_BOARDS) for start in starts]
        edges = [self.none[:0]]
        indices = [np.empty(0, np.int64)]

        def search(chunk: slice) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
            # One thread finds the same completions every time, so the order of puzzles is the same.
            return find_solutions(boards.select(chunk), Options(limit=limit), CpuEngine(1))[:2]

        is_long = self._search_cost.of(SEARCH_BOARDS) > SHARED_SECONDS
        threads = self._threads if is_long and len(chunks) > 1 else 1
        with closing(ordered_map(chunks, search, threads)) as results:
            for finished in results:
                assert finished.result is not None
                start = finished.item.start
                chunk_boards = min(SEARCH_BOARDS, len(boards) - start)
                self._search_cost.add(finished.seconds, chunk_boards)
                rows, roots = finished.result
                differs = rows != self._solution
                is_other = differs.any(axis=1)
                edges.append(self._sets(differs[is_other][:, self._places]))
                indices.append(roots[is_other] + start)
        return np.concatenate(edges), np.concatenate(indices)


def _pop_nodes(stack: list[tuple[Sets, Sets]]) -> tuple[Sets, Sets]:
    """Take the last nodes, at most MAX_NODES_TOGETHER, from a stack of blocks of nodes."""
    popped_blocks = []
    node_count = 0
    while stack and node_count < MAX_NODES_TOGETHER:
        chosen_sets, allowed_sets = stack.pop()
        surplus = node_count + len(chosen_sets) - MAX_NODES_TOGETHER
        if surplus > 0:
            stack.append((chosen_sets[:surplus], allowed_sets[:surplus]))
            chosen_sets = chosen_sets[surplus:]
            allowed_sets = allowed_sets[surplus:]
        popped_blocks.append((chosen_sets, allowed_sets))
        node_count += len(chosen_sets)
    all_chosen, all_allowed = zip(*popped_blocks, strict=True)
    return np.concatenate(all_chosen), np.concatenate(all_allowed)


def _count_hits(sets: Sets, edges: Sets) -> NDArray[np.uint16]:
    """Count the clues that each set shares with each edge, uint16 (sets, edges)."""
    counts = np.zeros((len(sets), len(edges)), np.uint16)
    for set_word, edge_word in zip(sets.T, edges.T, strict=True):
        counts += np.bitwise_count(set_word[:, None] & edge_word)
    return counts


def _sole_hitters(sets: Sets, edges: Sets) -> Sets:
    """Return for each set those of its clues that are the only ones to hit some edge."""
    hit_once = _count_hits(sets, edges) == 1
    sole = np.zeros_like(sets)
    for word, (set_word, edge_word) in enumerate(zip(sets.T, edges.T, strict=True)):
        hitters = np.where(hit_once, set_word[:, None] & edge_word, 0)
        sole[:, word] = np.bitwise_or.reduce(hitters, axis=1)
    return sole


def _smallest(edges: Sets) -> Sets:
    """Return the smallest edges, at most MAX_EDGES, without those that contain another one.

    A set that hits an edge also hits every edge that contains it.
    """
    edges = np.unique(edges, axis=0)
    sizes = np.bitwise_count(edges).sum(axis=1)
    smallest = np.empty((MAX_EDGES, edges.shape[1]), np.uint64)
    edge_count = 0
    for edge in edges[np.argsort(sizes, kind="stable")]:
        if edge_count == MAX_EDGES:
            break
        contains_another = (smallest[:edge_count] & ~edge == 0).all(axis=1).any()
        if not contains_another:
            smallest[edge_count] = edge
            edge_count += 1
    return smallest[:edge_count]
