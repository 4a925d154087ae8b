"""The boards of a command: all, or some, and what is known of all before."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys

import pytest

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.options import Reading
from gpusudoku.cli.source import Source
from gpusudoku.errors import InputError
from gpusudoku.formats import source as reading
from tests.boards import LINE_4X4, PUZZLE

LINES = [LINE_4X4, "1" + "." * 15, LINE_4X4, PUZZLE, "." * 16, "4" + "." * 15]
SMALL = [line for line in LINES if len(line) == 16]


def source(*names, keep_going=False):
    return Source(list(map(str, names)), Reading(None, keep_going))


def survey(*names, **settings):
    return source(*names, **settings).survey


class TestSurvey:
    def test_counts_all_boards(self, file):
        assert survey(file("\n".join(LINES))).boards == 6
        assert survey(LINE_4X4).boards == 1

    def test_the_same_boards_in_any_form(self, file):
        """Neither the name of a file matters, nor how it is packed, nor where it is cut."""
        plain = survey(file("\n".join(SMALL)))
        packed = survey(file(gzip.compress("\n".join(SMALL).encode()), "boards.gz"))
        half = file("\n".join(SMALL[:2]), "a.txt"), file("\n".join(SMALL[2:]), "b.txt")
        table = file("puzzle,name\n" + "".join(f"{line},x\n" for line in SMALL), "boards.csv")
        assert plain == packed == survey(*half) == survey(table)

    def test_many_batches_are_as_one(self, file, monkeypatch):
        path = file("\n".join(SMALL * 100))
        whole = survey(path)
        monkeypatch.setattr(reading, "READ_BYTES", 100)
        assert survey(path) == whole

    @pytest.mark.parametrize(
        "other", [SMALL[::-1], SMALL[1:], [*SMALL, SMALL[0]], ["2" + SMALL[0][1:], *SMALL[1:]]]
    )
    def test_other_boards(self, file, other):
        assert survey(file("\n".join(SMALL))) != survey(file("\n".join(other), "other"))

    def test_other_boxes(self, file):
        path = str(file("." * 36 + "\n" + "." * 36))
        wide = Source([path], Reading(None, False)).survey
        assert Source([path], Reading(Geometry.parse("3x2"), False)).survey != wide

    def test_a_bad_board(self, file):
        path = file("\n".join([*SMALL[:2], "1x", *SMALL[2:]]))
        with pytest.raises(InputError, match=r"board\.txt:3"):
            source(path).survey  # noqa: B018
        assert survey(path, keep_going=True).boards == len(SMALL)

    def test_says_nothing(self, file, capsys):
        path = file("\n".join(["1x", *SMALL]))
        found = source(path, keep_going=True)
        assert found.survey.boards == len(SMALL)
        assert capsys.readouterr().err == ""
        assert len(list(found)) == len(SMALL)
        assert "board.txt:1" in capsys.readouterr().err

    def test_standard_input_is_there_only_once(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n".join([b"." * 16] * 3))))
        with pytest.raises(InputError, match="<stdin>: cannot be read twice"):
            source("-").survey  # noqa: B018


class TestOnly:
    @pytest.mark.parametrize("parts", [1, 2, 3, 7, 20])
    def test_one_after_the_other_they_are_all(self, file, parts):
        path, found = file("\n".join(LINES)), []
        for number in range(parts):
            part = source(path)
            start, end = (6 * each // parts for each in (number, number + 1))
            part.only(range(start, end), to_the_end=number + 1 == parts)
            here = [str(board) for board in part]
            assert len(here) == end - start
            found += here
        assert found == LINES

    def test_a_bad_board_belongs_to_one(self, file, capsys):
        path = file("\n".join(["1x", *SMALL[:2], "2x", "3x", *SMALL[2:], "4x"]))
        told = []
        for start in range(len(SMALL)):
            part = source(path, keep_going=True)
            part.only(range(start, start + 1), to_the_end=start + 1 == len(SMALL))
            assert len(list(part)) == 1
            told.append([line.split(":")[2] for line in capsys.readouterr().err.splitlines()])
            assert part.unreadable == len(told[-1])
        assert told == [["1"], [], ["4", "5"], [], ["9"]]

    def test_none_but_bad_ones(self, file, capsys):
        path = file(f"{'z' * 81}\n{'z' * 81}\n")
        for to_the_end in (False, True):
            part = source(path, keep_going=True)
            part.only(range(0), to_the_end=to_the_end)
            assert list(part) == []
            assert part.unreadable == 2 * to_the_end


def test_a_survey_is_no_hash_of_a_text(file):
    text = "\n".join(SMALL)
    assert survey(file(text)).sha256 != hashlib.sha256(text.encode()).hexdigest()
