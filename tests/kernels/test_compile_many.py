"""Several kernels compiled at the same time, in helper processes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpusudoku.jobs.watch import Announcer, watching
from gpusudoku.kernels import compile_many, kernel, kernel_store
from gpusudoku.kernels.arguments import int64
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.kernel_store import Store
from tests.kernels.examples import times
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
FACTORS = [2, 3, 5, 7]
GET_PACE = kernel.get_pace  # before the fixture ``store`` replaces it


def make_kernels() -> list[Kernel]:
    """Make kernels that are not loaded, as in a process that has just started."""
    return [times(factor) for factor in FACTORS]


@pytest.fixture
def own_names(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Collect the names of the kernels that this process compiles."""
    names: list[str | None] = []
    compile_ = Kernel.compile

    def record_and_compile(self: Kernel) -> None:
        names.append(self.name)
        compile_(self)

    monkeypatch.setattr(Kernel, "compile", record_and_compile)
    return names


def list_cached(store: Store) -> set[str]:
    """List the names of the cached kernels."""
    return {path.name for path in store.folder.iterdir()} - {kernel.PACE_FILE}


def test_two_processes_share_the_work(
    store: Store,
    own_names: list[str | None],
    announced: list[list[Kernel]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    reported_kernels: list[Kernel] = []
    compile_ = Kernel.compile

    def compile_after_helper(self: Kernel) -> None:
        # A helper has compiled one.
        until(lambda: any(kernel.load_from_cache() for kernel in kernels))
        compile_(self)

    monkeypatch.setattr(Kernel, "compile", compile_after_helper)
    kernels = make_kernels()
    compile_many.load_kernels(kernels, 2, reported_kernels.append)
    [announced_kernels] = announced
    assert {kernel.name for kernel in announced_kernels} == list_cached(store)
    assert {kernel.name for kernel in reported_kernels} == list_cached(store)
    assert 1 <= len(own_names) < len(kernels)
    assert [times_factor(10) for times_factor in kernels] == [20, 30, 50, 70]
    assert capfd.readouterr() == ("", "")
    compile_many.load_kernels(make_kernels(), 2, reported_kernels.append)
    assert len(announced) == 1
    assert len(reported_kernels) == len(kernels)


KILLED = "import os, sys; sys.stdin.read(1); os.kill(os.getpid(), 9)"


@pytest.mark.parametrize("failure", ["no store", "no Python", "fails", "is killed"])
def test_kernels_that_no_helper_compiles_are_compiled_by_this_process(
    store: Store, own_names: list[str | None], failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    popen = subprocess.Popen
    killed_command = [sys.executable, "-c", KILLED]
    if failure == "no store":
        monkeypatch.setattr(kernel_store, "user_store", lambda: None)
    elif failure == "is killed":
        monkeypatch.setattr(
            subprocess, "Popen", lambda _, **options: popen(killed_command, **options)
        )
    else:
        executables = {"no Python": "/opt/app/app", "fails": "/no/python"}
        monkeypatch.setattr(sys, "executable", executables[failure])
    kernels = make_kernels()
    compile_many.load_kernels(kernels, 3)
    assert sorted(map(str, own_names)) == sorted(str(kernel.name) for kernel in kernels)
    assert all(times_factor(1) for times_factor in kernels)


def test_a_kernel_that_cannot_be_cached_is_compiled_by_this_process(store: Store) -> None:
    """The name of the cache's folder does not depend on sources outside of the package."""
    unnamed = kernel.kernel(int64, returns=int64)(lambda x: x + 1)
    compile_many.load_kernels([unnamed, times(2)], 2)
    assert (unnamed.name, unnamed(1)) == (None, 2)
    assert list_cached(store) == {times(2).name}


def test_estimates(store: Store) -> None:
    kernels = [times(n, n) for n in (4, 1, 2)] + [times(9, 1)]
    assert compile_many.estimate_seconds(kernels, 1) == 8
    assert compile_many.estimate_seconds(kernels, 2) == 4
    assert compile_many.estimate_seconds(kernels, 8) == 4
    assert compile_many.estimate_seconds(kernels[1:], 2) == 2
    kernels[0].load()
    assert compile_many.estimate_seconds([times(4, 4), *kernels[1:]], 1) == 4
    assert compile_many.estimate_seconds([], 2) == 0


class RecordingAnnouncer(Announcer):
    """Collects the messages."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def say(self, text: str, seconds: float = 0.0) -> None:
        self.texts.append(text)


def make_kernel(subject: str, factor: int, seconds: float) -> Kernel:
    times_factor = times(factor, seconds)
    times_factor.subject = subject
    return times_factor


def test_the_time_of_a_command_is_announced_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the time on this machine, for all kernels that may be needed."""
    monkeypatch.setattr(kernel, "get_pace", lambda estimate: 2.0)
    search = make_kernel("the search", 2, 3)
    total = make_kernel("the sum", 3, 10)
    announcer = RecordingAnnouncer()
    with watching(announcer):
        compile_many.load_kernels([search], 1, later=[search, total])
        compile_many.load_kernels([total], 1)
    time = "about 6 s, or 26 s if all of it is needed"
    cache = f"once (cached in {store.folder.parent})"
    assert announcer.texts == [f"compiling the search and the sum, {time}, {cache}"]


def test_the_pace_of_the_machine_is_measured_and_cached(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first kernel is compiled to measure it. Later compilation replaces the measurement."""
    monkeypatch.setattr(kernel, "get_pace", GET_PACE)
    # The sample takes twice its estimate, and the first kernel five times its estimate of 3 s.
    clock = iter([10.0, 10.0 + 2 * kernel.DEFAULT_SECONDS, 20.0, 20.0 + 5 * 3, 30.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(Kernel, "load_from_cache", lambda self: False)
    monkeypatch.setattr(Kernel, "compile", lambda self: None)
    announcer = RecordingAnnouncer()
    with watching(announcer):
        compile_many.load_kernels([make_kernel("the search", 2, 3)], 1)
        compile_many.load_kernels([make_kernel("the sum", 3, 1)], 1)
    assert announcer.texts == [
        f"compiling the search, about 6 s, once (cached in {store.folder.parent})",
        "compiling the sum, about 5 s",
    ]
    assert store.read(kernel.PACE_FILE) == b"5.0"


def test_only_python_itself_is_started(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "python", "python3.13t", "pythonw.exe", "Python":
        monkeypatch.setattr(sys, "executable", f"/a/folder/{name}")
        assert compile_many.estimate_seconds(make_kernels(), 2) == 6
    for name in "pypy3", "python-app", "blender", "":
        monkeypatch.setattr(sys, "executable", name and f"/a/folder/{name}")
        assert compile_many.estimate_seconds(make_kernels(), 2) == 12


SCRIPT = """
import sys
from gpusudoku.kernels import compile_many
from tests.kernels.test_compile_many import make_kernels
kernels = make_kernels()
print("begun", flush=True)
compile_many.load_kernels(kernels, int(sys.argv[1]))
assert all(kernel.load_from_cache() for kernel in kernels)
"""


def start(processes: int) -> subprocess.Popen[bytes]:
    """Start a process that compiles the kernels."""
    command = [sys.executable, "-c", SCRIPT, str(processes)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_two_processes_on_an_empty_folder(store: Store) -> None:
    for process in start(1), start(1):
        out, err = process.communicate(timeout=300)
        assert out == b"begun\n"
        assert err.count(b"\n") == err.count(b"gpusudoku: compiling ") <= 1
        assert process.returncode == 0
    assert list_cached(store) >= {kernel.name for kernel in make_kernels()}


def list_children(pid: int) -> list[int]:
    """List the child processes of a process, on Linux."""
    try:
        return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    except OSError:
        return []


def is_running(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")
@pytest.mark.usefixtures("store")
def test_no_process_outlives_its_parent() -> None:
    process = start(3)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    until(lambda: bool(list_children(process.pid)) or process.poll() is not None)
    helpers = list_children(process.pid)
    process.kill()
    process.communicate(timeout=300)
    assert helpers
    until(lambda: not any(map(is_running, helpers)))
