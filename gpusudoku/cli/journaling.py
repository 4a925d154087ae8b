"""The option ``--checkpoint``: whether a command keeps track of its output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gpusudoku.cli.journal import Journal
from gpusudoku.cli.output import Output
from gpusudoku.errors import InputError

if TYPE_CHECKING:
    from gpusudoku.planning.portion import Portion


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


@contextmanager
def journaled(
    checkpoint: str | None,
    output: tuple[str | None, bool],
    inputs: Sequence[str],
    options: Mapping[str, Any] | None = None,
    portion: Portion | None = None,
) -> Iterator[Journal]:
    """The output of a command, kept track of if that is asked.

    Parameters
    ----------
    checkpoint
        The file that tells how far it is; None if nobody asked.
    output
        The output file, None for stdout, and whether it may exist.
    inputs
        The boards, as the command was given them.
    options
        What the results depend on besides the options of the command.
    portion
        All tasks of a search that is saved step by step.

    Raises
    ------
    InputError
        If the output cannot be taken up again, or is not as it was left, if the checkpoint is that
        of another run, or if either cannot be written.
    """
    path, force = output
    if checkpoint is None:
        with Output(path, force, inputs) as out:
            yield Journal(out)
        return
    from gpusudoku.cli.saving import saved  # only now: it takes a moment to load

    if path is None or path == "-":
        raise InputError("--checkpoint needs -o FILE: what went to stdout cannot be taken back")
    with saved(checkpoint, (path, force), inputs, options or {}, portion) as journal:
        yield journal
