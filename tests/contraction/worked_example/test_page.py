"""The picture (section 3) and the files that the page names."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tests.contraction.worked_example.page import PAGE, PROSE, TEXT

ROOT = PAGE.parents[1]


def test_the_picture_is_there():
    name = re.search(r"!\[[^]]+\]\(([^)]+)\)", TEXT)[1]
    root = ElementTree.fromstring((PAGE.parent / name).read_text(encoding="utf-8"))
    sizes = {float(e.get("font-size")) for e in root.iter() if e.get("font-size")}
    assert min(sizes) >= 12


def test_the_files_are_there():
    """A name without a folder is in the folder that the page named last."""
    names = re.findall(r"`([\w/.]+)`", PROSE)
    assert len(names) >= 9
    folder = ROOT
    for name in names:
        path = ROOT / name if "/" in name else folder / name
        assert path.exists(), name
        folder = path if path.is_dir() else path.parent
