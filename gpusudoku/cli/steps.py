"""A listing by search that is kept track of: step by step, each saved with what is left."""

from __future__ import annotations

import threading
from typing import Any

from gpusudoku.board.batch import Batch
from gpusudoku.cli.enumerating import Listing, is_contracted
from gpusudoku.cli.grids import Writer
from gpusudoku.cli.journal import Journal
from gpusudoku.cli.numbers import Chosen
from gpusudoku.cli.saving import SavedJournal
from gpusudoku.contraction.prepare import is_nine
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.planning.choose import TASKS_PER_PART
from gpusudoku.planning.search import TASKS, SearchPlan
from gpusudoku.search.frontier import Frontier


def steps_of(board: Batch | None, options: Options, chosen: Chosen) -> Steps | None:
    """The search of a single board; None if it is listed otherwise.

    Raises
    ------
    InputError
        If there is a limit: which solutions come before it is up to chance. If there is a part of a
        board of which only a long count tells whether its solutions have numbers.
    """
    if board is None or chosen.ascending or is_contracted(board, options):
        return None
    if chosen.part is not None and options.method != "search":
        if is_nine(board.geometry, board.candidates):  # on a GPU, too
            return None
        raise InputError("--part of this board with --checkpoint needs --method search")
    if options.limit is not None:
        raise InputError("--limit cannot be combined with --checkpoint where a search lists")
    return Steps(board, options, chosen.part)


class Steps:
    """The search of a board, whose solutions are written as they are found.

    Parameters
    ----------
    board
        A batch of one.
    options
        How to search.
    part
        Which part of the tasks, from 1 on, and of how many; None for all.
    """

    def __init__(self, board: Batch, options: Options, part: tuple[int, int] | None) -> None:
        number, parts = part or (1, 1)
        tasks = max(TASKS, TASKS_PER_PART * parts)  # as a ``Stream`` has them
        self._board = board
        self._plan = SearchPlan(Frontier.of([board[0]]), options, least_tasks=tasks)
        self.portion = self._plan.part(number, parts)
        """All that is to be done."""

    def write(self, journal: Journal, engine: Engine, writer: Writer, listing: Listing) -> None:
        """Write all solutions that are left. The workers write themselves, one at a time."""
        assert isinstance(journal, SavedJournal)  # else they would not be done in steps
        board, output, writing = self._board, journal.output, threading.Lock()
        listing.tasks = self.portion.tasks, self._plan.tasks()

        def write(block: Any, _: Any) -> None:
            text = writer.text(board, block)
            with writing:
                output.write(text, writer.lines(text, board.geometry))

        journal.work(self._plan, engine, write)
