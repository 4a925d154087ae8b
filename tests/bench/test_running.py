"""Cases, and the order in which they run, with a clock that stands still."""

from __future__ import annotations

import signal
from dataclasses import replace
from math import inf

import pytest

from gpusudoku.bench import running
from gpusudoku.bench.cases import Case, cases_of, chosen
from gpusudoku.bench.running import Bench, Run
from gpusudoku.errors import InputError
from gpusudoku.results import Count
from tests.bench.samples import SUBJECTS, fake, measured


class TestCases:
    def test_every_board_under_every_setting(self) -> None:
        cases = cases_of(SUBJECTS, jobs=[1, 2], strategies=["first", "min"])
        assert len({(case.subject.name, case.setting) for case in cases}) == len(cases) == 12

    def test_only_what_makes_a_difference(self) -> None:
        cases = cases_of(
            SUBJECTS[:1],
            devices=["cpu", "cuda"],
            jobs=[1, 2],
            methods=["search", "contraction"],
            strategies=["first", "min"],
            cutoffs=[None, 1e9],
        )
        settings = [case.setting for case in cases]
        assert sum(setting.startswith("contraction") for setting in settings) == 3
        assert sum("cuda" in setting for setting in settings) == 4 + 1
        assert len(settings) == len(set(settings)) == 3 * 4 + 3

    def test_by_name(self) -> None:
        names = [subject.name for subject in chosen(SUBJECTS, ["s*", "o*"], ["other"])]
        assert names == ["small"]
        with pytest.raises(InputError, match="no board is left"):
            chosen(SUBJECTS, ["x*"], [])


class TestRunning:
    def test_only_a_search_has_nodes(self) -> None:
        for method, nodes in (("search", 600), ("contraction", 0)):
            [case] = cases_of(SUBJECTS[:1], methods=[method])
            run = Run.of(fake(2.0)(case), 2.0, 2.0)
            assert (run.count, run.seconds, run.nodes, run.method) == (288, 2.0, nodes, method)
            assert run.utilisation == (0.5,)

    @pytest.mark.parametrize(
        ("method", "jobs", "wall", "processor", "got"),
        [
            ("search", 1, 1.5, 1.5, 1.0),  # half a second of planning, and one of searching
            ("search", 1, 1.5, 0.75, 0.5),
            ("search", 4, 0.75, 1.0, 1.0),  # half a second by one thread, a quarter by two of four
            ("search", 4, 0.75, 0.5, 0.5),
            ("contraction", 4, 1.0, 1.5, 1.5),  # it is not known for how long there were two
            ("contraction", 4, 1.0, 0.5, 0.5),
            ("search", 1, 0.009, 0.001, None),  # too short to say
        ],
    )
    def test_the_cores_that_threads_got(
        self, method: str, jobs: int, wall: float, processor: float, got: float | None
    ) -> None:
        [case] = cases_of(SUBJECTS[:1], methods=[method], jobs=[jobs])
        assert Run.of(fake()(case), wall, processor).got == pytest.approx(got)

    def test_nobody_knows_what_a_gpu_got(self) -> None:
        [case] = cases_of(SUBJECTS[:1])
        assert Run.of(replace(fake()(case), device="cuda"), 1.0, 0.1).got is None

    def test_runs_take_turns_after_a_warm_up(self) -> None:
        order = []
        counter = fake()

        def count(case: Case) -> Count:
            order.append(case.subject.name)
            return counter(case)

        bench = measured(Bench(cases_of(SUBJECTS), count, lambda case: 0, repeats=2))
        assert order == ["small", "other", "new"] * 3
        assert [len(each.runs) for each in bench.measured] == [2, 2, 2]

    def test_for_a_time(self) -> None:
        cases = cases_of(SUBJECTS[:1], jobs=[1, 4])
        bench = measured(Bench(cases, fake(0.5), lambda case: 0, seconds=1.0))
        assert [len(each.runs) for each in bench.measured] == [2, 8]

    def test_at_least_once(self) -> None:
        bench = measured(Bench(cases_of(SUBJECTS), fake(50), lambda case: 0, seconds=1.0))
        assert [len(each.runs) for each in bench.measured] == [1, 1, 1]

    def test_what_takes_too_long_is_left_out(self) -> None:
        seconds = {"small": 1.0, "other": 99.0, "new": inf}
        bench = measured(
            Bench(cases_of(SUBJECTS), fake(), lambda case: seconds[case.subject.name], patience=9)
        )
        assert [each.note for each in bench.measured] == [
            "",
            "left out: about 99 s",
            "too expensive",
        ]
        assert [len(each.runs) for each in bench.measured] == [3, 0, 0]

    def test_wrong_counts_are_found(self) -> None:
        bench = measured(Bench(cases_of(SUBJECTS), fake(found=287), lambda case: 0))
        assert [each.wrong for each in bench.measured] == [True, True, False]
        assert "287 solutions counted, but 288 are right (known)" in bench.measured[0].note

    def test_engines_are_compared_where_no_count_is_known(self) -> None:
        def count(case: Case) -> Count:
            return fake(found=5 + case.options["jobs"])(case)

        bench = measured(Bench(cases_of(SUBJECTS[2:], jobs=[1, 2]), count, lambda case: 0))
        assert [each.wrong for each in bench.measured] == [False, True]
        assert "(search cpu -j 1 min singles)" in bench.measured[1].note

    @pytest.mark.parametrize(("gap", "ended"), [(0.5, True), (5.0, False)])
    def test_one_interrupt_skips_and_two_end(self, gap: float, ended: bool) -> None:
        now = 0.0

        def count(case: Case) -> Count:
            nonlocal now
            now += gap
            if case.subject.name in ("small", "other"):
                raise KeyboardInterrupt
            return fake()(case)

        bench = measured(Bench(cases_of(SUBJECTS), count, lambda case: 0, clock=lambda: now))
        assert bench.interrupted == ended
        assert [each.note for each in bench.measured] == ["interrupted", "interrupted", ""]
        assert len(bench.measured[2].runs) == (0 if ended else 3)

    def test_any_other_signal_ends_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def count(case: Case) -> Count:
            raise KeyboardInterrupt

        monkeypatch.setattr(running, "last_interrupt", lambda: signal.SIGTERM)
        bench = measured(Bench(cases_of(SUBJECTS), count, lambda case: 0))
        assert bench.interrupted
        assert [each.note for each in bench.measured] == ["interrupted", "", ""]
