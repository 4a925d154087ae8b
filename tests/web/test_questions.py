"""What is wrong with a question is told in one line that names the field."""

import pytest

from tests.boards import LINE_4X4

CUT = "\n---+---+---\n".join(["1 2|3 4|5 6"] * 6)

BODIES = [
    (b"", "invalid JSON: Expecting value, line 1, column 1"),
    (b'{"board": "1', "invalid JSON: Unterminated string"),
    (b"{} {}", "invalid JSON: Extra data, line 1, column 4"),
    (b"[]", "expected a JSON object"),
    (b'{"board": "\xe9"}', "byte 11 is not UTF-8"),
    (b'{"seconds": NaN}', "invalid JSON: NaN is not a number"),
    (b"[" * 200_000, "invalid JSON: lists or objects are nested too deeply"),
    (b'{"k": 1' + b"0" * 100_000 + b"}", "an integer of 100001 digits: 4000 at most"),
    (b'{"box": "2x2", "board": "1", "box": "1x4"}', "'box' occurs more than once"),
    (b'{"board": "\\ud800"}', "board, column 1: unknown character '\ufffd'"),
    (b'{"board": "\\u001b[2J"}', "board: binary data (byte 0x1b)"),
    (b'{"board":"' + b"1" * 250_000 + b'"}', "board: 250000 cells: a board of 500 rows"),
]

FIELDS = [
    ("count", {"bord": "1"}, "unknown field 'bord'; did you mean 'board'?"),
    ("count", {"\x1b[2J": "1"}, "unknown field '\\x1b[2J': expected board, box, "),
    ("count", {"n": 1}, "unknown field 'n'"),
    ("count", {"board": None}, "board: expected text, found nothing"),
    ("count", {"box": 2}, 'box: expected text such as "3x3", found 2'),
    ("count", {"box": "3x3"}, "board: 16 cells, expected 81"),
    ("count", {"box": "3"}, "box '3': expected ROWSxCOLUMNS"),
    ("count", {"box": "9" * 5000 + "x2"}, "box '999"),
    ("count", {"seconds": 0}, "seconds: expected a number above 0, found 0"),
    ("count", {"seconds": True}, "seconds: expected a number above 0, found true"),
    ("count", {"page": "p" * 65}, "page: expected text of up to 64 characters, found 'ppp"),
    ("sample", {"n": 1001}, "n: expected an integer from 0 to 1000, found 1001"),
    ("sample", {"n": "1 "}, "n: expected an integer from 0 to 1000, found '1 '"),
    ("sample", {"seed": 2**128}, "seed: expected an integer from 0 to 2^128 - 1, found 340"),
    ("sample", {"numbers": 1}, "numbers: expected true or false, found 1"),
    ("minimise", {"seed": "٣"}, "seed: expected an integer from 0 to 2^128 - 1, found '٣'"),
    ("minimise", {"seed": "9" * 4001}, "seed: expected an integer from 0 to 2^128 - 1, found '99"),
    ("nth", {}, "k: expected a list of numbers as text, found nothing"),
    ("nth", {"k": "1"}, "k: expected a list of numbers as text, found '1'"),
    ("nth", {"k": [0, "-"]}, "k[1]: expected an integer from 0 on, found '-'"),
    ("nth", {"k": [True]}, "k[0]: expected an integer from 0 on, found true"),
    ("nth", {"k": [0] * 1001}, "k: expected 1000 numbers at most, found 1001"),
    ("read", {"near": 3}, 'near: expected text such as "3x3", found 3'),
]

TEXTS = [
    ("/etc/passwd", "board, column 1: unknown character '/'"),
    ("\n@2f\n", "board, column 1: unknown character '@'"),
    ("1...\n..2.\n3..@", "board, line 3, column 4: unknown character '@'"),
    ("\n \n", "board: no board found"),
    (f"{LINE_4X4}\n{LINE_4X4}", "board: expected one board, found 2"),
    ("12..." + "." * 20, 'give the box ("box": "1x5" is a Latin square)'),
    (CUT, 'give the box ("box": "ROWSxCOLUMNS")'),
    ("\n".join(["." * 16] * 16), 'give "box": "2x2" for 16 boards of 4x4 or "box": "4x4"'),
    (f"a,b\n1{'.' * 15},2{'.' * 15}", ": call the right one puzzle"),
    ('{"a": 1}', "expected one name such as puzzle or board: 'a'"),
]
"""Boards that cannot be read; what is said names no option of the command line."""


def check(facts, words):
    assert (facts["kind"], facts["status"]) == ("input", 400)
    assert words in facts["error"]
    assert facts["error"].isprintable()
    assert len(facts["error"]) < 300


def test_bodies(server):
    for body, words in BODIES:
        check(server.post("count", body), words)


@pytest.mark.parametrize(("kind", "fields", "words"), FIELDS, ids=range(len(FIELDS)))
def test_fields(server, kind, fields, words):
    check(server.post(kind, {"board": LINE_4X4, **fields}), words)


def test_boards(server):
    for text, words in TEXTS:
        facts = server.ask("count", text)
        check(facts, words)
        assert "--" not in facts["error"]


def test_integers_may_be_long(server):
    """Far longer than JavaScript's numbers, as text and as numbers."""
    assert server.ask("nth", LINE_4X4, k=["0", 10**300 + 7])["kind"] == "input"
    seed = 2**128 - 1
    assert server.ask("sample", LINE_4X4, seed=str(seed))["seed"] == str(seed)
    assert server.ask("sample", LINE_4X4, seed=seed)["seed"] == str(seed)
