"""Interrupts held back, and work that they cannot cut short."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpusudoku.errors import Interrupted
from gpusudoku.jobs.interrupts import (
    held_interrupts,
    interruptibly,
    telling_interrupts,
    telling_interrupts_of,
)

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


@pytest.fixture
def got() -> Iterator[list[int]]:
    """What a handler of SIGTERM's owner was given."""
    numbers: list[int] = []
    old = signal.signal(signal.SIGTERM, lambda number, frame: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGTERM, old)


def test_a_signal_that_was_held_reaches_its_owner(got: list[int]) -> None:
    with held_interrupts() as interrupted:
        assert not interrupted()
        signal.raise_signal(signal.SIGTERM)
        assert interrupted()
        assert got == []
    assert got == [signal.SIGTERM]


def test_ctrl_c_is_held() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), held_interrupts():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        reached = True
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_is_not_hidden_and_handlers_come_back() -> None:
    with pytest.raises(ZeroDivisionError), held_interrupts():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_is_not_lost_with_an_error(got: list[int]) -> None:
    with pytest.raises(ZeroDivisionError), held_interrupts():  # noqa: PT012
        signal.raise_signal(signal.SIGTERM)
        raise ZeroDivisionError
    assert got == [signal.SIGTERM]
    with pytest.raises(KeyboardInterrupt), held_interrupts():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        raise ZeroDivisionError


def test_within_one_another_the_outermost_holds_it(got: list[int]) -> None:
    with held_interrupts() as interrupted:
        with held_interrupts():
            signal.raise_signal(signal.SIGTERM)
        assert interrupted()
        assert got == []
    assert got == [signal.SIGTERM]


OUTLIVES = """
import os, signal, time
from gpusudoku.jobs import interrupts
interrupts.PATIENCE_SECONDS = 3.0
interrupts.catch_interrupts()
interrupts.heed_interrupts()
try:
    with interrupts.skipping_interrupts():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
except KeyboardInterrupt:
    time.sleep(4)
print("outlived", flush=True)
try:
    os.kill(os.getpid(), signal.{name})
    time.sleep(60)
except KeyboardInterrupt:
    pass
while True: time.sleep(60)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_event_is_outlived_but_not_what_comes_after_it(name: str) -> None:
    """Also if the process has left the block by the time at which it would be ended by force."""
    code = OUTLIVES.format(name=name)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=300)
    assert done.stdout == b"outlived\n"
    assert done.returncode == 128 + getattr(signal, name)


MEETS_AN_END = """
import os, signal, sys, time
from gpusudoku.jobs import interrupts
interrupts.PATIENCE_SECONDS = 1000
interrupts.catch_interrupts()
interrupts.heed_interrupts()
class Closing:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1000)
try:
    Closing()
    time.sleep(1000)
except KeyboardInterrupt:
    sys.exit(interrupts.interrupt_status())
"""


def test_a_signal_that_meets_the_end_of_an_object_is_raised_after_it() -> None:
    """Python would only print it."""
    command = [sys.executable, "-c", MEETS_AN_END]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, b"")


def test_what_is_ignored_or_deadly_stays_so() -> None:
    old = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    with held_interrupts() as interrupted:
        signal.raise_signal(signal.SIGUSR1)
        assert signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL
        assert not interrupted()
    signal.signal(signal.SIGUSR1, old)


def in_a_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_other_threads_get_no_signals() -> None:
    seen: list[object] = []

    def work() -> None:
        with held_interrupts() as interrupted:
            seen.append(interrupted())
        seen.append(interruptibly(threading.current_thread))
        seen.append(threading.current_thread())

    in_a_thread(work)
    assert seen[0] is False
    assert seen[1] is seen[2]


def test_work_gives_what_it_gives() -> None:
    assert interruptibly(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        interruptibly(lambda: 1 / 0)


def test_an_interrupt_ends_the_waiting_but_not_the_work() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        assert go_on.wait(200)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        interruptibly(work)
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(200)


class TestTelling:
    def test_ctrl_c_is_told_as_elsewhere(self) -> None:
        with pytest.raises(Interrupted), telling_interrupts():
            raise KeyboardInterrupt

    def test_items(self) -> None:
        assert list(telling_interrupts_of(iter(range(3)))) == [0, 1, 2]
        assert list(telling_interrupts_of(iter(()))) == []

    def test_while_an_item_is_made(self) -> None:
        def items() -> Iterator[int]:
            yield 1
            raise KeyboardInterrupt

        given = telling_interrupts_of(items())
        assert next(given) == 1
        with pytest.raises(Interrupted):
            next(given)

    def test_whoever_takes_them_is_left_alone(self) -> None:
        def take() -> None:
            for _ in telling_interrupts_of(iter(range(3))):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            take()
