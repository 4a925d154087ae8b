"""``gpusudoku boards``: what it tells of the boards that come with the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from gpusudoku import collection

Runs = Callable[..., tuple[int, str, str]]
README = Path(__file__).parents[2] / "boards" / "README.md"


def test_boards(run: Runs) -> None:
    lines = run("boards")[1].splitlines()
    assert lines[0].split() == ["name", "box", "clues", "solutions", "what", "it", "is"]
    [found] = [line.split() for line in lines if line.startswith("@2f ")]
    assert found[:4] == ["@2f", "3x3", "15", "48794239"]
    start = lines[0].index("what it is")
    assert all(line[start] != " " and line[start - 1] == " " for line in lines)
    records = [json.loads(line) for line in run("boards", "--json")[1].splitlines()]
    assert next(r["count"] for r in records if r["name"] == "2f") == "48794239"
    assert all("search_space" not in record for record in records)


def test_a_long_list(run: Runs) -> None:
    lines = run("boards", "--long")[1].splitlines()
    assert len(lines) == 1 + len(collection.entries())
    assert len({len(line) for line in lines}) == 1  # all numbers end in line
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    assert rows["@1a"] == ["3x3", "81", "53", "34.57%", "1", "4.31e25"]
    assert rows["@full"][2:] == ["0", "100.00%", "1", "1"]
    assert rows["@no-candidate"][-2:] == ["0", "0"]


def test_long_records(run: Runs) -> None:
    records = [json.loads(line) for line in run("boards", "--long", "--json")[1].splitlines()]
    by_name = {record["name"]: record for record in records}
    for name in ("2f", "16x16-unique"):
        board, found = collection.load(name), by_name[name]
        assert (found["cells"], found["empty_cells"]) == (board.geometry.cells, board.empty_cells)
        assert int(found["search_space"]) == board.search_space
        assert found["filling_factor"] == board.filling_factor


def test_the_table_of_test_cases_is_that_of_the_program(run: Runs) -> None:
    text, found = README.read_text(encoding="utf-8"), 0
    for line in run("boards", "--long")[1].splitlines()[1:]:
        name, _, cells, empty, filling, solutions, space = line.split()
        if len(name) == 3 and name[1] in "12ab":
            row = f"| {name[1:]} | {cells} | {empty} | {filling} | {int(solutions):,} | {space} |"
            assert row in text
            found += 1
    assert found == 6 + 6 + 8 + 8
