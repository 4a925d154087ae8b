"""Children that are forked while other threads count, load kernels or hold locks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from gpusudoku import collection, count

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no forks")

START = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forks in a process with threads

def start_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # ends a child that hangs
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return child

def status_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def status_in_child(work):
    return status_of(start_child(work))

"""


def printed_by(script: str) -> str:
    """Run a script in a new process; return its output."""
    command = [sys.executable, "-c", START + dedent(script)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def test_a_child_counts_whatever_a_thread_did_at_the_fork() -> None:
    expected = count(collection.load("1f"), device="cpu").count  # compiles what the script needs
    script = """
        import gpusudoku

        def count():
            return gpusudoku.count(gpusudoku.collection.load("1f"), device="cpu", jobs=1).count

        def count_on():
            while True:
                count()

        threading.Thread(target=count_on, daemon=True).start()
        statuses = []
        for number in range(50):
            time.sleep(number % 10 / 1000)  # the first imports and kernels, or a later count
            statuses.append(status_in_child(lambda: count() == EXPECTED))
            if statuses[-1]:
                break
        print(len(statuses), statuses[-1], flush=True)
        os._exit(0)
    """
    assert printed_by(script.replace("EXPECTED", str(expected))) == "50 0\n"


def test_a_child_counts_whatever_a_thread_was_importing_at_the_fork() -> None:
    """In the child, a module that is partly imported at the fork stays so, and its lock is held."""
    expected = count(collection.load("1f"), device="cpu").count  # compiles what the script needs
    script = """
        import gpusudoku

        importing, forked, ended = (threading.Event() for _ in range(3))

        class Finder:  # gives the main thread time for a fork during each import of the other
            def find_spec(self, name, path=None, target=None):
                if threading.current_thread() is thread:
                    importing.set()
                    forked.wait(0.01)
                    forked.clear()

        def count():
            return gpusudoku.count(gpusudoku.collection.load("1f"), device="cpu", jobs=1).count

        def count_once():
            count()
            ended.set()
            importing.set()

        thread = threading.Thread(target=count_once)
        sys.meta_path.insert(0, Finder())
        thread.start()
        children = []
        while True:
            importing.wait()
            importing.clear()
            if ended.is_set():
                break
            children.append(start_child(lambda: count() == EXPECTED))
            forked.set()
        print(len(children) > 1, {status_of(child) for child in children})
    """
    assert printed_by(script.replace("EXPECTED", str(expected))) == "True {0}\n"


def test_a_child_takes_locks_that_a_thread_of_its_parent_held() -> None:
    script = """
        import gpusudoku
        from gpusudoku.jobs.cancel import CancellableLock

        lock, token = CancellableLock(), gpusudoku.CancelToken()
        held, released = threading.Event(), threading.Event()

        def hold():
            with lock, token._lock:
                held.set()
                released.wait()

        def take_both():
            with lock, token:
                return gpusudoku.count("1....2....3.....", device="cpu", cancel=token).count == 6

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        print(status_in_child(take_both))
        with_own = lock._lock.acquire(timeout=0.1)
        released.set()
        thread.join()
        print(with_own, take_both())
    """
    assert printed_by(script) == "0\nFalse True\n"


def test_a_fork_waits_for_what_a_child_could_not_finish() -> None:
    script = """
        from gpusudoku.jobs.forks import delayed_forks

        began, order = threading.Event(), []

        def work():
            with delayed_forks():
                began.set()
                time.sleep(0.2)
                order.append("worked")

        thread = threading.Thread(target=work)
        thread.start()
        began.wait()
        statuses = [status_in_child(lambda: order == ["worked"])]
        thread.join()
        with delayed_forks():  # which does not wait for itself
            statuses.append(status_in_child(lambda: True))
        print(statuses)
    """
    assert printed_by(script) == "[0, 0]\n"
