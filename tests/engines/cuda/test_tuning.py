"""How kernels are launched: the tuning file, and how many blocks a multiprocessor holds."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.device import SIMULATED, Tuning, save_tuning, tuning_file, tuning_of
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import InputError


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the tuning file is, or would be."""
    path = tmp_path / "folder" / "tuning.json"
    monkeypatch.setenv("GPUSUDOKU_CUDA_TUNING", str(path))
    return path


def test_the_file_is_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPUSUDOKU_CUDA_TUNING", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tuning_file() == tmp_path / "gpusudoku" / "cuda-tuning.json"


def test_saved_is_read_again(path: Path) -> None:
    """What is not in the file, or not all, is as it would be without it."""
    assert tuning_of("one", SIMULATED) == SIMULATED
    one = Tuning(threads_per_block=64, max_registers=80)
    assert save_tuning("one", one) == path
    save_tuning("two", Tuning(launch_seconds=1))
    assert tuning_of("one") == one
    assert tuning_of("two") == Tuning(launch_seconds=1)
    assert tuning_of("three") == Tuning()
    assert json.loads(path.read_text())["one"] == asdict(one)
    path.write_text(json.dumps({"one": {"blocks_per_multiprocessor": 3}}))
    assert tuning_of("one") == Tuning(blocks_per_multiprocessor=3)
    assert tuning_of("one", SIMULATED) == replace(SIMULATED, blocks_per_multiprocessor=3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "expected an object with the names of GPUs as keys"),
        ('{"x": 1}', "x: expected an object"),
        ('{"x": {"colour": 1}}', "x: unknown setting 'colour'"),
        ('{"x": {"threads_per_block": 0}}', "x: threads_per_block 0: a whole number"),
        ('{"x": {"threads_per_block": true}}', "threads_per_block True"),
        ('{"x": {"launch_seconds": 0}}', "launch_seconds 0: a number above 0"),
        ('{"x": {"launch_seconds": "1"}}', "launch_seconds '1'"),
    ],
)
def test_no_such_file(text: str, reason: str, path: Path) -> None:
    """One line that names the file and what is wrong, whichever GPU is asked for."""
    path.parent.mkdir()
    path.write_text(text)
    attempts: list[Any] = [lambda: tuning_of("other"), lambda: save_tuning("other", Tuning())]
    for attempt in attempts:
        with pytest.raises(InputError) as caught:
            attempt()
        message = str(caught.value)
        assert str(path) in message
        assert reason in message
        assert "\n" not in message
    assert path.read_text() == text


def test_neither_text_nor_file_nor_writable(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="it is not text"):
        tuning_of("a GPU")
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match=r"tuning\.json"):
        tuning_of("a GPU")
    path.rmdir()
    path.parent.rmdir()
    path.parent.touch()
    with pytest.raises(InputError, match=r"tuning\.json"):
        save_tuning("a GPU", Tuning())


@pytest.mark.skipif(not availability.simulated(), reason="a GPU is there")
def test_the_engine_looks_at_the_file(path: Path) -> None:
    save_tuning("simulator", replace(SIMULATED, blocks_per_multiprocessor=1))
    assert CudaEngine().gpus[0].grid_of(None) == (1, 4)
    path.write_text("nonsense")
    with pytest.raises(InputError, match=r"tuning\.json"):
        CudaEngine()
    CudaEngine(tuning=SIMULATED)  # asks no file
