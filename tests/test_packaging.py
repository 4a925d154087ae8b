"""The wheel has all files of the package, and works outside the checkout."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "benchmarks/README.md"]
SOURCES = {"gpusudoku": "gpusudoku", "kernels": "gpusudoku/kernels", "boards": "gpusudoku/boards"}


def expected_files():
    """Return the names of the files that a wheel must have."""
    for folder, package in SOURCES.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"{package}/{path.relative_to(ROOT / folder).as_posix()}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_has_every_file(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == set(expected_files())


@pytest.mark.slow
def test_the_wheel_works_elsewhere(wheel, tmp_path):
    target = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import gpusudoku\n"
        "from gpusudoku import collection\n"
        "from gpusudoku.kernels.search import shape\n"
        f"assert gpusudoku.__file__.startswith({str(target)!r}), gpusudoku.__file__\n"
        f"assert shape.__file__.startswith({str(target)!r}), shape.__file__\n"
        "print(gpusudoku.count(collection.load('1b'), device='cpu').count)"
    )
    run = [sys.executable, "-c", code]
    assert subprocess.check_output(run, cwd=tmp_path, text=True) == "4715\n"


def test_versions_agree():
    import gpusudoku

    assert f'version = "{gpusudoku.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f"## {gpusudoku.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    page_versions = [
        re.findall(r"\b[Vv]ersion (\d+\.\d+\.\d+)", page.read_text()) for page in PAGES
    ]
    assert {version for versions in page_versions for version in versions} == {
        gpusudoku.__version__
    }


def test_extras_are_installed_from_a_checkout():
    """Documentation names only extras that exist, and needs no package index."""
    extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    extras_of = {page: re.findall(r"\.\[([\w,]+)\]", page.read_text()) for page in PAGES}
    assert any(extras_of.values())
    for page, extra_lists in extras_of.items():
        assert "gpusudoku[" not in page.read_text()
        assert {extra for extra_list in extra_lists for extra in extra_list.split(",")} <= set(
            extras
        ), page


def test_every_command_is_on_its_page_and_ten_in_the_readme():
    from gpusudoku.cli import cli

    page, readme = ((ROOT / name).read_text() for name in ("docs/commands.md", "README.md"))
    assert [name for name in cli.commands if f"`gpusudoku {name}" not in page] == []
    rows = re.findall(r"^\| .* \| `gpusudoku (\w+)", readme, re.MULTILINE)
    assert len({*rows} & {*cli.commands}) == len(rows) == 10
