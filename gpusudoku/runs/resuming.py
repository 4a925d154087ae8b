"""Resuming a count of one board that a file holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpusudoku.board.board import Board
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import InputError
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import Options
from gpusudoku.results import Count
from gpusudoku.runs.counting import KIND, Checkpoint, How, count_for_python
from gpusudoku.runs.identity import board_of_identity
from gpusudoku.runs.kept import Kept, read_run

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True)
class KeptCount:
    """The board and the options of a count, as they were when it began."""

    board: Board
    options: Options
    part: tuple[int, int] | None
    """The number of the part, and how many there are; None for all."""


def resume(
    path: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    cluster: Client | str | None = None,
    device: str | None = None,
    jobs: int | None = None,
    gpus: tuple[int, ...] | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> Count:
    """Resume the count that a checkpoint holds, also on another machine.

    The board and the options are in the file: see ``count``. A finished count is returned at once.

    Parameters
    ----------
    path
        The file that was given to ``count(board, checkpoint=path)``, or to the command
        ``gpusudoku count BOARD --checkpoint FILE``.
    engine, cluster, progress, cancel
        As for ``count``.
    device, jobs, gpus
        The fields of ``Options`` that may be others than before; None: as before.

    Raises
    ------
    InputError
        If the file holds no count of one board, or a part of one; or as in ``count``.
    DeviceError, TooExpensive, ClusterError, SaveError, Interrupted, Cancelled
        As ``count`` does.
    """
    kept, _ = read_run(path)
    file = os.fspath(path)
    changed: dict[str, Any] = {"device": device, "jobs": jobs, "gpus": gpus}
    changed = {name: value for name, value in changed.items() if value is not None}
    if cluster is not None:  # its workers have threads of their own
        changed.setdefault("jobs", None)
    if kept.setup["kind"] != KIND:
        raise InputError(f"{file}: keeps a command: 'gpusudoku resume {file}' goes on with it")
    before = kept_count(file, kept, changed)
    if before.part is not None:
        raise InputError(f"{file}: a part of a count: 'gpusudoku resume {file}' goes on with it")
    how = How(checkpoint=Checkpoint(path))
    with cancelling(cancel), reporting(progress):
        return count_for_python(before.board, before.options, engine, cluster, how)


def kept_count(path: str, kept: Kept, changed: Mapping[str, Any]) -> KeptCount:
    """Read the board and the options of a count from its file; some options may be changed.

    With another device the GPUs of before are forgotten. An InputError says if there is no count.
    """
    setup = kept.setup
    try:
        before, part = setup["options"], setup.get("part")
        gpus = before["gpus"]
        gpus = None if gpus is None or "device" in changed else tuple(gpus)
        options = Options(**{**before, "gpus": gpus, **changed})
        board = board_of_identity(kept.identity.boards)
        if part is not None:
            number, parts = part
            part = int(number), int(parts)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise InputError(f"{path}: {error}") from None
        raise InputError(f"{path}: damaged: it does not tell what was counted") from None
    return KeptCount(board, options, part)
