"""The commit in results is that of the measured sources."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gpusudoku.bench.suite import commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
SOURCES = ["gpusudoku/counting.py", "boards/1a.txt", "benchmarks/timings.py", "pyproject.toml"]
OTHER_FILES = [
    "README.md",
    "docs/results.md",
    "tests/test_counting.py",
    "benchmarks/results/timings-speed.json",
]


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "checkout"
    for name in SOURCES + OTHER_FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("before\n")
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_only_files_that_can_change_a_measurement_make_it_dirty(checkout: Path) -> None:
    """Results of a part of the report do not, so that the next part also names a commit."""
    head = git(checkout, "rev-parse", "HEAD")[:12]
    assert commit(checkout) == head
    for name in [*OTHER_FILES, "docs/new.md"]:
        (checkout / name).write_text("after\n")
    assert commit(checkout) == head
    for name in SOURCES:
        (checkout / name).write_text("after\n")
        assert commit(checkout) == f"{head}-dirty", name
        (checkout / name).write_text("before\n")
        assert commit(checkout) == head
    (checkout / "gpusudoku" / "new.py").write_text("")
    assert commit(checkout) == f"{head}-dirty"


def test_a_folder_without_a_commit(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a checkout, where one is only around, and without git."""
    inside = checkout / "build"  # unpacked there, or installed
    (inside / "gpusudoku").mkdir(parents=True)
    (inside / "pyproject.toml").write_text("")
    assert [commit(folder) for folder in (checkout.parent, inside)] == [None] * 2
    monkeypatch.setenv("PATH", "")
    assert commit(checkout) is None
