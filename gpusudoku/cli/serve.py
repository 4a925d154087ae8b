"""``gpusudoku serve``: a page where you edit a board and see its solutions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.compile import usual_kernels
from gpusudoku.cli.completing import complete_boards
from gpusudoku.cli.options import (
    CommandOptions,
    box_option,
    device_options,
    method_option,
    quiet_option,
)
from gpusudoku.cli.usage import Integer, Seconds
from gpusudoku.errors import GpusudokuError, InputError, Interrupted, not_installed, shown
from gpusudoku.jobs.interrupts import interrupt_grace
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import print_error, print_note, quietly
from gpusudoku.pipeline.output import show
from gpusudoku.pipeline.run import start_engine
from gpusudoku.pipeline.settings import InputOptions
from gpusudoku.pipeline.source import Source

serve_option = CommandOptions("serve")

_HOST = re.compile(r"[\w.-]+|\[?[0-9A-Fa-f:.]+\]?")
"""The name of a host, an IPv4 address, or an IPv6 address with or without brackets."""
_ORIGIN = re.compile(r"https?://[^/\s?#@]+/*", re.IGNORECASE)
_SYMBOLS = "0123456789ABCDEFGHIJKLMNOP"
"""The symbols of digits in a link to the page, 0 for an empty cell."""
STOP_SECONDS = 12.0
"""Maximum time for the server to end after the first Ctrl-C."""


def _require_match(pattern: re.Pattern[str], expected: str) -> Callable[..., tuple[str, ...]]:
    """Return a callback of click that refuses values which a pattern does not match."""

    def callback(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> Any:
        for value in values:
            if pattern.fullmatch(value) is None:
                raise click.BadParameter(f"{shown(value)}: expected {expected}")
        return values

    return callback


@click.command("serve")
@click.argument("board", required=False, metavar="[BOARD]", shell_complete=complete_boards)
@serve_option("--host", default="127.0.0.1", metavar="HOST", help="Name or address to listen on.")
@serve_option(
    "--port",
    type=Integer(0, 65535),
    help="Port to listen on, or 0 for any free port.  [default: 6561, or any free port if that is"
    " in use]",
)
@serve_option("--open", "opened", is_flag=True, help="Open the page in a browser.")
@serve_option(
    "--allow-host",
    "hosts",
    multiple=True,
    callback=_require_match(_HOST, "a name, such as box.example.org"),
    metavar="NAME",
    help="Additional name or address of this server that browsers may use; may be repeated.",
)
@serve_option(
    "--allow-origin",
    "origins",
    multiple=True,
    callback=_require_match(_ORIGIN, "an origin, such as https://example.org"),
    metavar="URL",
    help="Additional site whose pages may send requests; may be repeated.",
)
@serve_option(
    "--most",
    "max_requests",
    type=Integer(1, 64),
    default=4,
    help="Maximum number of requests to handle at once.",
)
@serve_option(
    "--time-limit",
    "seconds",
    type=Seconds(1e7),
    default=3600.0,
    metavar="SECONDS",
    help="Time limit for each request.",
)
@box_option
@device_options
@method_option
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
    max_requests: int,
    seconds: float,
    **params: Any,
) -> None:
    """Serve a web page that edits a board and counts its solutions.

    The command prints the address of the page, and serves the page until Ctrl-C. With BOARD, the
    address shows that board. Only browsers on this machine can open the page, unless you set
    --host. Programs can send JSON to POST /count and other addresses.

    \b
    Examples:
      gpusudoku serve --open
      gpusudoku serve @2f
      gpusudoku serve --port 8000 -j 2
      gpusudoku serve --host 0.0.0.0 --allow-host sudoku.example.org
    """
    fragment = ""
    if board is not None:
        fragment = _board_fragment(board, InputOptions(box, keep_going=False))
    try:
        import starlette
        import uvicorn
    except ImportError as error:
        raise GpusudokuError(
            f"{not_installed('serve', 'Starlette and uvicorn', 'web')} ({error})"
        ) from None
    del starlette, uvicorn  # imported only to report early that they are missing

    with quietly(quiet), interrupt_grace(STOP_SECONDS):
        server = None
        try:
            from gpusudoku.board.geometry import NINE
            from gpusudoku.web.answers import Answerer
            from gpusudoku.web.app import Permissions
            from gpusudoku.web.serving import USUAL_PORT, Server, addresses_of, is_loopback, listen

            if not hosts and not is_loopback(host):
                raise InputError(
                    f"--host {host} is reachable from other machines: add --allow-host NAME with"
                    " the name that they use"
                )
            # The socket listens before the address is printed, so a browser can connect at once.
            listening = listen(host, port)
            actual_port = listening.getsockname()[1]
            if port is None and actual_port != USUAL_PORT:
                print_note(f"port {USUAL_PORT} is in use; using {actual_port} instead")
            addresses = [f"{address}{fragment}" for address in addresses_of(host, listening, hosts)]
            options = Options(**params)
            engine = start_engine(options)
            # Browsers send origins in lower case, and without a slash at the end.
            origins = tuple(origin.rstrip("/").lower() for origin in origins)
            server = Server(
                Answerer(engine, options),
                listening,
                max_requests=max_requests,
                seconds=seconds,
                allowed=Permissions([*hosts, host] if is_loopback(host) else hosts, origins),
                print_error=print_error,
                kernels=usual_kernels(NINE),
            )
            server.start()
            show(addresses[0])
            for address in addresses[1:]:
                print_note(f"also at {address}")
            if opened:
                click.launch(addresses[0])
            # Kernels are loaded or compiled while the page is already served.
            if server.warm_up(engine):
                print_note("ready")
            server.wait()
        except (KeyboardInterrupt, Interrupted):
            pass  # the usual end of the command
        finally:
            if server is not None:
                server.stop()
        print_note("stopped")


def _board_fragment(name: str, input_options: InputOptions) -> str:
    """Return the fragment of the page's address that shows a board; ``puzzle.js`` reads it."""
    source = Source([name], input_options, expects_one=True)
    if source.board is None:
        raise InputError("serve takes one board")
    board = source.board[0]
    if board.n >= len(_SYMBOLS):
        raise InputError(f"the page shows boards of up to {len(_SYMBOLS) - 1} digits")
    return f"#{board.geometry}/setting/{''.join(_SYMBOLS[digit] for digit in board.cells)}"
