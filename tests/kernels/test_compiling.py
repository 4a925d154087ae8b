"""Several kernels compiled at once, in processes that nobody sees."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from gpusudoku.kernels import compiling, jit, kernel
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.store import Store
from tests.kernels.test_kernel import doubling

ROOT = Path(__file__).resolve().parents[2]
SHAPES = [(2, 2), (1, 4), (1, 5), (2, 3)]


def packs() -> list[Kernel]:
    """Kernels that are soon compiled, as a process that starts now has them."""
    return [cpu.pack.__wrapped__(Layout(*shape)) for shape in SHAPES]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty store, for this process and those that it starts."""
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(jit, "store", cache(jit.store.__wrapped__))
    store = jit.store()
    assert store is not None
    return store


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The names of the kernels that this process compiles."""
    names: list[str | None] = []
    compile_ = Kernel.compile

    def compiled(self: Kernel) -> None:
        names.append(self.name)
        compile_(self)

    monkeypatch.setattr(Kernel, "compile", compiled)
    return names


@pytest.fixture
def told() -> Iterator[list[list[Kernel]]]:
    calls: list[list[Kernel]] = []
    kernel.on_compiling(lambda kernels: calls.append(list(kernels)))
    yield calls
    kernel.on_compiling(None)


def test_two_processes_share_the_work(
    store: Store,
    here: list[str | None],
    told: list[list[Kernel]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(compiling, "START_SECONDS", 0.1)
    release = Kernel.compile
    waited_for: list[Kernel] = []

    def after_another(self: Kernel) -> None:
        """Take as long as the other process takes for one, whatever the machine does meanwhile."""
        end = time.monotonic() + 300
        while not waited_for and time.monotonic() < end:
            time.sleep(0.01)
        release(self)

    monkeypatch.setattr(Kernel, "compile", after_another)
    kernels, done = packs(), waited_for
    compiling.ready(kernels, 2, done.append)
    assert len(told) == 1
    assert {one.name for one in told[0]} == {one.name for one in done}
    assert 1 <= len(here) < len(kernels)
    assert all(one.fetch() for one in kernels)
    assert {path.name for path in store.folder.iterdir()} == {one.name for one in kernels}
    assert capfd.readouterr() == ("", "")
    compiling.ready(packs(), 2, done.append)
    assert len(told) == 1


def test_the_dearest_comes_first(store: Store, here: list[str | None]) -> None:
    kernels = packs()
    for seconds, one in enumerate(kernels):
        one.seconds = seconds / 100
    compiling.ready(kernels, 1)
    assert here == [one.name for one in reversed(kernels)]


@pytest.mark.parametrize("trouble", ["no store", "no Python", "fails", "is killed"])
def test_what_no_other_process_compiles_is_compiled_here(
    store: Store, here: list[str | None], trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "START_SECONDS", 0.1)
    if trouble == "no store":
        monkeypatch.setattr(jit, "store", lambda: None)
    elif trouble == "no Python":
        monkeypatch.setattr(sys, "executable", "/opt/app/app")
    elif trouble == "fails":
        monkeypatch.setattr(sys, "executable", str(Path("no", "python")))
    else:
        code = "import os, sys; sys.stdin.read(1); os.kill(os.getpid(), 9)"
        process = subprocess.Popen

        def start() -> subprocess.Popen[bytes]:
            command = [sys.executable, "-c", code]
            return process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        monkeypatch.setattr(compiling, "_start", start)
    kernels = packs()
    compiling.ready(kernels, 3)
    assert sorted(map(str, here)) == sorted(str(one.name) for one in kernels)
    assert all(one.fetch() for one in kernels)


def test_what_cannot_be_kept_is_compiled_here(store: Store) -> None:
    unnamed = kernel.kernel(kernel.jit.numba.int64)(lambda x: x + 1)
    compiling.ready([unnamed, doubling()], 2)
    assert unnamed(1) == 2


def test_prices(store: Store) -> None:
    kernels = packs()
    for seconds, one in zip([4, 1, 2, 1], kernels, strict=True):
        one.seconds = seconds
    assert compiling.seconds(kernels, 1) == 8
    assert compiling.seconds(kernels, 2) == compiling.seconds(kernels, 8) == 4
    assert compiling.seconds(kernels[1:], 2) == 2
    kernels[0].load()
    assert compiling.seconds(kernels, 1) == 4
    assert packs()[0].kept
    assert compiling.seconds([], 2) == 0


COMPILES = """
import sys
from gpusudoku.kernels import compiling
from tests.kernels.test_compiling import packs
compiling.START_SECONDS = 0.1
kernels = packs()
print("begun", flush=True)
compiling.ready(kernels, {processes})
assert all(kernel.fetch() for kernel in kernels)
"""


@pytest.fixture
def start(store: Store) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a process that compiles; it does not outlive the test."""
    started: list[subprocess.Popen[bytes]] = []

    def call(processes: int) -> subprocess.Popen[bytes]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", COMPILES.format(processes=processes)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )
        return started[-1]

    yield call
    for process in started:
        process.kill()
        process.communicate()


def test_two_processes_on_an_empty_folder(
    store: Store, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    both = [start(1), start(1)]
    for process in both:
        assert process.communicate(timeout=300) == (b"begun\n", b"")
        assert process.returncode == 0
    kernels = packs()
    assert all(one.fetch() for one in kernels)
    assert {path.name for path in store.folder.iterdir()} == {one.name for one in kernels}


def children(pid: int) -> list[int]:
    """The processes that a process has started, on Linux."""
    try:
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return []


def runs(pid: int) -> bool:
    """Whether there is such a process, and it is not only waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_no_process_outlives_its_parent(
    start: Callable[..., subprocess.Popen[bytes]], name: str
) -> None:
    process = start(3)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    end = time.monotonic() + 300
    while not (helpers := children(process.pid)) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=300)
    assert helpers
    while any(map(runs, helpers)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(map(runs, helpers))


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("python", True), ("python3.13", True), ("python3.13t", True), ("python3.11d", True),
     ("python.exe", True), ("pythonw.exe", True), ("Python", True), ("pypy3", False),
     ("python-app", False), ("blender", False), ("", False), (None, False)],
)  # fmt: skip
def test_only_python_itself_is_started(name: str | None, is_one: bool) -> None:
    assert compiling._is_python(name and f"/a/folder/{name}") is is_one
