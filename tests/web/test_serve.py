"""``gpusudoku serve``: what it prints, what it refuses, how it starts and how it ends."""

import os
import signal
import socket
import sys
from contextlib import ExitStack, suppress

import click
import pytest

from gpusudoku import collection
from tests.boards import LINE_4X4
from tests.waiting import until
from tests.web.conftest import EVENTS, events_of

LARGE = "".join("0123456789ABCDEFG"[digit] for digit in collection.load("16x16-two").cells)
ZEROS = LINE_4X4.replace(".", "0")
COMPILING = """
import os, time
from gpusudoku.kernels import compile_many, kernel

def load_kernels(kernels, real=compile_many.load_kernels, **options):
    while not os.path.exists({done!r}):
        time.sleep(0.005)
    real(kernels, **options)

compile_many.load_kernels = load_kernels
kernel.Kernel.is_cached = False
real_load = kernel.Kernel.load_from_cache
kernel.Kernel.load_from_cache = lambda self: os.path.exists({done!r}) and real_load(self)
"""
"""It seems to compile while a file is not there."""


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_it_stops_in_the_middle_of_long_counts(serve, name):
    """With streams open, questions waiting, and a client that has said nothing yet."""
    running = serve("--method", "search", "--most", 2, LINE_4X4)
    assert running.printed == f"{running.address}#2x2/setting/{ZEROS}"
    streams = []
    for _ in range(4):
        connection = running.connect()
        body = b'{"board": "%s"}' % (b"." * 81)
        connection.request("POST", "/count", body, {"Accept": EVENTS})
        streams.append(connection.getresponse())
    until(lambda: running.status() == (2, 2))
    with socket.create_connection((running.host, running.port)):
        running.process.send_signal(getattr(signal, name))
        for stream in streams:
            last_event = list(events_of(stream))[-1:]
            assert last_event, running.stderr
            event, facts = last_event[0]
            assert (event, facts.get("status")) == ("error", 503), running.stderr
            assert facts["error"] == "the server was stopped"
        assert running.process.wait(300) == 0
    assert running.process.stdout.read() == ""
    assert running.stderr.endswith("gpusudoku: stopped\n")


def test_it_answers_as_far_as_it_can_while_it_compiles(serve, tmp_path):
    """The seconds of a question begin when it has compiled."""
    done = tmp_path / "done"
    first = COMPILING.format(done=str(done))
    running = serve(compiled=False, first=first)
    assert running.state()["compiling"]
    with running.request("GET", "/") as response:
        assert response.status == 200
    assert running.ask("read", LINE_4X4)["box"] == "2x2"
    refused = running.ask("count", LINE_4X4)
    assert refused["kind"] == "busy"
    assert refused["error"].startswith("still compiling")
    events = running.events("count", LINE_4X4, seconds=1)
    for _ in range(5):  # each a quarter of a second after the other
        name, facts = next(events)
        assert (name, facts["compiling"]) == ("progress", True)
    done.touch()
    assert list(events)[-1][1]["count"] == "6"
    until(lambda: "gpusudoku: ready\n" in running.stderr)
    done.unlink()  # boards of another shape
    events = running.events("count", LINE_4X4, seconds=1)
    assert [next(events)[1]["compiling"] for _ in range(5)] == [True] * 5
    done.touch()
    assert list(events)[-1][1]["count"] == "6"


def test_it_can_be_stopped_while_it_compiles(serve, monkeypatch, tmp_path):
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "empty"))
    running = serve(compiled=False)
    events = running.events("count", LINE_4X4)
    assert next(events)[1]["compiling"] is True
    assert running.stop() == 0
    assert list(events)[-1][1]["kind"] == "busy"
    assert running.stderr.endswith("gpusudoku: stopped\n")


@pytest.mark.parametrize(("arguments", "message"), [
    (["--host", "no such\x1b[2J"], "there is no such host"),
    (["--most", "0"], "0"),
    (["--box", "2x3", LINE_4X4], "16 cells"),
    (["@36x36-few"], "the page shows boards of up to 25 digits"),
])  # fmt: skip
def test_refused(run, arguments, message):
    status, out, err = run("serve", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert "\x1b" not in err


def test_without_the_packages(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    status, out, err = run("serve")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "pip install '.[web]' in a checkout of gpusudoku" in err


@pytest.fixture
def opened(monkeypatch):
    """Keep the addresses that a browser is to open; then the server stops."""
    addresses: list[str] = []

    def launch(address):
        addresses.append(address)
        raise KeyboardInterrupt

    monkeypatch.setattr(click, "launch", launch)
    return addresses


def test_a_port_that_is_taken(run, opened):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, out, err = run("serve", "--port", port)
    assert (status, out) == (1, "")
    assert err.startswith(f"gpusudoku: port {port} of 127.0.0.1: ")
    assert err.count("\n") == 1
    with ExitStack() as usual:
        with suppress(OSError):  # somebody else has it
            usual.enter_context(socket.create_server(("127.0.0.1", 6561)))
        status, out, err = run("serve", "--open")
    assert (status, opened) == (0, [out.strip()])
    assert out.startswith("http://127.0.0.1:")
    assert ":6561/" not in out
    assert "gpusudoku: port 6561 is in use; using " in err


def test_of_several_names_the_first_is_printed_and_the_others_are_told(run, opened):
    names = ["--allow-host", "a.example", "--allow-host", "B.example", "--allow-host", "::2"]
    again = ["--allow-host", "b.example", "--allow-host", "[::2]"]
    status, out, err = run(
        *("serve", "--host", "0.0.0.0", "--open", "--port", 0, *names, *again, LINE_4X4)
    )
    assert status == 0
    assert opened == [out.strip()]
    page = opened[0].removeprefix("http://a.example:")
    assert page.endswith(f"/#2x2/setting/{ZEROS}")
    others = [line for line in err.splitlines() if "also at" in line]
    assert others == [f"gpusudoku: also at http://{name}:{page}" for name in ("b.example", "[::2]")]


@pytest.mark.parametrize(("options", "host", "link"), [
    (["@16x16-two"], "127.0.0.9", f"#4x4/setting/{LARGE}"),
    (["--box", "1x4", "-q", LINE_4X4], "localhost", f"#1x4/setting/{ZEROS}"),
])  # fmt: skip
def test_the_page_opens_in_a_browser(run, opened, options, host, link):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    status, out, err = run("serve", "--open", "--port", port, "--host", host, *options)
    assert (status, out) == (0, f"http://{host}:{port}/{link}\n")
    assert opened == [out.strip()]
    assert err.endswith("gpusudoku: stopped\n") == ("-q" not in options)
