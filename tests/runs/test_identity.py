import json

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.runs.identity import Identity, board_of_identity, identity_of_board
from tests.boards import puzzle

BOARD = Board([1] + [0] * 15, Geometry(2, 2))


def identity(**options: object) -> Identity:
    return Identity("count", identity_of_board(BOARD), {"method": "search", **options})


def test_a_board_comes_back_whole() -> None:
    geometry = Geometry(2, 3)
    masks = np.full(36, geometry.all_digits)
    masks[5] = 0b110
    for board in (BOARD, Board(np.zeros(36, int), geometry, candidates=masks)):
        described = json.loads(json.dumps(identity_of_board(board)))
        again = board_of_identity(described)
        assert again == board
        assert (again.given_candidates is None) == (board.given_candidates is None)


def test_a_digest_names_what_results_depend_on() -> None:
    assert identity(tasks=1).digest == identity(tasks=1).digest
    assert identity(tasks=1).digest != identity(tasks=2).digest
    assert Identity.parse(identity(tasks=1).json) == identity(tasks=1)
    assert Identity.parse(identity(tasks=1).json).digest == identity(tasks=1).digest


@pytest.mark.parametrize("text", ["", "{", "1", "[]", "{}", '{"command": 1}', '{"comand": "x"}'])
def test_what_is_no_identity(text: str) -> None:
    with pytest.raises(ValueError, match=r"identity|argument|Expecting|property|items|mapping"):
        Identity.parse(text)


def test_a_difference_is_told_in_words() -> None:
    assert identity().difference(identity()) is None
    assert identity(method="search").difference(identity(method="contraction")) == (
        "method contraction, not search"
    )
    other = Identity("count", identity_of_board(puzzle("2x2", 5, 1)), {"method": "search"})
    assert identity().difference(other) == "another board"
    many = Identity("count", {"boards": 3, "sha256": "ab"}, {"method": "search"})
    assert many.difference(Identity("count", {"boards": 3, "sha256": "cd"}, many.options)) == (
        "other boards"
    )
    older = Identity("count", identity().boards, identity().options, version="0.1")
    assert identity().difference(older).startswith("version 0.1, not ")


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ([["a", "12"], ["b", "34"], [".1", None]], None),
        ([["a", "12"], ["b", "35"], [".1", None]], "b has changed since it began"),
        ([["a", "12"], ["b", None], [".1", None]], "b has changed since it began"),
        ([["a", "12"], ["b", "34"]], "other boards"),
        ([["a", "12"], ["c", "34"], [".1", None]], "other boards"),
        (None, "other boards"),
        ([["a"], ["b"], [".1"]], "other boards"),
    ],
)
def test_the_file_that_has_changed_is_named(before: object, words: str | None) -> None:
    now = Identity("count", {"inputs": [["a", "12"], ["b", "34"], [".1", None]]}, {})
    assert now.difference(Identity("count", {"inputs": before}, {})) == words
