"""Take the picture of the page that docs/page.md shows: a puzzle with the shares of its candidates.

    python docs/picture.py docs/page.webp

It needs Chromium with its driver, and the extras ``test`` and ``web``.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpusudoku import collection
from tests.web.browser.chromium import chromium, missing, serving
from tests.web.browser.screen import Screen, link

PUZZLE = "2b"
FOCUSED_CELL = 0
WIDTH, HEIGHT = 900, 712
"""Size of the window in pixels."""
FORMS = {".webp": "webp", ".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png"}
QUALITY = 85


def take_picture(screen: Screen, form: str) -> bytes:
    """Show the puzzle on the page, and return the picture of it."""
    screen.resize(WIDTH, HEIGHT)
    screen.cdp("Emulation.setScrollbarsHidden", hidden=True)
    screen.open(link(collection.load(PUZZLE)))
    screen.focus(FOCUSED_CELL)
    screen.draw()
    quality = {} if form == "png" else {"quality": QUALITY}
    picture = screen.cdp("Page.captureScreenshot", format=form, **quality)
    return base64.b64decode(picture["data"])


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
def main(path: Path) -> None:
    """Write the picture to PATH."""
    if path.suffix not in FORMS:
        raise click.UsageError(f"{path}: expected a name that ends in {', '.join(FORMS)}")
    if (reason := missing()) is not None:
        raise click.ClickException(f"no picture can be taken: {reason}")
    with (
        tempfile.TemporaryDirectory() as folder,
        serving() as server,
        chromium(Path(folder)) as driver,
    ):
        path.write_bytes(take_picture(Screen(driver, server.url), FORMS[path.suffix]))


if __name__ == "__main__":
    main()
