"""Write the tables of README.md and of the pages of results, or check them.

A table is between the lines ``<!-- NAME -->`` and ``<!-- end of NAME -->``. The function ``show``
of NAME.py in this folder prints it. The marker NAME.PART calls the function PART instead, and
NAME-FILE prints the results of NAME-FILE.json. A line under the results that a script recorded has
the machine, the date, the commit and the command.

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
from machine import RESULTS, source_line
from script import command

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/results.md", "docs/more-results.md", "docs/gpu.md", "docs/estimates.md")
TABLE = re.compile(r"(<!-- ([\w.-]+) -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


def make_table(marker: str) -> str:
    """Return what a script prints from its recorded results, and where they are from."""
    file, _, part = marker.partition(".")
    script_name = file.partition("-")[0]
    path = RESULTS / f"{file}.json"
    # Functions print their tables, also for use in a terminal.
    printed = StringIO()
    with redirect_stdout(printed):
        print_part = getattr(importlib.import_module(script_name), part or "show")
        print_part(path)
    text = printed.getvalue().strip() + "\n"
    if not path.is_file():  # the script has printed where its results are from
        return text
    return f"{text}\n{source_line(path, f'python benchmarks/{script_name}.py')}\n"


def update_tables(page: str) -> str:
    """Return the text of a page with current tables."""
    return TABLE.sub(lambda match: match[1] + make_table(match[2]) + match[3], page)


@command("readme")
@click.option("--check", is_flag=True, help="Write nothing; name a page that is not current.")
def main(check: bool) -> None:
    """Write the tables of all pages."""
    old_texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}
    new_texts = {name: update_tables(text) for name, text in old_texts.items()}
    if check:
        for name in PAGES:
            if new_texts[name] != old_texts[name]:
                sys.exit(f"{name}: its tables are not those of benchmarks/results: run readme.py")
        return
    for name, text in new_texts.items():
        # Write another file and rename it, so that a page is never half written.
        new_file = (ROOT / name).with_suffix(".new")
        new_file.write_text(text, encoding="utf-8")
        new_file.replace(ROOT / name)


if __name__ == "__main__":
    main()
