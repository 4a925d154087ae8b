"""The widget that a notebook shows. Importing this needs anywidget."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine
from gpusudoku.errors import InputError
from gpusudoku.formats import parse
from gpusudoku.formats.coerce import board_of
from gpusudoku.options import Options
from gpusudoku.web.answers import Answers, Facts
from gpusudoku.web.conversation import Conversation
from gpusudoku.web.joined import joined_modules, joined_styles
from gpusudoku.web.questions import Question

MOST_DIGITS = 25
"""Of a board that can be edited."""


def _as_json(board: Board, widget: BoardWidget) -> dict[str, str]:
    return {"board": str(board), "box": str(board.geometry)}


def _from_json(facts: dict[str, str], widget: BoardWidget) -> Board:
    return parse(facts["board"], facts["box"])


class _EditableBoard(traitlets.TraitType[Board, Any]):
    """Takes whatever is a board that can be edited; of a validator traitlets keeps None away."""

    def validate(self, obj: object, value: Any) -> Board:
        return editable(board_of(value))


class BoardWidget(anywidget.AnyWidget):
    """A board to edit in a notebook, and beside it what is known of its solutions.

    ``gpusudoku.widget`` makes it. It is an anywidget: ``observe``, ``close``, ``layout`` and so on
    are those of all widgets.
    """

    _esm = joined_modules()
    _css = joined_styles()
    board = _EditableBoard().tag(sync=True, to_json=_as_json, from_json=_from_json)
    """The board on the screen as a ``Board``; to set it, whatever ``count`` takes for one."""
    _link = traitlets.Unicode().tag(sync=True)
    """The board once more, as the page's links have it, which tell clues from edits."""
    _about = traitlets.Dict().tag(sync=True)
    """What answers here, and the boards that come with the program."""

    def __init__(self, board: Board, engine: Engine, options: Options) -> None:
        answers = Answers(engine, options)
        self._known: tuple[Board, int] | None = None
        self._conversation = Conversation(answers, self.send, self._answered)
        super().__init__(board=board, _about=answers.about())
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        return f"<BoardWidget: {self.board.describe()}>"

    @property
    def count(self) -> int | None:
        """How many solutions the board on the screen has; None until the widget has counted them.

        It stays None where the count was too expensive or has been cancelled.
        """
        board, known = self.board, self._known
        # The browser sees this by itself, and asks nothing.
        if board.conflicts or not board.candidates[board.cells == 0].all():
            return 0
        return known[1] if known is not None and known[0] == board else None

    @traitlets.observe("comm")
    def _attend(self, change: dict[str, Any]) -> None:
        """Stop all work when the connection is closed, by whomever: marimo does it by itself."""
        comm = change["new"]
        if comm is None:
            return
        close = comm.close

        def closing(*args: Any, **kwargs: Any) -> None:
            self._conversation.close()
            close(*args, **kwargs)

        comm.close = closing
        comm.on_close(lambda message: self._conversation.close())

    def _receive(self, widget: object, content: object, buffers: object) -> None:
        self._conversation.receive(content)

    def _answered(self, question: Question, facts: Facts) -> None:
        if question.kind == "count" and facts["exact"]:
            self._known = question.board, int(facts["count"])


def editable(board: Board) -> Board:
    """A board, if it can be edited.

    Raises
    ------
    InputError
        If it is too large, or has given candidates.
    """
    if board.n > MOST_DIGITS:
        most = f"{MOST_DIGITS}x{MOST_DIGITS}"
        raise InputError(f"{board.describe()}: one of up to {most} cells can be edited")
    if board.given_candidates is not None:
        raise InputError(f"{board.describe()}: only one without can be edited")
    return board


def widget_of(
    board: Any, box: Geometry | str | None, engine: Engine, options: Options
) -> BoardWidget:
    """A widget; by default of an empty 9x9 board, or of one with other boxes."""
    if board is None:
        shape = Geometry.of(box) or Geometry(3, 3)
        return BoardWidget(editable(Board.empty(shape)), engine, options)
    return BoardWidget(editable(board_of(board, box)), engine, options)
