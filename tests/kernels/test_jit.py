"""Where compiled kernels are kept, and machine code that is put into bytes and taken out again."""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest
from numba import int64
from numba.extending import register_jitable

from gpusudoku.errors import InputError
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
    found = jit.store.__wrapped__()
    assert found is not None
    return found.folder


def test_the_folder_is_where_the_variable_says(sources: Path, tmp_path: Path) -> None:
    assert folder().parent == tmp_path / "cache"
    assert not folder().exists()  # it is made when there is something to keep
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
@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        (jit, "get_host_cpu_name", lambda: "abacus"),
        (jit.get_host_cpu_features(), "flatten", None),
        (numba, "__version__", "0.0"),
        (jit.llvmlite, "__version__", "0.0"),
        (sys, "version", "4.0"),
        (numba.config, "CPU_NAME", "generic"),
    ],
    ids=["processor", "features", "Numba", "llvmlite", "Python", "settings"],
)
def test_whatever_decides_on_the_code_makes_another(
    monkeypatch: pytest.MonkeyPatch, where: Any, name: str, value: Any
) -> None:
    before = folder()
    if name == "flatten":
        features = jit.get_host_cpu_features()
        features["abacus"] = True
        monkeypatch.setattr(jit, "get_host_cpu_features", lambda: features)
    else:
        monkeypatch.setattr(where, name, value)
    assert folder() != before


def test_without_a_variable_it_is_in_the_users_cache(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPUSUDOKU_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "users"))
    assert folder().parent == tmp_path / "users" / "gpusudoku"


@pytest.mark.usefixtures("sources")
def test_who_has_no_home_has_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("GPUSUDOKU_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert jit.store.__wrapped__() is None


def test_code_is_put_into_bytes_and_taken_out() -> None:
    def double(x: int) -> int:
        return 2 * x

    compiled = jit.compiled(double, (int64,))
    again = jit.from_bytes(double, jit.as_bytes(compiled))
    assert compiled(21) == again(21) == 42
    with pytest.raises(TypeError):
        again(b"21")  # nothing is compiled for other types behind anybody's back


def test_code_that_was_taken_out_is_no_part_of_other_code() -> None:
    """It is there as machine code alone, which cannot be copied into other functions."""
    again = jit.from_bytes(template(3), jit.as_bytes(jit.compiled(template(3), (int64,))))
    with pytest.raises(NotImplementedError, match="No definition for lowering"):
        jit.compiled(lambda x: again(x), (int64,))
    assert again(10) == template(3)(10)


@pytest.mark.parametrize("content", [b"", b"nonsense", jit.dumps((1, 2, 3))])
def test_other_bytes_are_an_error(content: bytes) -> None:
    with pytest.raises((EOFError, TypeError, pickle.UnpicklingError, ValueError)):
        jit.from_bytes(lambda x: x, content)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_looked_for_again_after_compiling(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        jit.compiled(lambda x: x + 1, (int64,))
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


def template(factor: int) -> Any:
    """A function of the same name for every factor, with one that it calls."""

    def helper(x: int) -> int:
        total = 0
        for i in range(x):
            total += i * factor % 7 + factor
        return total

    called = register_jitable(_nrt=False)(helper)

    def function(x: int) -> int:
        return 1000 * called(x) + called(x + 1)

    return function


COMPILES = """
import sys
from numba import int64
from gpusudoku.kernels import jit
from tests.kernels.test_jit import template
sys.stdout.buffer.write(jit.as_bytes(jit.compiled(template(int(sys.argv[1])), (int64,))))
"""


def test_code_of_two_processes_is_kept_apart_in_a_third() -> None:
    """Symbols of the same name, from templates for other constants, must not meet."""
    for factor in 3, 5:
        made = subprocess.run(
            [sys.executable, "-c", COMPILES, str(factor)],
            stdout=subprocess.PIPE,
            check=True,
            cwd=Path(__file__).resolve().parents[2],
            env=os.environ,
        )
        assert jit.from_bytes(template(factor), made.stdout)(10) == template(factor)(10)


def test_numba_told_not_to_compile_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    with pytest.raises(InputError, match="NUMBA_DISABLE_JIT is set"):
        jit.compiled(lambda x: x, (int64,))
