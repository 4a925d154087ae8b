"""The widget for notebooks: the page of the server, with the kernel in place of the server."""

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
    """Edit a board in a notebook, and see its solutions, as on the page of ``gpusudoku serve``.

    The widget works wherever anywidget does: in Jupyter, VS Code and marimo. The kernel counts in
    threads, so you can run cells meanwhile. The attribute ``board`` of the widget is the board on
    the screen. You can set and observe it. ``count`` is its number of solutions, or None until they
    are counted. ``close()`` removes the widget and stops its work.

    Parameters
    ----------
    board
        A board as for ``count``, of up to 25x25 cells; by default an empty one.
    box, engine
        As for ``count``.
    **options
        The fields of ``Options``, without a limit.

    Raises
    ------
    InputError
        If the board is not one or is too large to edit, or if an option is wrong.
    DeviceError
        If you choose CUDA and it cannot be used.
    ImportError
        If anywidget is not installed.
    """
    checked_options = Options(**options)
    if checked_options.limit is not None:
        raise InputError("a widget counts all solutions: leave out the limit")
    checked_options.refuse_seconds("a widget")
    try:
        import anywidget  # noqa: F401
    except ImportError:
        raise ImportError(not_installed("a widget", "anywidget", "notebook")) from None
    from gpusudoku.web.notebook import BoardWidget

    if board is None:
        board = Board.empty(Geometry.of(box) or Geometry(3, 3))
    return BoardWidget(board_of(board, box), engine_for(checked_options, engine), checked_options)
