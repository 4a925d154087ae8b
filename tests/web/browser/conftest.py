"""One browser with one tab for all tests. After each test its console must have no errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.web.browser.chromium import chromium, missing
from tests.web.browser.screen import Screen
from tests.web.conftest import Running

HERE = Path(__file__).parent
WIDE = 1280, 900


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("slow")


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if (reason := missing()) is not None:
        pytest.skip(reason)
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        started.set_script_timeout(300)
        yield started


@pytest.fixture
def screen(driver: Any, server: Running, request: pytest.FixtureRequest) -> Iterator[Screen]:
    """Yield the tab. The test fails if the page sends requests to other hosts, or on an error."""
    screen = Screen(driver, server.address)
    screen.resize(*WIDE)
    screen.cdp("Emulation.setEmulatedMedia", media="", features=[])
    screen.requests()  # discards those of earlier tests
    screen.complaints()
    yield screen
    complaints = screen.complaints()
    requests = screen.requests()
    driver.get("about:blank")
    assert [url for url in requests if is_other_host(url, screen.url)] == []
    if "expects_errors" not in request.fixturenames:
        assert complaints == []


@pytest.fixture
def expects_errors() -> None:
    """Allow errors in the console, such as those of failed requests."""


def is_other_host(url: str, page_url: str) -> bool:
    """Return whether a request goes to another host than the page was loaded from."""
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob", "about", "file") and (
        parts.netloc != urlsplit(page_url).netloc
    )
