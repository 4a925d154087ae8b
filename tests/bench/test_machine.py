"""The commit beside results: that of the sources that were measured."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gpusudoku.bench.suite import commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
SOURCES = ["gpusudoku/counting.py", "boards/1a.txt", "benchmarks/timings.py", "pyproject.toml"]
OTHERS = [
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
    for name in SOURCES + OTHERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("before\n")
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_only_what_can_change_a_measurement_makes_it_dirty(checkout: Path) -> None:
    """Above all not what a part of the report records: the next part names a commit, too."""
    first = git(checkout, "rev-parse", "HEAD")[:12]
    assert commit(checkout) == first
    for name in [*OTHERS, "docs/new.md"]:
        (checkout / name).write_text("after\n")
    assert commit(checkout) == first
    for name in SOURCES:
        (checkout / name).write_text("after\n")
        assert commit(checkout) == f"{first}-dirty", name
        (checkout / name).write_text("before\n")
        assert commit(checkout) == first
    (checkout / "gpusudoku" / "new.py").write_text("")
    assert commit(checkout) == f"{first}-dirty"


def test_where_there_is_none(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a checkout, where one is only around, and without git."""
    inside = checkout / "build"  # unpacked there, or installed
    (inside / "gpusudoku").mkdir(parents=True)
    (inside / "pyproject.toml").write_text("")
    assert [commit(folder) for folder in (checkout.parent, inside)] == [None] * 2
    monkeypatch.setenv("PATH", "")
    assert commit(checkout) is None
