"""``gpusudoku serve``: a page on which one edits a board and sees its solutions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.completing import complete_boards, complete_boxes
from gpusudoku.cli.machines import start_engine
from gpusudoku.cli.messages import complain, note, quietly
from gpusudoku.cli.options import (
    InputOptions,
    box_of,
    devices,
    method,
    option,
    own_option,
    quiet_option,
)
from gpusudoku.cli.output import show
from gpusudoku.cli.source import Source
from gpusudoku.cli.usage import Integer, Seconds
from gpusudoku.errors import GpusudokuError, InputError, Interrupted, not_installed, shown
from gpusudoku.jobs.interrupts import patient_interrupts
from gpusudoku.options import Options

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.web.serving import Server

own = own_option("serve")

_NAME = re.compile(r"[\w.-]+|\[?[0-9A-Fa-f:.]+\]?")
_ORIGIN = re.compile(r"https?://[^/\s?#@]+")
_SYMBOLS = "0123456789ABCDEFGHIJKLMNOP"
_OPTIONS = ("device", "jobs", "gpus", "method")
STOP_SECONDS = 12.0
"""So long the server may take to end."""


def _names(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Names of hosts."""
    for name in value:
        if _NAME.fullmatch(name) is None:
            raise click.BadParameter(f"{shown(name)}: expected a name, such as box.example.org")
    return value


def _origins(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Origins as a browser sends them."""
    found = tuple(origin.rstrip("/").lower() for origin in value)
    for origin in found:
        if _ORIGIN.fullmatch(origin) is None:
            message = f"{shown(origin)}: expected an origin, such as https://example.org"
            raise click.BadParameter(message)
    return found


@click.command("serve")
@click.argument("board", required=False, metavar="[BOARD]", shell_complete=complete_boards)
@own("--host", default="127.0.0.1", metavar="HOST", help="The name or address to listen at.")
@own(
    "--port",
    type=Integer(0, 65535),
    help="The port to listen at; 0 is any.  [default: 6561, or any if that is taken]",
)
@own("--open", "opened", is_flag=True, help="Open the page in a browser.")
@own(
    "--allow-host",
    "hosts",
    multiple=True,
    callback=_names,
    metavar="NAME",
    help="A name that browsers may call this server by, besides localhost.",
)
@own(
    "--allow-origin",
    "origins",
    multiple=True,
    callback=_origins,
    metavar="URL",
    help="Another site whose pages may ask this server.",
)
@own("--most", type=Integer(1, 64), default=4, help="Questions worked at at a time.")
@own(
    "--time-limit",
    "seconds",
    type=Seconds(1e7),
    default=3600.0,
    metavar="SECONDS",
    help="Every question is given up after this time.",
)
@option(
    "--box",
    callback=box_of,
    shell_complete=complete_boxes,
    metavar="ROWSxCOLUMNS",
    help="The shape of a box, if it is not the usual one.",
)
@devices
@method
@quiet_option
def serve(
    board: str | None,
    box: Geometry | None,
    host: str,
    port: int | None,
    opened: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Open a page where you edit a board and see how many solutions remain.

    The page is at the address that is printed, with BOARD on it if one is given, until Ctrl-C.
    Only browsers on this machine reach it, unless --host says otherwise. Other programs may ask
    it, too: POST /count and more take JSON.

    \b
    Examples:
      gpusudoku serve --open
      gpusudoku serve @2f
      gpusudoku serve --port 8000 -j 2
      gpusudoku serve --host 0.0.0.0 --allow-host sudoku.example.org
    """
    link = "" if board is None else _link(_only_board(board, InputOptions(box, keep_going=False)))
    _check_packages()
    with quietly(quiet), patient_interrupts(STOP_SECONDS):
        server = None
        try:
            server, addresses, engine = _start(host, port, settings)
            page, *others = [f"{address}{link}" for address in addresses]
            show(page)
            for other in others:
                note(f"also at {other}")
            if opened:
                click.launch(page)
            if server.warm_up(engine):
                note("ready")
            server.wait()
        except (KeyboardInterrupt, Interrupted):
            pass
        finally:
            if server is not None:
                server.stop()
        note("stopped")


def _start(
    host: str, port: int | None, settings: dict[str, Any]
) -> tuple[Server, list[str], Engine]:
    """Begin to serve; return the server, its addresses and its engine."""
    from gpusudoku.contraction.prepare import NINE
    from gpusudoku.warming import usual_kernels
    from gpusudoku.web.answers import Answerer
    from gpusudoku.web.app import Permissions
    from gpusudoku.web.serving import (
        USUAL_PORT,
        Server,
        addresses_of,
        is_loopback,
        listen,
    )

    names = settings["hosts"]
    if not names and not is_loopback(host):
        raise InputError(
            f"--host {host}: other machines reach that: say with --allow-host NAME by which name"
        )
    listening = listen(host, port)
    if port is None and listening.getsockname()[1] != USUAL_PORT:
        note(f"port {USUAL_PORT} is taken: this is another")
    addresses = addresses_of(host, listening, names)
    options = Options(**{name: settings[name] for name in _OPTIONS})
    engine = start_engine(options)
    server = Server(
        Answerer(engine, options),
        listening,
        most=settings["most"],
        seconds=settings["seconds"],
        allowed=Permissions([*names, host] if is_loopback(host) else names, settings["origins"]),
        complain=complain,
        kernels=usual_kernels(NINE),
    )
    server.start()
    return server, addresses, engine


def _check_packages() -> None:
    """Complain if the server's packages are missing."""
    try:
        import starlette
        import uvicorn
    except ImportError as error:
        raise GpusudokuError(
            f"{not_installed('serve', 'Starlette and uvicorn', 'web')} ({error})"
        ) from None
    del starlette, uvicorn


def _only_board(name: str, reading: InputOptions) -> Board:
    """The board of an argument."""
    source = Source([name], reading, one=True)
    if source.board is None:
        raise InputError("serve takes one board")
    return source.board[0]


def _link(board: Board) -> str:
    """What follows the address of the page, so that it shows a board: ``puzzle.js`` reads it."""
    if board.n >= len(_SYMBOLS):
        raise InputError(f"the page shows boards of up to {len(_SYMBOLS) - 1} digits")
    return f"#{board.geometry}/setting/{''.join(_SYMBOLS[digit] for digit in board.cells)}"
