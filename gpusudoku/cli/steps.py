"""A listing by search that is kept track of: step by step, each saved with what is left."""

from __future__ import annotations

import threading
from typing import Any

from gpusudoku.board.batch import Batch
from gpusudoku.cli.enumerating import is_contracted
from gpusudoku.cli.grids import Writer
from gpusudoku.cli.journal import Journal
from gpusudoku.cli.numbers import Chosen
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.saving import SavedJournal
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.planning.search import SearchPlan
from gpusudoku.search.frontier import Frontier


def steps_of(board: Batch | None, options: Options, chosen: Chosen) -> Steps | None:
    """The search of a single board; None if it is listed otherwise.

    Raises
    ------
    InputError
        If there is a limit: which solutions come before it is up to chance. If there is a part, but
        nothing that numbers all solutions quickly.
    """
    if board is None or is_contracted(board, options):
        return None
    if chosen.part is not None:
        raise InputError(
            "--part of a board that may be searched cannot be combined with --checkpoint"
        )
    if chosen.by_number:
        return None
    if options.limit is not None:
        raise InputError("--limit cannot be combined with --checkpoint where a search lists")
    return Steps(board, options)


class Steps:
    """The search of a board, whose solutions are written as they are found.

    Parameters
    ----------
    board
        A batch of one.
    options
        How to search.
    """

    def __init__(self, board: Batch, options: Options) -> None:
        self._board, self._plan = board, SearchPlan(Frontier.of([board[0]]), options)
        self.portion = self._plan.part(1, 1)
        """All that is to be done."""

    def write(self, journal: Journal, engine: Engine, writer: Writer, line: ProgressLine) -> None:
        """Write all solutions that are left. The workers write themselves, one at a time."""
        assert isinstance(journal, SavedJournal)  # else they would not be done in steps
        board, output, writing = self._board, journal.output, threading.Lock()

        def write(block: Any, _: Any) -> None:
            text = writer.text(board, block)
            with writing:
                output.write(text, writer.lines(text, board.geometry))

        journal.work(self._plan, engine, write, line.update)
