"""Answers as JSON: an object for every board, on a line of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np

from gpusudoku.board.rows import Rows
from gpusudoku.cli.records import Answers, Records, distinct
from gpusudoku.errors import BadEntry
from gpusudoku.results import Counts


class JsonLines(Records):
    """One JSON object a board; with details, each board was counted alone and says all of it."""

    sign = "\\"

    def __init__(self, details: bool) -> None:
        self._details = details

    def text(self, answers: Answers) -> bytes:
        """A line for every board; details are written one by one."""
        return b"".join(self.each(answers)) if self._details else super().text(answers)

    def put(self, answers: Answers, written: Rows) -> None:
        """A piece for each value, and the names between them."""
        results, places = answers.results, answers.places
        counts, which = answers.counts()
        verdicts = [f'", {_verdict(results, count)}' for count in counts]
        written.texts([b'{"board": "'])
        written.boards(results.boards.cells)
        sources = [
            f', "source": {json.dumps(origin.name)}, "line": {null}'
            for origin in places.origins
            for null in ("", "null")
        ]
        source = 2 * places.origin_of + (places.lines == 0)
        if answers.solutions is None:
            written.texts([verdict.encode() for verdict in verdicts], which)
        else:
            solved = (np.array(counts) > 0)[which]
            solution = [', "solution": "' if count else ', "solution": null' for count in counts]
            written.texts(
                [(a + b).encode() for a, b in zip(verdicts, solution, strict=True)], which
            )
            written.boards(answers.solutions, solved)
            sources += [f'"{text}' for text in sources]
            source += len(sources) // 2 * solved
        written.texts([text.encode() for text in sources], source)
        written.numbers(places.lines)
        names = [
            [json.dumps(name) for name in distinct(origin.columns)] for origin in places.origins
        ]
        before = [
            [_before(each, column) for each in names] for column in range(max(map(len, names)))
        ]
        written.fields(places.others, before, places.origin_of)
        written.texts([b'"}}\n' if each else b"}\n" for each in names], places.origin_of)

    def unreadable(self, board: BadEntry) -> bytes:
        """See ``Writer``."""
        columns = dict(zip(distinct(board.columns), board.others, strict=True))
        facts: dict[str, object] = {
            "board": board.puzzle or None,
            "error": board.reason,
            "source": board.source,
            "line": board.line or None,
            **({"columns": columns} if columns else {}),
        }
        return f"{json.dumps(facts)}\n".encode()

    def each(self, answers: Answers) -> list[bytes]:
        """Every object, with what few have: texts that need an escape, and all details."""
        results, places = answers.results, answers.places
        counts, which = answers.counts()
        verdicts = [_verdict(results, count) for count in counts]
        sources = [json.dumps(origin.name) for origin in places.origins]
        objects = zip(
            answers.puzzles(),
            map(verdicts.__getitem__, which.tolist()),
            self._solutions(answers),
            map(sources.__getitem__, places.origin_of.tolist()),
            places.lines.tolist(),
            self._ends(answers),
            strict=True,
        )
        return [
            (
                f'{{"board": "{board}", {verdict}{solution}, "source": {source}, '
                f'"line": {line or "null"}{end}}}\n'
            ).encode()
            for board, verdict, solution, source, line, end in objects
        ]

    def _solutions(self, answers: Answers) -> Iterable[str]:
        if answers.solutions is None:
            return repeat("", len(answers))
        return [
            f', "solution": "{line}"' if line else ', "solution": null'
            for line in answers.solution_lines()
        ]

    def _ends(self, answers: Answers) -> Iterable[str]:
        """The input's other columns, and all details."""
        places = answers.places
        if not (self._details or any(origin.columns for origin in places.origins)):
            return repeat("", len(answers))
        names = [distinct(origin.columns) for origin in places.origins]
        results, ends = iter(answers.results), []
        for index in range(len(answers)):
            more: dict[str, object] = {}
            columns_here = names[int(places.origin_of[index])]
            if columns_here:
                more["columns"] = dict(zip(columns_here, places.beside(index), strict=True))
            if self._details:
                facts = next(results).as_dict()
                more |= {name: facts[name] for name in facts if name not in _VERDICT}
            ends.append(f", {json.dumps(more)[1:-1]}" if more else "")
        return ends


def _before(names: Sequence[str], column: int) -> bytes:
    """What stands before the text of a column, of which ``names`` are those of its origin."""
    if column >= len(names):
        return b""
    begin = '", ' if column else ', "columns": {'
    return f'{begin}{names[column]}: "'.encode()


_VERDICT = ("board", "box", "count", "exact", "method", "device")
"""What every object says, of all that a ``Count`` says as JSON."""


def _verdict(results: Counts, count: int) -> str:
    """What all boards of a block with a count have in common."""
    exact = results.is_exact(count)
    facts = {
        "box": str(results.boards.geometry),
        "count": results.text(count).removesuffix("+"),
        "exact": exact,
        "unique": results.is_unique(count),
        "method": results.stats.method,
        "device": results.device,
    }
    return json.dumps(facts)[1:-1]
