"""Write the tables of README.md and the pages of results, or check them.

A table stands between the lines ``<!-- NAME -->`` and ``<!-- end of NAME -->``, where NAME.py is
the script in this folder whose function ``show`` prints it. With ``NAME.PART`` that is the function
PART; with ``NAME-OTHER``, ``show`` prints the results of NAME-OTHER.json. Under what a script
recorded stand the machine, the date, the commit and the command.

    python benchmarks/readme.py           write
    python benchmarks/readme.py --check   write nothing; exit status 1 if a table is not current
"""

from __future__ import annotations

import importlib
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import click
from machine import RESULTS, source
from script import command

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/results.md", "docs/more-results.md", "docs/gpu.md")
TABLE = re.compile(r"(<!-- ([\w.-]+) -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


def shown(marker: str) -> str:
    """What a script prints of its recorded results, and where they are from."""
    file, _, part = marker.partition(".")
    name = file.partition("-")[0]
    path = RESULTS / f"{file}.json"
    printed = StringIO()
    with redirect_stdout(printed):
        getattr(importlib.import_module(name), part or "show")(path)
    text = printed.getvalue().strip() + "\n"
    return f"{text}\n{source(path, f'python benchmarks/{name}.py')}\n" if path.is_file() else text


def current(page: str) -> str:
    """The text of a page with its tables as they should be."""
    return TABLE.sub(lambda found: found[1] + shown(found[2]) + found[3], page)


@command("readme")
@click.option("--check", is_flag=True, help="Write nothing; say which page is not current.")
def main(check: bool) -> None:
    """Write the tables of all pages."""
    before = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}
    after = {name: current(text) for name, text in before.items()}
    for name in PAGES:
        if check and after[name] != before[name]:
            sys.exit(f"{name}: its tables are not those of benchmarks/results: run readme.py")
    if check:
        return
    for name, text in after.items():  # a page is never half written
        new = (ROOT / name).with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.replace(ROOT / name)


if __name__ == "__main__":
    main()
