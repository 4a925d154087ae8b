"""``gpusudoku serve``: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpusudoku import collection
from gpusudoku.web import serving
from gpusudoku.web.serving import USUAL_PORT, addresses_of, is_loopback, listen
from tests.boards import LINE_4X4, PUZZLE
from tests.web.conftest import Running, events_of, until

ZEROS = LINE_4X4.replace(".", "0")

Start = Callable[..., Running]
Run = Callable[..., tuple[int, str, str]]


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_it_stops_in_the_middle_of_long_counts(serve: Start, name: str) -> None:
    """With streams open, questions waiting, and a client that has said nothing yet."""
    running = serve("--method", "search", "--most", 2, LINE_4X4)
    assert running.printed == f"{running.address}#2x2/setting/{ZEROS}"
    streams = []
    for _ in range(4):
        connection = running.connect()
        body = b'{"board": "%s"}' % (b"." * 81)
        connection.request("POST", "/count", body, {"Accept": "text/event-stream"})
        streams.append(connection.getresponse())
    until(lambda: running.status() == (2, 2))
    with socket.create_connection((running.host, running.port)):
        running.process.send_signal(getattr(signal, name))
        for stream in streams:
            last_event = list(events_of(stream))[-1:]
            assert last_event, running.said
            event, facts = last_event[0]
            assert (event, facts.get("status")) == ("error", 503), running.said
        assert running.process.wait(300) == 0
    assert running.process.stdout is not None
    assert running.process.stdout.read() == ""
    *before, last = running.said.splitlines()
    assert last == "gpusudoku: stopped"
    assert all("compiling" in line or line == "gpusudoku: ready" for line in before)


def test_the_address_comes_before_all_is_compiled(
    serve: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is there, boards are read, and questions are told so; it can be stopped at once."""
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "empty"))
    running = serve(compiled=False)
    assert running.state()["compiling"]
    with running.request("GET", "/") as response:
        assert response.status == 200
    assert running.ask("read", LINE_4X4)["box"] == "2x2"
    assert running.ask("count", LINE_4X4)["error"].startswith("still compiling")
    events = running.events("count", LINE_4X4)
    for _ in range(2):
        name, facts = next(events)
        assert (name, facts["compiling"]) == ("progress", True)
    assert running.stop() == 0
    name, facts = list(events)[-1]
    assert (name, facts["kind"]) == ("error", "busy")
    assert running.said.endswith("gpusudoku: stopped\n")


def test_a_board_of_another_shape_and_a_port(serve: Start) -> None:
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    running = serve("--port", port, "--box", "1x4", "-q", "--host", "localhost", LINE_4X4)
    assert running.printed == f"http://localhost:{port}/#1x4/setting/{ZEROS}"
    assert running.ask("count", PUZZLE)["count"] == "1"
    assert running.stop() == 0
    assert running.said == ""


def test_a_port_that_is_taken(run: Run) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        status, out, err = run("serve", "--port", port)
    assert (status, out) == (1, "")
    assert err.startswith(f"gpusudoku: port {port} of 127.0.0.1: ")
    assert err.count("\n") == 1


def test_any_port_if_the_usual_one_is_taken() -> None:
    with listen("127.0.0.1", None) as first, listen("127.0.0.1", None) as second:
        ports = {first.getsockname()[1], second.getsockname()[1]}
        assert len(ports) == 2
        assert len(ports - {USUAL_PORT}) >= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0: other machines reach that: say with --allow-host"),
        (["--host", "::"], "--host ::: other machines reach that: say with --allow-host"),
        (["--host", "no such\x1b[2J"], "there is no such host"),
        (["--allow-host", "http://x"], "'http://x': expected a name"),
        (["--allow-origin", "example.org"], "'example.org': expected an origin"),
        (["--allow-origin", "null"], "'null': expected an origin"),
        (["--allow-origin", "https://a.b/path"], "expected an origin"),
        (["--port", "65536"], "65536"),
        (["--time-limit", "0"], "0"),
        (["--time-limit", "nan"], "'nan': expected seconds, more than 0"),
        (["--most", "0"], "0"),
        (["12x4"], "12x4"),
        (["--box", "2x3", LINE_4X4], "16 cells"),
        (["@36x36-few"], "the page shows boards of up to 25 digits"),
    ],
)
def test_refused(run: Run, arguments: list[str], message: str) -> None:
    status, out, err = run("serve", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert "\x1b" not in err


def test_without_the_packages(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    status, out, err = run("serve")
    assert (status, out) == (1, "")
    assert "pip install '.[web]' in a checkout of gpusudoku" in err
    assert err.count("\n") == 1


def test_addresses() -> None:
    assert is_loopback("localhost")
    assert is_loopback("127.0.0.9")
    assert is_loopback("[::1]")
    assert not is_loopback("0.0.0.0")
    with listen("127.0.0.1", 0) as one:
        port = one.getsockname()[1]
        assert one.proto == socket.IPPROTO_TCP  # else small answers wait for 40 ms
        assert addresses_of("127.0.0.1", one, ["box.lan"]) == [f"http://127.0.0.1:{port}/"]
        names = ["Box.lan", "::2", "box.lan", "[::2]"]
        two = [f"http://box.lan:{port}/", f"http://[::2]:{port}/"]
        assert addresses_of("0.0.0.0", one, names) == two


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser is to open; then the server stops."""
    from gpusudoku.cli import serve

    addresses: list[str] = []

    def launch(address: str) -> None:
        addresses.append(address)
        raise KeyboardInterrupt

    monkeypatch.setattr(serve.click, "launch", launch)
    return addresses


def test_of_several_names_the_first_is_printed_and_the_others_are_told(
    run: Run, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "is_loopback", lambda host: False)
    names = ["--allow-host", "a.example", "--allow-host", "B.example", "--allow-host", "::2"]
    status, out, err = run("serve", "--open", "--port", 0, *names, LINE_4X4)
    assert status == 0
    assert opened == [out.strip()]
    page = opened[0].removeprefix("http://a.example:")
    assert page.endswith(f"/#2x2/setting/{ZEROS}")
    others = [line for line in err.splitlines() if "also at" in line]
    assert others == [f"gpusudoku: also at http://{name}:{page}" for name in ("b.example", "[::2]")]


def test_the_page_opens_in_a_browser(run: Run, opened: list[str]) -> None:
    status, out, err = run("serve", "--open", "--port", 0, "@16x16-two")
    board = collection.load("16x16-two")
    line = "".join("0123456789ABCDEFG"[digit] for digit in board.cells)
    assert status == 0
    assert opened == [out.strip()]
    assert opened[0].endswith(f"/#4x4/setting/{line}")
    assert set(line) <= set("0123456789ABCDEFG")
    assert "G" in line
    assert err.endswith("gpusudoku: stopped\n")
