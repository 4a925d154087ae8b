"""A real browser and a server of the page, for tests and for ``docs/picture.py``.

Chromium runs without a window, driven by Selenium with the driver that is installed: nothing is
ever downloaded. Its profile is a folder of the caller's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[3]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRIVER = "chromedriver"
FLAGS = (
    *("--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)
"""No window, and nothing that the browser would ask or tell others by itself."""
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/?")
STARTING_SECONDS = 180
"""The server may have to compile kernels first."""


def browser() -> str | None:
    """The path of a browser."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def missing() -> str | None:
    """Why there can be no browser here, or None."""
    if find_spec("selenium") is None:
        return "the package selenium is not there"
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        return "the packages of the extra web are not there"
    if browser() is None or shutil.which(DRIVER) is None:
        return f"no Chromium with {DRIVER} is there"
    return None


@contextmanager
def chromium(folder: Path) -> Iterator[Any]:
    """Start a browser with an empty profile in a folder; gives Selenium's driver.

    Its log ``performance`` has every request, and its log ``browser`` what the console says.
    """
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = browser() or ""
    # The sandbox refuses to work for root, whose containers mostly have no other user.
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    for flag in (*FLAGS, *sandbox, f"--user-data-dir={folder}", "--window-size=1280,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    options.add_experimental_option("perfLoggingPrefs", {"enablePage": False})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


class Server:
    """``gpusudoku serve`` as a process of its own.

    Parameters
    ----------
    options
        Options of the command besides.
    """

    def __init__(self, *options: str) -> None:
        self._options = options
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        """Its address, with a slash at the end."""
        return f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        """Start it, at the port that it had before; gives control back once it listens."""
        words = [sys.executable, "-m", "gpusudoku", "serve", "--device", "cpu", *self._options]
        # The simulator of CUDA is for tests in this process; what is served is the CPU's.
        kept = {name: value for name, value in os.environ.items() if "CUDASIM" not in name}
        paths = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [*words, "--port", str(self._port)],
            env={**kept, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        said = []
        for line in self._process.stdout:
            said.append(line)
            if found := ADDRESS.search(line):
                self._port = int(found[1])
                break
        else:
            raise RuntimeError(f"gpusudoku serve ended: {''.join(said)}")
        self._listening()

    def stop(self) -> None:
        """End it as Ctrl-C does, and wait until it has ended."""
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.communicate(timeout=20)
        finally:
            self._process.kill()

    def status(self) -> dict[str, Any]:
        """What ``GET /status`` answers."""
        with urlopen(f"{self.url}status", timeout=20) as answer:
            facts: dict[str, Any] = json.load(answer)
        return facts

    def _listening(self) -> None:
        """Wait until it has compiled what it needs."""
        end = time.monotonic() + STARTING_SECONDS
        while self.status()["compiling"]:
            if time.monotonic() > end:
                raise TimeoutError("gpusudoku serve still compiles")
            time.sleep(0.05)


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    """A server that is ended in the end."""
    server = Server(*options)
    try:
        yield server
    finally:
        server.stop()
