"""The fuzzer's target keeps the rule on all examples; without the fuzzer there is a clear line."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import fuzz
import pytest
from click.testing import CliRunner

from tests.formats import hostile


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The target, without a fuzzer that could guide it."""
    stand_in = ModuleType("atheris")
    stand_in.instrument_imports = lambda **_: nullcontext()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "atheris", stand_in)
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("fuzz_target", fuzz.TARGET)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with hostile.limits(hostile.AT_ONCE):
        yield module


def test_the_seeds_keep_the_rule(target: Any) -> None:
    seeds = fuzz.seeds()
    assert len(seeds) > 500
    for data in [*seeds[::7], *seeds[-5:], b"", b"\0", b"\xff" * 9]:
        target.run(data)


def test_what_breaks_the_rule_is_kept_once(
    target: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("no")

    def fuzzing() -> None:
        for data in (b"\0\0\0one", b"\0\0\0two"):
            target.atheris.one_input(data)

    def setup(_: list[str], one_input: Any) -> None:
        target.atheris.one_input = one_input

    target.atheris.Setup, target.atheris.Fuzz = setup, fuzzing
    monkeypatch.setattr(hostile, "check", fail)
    monkeypatch.setattr(sys, "argv", ["target", str(tmp_path)])
    target.main()
    [kept] = tmp_path.glob("*.bin")
    assert kept.read_bytes() == b"\0\0\0one"
    assert fuzz._described(kept.with_suffix(".txt")) == "KeyError: 'no'"


def test_without_the_fuzzer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = CliRunner().invoke(fuzz.main, ["--output", str(tmp_path / "fuzz.json")])
    assert done.exit_code == 2
    assert done.stderr == "fuzz.py: the package atheris is missing: pip install atheris\n"
