"""Kernels: compiled once, kept, loaded, and made anew where what is kept is no good."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Thread
from typing import Any

import numpy as np
import pytest
from numba import int64, types, uint8
from numpy.typing import NDArray

import gpusudoku.kernels
from gpusudoku.contraction.nine.sum import stages
from gpusudoku.kernels import jit, kernel
from gpusudoku.kernels.contraction.general.join import join
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.kernels.store import Store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty store, in place of this user's."""
    store = Store(tmp_path / "kept", b"state")
    monkeypatch.setattr(jit, "store", lambda: store)
    return store


@pytest.fixture
def told() -> Iterator[list[Kernel]]:
    """The kernels that are compiled rather than loaded."""
    compiled: list[Kernel] = []
    kernel.on_compiling(compiled.extend)
    yield compiled
    kernel.on_compiling(None)


def doubling() -> Kernel:
    """A new kernel each time, as a process that starts now has it."""

    def double(x: int) -> int:
        return 2 * x

    return Kernel("test.double", lambda: (double, (int64,)), (doubling, ()), seconds=3.0)


def test_compiled_once_and_kept(store: Store, told: list[Kernel]) -> None:
    first, second = doubling(), doubling()
    assert not first.kept
    assert first(21) == 42
    assert first.kept
    assert second.kept
    assert second(21) == first(22) - 2 == 42
    assert told == [first]
    assert [path.name for path in store.folder.iterdir()] == ["test.double"]


@pytest.mark.parametrize("damage", ["flip", "empty", "half", "foreign", "folder", "other Numba"])
def test_what_is_no_good_is_made_anew_in_silence(
    store: Store, told: list[Kernel], damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    doubling().load()
    path = store.folder / "test.double"
    content = path.read_bytes()
    if damage == "flip":
        middle = len(content) // 2  # in the machine code
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    elif damage == "other Numba":  # a good file of this name, but of a function that is not
        store.write("test.double", jit.dumps(("another", "shape")))
    else:
        path.write_bytes(
            {"empty": b"", "half": content[: middle_of(content)]}.get(damage, b"x" * 99)
        )
    again = doubling()
    assert not again.fetch()
    assert not again.kept  # so its price is known
    assert again(4) == 8
    assert told[1:] == [again]
    if damage != "folder":  # which cannot be replaced
        assert doubling().fetch()
    assert capfd.readouterr() == ("", "")


def middle_of(content: bytes) -> int:
    return len(content) // 2


def test_without_a_store_it_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: list[Kernel]
) -> None:
    (tmp_path / "file").write_text("no folder")
    for nowhere in None, Store(tmp_path / "file" / "kept", b"state"):
        monkeypatch.setattr(jit, "store", lambda: nowhere)  # noqa: B023
        function = doubling()
        assert (function.kept, function(3)) == (False, 6)
    assert len(told) == 2


def test_read_only_arrays_are_taken_where_nothing_is_written() -> None:
    cells = types.Array(uint8, 1, "C", readonly=True)

    def first(array: NDArray[np.uint8]) -> int:
        return int(array[0])

    array = np.array([7], np.uint8)
    reads, writes = kernel.kernel(cells)(first), kernel.kernel(uint8[::1])(first)
    assert reads(array) == writes(array) == 7
    assert array.flags.writeable
    array.setflags(write=False)
    assert reads(array) == 7
    with pytest.raises(TypeError, match="readonly"):  # it is not compiled once more, unseen
        writes(array)


def test_a_function_of_others_is_not_kept(store: Store) -> None:
    """Its source is not among those that the folder is named after."""
    function = kernel.kernel(int64)(lambda x: x + 1)
    assert (function.name, function(1)) == (None, 2)
    assert not store.folder.exists()


def test_two_threads_that_want_it_compile_it_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, calls = jit.compiled, []

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return compiled(*arguments)

    monkeypatch.setattr(jit, "compiled", counted)
    function = doubling()
    threads = [Thread(target=function.load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


@pytest.mark.parametrize("shape", [Layout(2, 2), Layout(2, 3)])
def test_another_process_gets_the_same_kernel(shape: Layout) -> None:
    for one in (
        cpu.pack(shape),
        cpu.expand(shape, SearchSettings()),
        cpu.run(shape, SearchSettings()),
        stages().survey,
        stages().sum_wide,
        join,
    ):
        again = pickle.loads(pickle.dumps(one))
        assert (again.name, again.seconds, again.subject) == (one.name, one.seconds, one.subject)
        assert again.subject


def test_names_are_unique_and_make_good_files() -> None:
    kernels = [one for one in vars(stages()).values() if isinstance(one, Kernel)]
    for module in walk_packages(gpusudoku.kernels.__path__, "gpusudoku.kernels."):
        if "cuda" not in module.name:
            found = vars(import_module(module.name)).values()
            kernels += [one for one in found if isinstance(one, Kernel) and one not in kernels]
    settings = [SearchSettings(t, s) for t in (0, 3, 31) for s in (0, 1)]
    for shape in Layout(1, 12), Layout(11, 2), Layout(2, 11):
        kernels += [cpu.pack(shape)]
        kernels += [make(shape, s) for make in (cpu.expand, cpu.run) for s in settings]
    names = [one.name for one in kernels]
    assert len(set(names)) == len(names) > 40
    assert all(name and name.replace("-", "").replace(".", "").replace("_", "").isalnum()
               for name in names)  # fmt: skip
