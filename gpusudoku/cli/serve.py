"""``gpusudoku serve``: a page where you edit a board and see its solutions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.compile import usual_kernels
from gpusudoku.cli.completing import complete_boards
from gpusudoku.cli.options import OwnOptions, box_option, devices, method, quiet_option
from gpusudoku.cli.usage import Integer, Seconds
from gpusudoku.errors import GpusudokuError, InputError, Interrupted, not_installed, shown
from gpusudoku.jobs.interrupts import patient_interrupts
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import complain, note, quietly
from gpusudoku.pipeline.output import show
from gpusudoku.pipeline.run import start_engine
from gpusudoku.pipeline.settings import InputOptions
from gpusudoku.pipeline.source import Source

own = OwnOptions("serve")

_NAME = re.compile(r"[\w.-]+|\[?[0-9A-Fa-f:.]+\]?")
_ORIGIN = re.compile(r"https?://[^/\s?#@]+/*", re.IGNORECASE)
_SYMBOLS = "0123456789ABCDEFGHIJKLMNOP"
STOP_SECONDS = 12.0
"""The time that the server may take to end."""


def _checked(form: re.Pattern[str], expected: str) -> Callable[..., tuple[str, ...]]:
    """Return a callback of click that refuses values of another form."""

    def callback(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> Any:
        for text in value:
            if form.fullmatch(text) is None:
                raise click.BadParameter(f"{shown(text)}: expected {expected}")
        return value

    return callback


@click.command("serve")
@click.argument("board", required=False, metavar="[BOARD]", shell_complete=complete_boards)
@own("--host", default="127.0.0.1", metavar="HOST", help="The name or address to listen at.")
@own(
    "--port",
    type=Integer(0, 65535),
    help="The port to listen at; 0 is any.  [default: 6561, or any if that is in use]",
)
@own("--open", "opened", is_flag=True, help="Open the page in a browser.")
@own(
    "--allow-host",
    "hosts",
    multiple=True,
    callback=_checked(_NAME, "a name, such as box.example.org"),
    metavar="NAME",
    help="A name that browsers may call this server by, besides localhost.",
)
@own(
    "--allow-origin",
    "origins",
    multiple=True,
    callback=_checked(_ORIGIN, "an origin, such as https://example.org"),
    metavar="URL",
    help="Another site whose pages may send requests.",
)
@own("--most", type=Integer(1, 64), default=4, help="Requests handled at once.")
@own(
    "--time-limit",
    "seconds",
    type=Seconds(1e7),
    default=3600.0,
    metavar="SECONDS",
    help="Give up a request after this time.",
)
@box_option
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
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    most: int,
    seconds: float,
    **options: Any,
) -> None:
    """Open a page where you edit a board and see how many solutions remain.

    Prints the address of the page, and serves it until Ctrl-C. With BOARD, the page begins with
    that board. Only browsers on this machine reach it, unless --host says otherwise. Other programs
    may ask it, too: POST /count and more take JSON.

    \b
    Examples:
      gpusudoku serve --open
      gpusudoku serve @2f
      gpusudoku serve --port 8000 -j 2
      gpusudoku serve --host 0.0.0.0 --allow-host sudoku.example.org
    """
    link = "" if board is None else _link(board, InputOptions(box, keep_going=False))
    try:
        import starlette
        import uvicorn
    except ImportError as error:
        raise GpusudokuError(
            f"{not_installed('serve', 'Starlette and uvicorn', 'web')} ({error})"
        ) from None
    del starlette, uvicorn

    with quietly(quiet), patient_interrupts(STOP_SECONDS):
        server = None
        try:
            from gpusudoku.board.geometry import NINE
            from gpusudoku.web.answers import Answerer
            from gpusudoku.web.app import Permissions
            from gpusudoku.web.serving import USUAL_PORT, Server, addresses_of, is_loopback, listen

            if not hosts and not is_loopback(host):
                raise InputError(
                    f"--host {host} is reachable from other machines: add --allow-host NAME, the"
                    " name they will use"
                )
            listening = listen(host, port)
            number = listening.getsockname()[1]
            if port is None and number != USUAL_PORT:
                note(f"port {USUAL_PORT} is in use; using {number} instead")
            page, *others = (f"{each}{link}" for each in addresses_of(host, listening, hosts))
            settings = Options(**options)
            engine = start_engine(settings)
            origins = tuple(origin.rstrip("/").lower() for origin in origins)
            server = Server(
                Answerer(engine, settings),
                listening,
                most=most,
                seconds=seconds,
                allowed=Permissions([*hosts, host] if is_loopback(host) else hosts, origins),
                complain=complain,
                kernels=usual_kernels(NINE),
            )
            server.start()
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


def _link(name: str, reading: InputOptions) -> str:
    """Return the end of the page's address that shows a board: ``puzzle.js`` reads it."""
    source = Source([name], reading, one=True)
    if source.board is None:
        raise InputError("serve takes one board")
    board = source.board[0]
    if board.n >= len(_SYMBOLS):
        raise InputError(f"the page shows boards of up to {len(_SYMBOLS) - 1} digits")
    return f"#{board.geometry}/setting/{''.join(_SYMBOLS[digit] for digit in board.cells)}"
