"""The page's modules and styles, each joined into one text: a notebook takes no more of a widget.

A module uses little of what JavaScript offers: ``import { a, b } from "./x.js";`` at its top, and
``export`` before a function, a class or a constant. So joining is leaving out the imports, and
putting a module after those that it uses. Names at the top of a module are then in one scope.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).with_name("page")
"""Where the page's files are."""
FIRST = "widget.js"
"""The module that a notebook begins with."""
STYLES = ("base.css", "toolbar.css", "board.css", "leaves.css", "panel.css")
"""In this order."""

_IMPORT = re.compile(r'^import \{([\w\s,$]*)\} from "\./([\w-]+\.js)";\n?', re.MULTILINE)
_OTHER = re.compile(r"^(?:import\b|export (?!(?:async )?function|class|const)).*", re.MULTILINE)
_TOP = re.compile(
    r"^(export )?(?:(?:async )?function\*?|class|const|let|var) +(?:([\w$]+)|(.*))", re.MULTILINE
)
_DARK = "@media (prefers-color-scheme: dark) {"
_IN_DARK = "@scope (.gs-dark) {"


def joined_modules(files: Mapping[str, str] | None = None, first: str = FIRST) -> str:
    """One module that needs no other.

    Parameters
    ----------
    files
        The texts of the modules by name; by default those of the page.
    first
        The module whose default export is that of all.

    Raises
    ------
    ValueError
        If a module is not there or does not keep to the rules above, modules use each other in a
        circle, something imported is not exported, or two modules have the same name at their top.
    """
    if files is None:
        paths = PAGE.glob("*.js")
        files = {path.name: path.read_text(encoding="utf-8") for path in paths}
    order = _in_order(first, files)
    owners: dict[str, str] = {}
    for name in order:
        _check_imports(name, files)
        for top in _names(name, files[name], name == first):
            if top in owners:
                raise ValueError(f"{top} is at the top of {owners[top]} and of {name}")
            owners[top] = name
    parts = (f"// {name}\n\n{_plain(files[name], name == first)}" for name in order)
    return "\n".join(parts)


def joined_styles() -> str:
    """One style sheet, which is dark where the widget says so.

    On a page of its own the browser tells whether colours are dark. A notebook has a theme, which
    may be another: there it is the class ``gs-dark`` of the element around the component.
    """
    texts = ((PAGE / name).read_text(encoding="utf-8") for name in STYLES)
    return "\n".join(texts).replace(_DARK, _IN_DARK)


def _in_order(name: str, files: Mapping[str, str], above: tuple[str, ...] = ()) -> list[str]:
    """A module after all that it uses; ``above`` are those that use it."""
    if name not in files:
        raise ValueError(f"there is no module {name}")
    if name in above:
        raise ValueError(f"{name} and {above[-1]} use each other")
    order: dict[str, None] = {}
    for _, other in _IMPORT.findall(files[name]):
        order |= dict.fromkeys(_in_order(other, files, (*above, name)))
    return [*order, name]


def _check_imports(name: str, files: Mapping[str, str]) -> None:
    for names, other in _IMPORT.findall(files[name]):
        wanted = {each.strip() for each in names.split(",")} - {""}
        exported = {top for export, top, _ in _TOP.findall(files[other]) if export}
        if missing := sorted(wanted - exported):
            raise ValueError(f"{name}: {other} does not export {', '.join(missing)}")


def _names(module: str, text: str, is_first: bool) -> list[str]:
    """What a module declares at its top."""
    found = _OTHER.search(_IMPORT.sub("", text))
    if found and not (is_first and found[0].startswith("export default ")):
        raise ValueError(f"{module}: cannot join {found[0]!r}")
    names = []
    for _, name, other in _TOP.findall(text):
        if not name:
            raise ValueError(f"{module}: one name in each declaration, not {other!r}")
        names.append(name)
    return names


def _plain(text: str, is_first: bool) -> str:
    """A module without imports, and without exports but for those of the first."""
    text = _IMPORT.sub("", text).lstrip("\n")
    return text if is_first else re.sub(r"^export (?!default)", "", text, flags=re.MULTILINE)
