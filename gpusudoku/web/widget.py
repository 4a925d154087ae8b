"""The widget for notebooks: the page's component, with the kernel in place of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import engine_for
from gpusudoku.errors import InputError, not_installed
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.options import OptionFields, Options, takes_options

if TYPE_CHECKING:
    from gpusudoku.web.notebook import BoardWidget


@takes_options
def widget(
    board: BoardLike | None = None,
    *,
    box: Geometry | str | None = None,
    engine: Engine | None = None,
    **options: Unpack[OptionFields],
) -> BoardWidget:
    """Edit a board in a notebook, and see its solutions: those of ``gpusudoku serve``, in a cell.

    It runs wherever anywidget does: in Jupyter, VS Code and marimo. The kernel counts, in threads:
    cells can be run meanwhile. Its attribute ``board`` is the board on the screen, which can be
    set, and observed. ``count`` is how many solutions that has, None until they have been counted.
    ``close()`` takes it away and stops its work.

    Parameters
    ----------
    board
        What ``count`` takes for one, of up to 25x25 cells; by default an empty one.
    box, engine
        As for ``count``.
    **options
        The fields of ``Options``, without a limit.

    Raises
    ------
    InputError
        If the board is none, or too large to edit; or if an option is wrong.
    DeviceError
        If CUDA is asked for and cannot be used.
    ImportError
        If anywidget is not installed.
    """
    chosen = Options(**options)
    if chosen.limit is not None:
        raise InputError("a widget counts all solutions: leave out the limit")
    chosen.refuse_seconds("a widget")
    try:
        import anywidget  # noqa: F401
    except ImportError:
        raise ImportError(not_installed("a widget", "anywidget", "notebook")) from None
    from gpusudoku.web.notebook import BoardWidget

    if board is None:
        board = Board.empty(Geometry.of(box) or Geometry(3, 3))
    return BoardWidget(board_of(board, box), engine_for(chosen, engine), chosen)
