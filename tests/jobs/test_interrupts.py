"""Signals: caught, held back, survived, and work that they cannot interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpusudoku.jobs.interrupts import held_interrupts, interruptibly
from tests.jobs.workers import start_thread

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


def run_code(code: str) -> tuple[int, str, str]:
    """Run Python code in a process; return its status, stdout and stderr."""
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    return process.returncode, process.stdout, process.stderr


@pytest.fixture
def signals() -> Iterator[list[int]]:
    """Record the signals that the owner's handler of SIGTERM receives."""
    numbers: list[int] = []
    old = signal.signal(signal.SIGTERM, lambda number, frame: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGTERM, old)


def test_a_signal_reaches_its_owner_after_the_outermost_block(signals: list[int]) -> None:
    """The block may end with an error."""
    with held_interrupts() as interrupted:
        assert not interrupted()
        with pytest.raises(ZeroDivisionError), held_interrupts():  # noqa: PT012
            signal.raise_signal(signal.SIGTERM)
            raise ZeroDivisionError
        assert interrupted()
        assert signals == []
    assert signals == [signal.SIGTERM]


def test_ctrl_c_reaches_its_owner_after_the_block() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), held_interrupts():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        reached = True
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ignored_and_fatal_signals_stay_so() -> None:
    old = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    with held_interrupts() as interrupted:
        signal.raise_signal(signal.SIGUSR1)
        assert signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL
        assert not interrupted()
    signal.signal(signal.SIGUSR1, old)


def test_other_threads_get_no_signals() -> None:
    values: list[object] = []

    def work() -> None:
        with held_interrupts() as interrupted:
            values.append(interrupted())
        values.append(interruptibly(threading.current_thread))

    thread = start_thread(work)
    thread.join()
    assert values == [False, thread]


OUTLIVES = """
import math, os, signal, sys, threading, time
from gpusudoku.jobs import interrupts

asked, may_go_on, sleep = [], threading.Semaphore(0), time.sleep

def patience(seconds):
    if threading.current_thread() is threading.main_thread():
        sleep(seconds)
    else:
        asked.append(seconds)
        may_go_on.acquire()

def until(what):
    while not what():
        sleep(0.001)

time.sleep = patience
interrupts.catch_interrupts()
interrupts.enable_interrupts()
try:
    with interrupts.interrupt_grace(math.inf):
        os.kill(os.getpid(), signal.SIGINT)
        sleep(300)
except KeyboardInterrupt:
    until(lambda: len(asked) == 1)
may_go_on.release()
signal.signal(signal.SIGWINCH, lambda *_: None)
os.kill(os.getpid(), signal.SIGWINCH)  # which is met once the event was
until(lambda: len(asked) == 2)
may_go_on.release()
with interrupts.interrupt_grace(7.0):
    try:
        os.kill(os.getpid(), signal.{name})
        sleep(300)
    except KeyboardInterrupt:
        until(lambda: len(asked) == 3)
print("outlived", asked[2] == 7.0, interrupts.last_interrupt() == signal.{name}, flush=True)
os.kill(os.getpid(), signal.SIGINT)  # disturbs no more
may_go_on.release()
sleep(300)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_event_is_outlived_but_not_what_comes_after_it(name: str) -> None:
    """After that the process is ended by force, once its patience is over, here when told so."""
    status, out, messages = run_code(OUTLIVES.format(name=name))
    assert (status, messages) == (128 + getattr(signal, name), "gpusudoku: interrupted\n")
    assert out == "outlived True True\n"


AT_ONCE = """
import os, signal, time
from gpusudoku.jobs import interrupts
signal.signal(signal.SIGHUP, signal.SIG_IGN)
interrupts.catch_interrupts()
os.kill(os.getpid(), signal.SIGHUP)
print("goes on", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(300)
"""


def test_before_there_is_anything_to_lose_a_signal_ends_the_process_unless_ignored() -> None:
    assert run_code(AT_ONCE) == (128 + signal.SIGTERM, "goes on\n", "gpusudoku: interrupted\n")


def test_interruptible_calls_return_results_and_errors() -> None:
    assert interruptibly(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        interruptibly(lambda: 1 / 0)


def test_an_interrupt_ends_the_waiting_but_not_the_work() -> None:
    go_on = threading.Event()
    finished = threading.Event()

    def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        assert go_on.wait(200)
        finished.set()

    with pytest.raises(KeyboardInterrupt):
        interruptibly(work)
    assert not finished.is_set()
    go_on.set()
    assert finished.wait(200)
