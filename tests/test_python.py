"""Manners in Python: what completion and help show, wrong keywords and types, how things look."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import subprocess
import sys
from collections.abc import Callable
from copy import copy, deepcopy
from functools import partial
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Board, Count, Geometry, InputError, Options, SearchStats, Solution
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.results import decimal_digits
from tests.boards import LINE_4X4, PUZZLE

FUNCTIONS = ["count", "count_many", "cross_check", "solutions", "solve", "solve_many"]
"""Those that take options."""

BOARD = gpusudoku.parse(LINE_4X4)
STATS = SearchStats("min", "singles", None, "space", True, 1, 1, 1, 1, 1, 0.5, 0.1, (1.0,))


class TestNames:
    def test_completion_shows_every_public_name(self) -> None:
        names = dir(gpusudoku)
        assert names == sorted(gpusudoku.__all__)
        assert {"count", "count_many", "solve", "solve_many", "collection", "Options"} <= set(names)
        assert all(hasattr(gpusudoku, name) for name in names)

    def test_everything_can_be_imported_at_once(self) -> None:
        script = "from gpusudoku import *; print(count, collection, Options)"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                              timeout=300, check=False)  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")

    def test_help_on_the_package(self) -> None:
        page = pydoc.plain(pydoc.render_doc(gpusudoku))
        for name in set(gpusudoku.__all__) - {"__version__", "collection"}:
            assert f"    class {name}(" in page or f"    {name}(" in page, name
        assert "collection" in page

    def test_help_on_functions(self) -> None:
        for name in FUNCTIONS:
            function = getattr(gpusudoku, name)
            page = pydoc.plain(pydoc.render_doc(function))
            assert inspect.getdoc(function)
            assert list(inspect.signature(function).parameters)[-1] == "options"
            assert page.splitlines()[2].startswith(f"{name}(")

    def test_help_on_options(self) -> None:
        page = pydoc.plain(pydoc.render_doc(Options))
        assert "The most bytes that a contraction may take" in page


class TestWrongArguments:
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_a_wrong_keyword_names_the_function(self, name: str) -> None:
        with pytest.raises(TypeError) as caught:
            getattr(gpusudoku, name)([], limt=3)
        assert str(caught.value) == (
            f"{name}() got an unexpected keyword argument 'limt'; did you mean 'limit'?"
        )

    def test_wrong_types_are_told_in_a_sentence(self) -> None:
        calls: list[tuple[Callable[[], object], str]] = [
            (lambda: gpusudoku.count(5), "expected a board"),
            (lambda: gpusudoku.solve(None), "expected a board"),
            (lambda: gpusudoku.solutions({}), "expected a board"),
            (lambda: gpusudoku.simplify([1, 2]), "2 cells do not make a square board"),
            (lambda: gpusudoku.count_many(LINE_4X4), "expected boards, found one str"),
            (lambda: gpusudoku.solve_many(BOARD), "expected boards, found one Board"),
            (lambda: gpusudoku.count(BOARD, limit=2.5), "limit 2.5: expected an integer"),
            (lambda: gpusudoku.count_many([], jobs=1.5), "jobs 1.5: expected an integer"),
            (lambda: gpusudoku.solutions(BOARD, memory="2G"), "memory '2G': expected an integer"),
            (lambda: gpusudoku.count(BOARD, engine="cpu"), "engine 'cpu': expected one that make"),
            (lambda: gpusudoku.solve(BOARD, engine=5), "engine 5: expected one that make_engine"),
            (lambda: gpusudoku.make_engine(device="gpu"), "device 'gpu': expected auto, cpu, cuda"),
            (lambda: gpusudoku.count_many([], on_error="skip"), "on_error 'skip': expected raise"),
            (lambda: gpusudoku.cross_check(BOARD), "result parse('1....2....3"),
            (lambda: gpusudoku.simplify(BOARD, 5), "techniques 5: expected names"),
            (lambda: gpusudoku.simplify(BOARD, [5]), "unknown technique '5': expected naked"),
            (lambda: Board([[1, 2], [3]]), "row 2 has 1 cells, expected 2"),
            (lambda: Board(None), "expected integers for the cells, found None"),
            (lambda: Board(LINE_4X4), "cells are given as a str, expected integers"),
            (lambda: Board(BOARD), "cells are given as a Board, expected integers"),
            (lambda: Board([0] * 16, candidates=[[1], [1, 2]]), "candidates: row 2 has 2 cells"),
            (lambda: Geometry(2.0, 2), "box side 2.0: expected an integer"),
            (lambda: Geometry("2", 2), "box side '2': expected an integer"),
        ]
        for call, message in calls:
            with pytest.raises(InputError) as caught:
                call()
            assert str(caught.value).startswith(message)
            assert "\n" not in str(caught.value)


class TestForms:
    @pytest.mark.usefixtures("uncompiled")
    @pytest.mark.parametrize("given", [LINE_4X4, BOARD, BOARD.grid.tolist(), np.array(BOARD)])
    def test_all_functions_take_them(self, given: Any) -> None:
        assert gpusudoku.count(given, device="cpu").count == 6
        assert gpusudoku.solve(given, device="cpu").unique is False
        assert len(list(gpusudoku.solutions(given, device="cpu"))) == 6
        assert gpusudoku.simplify(given).board.clues >= 3
        many = [given, given]
        assert [each.count for each in gpusudoku.count_many(many, device="cpu")] == [6, 6]
        assert [each.unique for each in gpusudoku.solve_many(many, device="cpu")] == [False] * 2

    @pytest.mark.usefixtures("uncompiled")
    def test_boxes(self) -> None:
        as_2x2, as_1x4 = (
            gpusudoku.count(LINE_4X4, box=box, device="cpu") for box in ("2x2", "1x4")
        )
        assert (as_2x2.board.geometry, as_1x4.board.geometry) == (Geometry(2, 2), Geometry(1, 4))
        assert as_2x2.count < as_1x4.count


class TestLooks:
    def test_in_one_line(self) -> None:
        for value, text in [
            (BOARD, f"parse('{LINE_4X4}', box='2x2')"),
            (Geometry(2, 3), "Geometry(box_rows=2, box_columns=3)"),
            (Count(BOARD, 6, True, "cpu", 1, STATS),
             "<Count: 6 solutions of a 4x4 board with 3 clues, by search on cpu>"),
            (Count(BOARD, 1, True, "cuda", 1, STATS),
             "<Count: 1 solution of a 4x4 board with 3 clues, by search on cuda>"),
            (Count(BOARD, 5, False, "cpu", 1, STATS),
             "<Count: 5+ solutions of a 4x4 board with 3 clues, by search on cpu>"),
            (Count(BOARD, 123456 * 10**5000, True, "cpu", 1, STATS),
             "<Count: about 1.235e+5005 solutions of a 4x4 board with 3 clues, by search on cpu>"),
            (Solution(BOARD, BOARD, True, STATS),
             "<Solution: the only solution of a 4x4 board with 3 clues>"),
            (Solution(BOARD, BOARD, False, STATS),
             "<Solution: one of several solutions of a 4x4 board with 3 clues>"),
            (Solution(BOARD, BOARD, None, STATS),
             "<Solution: a solution of a 4x4 board with 3 clues>"),
            (Solution(BOARD, None, None, STATS),
             "<Solution: no solution of a 4x4 board with 3 clues>"),
            (CpuEngine(1), "<CpuEngine: 1 thread>"),
            (CpuEngine(3), "<CpuEngine: 3 threads>"),
        ]:  # fmt: skip
            assert repr(value) == text

    def test_an_engine_of_gpus(self) -> None:
        assert repr(CudaEngine((0,))) == "<CudaEngine: 1 GPU>"

    def test_simplified(self) -> None:
        assert repr(gpusudoku.simplify(PUZZLE)) == (
            "<Simplified: 0 candidates left in 0 empty cells>"
        )
        assert repr(gpusudoku.simplify("11" + 14 * ".")) == "<Simplified: no solution>"

    def test_nothing_is_cut_from_a_count_that_is_asked_for(self) -> None:
        number = 123456 * 10**5000
        assert str(Count(BOARD, number, True, "cpu", 1, STATS)) == decimal_digits(number)

    def test_notebooks_draw_them(self) -> None:
        found = Board([1, 3, 2, 4, 4, 2, 1, 3, 2, 4, 3, 1, 3, 1, 4, 2], Geometry(2, 2))
        shown = {
            "6 solutions": Count(BOARD, 6, True, "cpu", 1, STATS),
            "The only solution": Solution(BOARD, found, True, STATS),
            "One of several solutions": Solution(BOARD, found, False, STATS),
            "No solution": Solution(BOARD, None, None, STATS),
        }
        for caption, value in shown.items():
            page = value._repr_html_()
            assert f"<div>{caption}</div>" in page
            assert page.count("<b>") == 3
        assert "<b>1</b>" in shown["The only solution"]._repr_html_()
        assert ">4</td>" in shown["The only solution"]._repr_html_()
        assert "0 candidates left" in gpusudoku.simplify(PUZZLE)._repr_html_()


def _pickled(value: Any, protocol: int) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


COPIES: list[Callable[[Any], Any]] = [
    copy,
    deepcopy,
    *(partial(_pickled, protocol=protocol) for protocol in (0, pickle.HIGHEST_PROTOCOL)),
]


class TestCopies:
    @pytest.mark.parametrize("again", COPIES)
    @pytest.mark.parametrize(
        "board", [BOARD, Board(BOARD.cells, candidates=[15] * 16)], ids=["plain", "candidates"]
    )
    def test_boards_stay_as_they_are(self, again: Callable[[Any], Any], board: Board) -> None:
        assert board.search_space + len(board.geometry.peers) > 0  # kept beside the cells
        made = again(board)
        assert made == board
        assert hash(made) == hash(board)
        for array in (made.cells, made.grid, made[0], np.asarray(made), made.candidates,
                      made.given_candidates, made.geometry.units, made.geometry.unit_of,
                      made.geometry.peers[0], next(iter(made))):  # fmt: skip
            assert array is None or not array.flags.writeable
        with pytest.raises(AttributeError, match=r"^a board never changes: cells cannot be set"):
            made.cells = made.cells
        with pytest.raises(AttributeError, match=r"^a board never changes: clues cannot be set"):
            made.clues = 5
        with pytest.raises(AttributeError, match=r"^a board never changes: clues cannot be dele"):
            del made.clues
        with pytest.raises(TypeError):
            made[0, 0] = 1

    @pytest.mark.parametrize("again", COPIES)
    def test_results_stay_as_they_are(self, again: Callable[[Any], Any]) -> None:
        simplified = again(gpusudoku.simplify(BOARD))
        assert not simplified.candidates.flags.writeable
        assert not simplified.board.cells.flags.writeable
        count = again(Count(BOARD, 6, True, "cpu", 1, STATS))
        assert count == Count(BOARD, 6, True, "cpu", 1, STATS)
        assert not count.board.cells.flags.writeable
