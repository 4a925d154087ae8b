"""The question ``read``: the shape that is near, and what is wrong as an answer."""

from __future__ import annotations

import pytest

from gpusudoku.errors import InputError
from gpusudoku.web.questions import question_of
from tests.web.conftest import Running

GRID_6X6 = ".2.4.6" + "." * 30
LATIN = "12..." + "." * 20
CUT = "\n---+---+---\n".join(["1 2|3 4|5 6"] * 6)


class TestShapes:
    def test_the_one_that_is_near_is_meant_if_the_text_tells_none(self) -> None:
        for near in ("2x3", "3x2", "1x6"):
            board = question_of("read", {"board": GRID_6X6, "near": near}).board
            assert str(board.geometry) == near
        board = question_of("read", {"board": GRID_6X6, "near": "3x3"}).board
        assert str(board.geometry) == "2x3"

    def test_a_box_is_what_counts(self) -> None:
        given = {"board": GRID_6X6, "near": "1x6", "box": "3x2"}
        assert str(question_of("read", given).board.geometry) == "3x2"

    @pytest.mark.parametrize(
        ("near", "said"),
        [
            (3, 'near: expected text such as "3x3", found 3'),
            ("3", "near: box '3': expected ROWSxCOLUMNS, such as 3x3"),
            ("9x9", "near: box 9x9: 81 digits, at most 64 are supported"),
        ],
    )
    def test_one_that_is_none(self, near: object, said: str) -> None:
        with pytest.raises(InputError) as caught:
            question_of("read", {"board": GRID_6X6, "near": near})
        assert str(caught.value) == said

    def test_only_read_has_it(self) -> None:
        with pytest.raises(InputError, match="unknown field 'near'"):
            question_of("count", {"board": GRID_6X6, "near": "3x2"})


@pytest.mark.parametrize(
    ("board", "said"),
    [
        (LATIN, 'give the box ("box": "1x5" is a Latin square)'),
        (CUT, 'give the box ("box": "ROWSxCOLUMNS")'),
        ("\n".join(["." * 16] * 16), 'give "box": "2x2" for 16 boards of 4x4 or "box": "4x4" for'),
        (f"a,b\n1{'.' * 15},2{'.' * 15}", ": call the right one puzzle"),
        ('{"a": 1}', "expected one name such as puzzle or board: 'a'"),
    ],
)
def test_no_message_names_an_option(board: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        question_of("count", {"board": board})
    assert said in str(caught.value)
    assert "--" not in str(caught.value)


def test_what_is_wrong_is_an_event(server: Running) -> None:
    [(name, facts)] = [each for each in server.events("read", "12345") if each[0] != "progress"]
    assert name == "error"
    assert (facts["status"], facts["kind"]) == (400, "input")
    assert "5 cells make no board" in facts["error"]
    assert server.ask("read", "12345")["error"] == facts["error"]
    events = dict(server.events("read", GRID_6X6, near="3x2"))
    assert (events["result"]["box"], len(events["result"]["cells"])) == ("3x2", 36)
