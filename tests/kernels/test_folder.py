"""Where compiled kernels are kept: a folder of its own for all that decides on their code."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite
import pytest

from gpusudoku.kernels import kernel_store

KERNELS = Path(kernel_store.__file__).parent


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Take a copy of the kernels for those whose folder is asked for."""
    copy = tmp_path / "kernels"
    shutil.copytree(KERNELS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kernel_store, "__file__", str(copy / "kernel_store.py"))
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "cache"))
    yield copy
    kernel_store.user_store.cache_clear()


def folder() -> Path:
    """Find the folder as a process that starts now does."""
    kernel_store.user_store.cache_clear()
    store = kernel_store.user_store()
    assert store is not None
    return store.folder


def test_the_folder_is_where_the_variable_says_or_in_the_users_cache(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_folder = folder()
    assert old_folder.parent == tmp_path / "cache"
    assert not old_folder.exists()  # it is made when there is something to keep
    monkeypatch.delenv("GPUSUDOKU_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "users"))
    assert folder() == tmp_path / "users" / "gpusudoku" / old_folder.name


@pytest.mark.usefixtures("sources")
def test_a_user_without_a_home_has_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("GPUSUDOKU_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    kernel_store.user_store.cache_clear()
    assert kernel_store.user_store() is None


def test_an_edit_in_any_file_makes_another(sources: Path) -> None:
    """Also in subfolders, and new files: Numba itself would see neither. Prose makes no other."""
    old_folder = folder()
    for path in sources / "compile_cpu.py", sources / "search" / "lanes.py":
        text = path.read_text()
        path.write_text(text + "\n# edited\n")
        assert folder() != old_folder
        path.write_text(text)
        assert folder() == old_folder
    (sources / "README.md").write_text("Other words.\n")
    (sources / "search" / "__pycache__").mkdir()
    (sources / "search" / "__pycache__" / "loop.cpython-311.pyc").write_bytes(b"x")
    assert folder() == old_folder
    (sources / "search" / "new.py").write_text("X = 1\n")
    assert folder() != old_folder


@pytest.mark.usefixtures("sources")
@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        (kernel_store, "get_host_cpu_name", lambda: "abacus"),
        (kernel_store, "_numba_version", lambda: "0.0"),
        (llvmlite, "__version__", "0.0"),
        (kernel_store.sys, "version", "4.0"),
    ],
    ids=["processor", "Numba", "llvmlite", "Python"],
)
def test_all_that_decides_on_the_code_makes_another(
    where: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_folder = folder()
    monkeypatch.setattr(where, name, value)
    assert folder() != old_folder


@pytest.mark.usefixtures("sources")
def test_settings_of_numba_make_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As variables, or in the file that Numba looks for."""
    old_folder = folder()
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert folder() != old_folder
    monkeypatch.delenv("NUMBA_CPU_NAME")
    monkeypatch.chdir(tmp_path)
    assert folder() == old_folder
    (tmp_path / ".numba_config.yaml").write_text("opt: 1\n")
    assert folder() != old_folder
