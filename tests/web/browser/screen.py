"""The page as one sees it in a browser: what is typed into it, and what stands there.

``chromium`` gives the browser. Whatever is waited for is a condition, never a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from gpusudoku import Board

SECONDS = 60
"""As long as anything is waited for; kernels may have to be compiled."""
SYMBOLS = "0123456789ABCDEFGHIJKLMNOP"
NUMBER, SETTLED = "[data-part=count]", "[data-settled='true']"
IDLE = "[data-part=panel][aria-busy=false]"
DRAWN = "[role=grid]:not([aria-busy=true])"


def link(board: Board, mode: str = "setting", edits: Board | None = None) -> str:
    """What stands behind the address of a page that begins with a board."""
    lines = ["".join(SYMBOLS[digit] for digit in each.cells) for each in (board, edits) if each]
    return "#" + "/".join([str(board.geometry), mode, *lines])


class Screen:
    """A page in a browser's tab.

    Parameters
    ----------
    driver
        Selenium's.
    url
        The address of the server.
    """

    def __init__(self, driver: Any, url: str) -> None:
        self.driver = driver
        self.url = url
        self.cdp("Emulation.setFocusEmulationEnabled", enabled=True)  # of a tab of many, too

    def open(self, behind: str = "") -> None:
        """Load the page anew, with a board behind its address, and wait until it asks no more."""
        self.driver.get("about:blank")  # else only the end of the address changes
        self.driver.get(f"{self.url}{behind}")
        self.until(f'return document.querySelector("{IDLE}") !== null')

    def js(self, script: str, *arguments: object) -> Any:
        """Run the body of a function in the page; gives what it returns."""
        return self.driver.execute_script(script, *arguments)

    def until(self, script: str, *arguments: object, seconds: float = SECONDS) -> Any:
        """Wait until the body of a function returns something true, in the page; gives that."""
        from selenium.webdriver.support.ui import WebDriverWait

        def found(driver: Any) -> Any:
            return driver.execute_script(script, *arguments)

        waiting = WebDriverWait(self.driver, seconds, poll_frequency=0.02)
        return waiting.until(found, f"in vain: {script} {arguments}")

    def settle(self) -> None:
        """Wait until the count and the shares of the board are there, or its shares cost more."""
        self.until(f'return document.querySelector("{SETTLED}") !== null')

    def draw(self) -> None:
        """Wait until all stands there that the page draws in pieces, and a frame longer."""
        self.js("return new Promise((go) => requestAnimationFrame(() => setTimeout(go)))")
        self.until(f"return document.querySelector('{DRAWN}') !== null")
        self.js("return new Promise((go) => requestAnimationFrame(() => setTimeout(go)))")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is; ``"Control+z"`` is a chord."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            *held, last = [getattr(Keys, name_of(part), part) for part in key.split("+")]
            for each in held:
                chain.key_down(each)
            chain.send_keys(last)
            for each in reversed(held):
                chain.key_up(each)
        chain.perform()

    def focus(self, cell: int) -> None:
        """Give a cell the focus, as a tap on it does."""
        self.driver.find_elements("css selector", "[role=gridcell]")[cell].click()

    def paste(self, text: str) -> None:
        """Paste text, by way of the clipboard."""
        self.allow_clipboard()
        self.driver.execute_async_script(
            "navigator.clipboard.writeText(arguments[0]).then(arguments[1])", text
        )
        key = {"key": "v", "code": "KeyV", "windowsVirtualKeyCode": 86, "modifiers": 2}
        self.cdp("Input.dispatchKeyEvent", type="rawKeyDown", commands=["paste"], **key)
        self.cdp("Input.dispatchKeyEvent", type="keyUp", **key)

    def clipboard(self) -> str:
        """What was copied last."""
        self.allow_clipboard()
        text: str = self.driver.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0])"
        )
        return text

    def allow_clipboard(self) -> None:
        """Allow the page to use it without asking; there is nobody to ask."""
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        self.cdp("Browser.grantPermissions", permissions=permissions)

    def cdp(self, method: str, **params: object) -> Any:
        """Tell the browser something by its own protocol."""
        return self.driver.execute_cdp_cmd(method, params)

    def resize(self, width: int, height: int, *, touch: bool = False, scale: float = 1.0) -> None:
        """Look at the page on a screen of a size; its height and width are CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": touch}
        self.cdp("Emulation.setDeviceMetricsOverride", **size)
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=touch)

    def dark(self, wanted: bool = True) -> None:
        """Look at it as someone does who likes dark pages."""
        value = "dark" if wanted else "light"
        feature = {"name": "prefers-color-scheme", "value": value}
        self.cdp("Emulation.setEmulatedMedia", features=[feature])

    def text(self, selector: str) -> str:
        """The text of the first element that a selector names."""
        found: str = self.js("return document.querySelector(arguments[0]).textContent", selector)
        return found.strip()

    def count(self) -> int:
        """The number of solutions that stands there, once everything has settled."""
        self.settle()
        return number(self.text(NUMBER))

    def digits(self) -> list[int]:
        """What stands in the cells, be it of the board or of a solution that is shown; 0: none."""
        texts: list[str] = self.js(
            "return [...document.querySelectorAll('.gs-cell')].map("
            "(cell) => cell.querySelector('.gs-digit')?.textContent ?? '')"
        )
        return [int(text, 36) if text else 0 for text in texts]

    def requests(self) -> list[str]:
        """The addresses of all that was asked for since this was called before."""
        messages = (json.loads(each["message"])["message"] for each in self._log("performance"))
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """What the console says, and that something was refused, since this was called before."""
        return [each["message"] for each in self._log("browser")]

    def _log(self, name: str) -> Iterable[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.driver.get_log(name)
        return entries


def name_of(key: str) -> str:
    """What Selenium calls a key: ``ARROW_LEFT`` for ``ArrowLeft``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).upper()


def number(text: str) -> int:
    """The number that digits in groups make."""
    return int("".join(filter(str.isdigit, text)))
