"""The page's modules and styles, each joined into one text: a notebook takes no more of a widget.

All modules import by ``import { a, b } from "./x.js";`` at the top, and export by ``export`` before
a function, class or constant. So joining is leaving both out and putting a module behind those that
it imports. The names at the top of all modules are then in one scope; no two may be the same.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).with_name("page")
"""The folder of the page's files."""
STYLES = ("base.css", "toolbar.css", "board.css", "leaves.css", "panel.css")
"""In this order."""

_IMPORT = re.compile(r'^import \{[\w\s,$]*\} from "\./([\w-]+\.js)";\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


def joined_modules() -> str:
    """Return one module that needs no other, with the default export of ``widget.js``."""
    joined: dict[str, str] = {}

    def add(name: str) -> None:
        text = (PAGE / name).read_text(encoding="utf-8")
        for other in _IMPORT.findall(text):
            if other not in joined:
                add(other)
        joined[name] = f"// {name}\n\n" + _EXPORT.sub("", _IMPORT.sub("", text)).lstrip("\n")

    add("widget.js")
    return "\n".join(joined.values())


def joined_styles() -> str:
    """Return one style sheet, dark where the element around the component has class ``gs-dark``.

    On a page of its own the browser says whether colours are dark; the theme of a notebook may
    differ from that.
    """
    text = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in STYLES)
    return text.replace("@media (prefers-color-scheme: dark) {", "@scope (.gs-dark) {")
