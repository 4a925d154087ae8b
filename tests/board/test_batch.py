"""Boards by the thousand: read, cut into blocks and counted just as they would be one by one."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusudoku import formats
from gpusudoku.board import batch as batch_module
from gpusudoku.board.batch import BLOCK_SECONDS, FIRST_BOARDS, Batch, Blocks
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count, count_batches, count_many
from gpusudoku.errors import InputError
from gpusudoku.formats import Entry, parse
from gpusudoku.formats.read import BUFFER_BYTES
from gpusudoku.jobs.job import Job
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, spoilt

SHAPES = ["2x2", "2x3", "3x3", "4x4"]
SIZES = {shape: Geometry.parse(shape) for shape in SHAPES}


def lines_of(shape: str, number: int) -> list[bytes]:
    return [str(puzzle(shape, CLUES[shape], seed)).encode() for seed in range(number)]


LINES = {shape: lines_of(shape, 20) for shape in SHAPES}


class ByLine(io.BytesIO):
    """A stream that is not buffered, so that nothing is at hand: every line is parsed."""


def read(stream: BinaryIO, geometry: Geometry | None = None) -> list[Entry | str]:
    found = formats.read_stream(stream, "f", geometry)
    return [str(each) if isinstance(each, InputError) else each for each in found]


def assert_read_alike(data: bytes, geometry: Geometry | None = None) -> list[Entry | str]:
    """Lines taken together give what lines give that are parsed one by one."""
    slow = read(ByLine(data), geometry)
    for size in (50, BUFFER_BYTES):  # less than a line at hand, and all of the text
        assert read(io.BufferedReader(io.BytesIO(data), size), geometry) == slow
    return slow


class TestReading:
    @pytest.mark.parametrize("end", [b"\n", b"\r\n"])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_plain_lines(self, shape: str, end: bytes) -> None:
        lines = LINES[shape] * 40
        boards = [parse(line.decode()) for line in lines]
        expected = [Entry(board, number) for number, board in enumerate(boards, 1)]
        assert assert_read_alike(end.join(lines)) == expected
        assert assert_read_alike(end.join(lines) + end) == expected

    def test_they_are_read_together(self, tmp_path) -> None:  # type: ignore[no-untyped-def]
        path = tmp_path / "f"
        path.write_bytes(b"\n".join(LINES["3x3"] * 500))
        batches = list(formats.read_batches(str(path)))
        assert sum(map(len, batches)) == 10000
        assert max(map(len, batches)) > 500
        with path.open("rb") as stream:
            boards = [each.board for each in read(stream) if isinstance(each, Entry)]
        assert list(chain.from_iterable(batches)) == boards

    @pytest.mark.parametrize(
        "odd",
        [
            b"# a comment",
            b"",
            b"  ",
            LINES["3x3"][0] + b":5",
            LINES["3x3"][0] + b" # a comment",
            b" " + LINES["3x3"][0][:-1],
            LINES["3x3"][0] + b"\r",
            LINES["3x3"][0][:-1],
            LINES["3x3"][0] + b".",
            b"?" + LINES["3x3"][0][1:],
            LINES["3x3"][0][1:] + b"A",
            LINES["3x3"][0][1:] + b"#",
            LINES["3x3"][0][1:] + b":",
            LINES["3x3"][0][1:] + b"\r",
            LINES["3x3"][0][1:] + b"\xff",
            LINES["3x3"][0][1:] + b"\0",
            b"0" * 81,
            b"." * 40 + b"*_0" + b"." * 38,
            b",".join(b"%d" % (k % 10) for k in range(81)),
            LINES["2x2"][0],
            LINES["4x4"][0],
            LINES["4x4"][0].lower(),
            b"123456789",
            b"---+---+---",
        ],
        ids=repr,
    )
    def test_an_odd_line_among_plain_ones(self, odd: bytes) -> None:
        lines = LINES["3x3"] * 3
        for place in (1, 17, 33, 50):
            mixed = [*lines[:place], odd, *lines[place:]]
            assert_read_alike(b"\n".join(mixed))
            assert_read_alike(b"\n".join(mixed), Geometry(3, 3))
            assert_read_alike(b"\r\n".join(mixed) + b"\r\n")

    def test_hexadecimal_boards_are_told_one_by_one(self) -> None:
        grid = Board(full_grid(Geometry(4, 4), 1), Geometry(4, 4))
        open_grid = Board(np.where(grid.cells == 3, 0, grid.cells), Geometry(4, 4))
        letters = [formats.write(board, "letters").encode() for board in (grid, open_grid)]
        hexadecimal = [formats.write(board, "hex").encode() for board in (grid, open_grid)]
        zeros = letters[1].replace(b".", b"0")
        kinds = [*letters, *hexadecimal, zeros]
        rng = np.random.default_rng(1)
        lines = [letters[1]] * 40 + [kinds[k] for k in rng.integers(0, len(kinds), 100)]
        found = assert_read_alike(b"\n".join(lines))
        expected = [grid if line in (letters[0], hexadecimal[0]) else open_grid for line in lines]
        assert [each.board for each in found if isinstance(each, Entry)] == expected

    def test_lines_change_their_end_and_their_case(self) -> None:
        lines = LINES["4x4"] * 4
        ends = [b"\n"] * 30 + [b"\r\n"] * 30 + [b" \n"] * 20
        cased = [line.lower() if k % 7 < 3 else line for k, line in enumerate(lines)]
        found = assert_read_alike(b"".join(chain(*zip(cased, ends, strict=True))))
        assert [each.board for each in found if isinstance(each, Entry)] == [
            parse(line.decode()) for line in lines
        ]

    @given(st.data())
    def test_any_mixture(self, data: st.DataObject) -> None:
        plain = st.sampled_from(["2x3", "3x3"]).flatmap(lambda shape: st.sampled_from(LINES[shape]))
        odd = st.sampled_from([b"", b"#", b"?", LINES["2x2"][0], LINES["3x3"][1] + b":1", b"12\0"])
        pieces = st.tuples(plain, st.integers(1, 40)).map(lambda piece: [piece[0]] * piece[1])
        runs = data.draw(st.lists(pieces | odd.map(lambda line: [line]), min_size=1, max_size=8))
        end = data.draw(st.sampled_from([b"\n", b"\r\n"]))
        assert_read_alike(end.join(chain.from_iterable(runs)))

    def test_a_terminal_is_told_the_end_once(self) -> None:
        """A raw stream that goes on after its end is not asked again."""

        class Terminal(io.RawIOBase):
            def __init__(self) -> None:
                self.pieces = iter([LINES["3x3"][0] + b"\n"] * 3 + [b""] + [b"more\n"] * 9)

            def readable(self) -> bool:
                return True

            def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
                piece = next(self.pieces)
                buffer[: len(piece)] = piece
                return len(piece)

        terminal = Terminal()
        assert len(read(io.BufferedReader(terminal))) == 3


def batches_of(*sizes: int, shape: str = "2x2") -> list[Batch]:
    geometry = SIZES[shape]
    return [Batch(geometry, np.zeros((size, geometry.cells), np.uint8)) for size in sizes]


class TestBatch:
    def test_of_boards_and_back(self) -> None:
        boards = [puzzle("2x3", 9, seed) for seed in range(5)]
        batch = Batch.of(boards)
        assert Batch.of(batch) is batch
        assert (batch.geometry, len(batch), batch.cells.dtype) == (Geometry(2, 3), 5, np.uint8)
        assert list(batch) == boards
        assert batch[3] == boards[3]
        assert list(batch.part(1, 3)) == boards[1:3]
        assert list(batch.chosen(np.array([True, False, False, True, False]))) == boards[0:4:3]
        assert list(Batch.joined([batch, batch.part(0, 2)])) == boards + boards[:2]


class TestBlocks:
    def test_they_grow_while_they_are_quick(self) -> None:
        blocks, sizes = Blocks(batches_of(*[7] * 100), most=100), []
        for block in blocks:
            sizes.append(len(block))
            blocks.took(BLOCK_SECONDS / 2)
        assert sizes == [16, 32, 64, 100, 100, 100, 100, 100, 88]

    def test_they_shrink_where_they_are_slow(self) -> None:
        blocks, sizes = Blocks(batches_of(100), 1 << 14), []
        for block in blocks:
            sizes.append(len(block))
            blocks.took(BLOCK_SECONDS * 5)
        assert sizes == [16, 8, 4, 2, *[1] * 70]

    def test_order_is_kept(self) -> None:
        boards = [puzzle("2x3", 9, seed) for seed in range(60)]
        parts = [Batch.of(boards[a:b]) for a, b in [(0, 1), (1, 17), (17, 18), (18, 60)]]
        assert list(chain.from_iterable(Blocks(parts, 1 << 14))) == boards

    def test_a_block_has_one_geometry(self) -> None:
        batches = [*batches_of(3, 3), *batches_of(2, shape="2x3"), *batches_of(20)]
        found = [(block.geometry.n, len(block)) for block in Blocks(batches, 1 << 14)]
        assert found == [(4, 6), (6, 2), (4, 16), (4, 4)]

    def test_an_error_comes_after_the_boards_before_it(self) -> None:
        def broken() -> Iterator[Batch]:
            yield from batches_of(5, 5)
            raise InputError("no board")

        found = []
        with pytest.raises(InputError, match="no board"):
            found.extend(map(len, Blocks(broken(), 1 << 14)))
        assert found == [10]

    def test_no_more_is_read_than_a_block_needs(self) -> None:
        read = 0

        def endless() -> Iterator[Batch]:
            nonlocal read
            while True:
                read += 1
                yield from batches_of(1)

        blocks = iter(Blocks(endless(), 1 << 14))
        assert len(next(blocks)) == read == FIRST_BOARDS


class TestCounting:
    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize("limit", [None, 1, 2, 7])
    def test_as_one_by_one(self, limit: int | None, jobs: int) -> None:
        boards = [puzzle("2x3", 9 + seed % 20, seed) for seed in range(60)]
        boards += [spoilt(board, 5) for board in boards[:20]]
        boards[7:7] = [puzzle("3x3", CLUES["3x3"], seed) for seed in range(30)]
        options = {"device": "cpu", "jobs": jobs, "limit": limit}
        alone = [count(board, **options) for board in boards]
        results = list(count_many(boards, **options))
        assert [result.board for result in results] == boards
        assert [(r.count, r.exact) for r in results] == [(r.count, r.exact) for r in alone]
        by_geometry = [Batch.of(boards[:7]), Batch.of(boards[7:37]), Batch.of(boards[37:])]
        counts = list(count_batches(by_geometry, **options))
        assert [number for each in counts for number in each.counts] == [r.count for r in alone]
        assert all(type(number) is int for each in counts for number in each.counts)
        assert sum(map(len, counts)) == len(boards)

    @pytest.mark.parametrize("shape", SHAPES)
    def test_contradictory_clues_count_nothing(self, shape: str) -> None:
        full = Board(full_grid(SIZES[shape], 2), SIZES[shape])
        boards = [full, spoilt(full, 1), full, spoilt(full, 2)]
        results = count_many(boards, device="cpu", method="search")
        assert [result.count for result in results] == [1, 0, 1, 0]

    @pytest.mark.parametrize("method", ["auto", "contraction"])
    def test_few_solutions_and_many_in_turn(self, method: str) -> None:
        few, many = puzzle("3x3", 33, 1), puzzle("3x3", 26, 3)
        counts = [naive.count(few), count(many, device="cpu").count]
        assert counts[0] < 64 <= counts[1]
        boards = [few, many, many, few, few, few, many]
        results = list(count_many(boards, device="cpu", method=method))
        assert [result.count for result in results] == [counts[b is many] for b in boards]
        assert [result.board for result in results] == boards

    def test_counts_beyond_64_bits(self) -> None:
        boards = [Board.empty(Geometry(3, 3)), puzzle("3x3", 33, 1)]
        results = list(count_many(boards, device="cpu"))
        assert [r.count for r in results] == [6670903752021072936960, naive.count(boards[1])]

    def test_an_error_in_the_boards_comes_after_their_counts(self) -> None:
        def broken() -> Iterator[Board]:
            yield from [Board.empty(Geometry(2, 2))] * 3
            raise InputError("no board")

        results = count_many(broken(), device="cpu")
        assert [result.count for result in islice(results, 3)] == [288] * 3
        with pytest.raises(InputError, match="no board"):
            next(results)


class TestJob:
    @pytest.mark.parametrize("dtype", [object, np.uint64])
    def test_all_owners_at_once(self, dtype: type) -> None:
        job = Job(3, limit=5, dtype=dtype)
        job.report_all(np.array([4, 0, 7], np.uint64))
        job.report([(0, 1)])
        assert not job.stopped
        assert (job.counts, job.total) == ([5, 0, 7], 12)
        job.report_all(np.array([1, 5, 0], np.uint64))
        assert job.stopped
        assert job.counts == [6, 5, 7]


def test_the_largest_blocks_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many boards come at once."""
    monkeypatch.setattr(batch_module, "FIRST_BOARDS", 3)
    board = Board.empty(Geometry(2, 2))
    counts = list(count_batches([Batch.of([board] * 100)], device="cpu", limit=1))
    assert [len(each) for each in counts] == [3, 6, 12, 24, 48, 7]
