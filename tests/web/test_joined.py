"""The page's modules and styles as one text each, which is what notebooks get."""

import re
import shutil
import subprocess

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")

from gpusudoku.web.notebook import joined_modules, joined_styles
from tests.web.conftest import ROOT

PAGE = ROOT / "gpusudoku" / "web" / "page"


def test_a_browser_can_read_the_page_as_one_module(tmp_path):
    """All names that are used when it is loaded are there, and none is there twice."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("there is no node to read JavaScript")
    text = joined_modules()
    assert not re.search(r"^\s*(import|export)\b(?! default)", text, re.MULTILINE)
    path = tmp_path / "joined.mjs"
    path.write_text(text, encoding="utf-8")
    code = f"console.log(typeof (await import({str(path)!r})).default.render);"
    done = subprocess.run(
        [program, "--input-type=module", "--eval", code], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "function\n"), done.stderr


def test_the_page_asks_no_other_address_and_listens_only_to_what_is_its_own():
    comments = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.MULTILINE | re.DOTALL)
    text = comments.sub("", joined_modules() + joined_styles())
    addresses = set(re.findall(r"\b(?:https?|wss?):[^\s\"'`]*", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, which nobody fetches
    assert not re.search(r"\bfetch\(|XMLHttpRequest|\bimport\(|@import|url\(", text)
    listening = re.findall(r"(\S*)addEventListener\(", text)
    assert listening
    assert not [each for each in listening if re.match(r"(window|document|globalThis)\b|$", each)]


def test_its_styles_are_those_of_the_page_but_the_notebook_tells_what_is_dark():
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    names = re.findall(r'href="/page/(\S+\.css)"', index)
    text = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in names)
    dark = "@media (prefers-color-scheme: dark) {"
    assert dark in text
    assert joined_styles() == text.replace(dark, "@scope (.gs-dark) {")
