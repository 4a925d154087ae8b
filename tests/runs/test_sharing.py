"""The file of a long run among processes, on a full disk, and after SIGKILL."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest

from gpusudoku.errors import InputError, SaveError
from gpusudoku.runs import database
from gpusudoku.runs.kept import read_run
from gpusudoku.runs.ledger import Ledger
from gpusudoku.runs.owner import Owner
from tests.runs.fakes import IDENTITY, SETUP, FakePlan, worked

ROOT = Path(__file__).resolve().parents[2]

HOLD = """
import sys, time
from gpusudoku.runs.ledger import Ledger
from tests.runs.fakes import *
with Ledger(sys.argv[1]) as ledger:
    ledger.begin(IDENTITY, SETUP, FakePlan().part())
    print("begun", flush=True)
    {work}
"""


def holding(path, work="time.sleep(60)"):
    """A process that works at a file, as soon as it does."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(work=work), str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begun\n"
    return process


def test_a_second_process(kept):
    """It is refused, and told who has the file; when that was killed, it may."""
    process = holding(kept)
    try:
        before = kept.read_bytes()
        with pytest.raises(InputError, match=rf"run.sqlite: process {process.pid} on \S+ works at"):
            Ledger(kept)
        found, working = read_run(kept)
        assert working
        assert found.owner.pid == process.pid
        assert kept.read_bytes() == before
    finally:
        process.kill()
        process.communicate()
    found, working = read_run(kept)
    assert not working
    assert found.owner.pid == process.pid
    with Ledger(kept) as ledger:
        ledger.begin(IDENTITY, SETUP)
        assert read_run(kept)[0].owner.pid == os.getpid()


def test_twice_in_one_process(kept):
    plan = FakePlan(seed=1)
    with Ledger(kept) as ledger:
        ledger.begin(IDENTITY, SETUP)
        with pytest.raises(InputError, match="works at it"):
            Ledger(kept)
        assert read_run(kept)[1]
        worked(ledger, plan)  # it still has its lock, and saves
        assert ledger.finished


def test_who_reads_does_not_disturb(path):
    """Read all the time while there are saves all the time."""
    process = holding(path, "worked(ledger, FakePlan(calls=2), 100)")
    reads = 0
    try:
        while process.poll() is None:
            read_run(path)
            reads += 1
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0
    assert reads > 5
    assert read_run(path)[0].state.count > 0


def test_a_save_waits_for_a_reader_who_sleeps(kept):
    """Longer than SQLite would wait by itself; nothing is lost."""
    reader = sqlite3.connect(kept, isolation_level=None, check_same_thread=False)
    plan = FakePlan(seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "BUSY_SECONDS", 0.05)
        with Ledger(kept) as ledger:
            ledger.begin(IDENTITY, SETUP)
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM facts").fetchall()
            start = time.monotonic()
            Timer(0.7, reader.close).start()
            worked(ledger, plan, 1)
            assert time.monotonic() - start > 0.6
            count = ledger.count
    assert read_run(kept)[0].state.count == count


def test_another_who_took_the_file_all_the_same(kept):
    """In the moment between a commit and the next lock; who had it stops."""
    with Ledger(kept) as ledger:
        ledger.begin(IDENTITY, SETUP)
        owner = Owner("elsewhere", 7, 0.0, "x")
        ledger._database.run("UPDATE facts SET value = ? WHERE name = 'owner'", (owner.json,))
        with pytest.raises(SaveError, match="process 7 on elsewhere works at it now"):
            worked(ledger, FakePlan(seed=1), 1)


def test_a_full_disk(kept):
    """Some pages more, and then none: it stops with one line, and goes on later."""
    plan = FakePlan(calls=300, number=40, seed=3)
    with Ledger(kept) as ledger:
        ledger.begin(IDENTITY, SETUP)
        [(pages,)] = ledger._database.run("PRAGMA page_count")
        ledger._database.run(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(SaveError, match="cannot be saved: the disk is full; it has all up to"):
            worked(ledger, FakePlan(calls=1, scale=10**4000, seed=4))
        count = ledger.count
        with pytest.raises(SaveError, match="an earlier save failed"):
            worked(ledger, plan, 1)
    assert read_run(kept)[0].state.count == count
    with Ledger(kept) as ledger:
        ledger.begin(IDENTITY, SETUP)
        worked(ledger, plan)
        assert ledger.finished


@pytest.mark.skipif(os.name == "nt", reason="POSIX")
def test_a_file_that_may_not_grow(path):
    """As at a quota, for real; what a process that met it leaves is whole."""
    work = """
    import resource
    worked(ledger, FakePlan(calls=2), 5)
    size = __import__('os').path.getsize(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    from gpusudoku.errors import SaveError
    try:
        while True: worked(ledger, FakePlan(calls=2, scale=10**3000), 1)
    except SaveError as error: print(error, ledger.count, flush=True)
"""
    process = holding(path, work.strip())
    said = process.communicate(timeout=50)[0]
    assert process.returncode == 0
    assert "run.sqlite: cannot be saved: reading or writing failed" in said
    assert read_run(path)[0].state.count == int(said.split()[-1])
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP)
        worked(ledger, FakePlan(calls=300))
        assert ledger.finished


@pytest.mark.parametrize("seed", range(8))
def test_killed_in_the_middle_of_saves(path, seed):
    """Counts and boards go together after any SIGKILL; also when the file is being made."""
    plan = FakePlan()
    process = holding(path, "worked(ledger, FakePlan(calls=3), 10000)")
    time.sleep(random.Random(seed).random() * 0.3)
    process.kill()
    process.communicate()
    read_run(path)
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP)
        worked(ledger, FakePlan(calls=10_000))
        assert ledger.count == plan.count
