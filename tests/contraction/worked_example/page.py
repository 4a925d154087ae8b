"""The contents of docs/contraction.md: its sentences, its tables and its drawing of a board."""

from __future__ import annotations

import re
from pathlib import Path

from gpusudoku import Board
from gpusudoku.formats import parse
from tests.contraction.worked_example.definitions import Partition

PAGE = Path(__file__).parents[3] / "docs" / "contraction.md"
TEXT = PAGE.read_text(encoding="utf-8")
PROSE = " ".join(TEXT.split())
"""The page without line breaks, for sentences."""


def tables() -> dict[str, dict[tuple[str, ...], list[str]]]:
    """Read the tables of the page, by the first field of their heads.

    A table maps the key of a row to the other fields of the row. The key is the row's first field,
    in a table of x and y its first two. The head has the key ().
    """
    tables_by_head: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for lines in re.findall(r"(?:^\|.*\n)+", TEXT, re.MULTILINE):
        head, _, *rows = [
            [field.strip() for field in line.strip("|\n").split("|")]
            for line in lines.splitlines(keepends=True)
        ]
        key_length = 2 if head[1] == "y" else 1
        table = {tuple(row[:key_length]): row[key_length:] for row in rows}
        assert len(table) == len(rows)
        tables_by_head[head[0]] = {(): head[key_length:], **table}
    return tables_by_head


TABLES = tables()


def partition(text: str) -> Partition:
    return frozenset(frozenset(map(int, digits)) for digits in text.split("/"))


def integer(text: str) -> int:
    assert re.fullmatch(r"\d{1,3}(,\d{3})*", text), text
    return int(text.replace(",", ""))


def says(sentence: str) -> bool:
    return sentence in PROSE


def board() -> Board:
    """Read the drawing of section 4."""
    lines = re.findall(r"^ {4}([1-4.]) ([1-4.]) \| ([1-4.]) ([1-4.])$", TEXT, re.MULTILINE)
    assert len(lines) == 4
    return parse("".join(map("".join, lines)))
