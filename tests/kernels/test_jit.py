"""Where compiled kernels are kept: one folder for each state of their sources."""

from __future__ import annotations

import shutil
from pathlib import Path

import numba
import pytest

from gpusudoku.kernels import jit

KERNELS = Path(jit.__file__).parent


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the kernels whose folder of compiled code is asked for."""
    copy = tmp_path / "kernels"
    shutil.copytree(KERNELS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "__file__", str(copy / "jit.py"))
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "cache"))
    return copy


def folder() -> Path:
    """The folder, as a process that starts now finds it."""
    found = jit.cache_folder.__wrapped__()
    assert found is not None
    return found


def test_the_folder_is_where_the_variable_says(sources: Path, tmp_path: Path) -> None:
    assert folder().parent == tmp_path / "cache"
    assert folder().is_dir()
    assert folder() == folder()


@pytest.mark.parametrize(
    "file",
    ["jit.py", "search/loop.py", "search/nine/step.py", "contraction/general/join.py"],
)
def test_an_edit_in_any_file_makes_another(sources: Path, file: str) -> None:
    """Subfolders and what other files import included: Numba itself would see neither."""
    before = folder()
    path = sources / file
    path.write_text(path.read_text() + "\n# edited\n")
    assert folder() != before
    path.write_text((KERNELS / file).read_text())
    assert folder() == before


def test_a_new_file_in_a_subfolder_makes_another(sources: Path) -> None:
    before = folder()
    (sources / "search" / "new.py").write_text("X = 1\n")
    assert folder() != before


def test_prose_and_what_python_compiled_make_no_other(sources: Path) -> None:
    before = folder()
    (sources / "README.md").write_text("Other words.\n")
    (sources / "search" / "__pycache__").mkdir()
    (sources / "search" / "__pycache__" / "loop.cpython-311.pyc").write_bytes(b"x")
    assert folder() == before


@pytest.mark.usefixtures("sources")
def test_another_numba_or_processor_makes_another(monkeypatch: pytest.MonkeyPatch) -> None:
    before = folder()
    with monkeypatch.context() as patch:
        patch.setattr(jit, "get_host_cpu_name", lambda: "abacus")
        assert folder() != before
    monkeypatch.setattr(numba, "__version__", "0.0")
    assert folder() != before


def test_without_a_variable_it_is_in_the_users_cache(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPUSUDOKU_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "users"))
    assert folder().parent == tmp_path / "users" / "gpusudoku"


def test_where_nothing_can_be_written_there_is_none(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "file"))
    assert jit.cache_folder.__wrapped__() is None


def test_functions_of_others_keep_their_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba's setting is one for all: it is put back after every kernel."""
    theirs = numba.config.CACHE_DIR
    function = jit.compiled(lambda x: x + 1, "int64(int64)")
    assert function(1) == 2
    assert theirs == numba.config.CACHE_DIR
