"""The line of progress of a batch."""

from __future__ import annotations

import io
import re
import time

import pytest

from gpusudoku.cli import progress
from gpusudoku.cli.messages import quietly


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(monkeypatch):
    """What stands on the line after so many seconds, boards and the share that they are."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])

    def show(seconds, done, share):
        terminal = Terminal()
        monkeypatch.setattr(progress.sys, "stderr", terminal)
        line = progress.ProgressLine()
        now[0] += seconds
        line.boards(done, share)
        return terminal.getvalue().removeprefix("\r\x1b[K")

    return show


def test_total_and_time_left(shown):
    assert shown(12, 123_456, 0.42) == "123,456 of about 294,000 boards, 12 s, about 17 s left"
    assert shown(10, 1000, 1.0) == "1,000 of about 1,000 boards, 10 s, about 0 s left"


@pytest.mark.parametrize("share", [None, 0.0])
def test_without_a_known_share(shown, share):
    assert shown(12, 123_456, share) == "123,456 boards, 12 s"


def waited_for(what, text):
    """Wait until something stands in a stream, and complain if it does not come to that."""
    deadline = time.monotonic() + 300
    while not re.search(text, what.getvalue()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("listing", [False, True])
def test_what_tells_nothing_of_itself_is_shown_to_go_on(monkeypatch, listing):
    """Also before a list on a terminal; then the line is free again."""
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(progress, "SILENCE_SECONDS", 0.01)
    terminal = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    monkeypatch.setattr(progress.sys, "stdout", Terminal())
    line = progress.ProgressLine(listing)
    with line.working():
        waited_for(terminal, r"working, \d+ s$")
    assert terminal.getvalue().endswith("\r\x1b[K")
    before = terminal.getvalue()
    time.sleep(0.05)
    line.boards(5)
    assert (terminal.getvalue() == before) == listing
    with quietly(True), progress.ProgressLine().working():
        pass


def test_nothing_at_once_nor_where_it_is_to_be_quiet(shown):
    assert shown(0.1, 10, 0.5) == ""
    with quietly(True):
        assert shown(12, 10, 0.5) == ""
