"""What test processes share is worked out once, and nobody is idle who could do some of it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tests import shared


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(shared.PLACE, str(tmp_path))


def never() -> Any:
    raise AssertionError("it is done already")


def test_it_is_done_once() -> None:
    assert shared.all_of({"a": lambda: [1], "b": lambda: {"c": 2}}) == {"a": [1], "b": {"c": 2}}
    assert shared.all_of({"b": never, "a": never}) == {"b": {"c": 2}, "a": [1]}
    assert shared.kept("bytes", lambda: b"\0") == shared.kept("bytes", never) == b"\0"


def test_what_fails_is_tried_again() -> None:
    with pytest.raises(ZeroDivisionError):
        shared.all_of({"a": lambda: 1 / 0})
    assert shared.all_of({"a": lambda: 3}) == {"a": 3}


@pytest.mark.skipif(shared.fcntl is None, reason="files cannot be locked here")
def test_who_asks_does_first_what_nobody_has_begun() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert go_on.wait(200)
        return "slow"

    def quick() -> str:
        go_on.set()
        return "quick"

    other = threading.Thread(target=lambda: shared.all_of({"a": slow}))
    other.start()
    assert begun.wait(200)
    assert shared.all_of({"a": never, "b": quick}) == {"a": "slow", "b": "quick"}
    other.join()
    assert shared.all_of({"a": never}) == {"a": "slow"}


def test_where_no_folder_is_known_each_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(shared.PLACE)
    assert [shared.kept("a", lambda done=done: done) for done in (b"1", b"2")] == [b"1", b"2"]
