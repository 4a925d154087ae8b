"""The commit beside results: that of the sources that were measured."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gpusudoku.bench.machine import commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
SOURCES = [
    "gpusudoku/counting.py", "kernels/search.py", "boards/1a.txt", "benchmarks/speed.py",
    "pyproject.toml",
]  # fmt: skip
OTHERS = [
    "README.md", "benchmarks/README.md", "docs/results.md", "tests/test_counting.py",
    "benchmarks/results/speed.json", "benchmarks/results/plots/model.svg",
]  # fmt: skip


def git(folder: Path, *words: str) -> str:
    known = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER")
           for what in ("NAME", "EMAIL")}  # fmt: skip
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        env={**known, **who},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "checkout"
    for name in SOURCES + OTHERS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before\n")
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_commit_has_twelve_digits(checkout: Path) -> None:
    assert commit(checkout) == git(checkout, "rev-parse", "HEAD")[:12]
    git(checkout, "tag", "-a", "-m", "a name", "v1")
    assert commit(checkout) == git(checkout, "rev-parse", "v1^{commit}")[:12]


@pytest.mark.parametrize("name", OTHERS)
def test_what_changes_no_measurement_leaves_a_checkout_clean(checkout: Path, name: str) -> None:
    """Above all not what a part of the report records: the next part names a commit, too."""
    (checkout / name).write_text("after\n")
    (checkout / name).with_name(f"new{Path(name).suffix}").write_text("new\n")
    assert commit(checkout) == git(checkout, "rev-parse", "HEAD")[:12]


@pytest.mark.parametrize("name", SOURCES)
def test_what_changes_a_measurement_is_told(checkout: Path, name: str) -> None:
    first = git(checkout, "rev-parse", "HEAD")[:12]
    (checkout / name).write_text("after\n")
    assert commit(checkout) == f"{first}-dirty"
    git(checkout, "add", ".")
    assert commit(checkout) == f"{first}-dirty"
    git(checkout, "commit", "-q", "-m", "second")
    assert commit(checkout) not in (first, f"{first}-dirty")


def test_a_new_module_changes_a_measurement(checkout: Path) -> None:
    (checkout / "gpusudoku" / "new.py").write_text("")
    assert str(commit(checkout)).endswith("-dirty")


def test_a_worktree_is_a_checkout(checkout: Path) -> None:
    other = checkout.parent / "other"
    git(checkout, "worktree", "add", "-q", str(other))
    assert commit(other) == commit(checkout)


def test_no_checkout_has_no_commit(checkout: Path, tmp_path: Path) -> None:
    assert commit(tmp_path) is None
    inside = checkout / "build"  # unpacked there, or installed
    (inside / "gpusudoku").mkdir(parents=True)
    (inside / "pyproject.toml").write_text("")
    assert commit(inside) is None


def test_a_repository_without_commits_has_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", ".")
    assert commit(tmp_path) is None


def test_without_git_there_is_none(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert commit(checkout) is None
