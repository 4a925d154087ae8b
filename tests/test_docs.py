"""The documentation is right: sessions, examples, links and lists of names."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import gpusudoku
from gpusudoku import formats
from tests.session import ABOUT_THE_MACHINE

ROOT = Path(__file__).parents[1]
FOLDERS = (".", "docs", "kernels", "boards", "benchmarks")
PAGES = sorted(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md"))

FENCE = re.compile(r"^```.*?^```$|^<!--.*?-->$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ gpusudoku (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
EXAMPLE = re.compile(r"^```text\n(.*?)^```\n\n(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
EXAMPLES_IN_PYTHON = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(page: Path) -> list[tuple[str, str]]:
    """Return the commands of all sessions of a page, with their output."""
    return [
        command for session in SESSION.findall(read(page)) for command in COMMAND.findall(session)
    ]


def examples() -> list[tuple[str, str]]:
    """Return the texts on the page of forms, each with the paragraph below it."""
    return EXAMPLE.findall(read(ROOT / "docs/formats.md"))


@cache
def anchors(page: Path) -> set[str]:
    """Return the names of links to the headings of a page."""
    names = HEADING.findall(FENCE.sub("", read(page)))
    plain = (re.sub(r"[^\w -]", "", name.lower()) for name in names)
    return {name.replace(" ", "-") for name in plain}


class TestCommands:
    @pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name_of)
    def test_output_is_as_printed(self, run, monkeypatch, page):
        monkeypatch.setenv("COLUMNS", "80")
        for command, printed in commands(page):
            _, out, err = run(*shlex.split(command))
            assert ABOUT_THE_MACHINE.sub("", err) + out == printed, command

    def test_readme_has_one(self):
        command_names = {command.split()[0] for command, _ in commands(ROOT / "README.md")}
        assert command_names == {"count", "enumerate"}


class TestForms:
    def test_examples_are_read_as_the_page_states(self, run, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for text, description in examples():
            Path("board.txt").write_text(text)
            match = re.fullmatch(
                r"(?:With `--box (?P<box>\S+)` r|R)ead as (?P<boards>`.*?`)"
                r"(?:, with boxes of (?P<shape>\S+))?\.|Refused: `(?P<error>.*)`",
                " ".join(description.split()),
            )
            assert match, description
            option = ["--box", match["box"]] if match["box"] else []
            status, out, err = run("info", "board.txt", "--json", *option)
            if match["error"]:
                assert (status, err) == (2, f"gpusudoku: {match['error']}\n"), text
                continue
            assert status == 0, text
            boards = re.findall(r"`(\S+)`", match["boards"])
            assert re.findall(r'"board": "(.*?)"', out) == boards, text
            assert set(re.findall(r'"box": "(.*?)"', out)) == {match["shape"] or "2x2"}, text

    def test_no_example_is_overlooked(self):
        assert len(examples()) == read(ROOT / "docs/formats.md").count("```text\n") > 15

    def test_written_forms(self):
        rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", read(ROOT / "docs/formats.md"), re.MULTILINE)
        assert dict(rows) == formats.FORMATS


class TestPython:
    def test_reference_has_every_name_and_is_up_to_date(self):
        page = read(ROOT / "docs/reference.md")
        listed_names = re.findall(r"^- \*\*`(\w+)(?:\(.*?)?`\*\*", page, re.MULTILINE)
        assert sorted(listed_names) == sorted({*gpusudoku.__all__} - {"__version__", "collection"})
        generated_page = runpy.run_path(str(ROOT / "docs/write_reference.py"))["reference"]()
        assert page == generated_page, "run python docs/write_reference.py"

    def test_examples(self, tmp_path):
        blocks = [block for page in PAGES for block in EXAMPLES_IN_PYTHON.findall(read(page))]
        assert blocks
        page = tmp_path / "page.txt"
        page.write_text("\n".join(blocks))
        # In a process of its own, which has neither a GPU nor the simulator of one.
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_ENABLE_CUDASIM": "0",
                       "CUDA_VISIBLE_DEVICES": ""}  # fmt: skip
        process = subprocess.run([sys.executable, "-m", "doctest", page], capture_output=True,
                              text=True, timeout=300, check=False, env=environment)  # fmt: skip
        assert process.returncode == 0, process.stdout + process.stderr


def test_links_lead_somewhere():
    for page in PAGES:
        for link in LINK.findall(FENCE.sub("", read(page))):
            if link.startswith(("http://", "https://")):
                continue
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            assert target.exists(), f"{page}: {link} is dead"
            if anchor:
                assert anchor in anchors(target.resolve()), f"{page}: {link} has no such heading"


def test_the_index_has_every_page():
    linked = {
        (ROOT / "docs" / link).resolve() for link in LINK.findall(read(ROOT / "docs/index.md"))
    }
    assert linked == set(PAGES) - {ROOT / "docs/index.md"}


def test_pages_for_newcomers_are_short():
    for name, max_lines in (("README.md", 100), ("docs/architecture.md", 150)):
        assert len(read(ROOT / name).splitlines()) <= max_lines, name


def test_files_that_the_architecture_names_are_there():
    names = re.findall(r"`([\w/]+(?:\.py|/))`", read(ROOT / "docs/architecture.md"))
    assert len(names) > 30
    folders = ROOT, ROOT / "gpusudoku", ROOT / "gpusudoku/engines", ROOT / "gpusudoku/contraction"
    assert [name for name in names if not any((folder / name).exists() for folder in folders)] == []
