"""Make the picture of the page that docs/page.md shows: a puzzle with the shares of its candidates.

python benchmarks/picture.py docs/page.png    needs Chromium and its driver

It is a puzzle that comes with the program, in a window of 900 pixels.
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

import click
from chromium import chromium, missing, serving
from screen import Screen, link
from script import command

from gpusudoku import collection
from gpusudoku.errors import InputError

PUZZLE, CELL = "2b", 0
"""The board, and the cell of it that has the focus."""
WIDTH, HEIGHT = 900, 712
FORMS = {".webp": "webp", ".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png"}
QUALITY = 85


def picture(screen: Screen, form: str) -> bytes:
    """The page with the puzzle."""
    screen.resize(WIDTH, HEIGHT)
    screen.cdp("Emulation.setScrollbarsHidden", hidden=True)
    screen.open(link(collection.load(PUZZLE)))
    screen.focus(CELL)
    screen.draw()
    quality = {} if form == "png" else {"quality": QUALITY}
    taken = screen.cdp("Page.captureScreenshot", format=form, **quality)
    return base64.b64decode(taken["data"])


@command("picture")
@click.argument("path", type=click.Path(path_type=Path))
def main(path: Path) -> None:
    """Write the picture to PATH."""
    if path.suffix not in FORMS:
        raise InputError(f"{path}: expected a name that ends in {', '.join(FORMS)}")
    if (reason := missing()) is not None:
        raise InputError(f"there can be no picture: {reason}")
    with (
        tempfile.TemporaryDirectory() as folder,
        serving() as server,
        chromium(Path(folder), logged=False) as driver,
    ):
        path.write_bytes(picture(Screen(driver, server.url), FORMS[path.suffix]))


if __name__ == "__main__":
    main()
