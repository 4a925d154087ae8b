"""From options to results: validation, limits, batches, the cross-check and the statistics."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

from gpusudoku import collection, counting
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.prepare import contraction_of
from gpusudoku.counting import Options, count, count_many, cross_check, make_engine
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import DeviceError, InputError, MismatchError, TooExpensive
from gpusudoku.formats import parse
from gpusudoku.jobs.job import Progress
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, spoilt

BOARD = puzzle("2x3", 8, 1)
TOTAL = naive.count(BOARD)


@pytest.fixture
def without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "unusable_because", lambda: "there is none")


@pytest.fixture
def without_contraction(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise TooExpensive("too expensive")

    monkeypatch.setattr(counting, "contraction_of", refuse)


class TestOptions:
    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("device", "gpu", "device 'gpu': expected auto, cpu, cuda"),
            ("device", "", "device ''"),
            ("method", "guess", "method 'guess': expected auto, search, contraction"),
            ("memory", 1 << 20, "memory 1048576 bytes: at least 256 MiB are needed"),
            ("strategy", "max", "strategy 'max': expected first, min"),
            ("jobs", 0, "jobs 0: expected from 1 to 1024"),
            ("jobs", -1, "jobs -1"),
            ("limit", 0, "limit 0: at least 1 is needed"),
            ("limit", -5, "limit -5"),
            ("cutoff", 0.5, "cutoff 0.5: a finite number"),
            ("cutoff", 0, "cutoff 0"),
            ("cutoff", nan, "cutoff nan"),
            ("propagate", "luck", "unknown technique 'luck': expected naked-single, "),
            ("propagate", "", "unknown technique ''"),
            ("propagate", "none,singles", "technique 'none' goes with no other"),
        ],
    )
    def test_wrong_values(self, name: str, value: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            Options(**{name: value})
        with pytest.raises(InputError, match=message):
            count(BOARD, **{name: value})

    def test_right_values(self) -> None:
        Options(device="cpu", jobs=1, limit=1, cutoff=1, strategy="first", propagate="none")
        Options(propagate=" naked-pair , singles ", limit=10**40, cutoff=10**300)

    def test_unknown_names(self) -> None:
        with pytest.raises(TypeError, match="limits"):
            count(BOARD, limits=1)


class TestEngines:
    def test_the_device_asked_for(self) -> None:
        assert isinstance(make_engine(Options(device="cpu")), CpuEngine)
        assert make_engine(Options(device="cpu", jobs=3)).workers == 3
        assert make_engine(Options(device="cpu")).workers >= 1

    @pytest.mark.usefixtures("without_cuda")
    def test_without_cuda(self) -> None:
        assert isinstance(make_engine(Options()), CpuEngine)
        with pytest.raises(DeviceError, match="CUDA cannot be used: there is none"):
            make_engine(Options(device="cuda"))
        with pytest.raises(DeviceError):
            count(BOARD, device="cuda")

    @pytest.mark.skipif(
        not availability.simulated(), reason="knows how many GPUs the simulator has"
    )
    def test_gpus_by_number(self) -> None:
        assert isinstance(make_engine(Options()), CudaEngine)
        assert make_engine(Options(gpus=(0, 0))).workers == 1
        with pytest.raises(InputError, match="no GPU 1: GPUs are numbered from 0 to 0"):
            make_engine(Options(device="cuda", gpus=(0, 1)))
        with pytest.raises(InputError, match="no GPU -1"):
            make_engine(Options(device="cuda", gpus=(-1,)))

    def test_an_engine_serves_many_boards(self) -> None:
        engine = CpuEngine(jobs=2)
        assert count(BOARD, engine=engine).count == TOTAL
        result = count(Board.empty(Geometry(2, 2)), engine=engine)
        assert (result.count, result.jobs, result.device) == (288, 2, "cpu")


class TestResult:
    def test_types_as_json(self) -> None:
        result = count(BOARD, device="cpu", method="search", jobs=2, cutoff=100, limit=10**30)
        found = json.loads(json.dumps(result.as_dict(), allow_nan=False))
        assert found == result.as_dict()
        texts = {"board", "box", "count", "method", "device", "search_space", "strategy"}
        texts |= {"no_contraction", "cutoff_by"}
        numbers = {"empty_cells", "frontier_width", "frontier_boards", "boards_explored", "nodes"}
        numbers |= {"deepest", "jobs", "products"}
        times = {"seconds", "expansion_seconds", "filling_factor", "cutoff"}
        assert {name for name, value in found.items() if isinstance(value, str)} == texts | {
            "propagate"
        }
        assert {name for name, value in found.items() if type(value) is int} - times == numbers
        assert all(isinstance(found[name], (int, float)) for name in times)
        assert found["exact"] is True
        assert found["cutoff_reached"] is True
        assert [type(share) for share in found["utilisation"]] == [float, float]
        assert found["box"] == "2x3"
        assert parse(found["board"], box="2x3") == BOARD
        assert found["count"] == str(TOTAL)
        assert found["search_space"] == str(BOARD.search_space)
        assert found["propagate"] == "naked-single,hidden-single"
        assert (found["method"], found["device"], found["jobs"]) == ("search", "cpu", 2)
        assert (found["strategy"], found["cutoff"]) == ("min", 100)

    def test_a_board_without_clues_has_a_huge_search_space(self) -> None:
        """9^81 is no number that JSON readers keep: it is text."""
        found = count(Board.empty(Geometry(3, 3)), device="cpu", jobs=1, limit=1).as_dict()
        assert found["search_space"] == str(9**81)
        assert (found["count"], found["exact"]) == ("1", False)

    @pytest.mark.parametrize("cutoff", [None, 1, 500])
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_statistics_are_plausible(self, jobs: int, cutoff: float | None) -> None:
        stats = count(BOARD, device="cpu", jobs=jobs, cutoff=cutoff).stats
        assert stats.empty_cells == 28
        assert stats.filling_factor == 8 / 36
        assert stats.search_space == BOARD.search_space
        assert stats.frontier_width > 0
        assert stats.frontier_boards >= 1
        assert TOTAL <= stats.boards_explored <= stats.nodes <= 50 * TOTAL
        assert 0 <= stats.deepest <= 36
        assert 0 <= stats.expansion_seconds <= stats.seconds
        assert len(stats.utilisation) == jobs
        assert all(0 <= share <= 1.05 for share in stats.utilisation)

    def test_a_long_job_keeps_its_workers_busy(self) -> None:
        stats = count(Board.empty(Geometry(2, 3)), device="cpu", method="search", jobs=2).stats
        assert all(0.5 <= share <= 1.05 for share in stats.utilisation)
        # One board for each solution, and those that came to nothing.
        assert 28200960 <= stats.boards_explored <= stats.nodes

    def test_every_node_is_counted_once(self) -> None:
        """However the tree is cut, the same boards are looked at."""
        nodes = set()
        for cutoff in [1e300, 10**5, 100]:
            stats = count(BOARD, device="cpu", jobs=1, cutoff=cutoff, strategy="first").stats
            nodes.add(stats.nodes - stats.frontier_boards)
        # A frontier board is looked at when it is made and again when it is explored.
        assert len(nodes) == 1

    @pytest.mark.parametrize("strategy", ["first", "min"])
    def test_every_guess_is_counted_once(self, strategy: str) -> None:
        """The root and a board for every guess, whether it is made in the widening or later."""
        explored = [
            count(BOARD, device="cpu", jobs=jobs, cutoff=cutoff, strategy=strategy)
            for jobs in [1, 2]
            for cutoff in [1e300, 10**5, 100, 1, None]
        ]
        assert len({result.stats.boards_explored for result in explored}) == 1

    def test_full_and_dead_boards(self) -> None:
        full = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))
        stats = count(full, device="cpu", jobs=1).stats
        assert (stats.empty_cells, stats.filling_factor, stats.search_space) == (0, 1.0, 1)
        assert (stats.frontier_boards, stats.boards_explored) == (1, 1)
        dead = count(spoilt(full, 1), device="cpu", jobs=2)
        assert (dead.count, dead.exact, dead.stats.frontier_boards) == (0, True, 0)
        assert dead.stats.boards_explored == 1


class TestLimit:
    @pytest.mark.parametrize("strategy", ["first", "min"])
    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize("limit", [1, 2, TOTAL - 1, TOTAL, TOTAL + 1, 2**64, 2**70])
    def test_limits(self, limit: int, jobs: int, strategy: str) -> None:
        result = count(BOARD, device="cpu", jobs=jobs, strategy=strategy, limit=limit)
        if limit > TOTAL:
            assert (result.count, result.exact, str(result)) == (TOTAL, True, f"{TOTAL}")
        else:
            assert (result.count, result.exact, str(result)) == (limit, False, f"{limit}+")

    def test_a_limit_ends_an_endless_search(self) -> None:
        result = count(Board.empty(Geometry(4, 4)), device="cpu", jobs=2, limit=1000)
        assert str(result) == "1000+"

    def test_in_a_batch_the_limit_is_each_boards(self) -> None:
        boards = [puzzle("2x3", 9, seed) for seed in range(30)]
        totals = [naive.count(board) for board in boards]
        results = list(count_many(boards, device="cpu", jobs=2, limit=10))
        assert [result.count for result in results] == [min(total, 10) for total in totals]
        assert [result.exact for result in results] == [total < 10 for total in totals]


class TestManyBoards:
    def test_order_and_counts(self) -> None:
        boards = [puzzle("2x3", 9 + seed % 20, seed) for seed in range(100)]
        results = list(count_many(iter(boards), device="cpu", jobs=2))
        assert [result.board for result in results] == boards
        for board, result in zip(boards, results, strict=True):
            assert result.count == naive.count(board)
            assert result.exact

    def test_mixed_geometries(self) -> None:
        shapes = ["2x2", "2x2", "2x3", "3x2", "2x3", "2x3", "2x2", "3x3", "1x4"]
        boards = [puzzle(shape, CLUES[shape], seed) for seed, shape in enumerate(shapes)]
        boards.insert(4, spoilt(Board(full_grid(Geometry(3, 2), 0), Geometry(3, 2)), 0))
        results = list(count_many(boards, device="cpu", jobs=1))
        assert [result.board for result in results] == boards
        assert [result.count for result in results] == [
            count(board, device="cpu", jobs=1).count for board in boards
        ]
        assert results[4].count == 0

    def test_no_boards(self) -> None:
        assert list(count_many([], device="cpu")) == []

    def test_boards_are_read_as_they_are_needed(self) -> None:
        """Whoever streams boards gets results long before the last one."""
        read = 0

        def stream():  # type: ignore[no-untyped-def]
            nonlocal read
            while True:
                read += 1
                yield BOARD

        results = count_many(stream(), device="cpu", jobs=1)
        assert [next(results).count for _ in range(40)] == [TOTAL] * 40
        assert read < 40000

    def test_wrong_options(self) -> None:
        with pytest.raises(InputError):
            list(count_many([BOARD], device="cpu", limit=0))


class TestMethods:
    def test_what_takes_less(self) -> None:
        short = count(puzzle("3x3", 40, 1), device="cpu")
        assert short.method == "search"
        assert short.stats.search_estimate is not None
        assert short.stats.contraction_estimate is None
        long = count(puzzle("3x3", 20, 1), device="cpu")
        assert long.method == "contraction"
        assert long.stats.contraction_estimate < long.stats.search_estimate
        assert long.stats.products > 0
        assert long.count == count(long.board, device="cpu", method="search").count

    def test_few_clues_on_a_large_board_are_for_the_search(self) -> None:
        result = count(puzzle("4x4", 20, 1), device="cpu", limit=1000)
        assert (str(result), result.method) == ("1000+", "search")

    def test_too_dear_in_one_line_with_figures(self) -> None:
        for shape in ("4x4", "5x5", "1x9"):
            with pytest.raises(TooExpensive, match=r"too expensive to contract.*\d") as caught:
                count(Board.empty(Geometry.parse(shape)), device="cpu", method="contraction")
            assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("method", ["search", "contraction"])
    def test_limits_mean_the_same(self, method: str) -> None:
        options: dict[str, Any] = {"device": "cpu", "method": method}
        for board in (BOARD, puzzle("3x3", 24, 1)):
            total = count(board, **options).count
            for limit in (1, total - 1, total, total + 1):
                result = count(board, limit=limit, **options)
                assert (result.count, result.exact) == (min(total, limit), total < limit)
                assert str(next(iter(count_many([board], limit=limit, **options)))) == str(result)

    @pytest.mark.parametrize("method", ["search", "contraction", "auto"])
    def test_boards_without_solutions(self, method: str) -> None:
        boards = [spoilt(puzzle(shape, CLUES[shape], 3), 4) for shape in CLUES]
        boards += [spoilt(puzzle("3x3", 60, 5), 1), Board([1, 1] + [0] * 14)]
        for board in boards:
            assert count(board, device="cpu", method=method).count == naive.count(board)

    @pytest.mark.parametrize("method", ["search", "contraction", "auto"])
    def test_batches_of_all_shapes(self, method: str) -> None:
        boards = [puzzle(shape, CLUES[shape], seed) for seed in (1, 2) for shape in CLUES]
        results = count_many(boards, device="cpu", method=method)
        assert [result.count for result in results] == [naive.count(board) for board in boards]

    def test_a_hybrid(self) -> None:
        """A board whose lists are too long is taken apart by clues, and its parts contracted."""
        from gpusudoku.contraction.general.parts import Hybrid
        from gpusudoku.contraction.prepare import contract

        board = puzzle("4x4", 150, 1)
        for shape, clues in (("4x4", 145), ("3x3", 26), ("2x3", 6)):
            board = puzzle(shape, clues, 2)
            hybrid = Hybrid(board, 1 << 28, TooExpensive("too expensive"))
            found, _ = contract(board, hybrid, CpuEngine(2), 1 << 30)
            assert found == count(board, device="cpu", method="search").count

    def test_skinny_boards_end_soon(self) -> None:
        """Whatever the method, what could take for ever is not begun."""
        for shape, clues in (("1x8", 12), ("1x32", 900), ("1x64", 3584), ("32x1", 900)):
            with suppress(TooExpensive):
                contraction = contraction_of(puzzle(shape, clues, 1), 1 << 28)
                assert contraction is None or contraction.seconds > 0


class TestCrossCheck:
    def test_by_the_other_method(self) -> None:
        for board in (BOARD, puzzle("3x3", 22, 1)):
            for method, other in (("search", "contraction"), ("contraction", "search")):
                result = count(board, device="cpu", method=method)
                assert cross_check(result, device="cpu") == f"method {other}"

    @pytest.mark.usefixtures("without_cuda")
    def test_none_is_affordable(self) -> None:
        result = count(collection.load("top-band-cyclic"), device="cpu")
        assert result.method == "contraction"
        assert cross_check(result, device="cpu") is None

    @pytest.mark.usefixtures("without_cuda", "without_contraction")
    @pytest.mark.parametrize(("strategy", "other"), [("min", "first"), ("first", "min")])
    def test_by_the_other_strategy(self, strategy: str, other: str) -> None:
        options = {"device": "cpu", "jobs": 1, "strategy": strategy}
        result = count(BOARD, **options)
        assert cross_check(result, **options) == f"strategy {other}"

    @pytest.mark.usefixtures("without_contraction")
    @pytest.mark.skipif(not availability.simulated(), reason="test_gpu.py does it on hardware")
    def test_by_the_other_device(self) -> None:
        board = parse("1...  ..2. .3.. ...4".replace(" ", ""))
        result = count(board, device="cpu", jobs=1)
        assert cross_check(result, device="cpu", jobs=1) == "device cuda"
        result = count(board, device="cuda")
        assert cross_check(result, device="cuda", jobs=1) == "device cpu"

    @pytest.mark.usefixtures("without_cuda", "without_contraction")
    @pytest.mark.parametrize("limit", [None, 10])
    def test_a_mismatch(self, limit: int | None) -> None:
        options: dict[str, Any] = {"device": "cpu", "jobs": 1, "limit": limit}
        result = count(BOARD, **options)
        assert cross_check(result, **options)
        wrong = replace(result, count=result.count - 1)
        with pytest.raises(MismatchError) as caught:
            cross_check(wrong, **options)
        assert f"{wrong} solutions, but {result} by strategy first" in str(caught.value)
        wrong = replace(result, exact=not result.exact)
        with pytest.raises(MismatchError):
            cross_check(wrong, **options)


class TestProgress:
    def test_is_told(self) -> None:
        told: list[Progress] = []
        board, options = Board.empty(Geometry(2, 3)), {"device": "cpu", "method": "search"}
        result = count(board, jobs=2, progress=told.append, **options)
        assert len(told) > 3
        assert [state.done for state in told] == sorted(state.done for state in told)
        assert [state.count for state in told] == sorted(state.count for state in told)
        assert all(0 <= state.done <= 1 for state in told)
        assert any(0 < state.done < 0.999 for state in told)
        assert told[-1].done == pytest.approx(1)
        assert told[-1].count == result.count == 28200960

    def test_an_infinite_cutoff_is_json_too(self) -> None:
        """Either it is refused, or what comes of it can be written."""
        try:
            result = count(BOARD, device="cpu", jobs=1, cutoff=inf)
        except InputError:
            return
        json.dumps(result.as_dict(), allow_nan=False)
