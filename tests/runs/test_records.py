"""Records of parts: counts in parts add up to the count, by any method, on any threads."""

from __future__ import annotations

import json
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpusudoku
from gpusudoku import Board, PartRecord, count_part, merge
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.results import decimal_digits
from gpusudoku.runs.identity import Identity
from gpusudoku.runs.parts import counts, records
from tests import naive

SOME = "1....2....3....."
SIX = "." * 36
NINE = "1" + "." * 80


def partials(board, parts, **options):
    """All parts of a count, each with another number of threads."""
    jobs = cycle((1, 2, 3))
    numbers = range(1, parts + 1)
    return [
        count_part(board, number, parts, device="cpu", jobs=next(jobs), **options)
        for number in numbers
    ]


@st.composite
def boards(draw):
    """Small boards with clues that may contradict each other, and candidates at times."""
    shape = Geometry.parse(draw(st.sampled_from(["1x1", "2x2", "1x4"])))
    digit = st.integers(0, shape.n)
    cells = draw(st.lists(digit, min_size=shape.cells, max_size=shape.cells))
    kept = draw(st.integers(2, 6))
    cells = [cell if index % kept == 0 else 0 for index, cell in enumerate(cells)]
    if not draw(st.booleans()):
        return Board(cells, shape)
    whole = (1 << shape.n) - 1
    masks = draw(st.lists(st.integers(0, whole), min_size=shape.cells, max_size=shape.cells))
    return Board(
        cells,
        shape,
        candidates=[
            1 << cell - 1 if cell else whole if index % 3 else mask
            for index, (cell, mask) in enumerate(zip(cells, masks, strict=True))
        ],
    )


class TestCounts:
    @pytest.mark.parametrize("parts", [1, 2, 3, 7, 50])
    @pytest.mark.parametrize("method", ["search", "auto"])
    @pytest.mark.parametrize("board", [SOME, "." * 16, "11" + "." * 14, "1234341221434321"])
    def test_add_up(self, board, method, parts):
        found = partials(board, parts, method=method)
        count = gpusudoku.count(board, device="cpu").count
        assert sum(part.found for part in found) == merge(found[::-1]).count == count

    @given(board=boards(), parts=st.integers(1, 9))
    def test_of_any_board(self, board, parts):
        masks = board.given_candidates
        count = sum(
            masks is None
            or all(int(mask) >> digit - 1 & 1 for mask, digit in zip(masks, solution, strict=True))
            for solution in naive.solutions(board)
        )
        assert merge(partials(board, parts)).count == count

    @pytest.mark.parametrize("parts", [1, 2, 5])
    def test_by_search_and_by_contraction(self, parts):
        """Two methods that share nothing."""
        board = "12" + "." * 34
        counts = [merge(partials(board, parts, method=m)) for m in ("search", "contraction")]
        assert counts[0].count == counts[1].count == gpusudoku.count(board, device="cpu").count
        assert [count.method for count in counts] == ["search", "contraction"]

    def test_of_many_solutions(self):
        assert merge(partials(NINE, 3)).count == gpusudoku.count(NINE, device="cpu").count

    def test_as_texts(self):
        found = partials(SOME, 3)
        assert merge(map(str, found)).count == merge(found).count == 6

    def test_statistics_add_up(self):
        whole, *_ = partials("." * 16, 1, method="search")
        merged = merge(partials("." * 16, 7, method="search"))
        assert merged.stats.boards_explored == merge([whole]).stats.boards_explored == 288
        assert merged.stats.seconds > 0
        assert merged.device == "cpu"
        assert merged.exact

    def test_cancelled(self):
        token = CancelToken()
        token.cancel()
        with pytest.raises(Interrupted):
            count_part("." * 81, 1, 2, device="cpu", method="search", cancel=token)

    @pytest.mark.parametrize("part", [(0, 2), (3, 2), (1, 10**30), ("1", 2), (1.0, 2), (True, 2)])
    def test_no_such_part(self, part):
        with pytest.raises(InputError, match=r"part .+ of"):
            count_part(SOME, *part, device="cpu")

    def test_no_limit(self):
        with pytest.raises(InputError, match="limit 5"):
            count_part(SOME, 1, 2, device="cpu", limit=5)


class TestMerge:
    def test_refuses(self):
        one, two, three = partials(SOME, 3)
        other = partials("2" + SOME[1:], 3)[1]
        searched = count_part(SIX, 1, 2, device="cpu", method="search")
        contracted = count_part(SIX, 2, 2, device="cpu", method="contraction")
        refused = {
            "^no parts": [],
            "^part 2 of 3 is missing": [one, three],
            "^parts 1, 3 of 3 are missing": [two],
            "both are part 2 of 3$": [one, two, two, three],
            "another board$": [one, other, three],
            "parts 2, not 3": [one, partials(SOME, 2)[1]],
            "method contraction, not search|memory": [searched, contracted],
            "strategy first, not min": [
                one,
                count_part(SOME, 2, 3, device="cpu", strategy="first"),
            ],
        }
        for words, parts in refused.items():
            with pytest.raises(InputError, match=words):
                merge(parts)

    def test_any_device_and_memory(self):
        """What a search does not depend on does not matter."""
        one = count_part(SOME, 1, 2, device="cpu", jobs=3, memory=1 << 30)
        assert merge([one, count_part(SOME, 2, 2)]).count == 6


class TestRecord:
    def test_a_line_of_json(self):
        part = partials(SOME, 2)[1]
        record = json.loads(str(part))
        assert record["kind"] == records.KIND
        assert record["partial"] == str(part.found)
        assert record["digest"] == part.identity.digest
        assert "count" not in record
        assert "\n" not in str(part)

    @pytest.mark.parametrize("name", ["partial", "part", "stats", "place"])
    def test_is_sealed(self, name):
        record = json.loads(str(partials(SOME, 2)[1]))
        changed = {
            "partial": "1" + record["partial"],
            "part": record["part"] | {"tasks": record["part"]["tasks"][1:]},
        }
        record[name] = changed.get(name, {"a": 1})
        with pytest.raises(InputError, match="a damaged record of a part: it was changed"):
            PartRecord.parse(json.dumps(record))

    def test_is_read_back(self):
        part = partials(SOME, 2)[1]
        again = PartRecord.parse(str(part))
        assert str(again) == str(part)
        assert (again.tasks, again.found, again.parts) == (part.tasks, part.found, 2)

    @pytest.mark.parametrize(
        ("before", "after"), [('"partial": "3"', '"partial": "2"'), ("[[1, 2]", "[[1, 3]")]
    )
    def test_what_was_found_cannot_change_unseen(self, before, after):
        identity = Identity("count", {}, {"parts": 1, "tasks": 4})
        text = str(records.PartRecord(identity, 1, (range(1, 2),), 3))
        assert before in text
        with pytest.raises(InputError, match="it was changed"):
            PartRecord.parse(text.replace(before, after))

    def test_very_large_numbers(self):
        """More digits than Python's own reading takes."""
        number = 10**99_999 + 7
        part = records.PartRecord(Identity("count", {}, {"parts": 1, "tasks": 0}), 1, (), number)
        assert PartRecord.parse(str(part)).found == number
        assert decimal_digits(number) in str(part)

    @given(st.text())
    def test_no_text_is_a_record(self, text):
        with pytest.raises(InputError, match="record"):
            PartRecord.parse(text)

    @given(st.integers(0, 10**6), st.integers(0, 255))
    def test_a_damaged_one(self, place, byte):
        """Never anything but a part that says the same, or an error."""
        good = str(partial_record())
        data = bytearray(good.encode())
        data[place % len(data)] = byte
        try:
            found = PartRecord.parse(bytes(data))
        except InputError as error:
            assert "record" in str(error)  # noqa: PT017
        else:
            part = PartRecord.parse(good)
            assert found.identity == part.identity
            assert (found.number, found.tasks, found.found) == (part.number, part.tasks, part.found)


def partial_record(made=[]):  # noqa: B006 - made once
    if not made:
        made.append(count_part(SOME, 1, 2, device="cpu"))
    return made[0]


def test_the_statistics_of_nobody():
    with pytest.raises(InputError, match="no count"):
        counts.merged([records.PartRecord(Identity("shares", {}, {}), 1, (), 1)])
