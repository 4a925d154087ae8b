"""Kernels: compiled once, kept, loaded, and made anew where what is kept is no good."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Thread
from typing import Any

import numba
import pytest

import gpusudoku.kernels
from gpusudoku.contraction.nine.sum import stages
from gpusudoku.errors import InputError
from gpusudoku.jobs.watch import Announcer, watching
from gpusudoku.kernels import compile_cpu, kernel_store
from gpusudoku.kernels.arguments import block_of, int64, result_of
from gpusudoku.kernels.kernel import Kernel, Loaded, jitable
from gpusudoku.kernels.kernel_store import Store
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from tests.kernels.examples import times


def test_compiled_once_and_kept(store: Store, announced: list[list[Kernel]]) -> None:
    kernel_a = times(2)
    kernel_b = times(2)
    assert not kernel_a.kept
    assert kernel_a(21) == 42
    assert kernel_a.kept
    assert kernel_b.kept
    assert kernel_b(21) == kernel_a(22) - 2 == 42
    assert announced == [[kernel_a]]
    assert [path.name for path in store.folder.iterdir()] == [kernel_a.name]
    assert gc.isenabled()  # garbage is not looked for while something is compiled
    with pytest.raises(TypeError):
        kernel_b(b"21")  # nothing is compiled for other types, unseen


@pytest.mark.parametrize("damage", ["flip", "empty", "half", "foreign", "folder", "other function"])
def test_what_is_no_good_is_made_anew_in_silence(
    store: Store, announced: list[list[Kernel]], damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    times(2).load()
    [path] = store.folder.iterdir()
    content = path.read_bytes()
    middle = len(content) // 2  # in the machine code
    if damage == "folder":
        path.unlink()
        path.mkdir()
    elif damage == "other function":  # a good file of this name, but of no such function
        kept = store.read(path.name)
        assert kept
        store.write(path.name, b"another" + kept)
    else:
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        damaged = {"flip": flipped, "empty": b"", "half": content[:middle], "foreign": b"x" * 99}
        path.write_bytes(damaged[damage])
    same_kernel = times(2)
    assert not same_kernel.fetch()
    assert not same_kernel.kept  # so its price is known
    assert same_kernel(4) == 8
    assert announced[1:] == [[same_kernel]]
    if damage != "folder":  # which cannot be replaced
        assert times(2).fetch()
    assert capfd.readouterr() == ("", "")


def no_space(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "no space")


def test_where_nothing_can_be_kept_it_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Why it was not kept, is told once."""
    (tmp_path / "file").write_text("no folder")
    texts: list[str] = []

    class Said(Announcer):
        def say(self, text: str, seconds: float = 0.0) -> None:
            texts.append(text)

    watch = Said()
    full = Store(tmp_path / "kept", b"state")
    monkeypatch.setattr(full, "write", no_space)
    for nowhere in None, Store(tmp_path / "file" / "kept", b"state"), full, full:
        monkeypatch.setattr(kernel_store, "user_store", lambda: nowhere)  # noqa: B023
        function = times(2)
        with watching(watch):
            assert (function.kept, function(3)) == (False, 6)
    assert sum("cannot be kept" in text for text in texts) == 1


def test_threads_that_want_it_compile_it_once(store: Store, announced: list[list[Kernel]]) -> None:
    function = times(2)
    writes = []
    write = store.write
    store.write = lambda *arguments: writes.append(arguments) or write(*arguments)  # type: ignore[method-assign]
    threads = [Thread(target=function.compile) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(writes) == 1


def test_names_are_unique_and_make_good_files() -> None:
    kernels = [value for value in vars(stages()).values() if isinstance(value, Kernel)]
    for module in walk_packages(gpusudoku.kernels.__path__, "gpusudoku.kernels."):
        if "cuda" not in module.name:
            values = vars(import_module(module.name)).values()
            kernels += [
                value for value in values if isinstance(value, Kernel) and value not in kernels
            ]
    settings = [SearchSettings(t, s) for t in (0, 3, 31) for s in (0, 1)]
    for shape in Shape(1, 12), Shape(11, 2), Shape(2, 11):
        kernels += [cpu.pack(shape)]
        kernels += [make(shape, s) for make in (cpu.expand, cpu.run) for s in settings]
    names = [value.name for value in kernels]
    assert len(set(names)) == len(names) > 40
    for name in names:
        assert name
        assert name.replace("-", "").replace(".", "").replace("_", "").isalnum()


def template(factor: int) -> Any:
    """Make a function of the same name for every factor, with one that it calls."""

    @jitable
    def helper(x: int) -> int:
        total = 0
        for i in range(x):
            total += i * factor % 7 + factor
        return total

    def function(x: int) -> int:
        return 1000 * helper(x) + helper(x + 1)

    return function


COMPILES = """
import pickle
import sys
from gpusudoku.kernels import compile_cpu
from gpusudoku.kernels.arguments import int64
from gpusudoku.kernels.kernel import register_all
from tests.kernels.test_kernel import template
function = template(int(sys.argv[1]))
register_all()
print(pickle.dumps(compile_cpu.compiled(function, (int64,), int64)).hex())
"""


def test_code_of_two_processes_is_kept_apart_in_a_third() -> None:
    """Symbols of the same name, from templates for other constants, must not meet."""
    root = Path(__file__).resolve().parents[2]
    loaded = {}
    for factor in 3, 5:
        command = [sys.executable, "-c", COMPILES, str(factor)]
        process = subprocess.run(
            command, stdout=subprocess.PIPE, check=True, cwd=root, env=os.environ
        )
        loaded[factor] = Loaded(*pickle.loads(bytes.fromhex(process.stdout.decode())))
    for factor, call in loaded.items():
        block = block_of((int64,), (10,))
        call(block)
        assert result_of(block, int64) == template(factor)(10)


def test_numba_told_not_to_compile_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    with pytest.raises(InputError, match="NUMBA_DISABLE_JIT is set"):
        compile_cpu.compiled(lambda x: x, (int64,), int64)
