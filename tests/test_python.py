"""The Python interface: completion, help, wrong keywords and types, representations."""

from __future__ import annotations

import builtins
import inspect
import pickle
import pydoc
import re
from collections.abc import Callable
from copy import copy, deepcopy
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


def test_completion_and_help_show_every_public_name() -> None:
    names = dir(gpusudoku)
    assert names == sorted(gpusudoku.__all__)
    page = pydoc.plain(pydoc.render_doc(gpusudoku))
    for name in set(names) - {"__version__", "collection"}:
        assert hasattr(gpusudoku, name)
        assert f"    class {name}(" in page or f"    {name}(" in page, name
    assert "collection" in page
    assert "The memory that a contraction may use" in pydoc.plain(pydoc.render_doc(Options))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_help_and_name_themselves_for_a_wrong_keyword(name: str) -> None:
    function = getattr(gpusudoku, name)
    page = pydoc.plain(pydoc.render_doc(function))
    assert inspect.getdoc(function)
    assert list(inspect.signature(function).parameters)[-1] == "options"
    assert page.splitlines()[2].startswith(f"{name}(")
    with pytest.raises(TypeError) as caught:
        function([], limt=3)
    assert str(caught.value) == (
        f"{name}() got an unexpected keyword argument 'limt'; did you mean 'limit'?"
    )


@pytest.mark.parametrize("name", gpusudoku.__all__)
def test_docstrings_have_all_parameters_and_errors(name: str) -> None:
    """The reference is generated from them."""
    value = getattr(gpusudoku, name)
    text = inspect.getdoc(value) or ""
    assert text
    if not inspect.isfunction(value):
        return
    parts = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    sections = {
        title: re.split(r"[\s,]+", " ".join(re.findall(r"^\S.*", body, re.MULTILINE)))
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    described = [name_with_stars.strip("*") for name_with_stars in sections["Parameters"]]
    assert sorted(described) == sorted(inspect.signature(value).parameters)
    for error in sections["Raises"]:
        kind = getattr(gpusudoku, error, None) or getattr(builtins, error)
        assert issubclass(kind, Exception)


def test_wrong_types_are_reported_in_a_sentence() -> None:
    for call, message in (
        (lambda: gpusudoku.solve(None), "expected a board"),
        (lambda: gpusudoku.solutions({}), "expected a board"),
        (lambda: gpusudoku.simplify([1, 2]), "2 cells do not make a square board"),
        (lambda: gpusudoku.solve_many(LINE_4X4), "expected boards, found one str"),
        (lambda: gpusudoku.count_many([], jobs=1.5), "jobs 1.5: expected an integer"),
        (lambda: gpusudoku.solutions(BOARD, memory="2G"), "memory '2G': expected an integer"),
        (lambda: gpusudoku.solve(BOARD, engine=5), "engine 5: expected one from make_engine"),
        (lambda: gpusudoku.make_engine(device="gpu"), "device 'gpu': expected auto, cpu, cuda"),
        (lambda: gpusudoku.cross_check(BOARD), "result parse('1....2....3"),
        (lambda: gpusudoku.simplify(BOARD, [5]), "unknown technique '5': expected naked"),
        (lambda: Board([[1, 2], [3]]), "row 2 has 1 cells, expected 2"),
        (lambda: Board(None), "expected integers for the cells, found None"),
        (lambda: Board(LINE_4X4), "cells are given as a str, expected integers"),
        (lambda: Board([0] * 16, candidates=[[1], [1, 2]]), "candidates: row 2 has 2 cells"),
        (lambda: Geometry(2.0, 2), "box side 2.0: expected an integer"),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("uncompiled")
def test_all_functions_take_all_forms() -> None:
    for board in (LINE_4X4, BOARD, BOARD.grid.tolist(), np.array(BOARD)):
        assert gpusudoku.count(board, device="cpu").count == 6
        assert gpusudoku.solve(board, device="cpu").unique is False
        assert len(list(gpusudoku.solutions(board, device="cpu"))) == 6
        assert gpusudoku.simplify(board).board.clues >= 3
        boards = [board, board]
        assert [result.count for result in gpusudoku.count_many(boards, device="cpu")] == [6, 6]
        assert [result.unique for result in gpusudoku.solve_many(boards, device="cpu")] == [
            False
        ] * 2


def test_what_is_shown() -> None:
    of_a_board = "of a 4x4 board with 3 clues"
    number = 123456 * 10**5000
    huge = Count(BOARD, number, True, "cpu", 1, STATS)
    for value, text in (
        (Geometry(2, 3), "Geometry(box_rows=2, box_columns=3)"),
        (Count(BOARD, 1, True, "cuda", 1, STATS),
         f"<Count: 1 solution {of_a_board}, by search on cuda>"),
        (huge, f"<Count: about 1.235e+5005 solutions {of_a_board}, by search on cpu>"),
        (Solution(BOARD, BOARD, False, STATS),
         f"<Solution: one of several solutions {of_a_board}>"),
        (Solution(BOARD, BOARD, None, STATS), f"<Solution: a solution {of_a_board}>"),
        (CpuEngine(1), "<CpuEngine: 1 thread>"),
        (CpuEngine(3), "<CpuEngine: 3 threads>"),
        (CudaEngine((0,)), "<CudaEngine: 1 GPU>"),
        (gpusudoku.simplify(PUZZLE), "<Simplified: 0 candidates left in 0 empty cells>"),
        (gpusudoku.simplify("11" + 14 * "."), "<Simplified: no solution>"),
    ):  # fmt: skip
        assert repr(value) == text
    assert str(huge) == decimal_digits(number)


def test_what_notebooks_show() -> None:
    grid = Board([1, 3, 2, 4, 4, 2, 1, 3, 2, 4, 3, 1, 3, 1, 4, 2], Geometry(2, 2))
    for caption, value in (
        ("6 solutions", Count(BOARD, 6, True, "cpu", 1, STATS)),
        ("The only solution", Solution(BOARD, grid, True, STATS)),
        ("One of several solutions", Solution(BOARD, grid, False, STATS)),
        ("No solution", Solution(BOARD, None, False, STATS)),
    ):
        page = value._repr_html_()
        assert f"<div>{caption}</div>" in page
        assert page.count("<b>") == 3
        assert (">4</td>" in page) == (isinstance(value, Solution) and bool(value))
    assert "0 candidates left" in gpusudoku.simplify(PUZZLE)._repr_html_()


COPIES = [copy, deepcopy, *(
    lambda value, protocol=protocol: pickle.loads(pickle.dumps(value, protocol))
    for protocol in (0, pickle.HIGHEST_PROTOCOL)
)]  # fmt: skip


@pytest.mark.parametrize("make_copy", COPIES)
def test_copies_of_boards_stay_as_they_are(make_copy: Callable[[Any], Any]) -> None:
    for board in (BOARD, Board(BOARD.cells, candidates=[15] * 16)):
        assert board.search_space + len(board.geometry.peers) > 0  # kept beside the cells
        copy = make_copy(board)
        assert copy == board
        assert hash(copy) == hash(board)
        for array in (copy.cells, copy.grid, copy[0], np.asarray(copy), copy.candidates,
                      copy.given_candidates, copy.geometry.units, copy.geometry.unit_of,
                      copy.geometry.peers[0], next(iter(copy))):  # fmt: skip
            assert array is None or not array.flags.writeable
        with pytest.raises(AttributeError, match=r"^a board never changes: cells cannot be set"):
            copy.cells = copy.cells
        with pytest.raises(AttributeError, match=r"^a board never changes: clues cannot be dele"):
            del copy.clues
        with pytest.raises(TypeError):
            copy[0, 0] = 1


@pytest.mark.parametrize("make_copy", COPIES)
def test_copies_of_results_stay_as_they_are(make_copy: Callable[[Any], Any]) -> None:
    simplified = make_copy(gpusudoku.simplify(BOARD))
    assert not simplified.candidates.flags.writeable
    assert not simplified.board.cells.flags.writeable
    for exact in (True, False):
        count = make_copy(Count(BOARD, 6, exact, "cpu", 1, STATS))
        assert (count.count, count.exact, count.stats) == (6, exact, STATS)
        assert not count.board.cells.flags.writeable
