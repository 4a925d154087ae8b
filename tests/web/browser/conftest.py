"""A browser for all tests, and a tab for each: in the end nothing has complained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from chromium import Server, chromium, missing, serving
from screen import Screen

WIDE = 1280, 900


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if (reason := missing()) is not None:
        pytest.skip(reason)
    with serving() as started:
        yield started


@pytest.fixture(scope="session")
def driver(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        started.set_script_timeout(300)
        yield started


@pytest.fixture
def tab(driver: Any, server: Server) -> Iterator[Screen]:
    """A page in a tab of its own, of which nobody looks at what it complains of."""
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    screen = Screen(driver, server.url)
    screen.resize(*WIDE)
    screen.requests(), screen.complaints()  # those of others
    yield screen
    driver.close()
    driver.switch_to.window(first)


@pytest.fixture
def screen(tab: Screen) -> Iterator[Screen]:
    """A page in a tab of its own; no error may be left in the console, and nobody else asked."""
    yield tab
    assert tab.complaints() == []
    assert [url for url in tab.requests() if is_elsewhere(url, tab.url)] == []


def is_elsewhere(url: str, here: str) -> bool:
    """Whether a request goes to another host than a page's."""
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob", "about") and parts.netloc != urlsplit(here).netloc
