"""The cases of a benchmark: every board under every setting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

from gpusudoku.board.board import Board
from gpusudoku.errors import InputError


@dataclass(frozen=True)
class Subject:
    """A board to measure."""

    name: str
    board: Board
    count: int | None = None
    """The exact number of solutions; None if it is not known."""


@dataclass(frozen=True)
class Case:
    """A board and a setting: ``options`` are those of ``gpusudoku.count``."""

    subject: Subject
    options: dict[str, Any] = field(hash=False)

    @property
    def setting(self) -> str:
        """The options that matter to this method and device, in a few words."""
        options = self.options
        words = [str(options["method"]), str(options["device"])]
        if options["device"] == "cpu":
            words.append(f"-j {options['jobs']}")
        if options["method"] != "contraction":
            words += [str(options["strategy"]), str(options["propagate"])]
            if options["cutoff"] is not None:
                words.append(f"{options['cutoff_by']} {options['cutoff']:g}")
        return " ".join(words)


def cases_of(
    subjects: Iterable[Subject],
    *,
    devices: Sequence[str] = ("cpu",),
    jobs: Sequence[int] = (1,),
    methods: Sequence[str] = ("search",),
    strategies: Sequence[str] = ("min",),
    propagates: Sequence[str] = ("singles",),
    cutoffs: Sequence[float | None] = (None,),
    cutoff_by: str = "space",
) -> list[Case]:
    """Every board under every combination of options that makes a difference.

    Only the CPU has threads, and a contraction has neither strategy, propagation nor cutoff.
    """
    settings: dict[str, dict[str, Any]] = {}
    for method, strategy, propagate, cutoff, device, number in product(
        methods, strategies, propagates, cutoffs, devices, jobs
    ):
        options = {
            "method": method,
            "device": device,
            "jobs": number if device == "cpu" else None,
            "strategy": strategy,
            "propagate": propagate,
            "cutoff": cutoff,
            "cutoff_by": cutoff_by,
        }
        settings.setdefault(Case(Subject("", Board([0])), options).setting, options)
    return [Case(subject, options) for subject in subjects for options in settings.values()]


def chosen(
    subjects: Iterable[Subject], include: Sequence[str], exclude: Sequence[str]
) -> list[Subject]:
    """The boards whose names match a pattern of ``include`` and none of ``exclude``.

    Without a pattern in ``include`` every name matches.

    Raises
    ------
    InputError
        If no board is left.
    """

    def matches(name: str, patterns: Sequence[str]) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    left = [
        subject
        for subject in subjects
        if (not include or matches(subject.name, include)) and not matches(subject.name, exclude)
    ]
    if not left:
        raise InputError("no board is left to measure: see --include and --exclude")
    return left
