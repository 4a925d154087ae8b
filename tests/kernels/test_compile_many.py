"""Several kernels compiled at once, in processes that nobody sees."""

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
PACE = kernel.pace


def some() -> list[Kernel]:
    """Make kernels as a process that starts now has them."""
    return [times(factor) for factor in FACTORS]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Collect the names of the kernels that this process compiles."""
    names: list[str | None] = []
    compile_ = Kernel.compile

    def compiled(self: Kernel) -> None:
        names.append(self.name)
        compile_(self)

    monkeypatch.setattr(Kernel, "compile", compiled)
    return names


def files(store: Store) -> set[str]:
    return {path.name for path in store.folder.iterdir()} - {kernel.PACE}


def test_two_processes_share_the_work(
    store: Store,
    here: list[str | None],
    announced: list[list[Kernel]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    compiled_kernels: list[Kernel] = []
    compile_ = Kernel.compile

    def after_another(self: Kernel) -> None:
        until(
            lambda: any(function.fetch() for function in kernels)
        )  # the other process has compiled one
        compile_(self)

    monkeypatch.setattr(Kernel, "compile", after_another)
    kernels = some()
    compile_many.ready(kernels, 2, compiled_kernels.append)
    [together] = announced
    assert (
        {function.name for function in together}
        == {function.name for function in compiled_kernels}
        == files(store)
    )
    assert 1 <= len(here) < len(kernels)
    assert [function(10) for function in kernels] == [20, 30, 50, 70]
    assert capfd.readouterr() == ("", "")
    compile_many.ready(some(), 2, compiled_kernels.append)
    assert len(announced) == 1
    assert len(compiled_kernels) == len(kernels)


KILLED = "import os, sys; sys.stdin.read(1); os.kill(os.getpid(), 9)"


@pytest.mark.parametrize("trouble", ["no store", "no Python", "fails", "is killed"])
def test_what_no_other_process_compiles_is_compiled_here(
    store: Store, here: list[str | None], trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = subprocess.Popen
    killed = [sys.executable, "-c", KILLED]
    if trouble == "no store":
        monkeypatch.setattr(kernel_store, "user_store", lambda: None)
    elif trouble == "is killed":
        monkeypatch.setattr(subprocess, "Popen", lambda _, **options: begin(killed, **options))
    else:
        names = {"no Python": "/opt/app/app", "fails": "/no/python"}
        monkeypatch.setattr(sys, "executable", names[trouble])
    kernels = some()
    compile_many.ready(kernels, 3)
    assert sorted(map(str, here)) == sorted(str(one.name) for one in kernels)
    assert all(one(1) for one in kernels)


def test_what_cannot_be_kept_is_compiled_here(store: Store) -> None:
    """The source of others is not among those that the folder is named after."""
    unnamed = kernel.kernel(int64, returns=int64)(lambda x: x + 1)
    compile_many.ready([unnamed, times(2)], 2)
    assert (unnamed.name, unnamed(1)) == (None, 2)
    assert files(store) == {times(2).name}


def test_prices(store: Store) -> None:
    kernels = [times(n, n) for n in (4, 1, 2)] + [times(9, 1)]
    assert compile_many.seconds(kernels, 1) == 8
    assert compile_many.seconds(kernels, 2) == compile_many.seconds(kernels, 8) == 4
    assert compile_many.seconds(kernels[1:], 2) == 2
    kernels[0].load()
    assert compile_many.seconds([times(4, 4), *kernels[1:]], 1) == 4
    assert compile_many.seconds([], 2) == 0


class Said(Announcer):
    """Collects what is said."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def say(self, text: str, seconds: float = 0.0) -> None:
        self.texts.append(text)


def of(subject: str, factor: int, seconds: float) -> Kernel:
    new_kernel = times(factor, seconds)
    new_kernel.subject = subject
    return new_kernel


def test_the_time_of_a_command_is_said_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that of this machine, and of all that may be needed."""
    monkeypatch.setattr(kernel, "pace", lambda price: 2.0)
    search = of("the search", 2, 3)
    total = of("the sum", 3, 10)
    recorder = Said()
    with watching(recorder):
        compile_many.ready([search], 1, later=[search, total])
        compile_many.ready([total], 1)
    kept = f"once (kept in {store.folder.parent})"
    seconds = "about 6 s, or 26 s if all of it is needed"
    assert recorder.texts == [f"compiling the search and the sum, {seconds}, {kept}"]


def test_the_pace_of_the_machine_is_measured_and_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first kernel is compiled for it; what is compiled later corrects it."""
    monkeypatch.setattr(kernel, "pace", PACE)
    clock = iter([10.0, 10.0 + 2 * kernel.SECONDS, 20.0, 20.0 + 5 * 3, 30.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(Kernel, "fetch", lambda self: False)
    monkeypatch.setattr(Kernel, "compile", lambda self: None)
    recorder = Said()
    with watching(recorder):
        compile_many.ready([of("the search", 2, 3)], 1)
        compile_many.ready([of("the sum", 3, 1)], 1)
    assert recorder.texts == [
        f"compiling the search, about 6 s, once (kept in {store.folder.parent})",
        "compiling the sum, about 5 s",
    ]
    assert store.read(kernel.PACE) == b"5.0"


def test_only_python_itself_is_started(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "python", "python3.13t", "pythonw.exe", "Python":
        monkeypatch.setattr(sys, "executable", f"/a/folder/{name}")
        assert compile_many.seconds(some(), 2) == 6
    for name in "pypy3", "python-app", "blender", "":
        monkeypatch.setattr(sys, "executable", name and f"/a/folder/{name}")
        assert compile_many.seconds(some(), 2) == 12


COMPILES = """
import sys
from gpusudoku.kernels import compile_many
from tests.kernels.test_compile_many import some
kernels = some()
print("begun", flush=True)
compile_many.ready(kernels, int(sys.argv[1]))
assert all(kernel.fetch() for kernel in kernels)
"""


def start(processes: int) -> subprocess.Popen[bytes]:
    """Start a process that compiles."""
    command = [sys.executable, "-c", COMPILES, str(processes)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_two_processes_on_an_empty_folder(store: Store) -> None:
    for process in start(1), start(1):
        out, err = process.communicate(timeout=300)
        assert out == b"begun\n"
        assert err.count(b"\n") == err.count(b"gpusudoku: compiling ") <= 1
        assert process.returncode == 0
    assert files(store) >= {function.name for function in some()}


def children(pid: int) -> list[int]:
    """List the processes that a process has started, on Linux."""
    try:
        return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    except OSError:
        return []


def runs(pid: int) -> bool:
    """Tell whether there is such a process, and it is not only waited for."""
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
    until(lambda: bool(children(process.pid)) or process.poll() is not None)
    helpers = children(process.pid)
    process.kill()
    process.communicate(timeout=300)
    assert helpers
    until(lambda: not any(map(runs, helpers)))
