"""The folder of compiled kernels: another one for each state on which their code depends."""

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
    """Copy the kernels' sources, and make the store depend on the copy."""
    copy = tmp_path / "kernels"
    shutil.copytree(KERNELS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kernel_store, "__file__", str(copy / "kernel_store.py"))
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "cache"))
    yield copy
    kernel_store.user_store.cache_clear()


def folder() -> Path:
    """Return the folder that a process which starts now uses."""
    kernel_store.user_store.cache_clear()
    store = kernel_store.user_store()
    assert store is not None
    return store.folder


def test_the_folder_is_where_the_variable_says_or_in_the_users_cache(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_folder = folder()
    assert old_folder.parent == tmp_path / "cache"
    assert not old_folder.exists()  # it is made when the first file is written
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


def test_an_edit_in_any_source_changes_the_folder(sources: Path) -> None:
    """Also in subfolders, and a new file: Numba's own cache notices neither. Not in documents."""
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
def test_the_processor_and_all_versions_change_the_folder(
    where: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_folder = folder()
    monkeypatch.setattr(where, name, value)
    assert folder() != old_folder


@pytest.mark.usefixtures("sources")
def test_settings_of_numba_change_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In environment variables and in the file that Numba reads."""
    old_folder = folder()
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert folder() != old_folder
    monkeypatch.delenv("NUMBA_CPU_NAME")
    monkeypatch.chdir(tmp_path)
    assert folder() == old_folder
    (tmp_path / ".numba_config.yaml").write_text("opt: 1\n")
    assert folder() != old_folder
