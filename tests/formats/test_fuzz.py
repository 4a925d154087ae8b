"""The inputs with which the fuzzer begins keep the rule, without a fuzzer that could guide it."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from importlib import import_module
from types import ModuleType

import pytest

from tests.formats import hostile


def test_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("atheris")
    stand_in.instrument_imports = lambda **_: nullcontext()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "atheris", stand_in)
    fuzz = import_module("tests.formats.fuzz")
    seeds = fuzz.seeds()
    assert len(seeds) > 400
    with hostile.limits(hostile.AT_ONCE):
        for data in [*seeds[::29], *seeds[-2:], b"", b"\0", b"\xff" * 9]:
            fuzz.check_input(data)
