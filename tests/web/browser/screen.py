"""The page in a browser: its input, and what it shows.

``chromium`` starts the browser. All waiting is for a condition, never for a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from gpusudoku import Board

SECONDS = 60
"""The longest wait for a condition. Kernels may have to be compiled."""
SYMBOLS = "0123456789ABCDEFGHIJKLMNOP"
NUMBER = "[data-part=count]"
SETTLED = "[data-settled='true']"
IDLE = "[data-part=panel][aria-busy=false]"
DRAWN = "[role=grid]:not([aria-busy=true])"


def link(board: Board, mode: str = "setting", edits: Board | None = None) -> str:
    """Return the end of an address of the page that shows a board."""
    boards = [board] if edits is None else [board, edits]
    lines = ["".join(SYMBOLS[digit] for digit in line.cells) for line in boards]
    return "#" + "/".join([str(board.geometry), mode, *lines])


class Screen:
    """The page in a tab of a browser.

    Parameters
    ----------
    driver
        Selenium's driver.
    url
        The address of the server.
    """

    def __init__(self, driver: Any, url: str) -> None:
        self.driver = driver
        self.url = url
        # The tab has the focus, even if others are open.
        self.cdp("Emulation.setFocusEmulationEnabled", enabled=True)

    def open(self, link: str = "") -> None:
        """Load the page with a board, see ``link``, and wait until no question is open."""
        # From another address: otherwise only the end of the address would change.
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}{link}")
        self.until(f'return document.querySelector("{IDLE}") !== null')

    def js(self, script: str, *arguments: object) -> Any:
        """Run the body of a JavaScript function in the page; return its result."""
        return self.driver.execute_script(script, *arguments)

    def until(self, script: str, *arguments: object, seconds: float = SECONDS) -> Any:
        """Run the body of a function until its result is true; return the result."""
        from selenium.webdriver.support.ui import WebDriverWait

        def condition(driver: Any) -> Any:
            return driver.execute_script(script, *arguments)

        wait = WebDriverWait(self.driver, seconds, poll_frequency=0.02)
        return wait.until(condition, f"waited in vain: {script} {arguments}")

    def settle(self) -> None:
        """Wait for the count and the shares of the board, unless its shares are too expensive."""
        self.until(f'return document.querySelector("{SETTLED}") !== null')

    def draw(self) -> None:
        """Wait until the page has drawn everything, and one frame longer."""
        self.js("return new Promise((go) => requestAnimationFrame(() => setTimeout(go)))")
        self.until(f"return document.querySelector('{DRAWN}') !== null")
        self.js("return new Promise((go) => requestAnimationFrame(() => setTimeout(go)))")

    def press(self, *keys: str) -> None:
        """Press keys one after the other. ``"Control+z"`` presses z while Control is held."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            *modifiers, main_key = [getattr(Keys, name_of(part), part) for part in key.split("+")]
            for modifier in modifiers:
                chain.key_down(modifier)
            chain.send_keys(main_key)
            for modifier in reversed(modifiers):
                chain.key_up(modifier)
        chain.perform()

    def focus(self, cell: int) -> None:
        """Focus a cell by a click."""
        self.driver.find_elements("css selector", "[role=gridcell]")[cell].click()

    def paste(self, text: str) -> None:
        """Paste text through the clipboard."""
        self.allow_clipboard()
        self.driver.execute_async_script(
            "navigator.clipboard.writeText(arguments[0]).then(arguments[1])", text
        )
        key = {"key": "v", "code": "KeyV", "windowsVirtualKeyCode": 86, "modifiers": 2}
        self.cdp("Input.dispatchKeyEvent", type="rawKeyDown", commands=["paste"], **key)
        self.cdp("Input.dispatchKeyEvent", type="keyUp", **key)

    def clipboard(self) -> str:
        """Return the text on the clipboard."""
        self.allow_clipboard()
        text: str = self.driver.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0])"
        )
        return text

    def allow_clipboard(self) -> None:
        """Allow the page to use the clipboard without asking the user."""
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        self.cdp("Browser.grantPermissions", permissions=permissions)

    def cdp(self, method: str, **params: object) -> Any:
        """Send a command of the Chrome DevTools Protocol."""
        return self.driver.execute_cdp_cmd(method, params)

    def resize(self, width: int, height: int, *, touch: bool = False, scale: float = 1.0) -> None:
        """Set the size of the screen, in CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": touch}
        self.cdp("Emulation.setDeviceMetricsOverride", **size)
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=touch)

    def dark(self, is_dark: bool = True) -> None:
        """Set the preferred colours of the browser to dark or light."""
        value = "dark" if is_dark else "light"
        feature = {"name": "prefers-color-scheme", "value": value}
        self.cdp("Emulation.setEmulatedMedia", features=[feature])

    def text(self, selector: str) -> str:
        """Return the text of the first element that matches a selector."""
        text: str = self.js("return document.querySelector(arguments[0]).textContent", selector)
        return text.strip()

    def count(self) -> int:
        """Return the shown number of solutions, after ``settle``."""
        self.settle()
        return number(self.text(NUMBER))

    def digits(self) -> list[int]:
        """Return the digits in the cells, of the board or of a shown solution; 0 if empty."""
        texts: list[str] = self.js(
            "return [...document.querySelectorAll('.gs-cell')].map("
            "(cell) => cell.querySelector('.gs-digit')?.textContent ?? '')"
        )
        return [int(text, 36) if text else 0 for text in texts]

    def requests(self) -> list[str]:
        """Return the addresses of all requests since the last call."""
        messages = (json.loads(entry["message"])["message"] for entry in self._log("performance"))
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """Return the messages of the console, with refused requests, since the last call."""
        return [entry["message"] for entry in self._log("browser")]

    def _log(self, name: str) -> Iterable[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.driver.get_log(name)
        return entries


def name_of(key: str) -> str:
    """Return Selenium's name of a key: ``ARROW_LEFT`` for ``ArrowLeft``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).upper()


def number(text: str) -> int:
    """Read a number with thousands separators."""
    return int("".join(filter(str.isdigit, text)))
