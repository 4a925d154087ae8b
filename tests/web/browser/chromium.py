"""A real browser and a server of the page, for tests and for ``docs/picture.py``.

Chromium runs without a window, controlled by Selenium with the installed driver; nothing is
downloaded. The caller provides the folder of its profile.
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
"""No window, and no requests that the browser would send by itself."""
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/?")
STARTING_SECONDS = 180
"""The longest wait for the server, which may have to compile kernels first."""


def browser() -> str | None:
    """Return the path of an installed browser; None if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def missing() -> str | None:
    """Return the reason why no browser can be started; None if there is none."""
    if find_spec("selenium") is None:
        return "the package selenium is not installed"
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        return "the packages of the extra web are not installed"
    if browser() is None or shutil.which(DRIVER) is None:
        return f"no Chromium with {DRIVER} is installed"
    return None


@contextmanager
def chromium(folder: Path) -> Iterator[Any]:
    """Start a browser with an empty profile in a folder; yield Selenium's driver.

    Its log ``performance`` has every request, its log ``browser`` the messages of the console.
    """
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = browser() or ""
    # The sandbox does not work for root, the only user of most containers.
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
        Further options of the command.
    """

    def __init__(self, *options: str) -> None:
        self._options = options
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        """The address of the server, with a slash at the end."""
        return f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        """Start the server, at its previous port if it had one; return once it is ready."""
        command = [sys.executable, "-m", "gpusudoku", "serve", "--device", "cpu", *self._options]
        # Tests may use the simulator of CUDA in this process. The server uses the CPU.
        environment = {name: value for name, value in os.environ.items() if "CUDASIM" not in name}
        paths = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [*command, "--port", str(self._port)],
            env={**environment, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        lines = []
        for line in self._process.stdout:
            lines.append(line)
            if match := ADDRESS.search(line):
                self._port = int(match[1])
                break
        else:
            raise RuntimeError(f"gpusudoku serve ended: {''.join(lines)}")
        self._wait_until_compiled()

    def stop(self) -> None:
        """Stop the server as Ctrl-C does, and wait until it has ended."""
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.communicate(timeout=20)
        finally:
            self._process.kill()

    def status(self) -> dict[str, Any]:
        """Return the answer to ``GET /status``."""
        with urlopen(f"{self.url}status", timeout=20) as response:
            facts: dict[str, Any] = json.load(response)
        return facts

    def _wait_until_compiled(self) -> None:
        """Wait until the kernels of usual questions are compiled."""
        deadline = time.monotonic() + STARTING_SECONDS
        while self.status()["compiling"]:
            if time.monotonic() > deadline:
                raise TimeoutError("gpusudoku serve is still compiling")
            time.sleep(0.05)


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    """Start a server, and stop it at the end of the block."""
    server = Server(*options)
    try:
        yield server
    finally:
        server.stop()
