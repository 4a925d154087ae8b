"""Kernels: compiled once, cached, loaded, and compiled again if the cached file is unusable."""

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
from gpusudoku.kernels.arguments import int64, make_frame, read_result
from gpusudoku.kernels.kernel import Kernel, LoadedFunction, jitable
from gpusudoku.kernels.kernel_store import Store
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import SearchSettings, Shape
from tests.kernels.examples import times


def test_compiled_once_and_cached(store: Store, announced: list[list[Kernel]]) -> None:
    compiled_kernel = times(2)
    loaded_kernel = times(2)
    assert not compiled_kernel.is_cached
    assert compiled_kernel(21) == 42
    assert compiled_kernel.is_cached
    assert loaded_kernel.is_cached
    assert loaded_kernel(21) == compiled_kernel(22) - 2 == 42
    assert announced == [[compiled_kernel]]
    assert [path.name for path in store.folder.iterdir()] == [compiled_kernel.name]
    assert gc.isenabled()  # disabled only while a kernel is compiled
    with pytest.raises(TypeError):
        loaded_kernel(b"21")  # unlike Numba's functions, it is not compiled for other types


@pytest.mark.parametrize("damage", ["flip", "empty", "half", "foreign", "folder", "other function"])
def test_an_unusable_file_is_replaced_silently(
    store: Store, announced: list[list[Kernel]], damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    times(2).load()
    [path] = store.folder.iterdir()
    content = path.read_bytes()
    middle = len(content) // 2  # in the machine code
    if damage == "folder":
        path.unlink()
        path.mkdir()
    elif damage == "other function":  # a valid file, but the object file lacks the function
        old_content = store.read(path.name)
        assert old_content
        store.write(path.name, b"another" + old_content)
    else:
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        damaged = {"flip": flipped, "empty": b"", "half": content[:middle], "foreign": b"x" * 99}
        path.write_bytes(damaged[damage])
    kernel = times(2)
    assert not kernel.load_from_cache()
    assert not kernel.is_cached  # so that estimates include it
    assert kernel(4) == 8
    assert announced[1:] == [[kernel]]
    if damage != "folder":  # which cannot be replaced
        assert times(2).load_from_cache()
    assert capfd.readouterr() == ("", "")


def no_space(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "no space")


def test_a_kernel_is_compiled_even_if_it_cannot_be_cached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reason why it is not cached is announced once."""
    (tmp_path / "file").write_text("no folder")
    texts: list[str] = []

    class RecordingAnnouncer(Announcer):
        def say(self, text: str, seconds: float = 0.0) -> None:
            texts.append(text)

    announcer = RecordingAnnouncer()
    impossible = Store(tmp_path / "file" / "cache", b"state")
    full = Store(tmp_path / "cache", b"state")
    monkeypatch.setattr(full, "write", no_space)
    for store in None, impossible, full, full:
        monkeypatch.setattr(kernel_store, "user_store", lambda: store)  # noqa: B023
        kernel = times(2)
        with watching(announcer):
            assert (kernel.is_cached, kernel(3)) == (False, 6)
    assert sum(text.startswith("compiled code cannot be cached") for text in texts) == 1


def test_several_threads_compile_a_kernel_once(store: Store, announced: list[list[Kernel]]) -> None:
    kernel = times(2)
    written_names = []
    write = store.write

    def record_and_write(name: str, content: bytes) -> None:
        written_names.append(name)
        write(name, content)

    store.write = record_and_write  # type: ignore[method-assign]
    threads = [Thread(target=kernel.compile) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written_names == [kernel.name]


def test_names_are_unique_and_valid_names_of_files() -> None:
    kernels = [stage for stage in vars(stages()).values() if isinstance(stage, Kernel)]
    for module in walk_packages(gpusudoku.kernels.__path__, "gpusudoku.kernels."):
        if "cuda" in module.name:
            continue
        for global_value in vars(import_module(module.name)).values():
            # A kernel may be imported into other modules.
            if isinstance(global_value, Kernel) and global_value not in kernels:
                kernels.append(global_value)
    settings = [SearchSettings(t, s) for t in (0, 3, 31) for s in (0, 1)]
    for shape in Shape(1, 12), Shape(11, 2), Shape(2, 11):
        kernels += [cpu.pack(shape)]
        kernels += [make(shape, s) for make in (cpu.expand, cpu.run) for s in settings]
    names = [kernel.name for kernel in kernels]
    assert len(set(names)) == len(names) > 40
    for name in names:
        assert name
        assert name.replace("-", "").replace(".", "").replace("_", "").isalnum()


def template(factor: int) -> Any:
    """Make a function of the same name for every factor, which calls another function."""

    @jitable
    def helper(x: int) -> int:
        total = 0
        for i in range(x):
            total += i * factor % 7 + factor
        return total

    def function(x: int) -> int:
        return 1000 * helper(x) + helper(x + 1)

    return function


SCRIPT = """
import pickle
import sys
from gpusudoku.kernels import compile_cpu
from gpusudoku.kernels.arguments import int64
from gpusudoku.kernels.kernel import register_all
from tests.kernels.test_kernel import template
function = template(int(sys.argv[1]))
register_all()
print(pickle.dumps(compile_cpu.compile_entry(function, (int64,), int64)).hex())
"""


def test_code_of_two_processes_is_separate_in_a_third() -> None:
    """Templates for different constants define the same symbols, which must not be mixed up."""
    root = Path(__file__).resolve().parents[2]
    functions = {}
    for factor in 3, 5:
        command = [sys.executable, "-c", SCRIPT, str(factor)]
        process = subprocess.run(
            command, stdout=subprocess.PIPE, check=True, cwd=root, env=os.environ
        )
        name, object_file = pickle.loads(bytes.fromhex(process.stdout.decode()))
        functions[factor] = LoadedFunction(name, object_file)
    for factor, function in functions.items():
        frame = make_frame((int64,), (10,))
        function(frame)
        assert read_result(frame, int64) == template(factor)(10)


def test_a_disabled_compiler_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    with pytest.raises(InputError, match="NUMBA_DISABLE_JIT is set"):
        compile_cpu.compile_entry(lambda x: x, (int64,), int64)
