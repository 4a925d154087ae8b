"""Where the results of a command go, and how far they are: see ``saving`` for how that is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gpusudoku.board.batch import Batch
from gpusudoku.cli.output import Output
from gpusudoku.errors import InputError

UNANSWERED = "unanswered"
"""The note that there is a board without an answer."""


class Start(NamedTuple):
    """Where a command goes on."""

    boards: int = 0
    """Boards that are done."""
    solutions: int = 0
    """Solutions done of the next board."""


class Journal:
    """The output of a command, and what of it was done before: here, nothing.

    Parameters
    ----------
    output
        Where results go.
    """

    def __init__(self, output: Output) -> None:
        self.output = output
        self.start = Start()
        self.seconds = 0.0
        """How long it took to come to the start."""
        self.notes: dict[str, Any] = {}
        """What else is needed to go on, as JSON: for those who write."""
        self.found = 0
        """Solutions found, in all: for those who write."""
        self.share: Callable[[], float | None] = lambda: None
        """Tells how much of the work is done, None where nobody knows: for those who write."""
        self.hint = ""
        """How to go on after an interrupt."""

    def advance(self, *, boards: int = 0, solutions: int = 0) -> None:
        """Tell that all that was written belongs to so many more boards, or solutions of one.

        Parameters
        ----------
        boards
            Boards that are done now.
        solutions
            Solutions of the board after these; none of a board that is done.

        Raises
        ------
        WriteError, SaveError
            If the last save failed.
        """

    def rest(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The boards that are not done."""
        done = self.start.boards
        for batch in batches:
            if done < len(batch):
                yield batch.part(done, len(batch)) if done else batch
            done = max(0, done - len(batch))


def refuse_besides_checkpoint(checkpoint: str | None, options: Mapping[str, bool]) -> None:
    """Complain of options, by name, that are given and would tell of less than the whole run.

    Raises
    ------
    InputError
        If there are any beside ``--checkpoint``.
    """
    given = [name for name, is_given in options.items() if is_given]
    if checkpoint is not None and given:
        raise InputError(f"{given[0]} cannot be combined with --checkpoint")


def goes_on(checkpoint: str | None) -> bool:
    """Whether a checkpoint is there already: then files of its command may be there, too."""
    if checkpoint is None or not Path(checkpoint).is_file():
        return False
    return Path(checkpoint).stat().st_size > 0
