"""``gpusudoku compile``: what is compiled before it is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusudoku import collection, warming
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.prepare import NINE, contraction_kernels
from gpusudoku.kernels import jit
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.layout import Layout
from gpusudoku.kernels.store import Store
from gpusudoku.options import Options
from gpusudoku.planning.search import search_kernels


@pytest.fixture
def few(tmp_path, monkeypatch):
    """A folder of its own, and two kernels that are soon compiled; returns the folder."""
    store = Store(tmp_path / "kept" / "state", b"state")
    monkeypatch.setattr(jit, "store", lambda: store)

    def kernels(geometry):
        assert geometry == Geometry(2, 2)
        return [cpu.pack.__wrapped__(Layout(*shape)) for shape in ((2, 2), (1, 4))]

    monkeypatch.setattr(warming, "usual_kernels", kernels)
    return store.folder


def test_compiled_once_and_kept(run, few):
    status, out, err = run("compile", "--box", "2x2", "-j", 1)
    assert (status, out) == (0, "")
    assert err.splitlines() == [
        "gpusudoku: compiling 2 kernels, about 1 s",
        f"gpusudoku: compiled 2 kernels; 0 were kept already, in {few.parent}",
    ]
    assert len(list(few.iterdir())) == 2
    status, out, err = run("compile", "--box", "2x2")
    assert (status, out) == (0, "")
    assert err == f"gpusudoku: compiled 0 kernels; 2 were kept already, in {few.parent}\n"
    assert run("compile", "--box", "2x2", "--quiet") == (0, "", "")


def test_a_complete_folder_may_be_read_only(run, few, monkeypatch):
    """As it is for those who cannot write there; root could, whatever the mode."""
    assert run("compile", "--box", "2x2", "-j", 1)[0] == 0
    monkeypatch.setattr(Store, "writable", lambda self: False)
    status, _, err = run("compile", "--box", "2x2")
    assert (status, err.count("\n")) == (0, 1)


@pytest.mark.parametrize("home", [True, False])
def test_where_nothing_can_be_kept_it_says_so(run, few, monkeypatch, home):
    Path(few.parent).write_text("no folder")
    if not home:
        monkeypatch.setattr(jit, "store", lambda: None)
    status, out, err = run("compile", "--box", "2x2")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("gpusudoku: no folder can be written to keep what is compiled")


def test_a_full_disk_is_said_to_be_full(run, few, monkeypatch):
    def full(self, name, content):
        self.trouble = f"{self.folder}: No space left on device"
        return False

    monkeypatch.setattr(Store, "write", full)
    status, out, err = run("compile", "--box", "2x2", "-j", 1)
    assert (status, out) == (1, "")
    assert err.splitlines()[-1].endswith("No space left on device")


@pytest.mark.parametrize("box", ["3by3", "0x3", "9x9"])
def test_a_bad_box_is_one_line(run, box):
    status, out, err = run("compile", "--box", box)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "box" in err


def test_the_usual_is_what_commands_need_with_their_defaults():
    for geometry in NINE, Geometry(4, 4):
        usual = {kernel.name for kernel in warming.usual_kernels(geometry)}
        needed = [*search_kernels(geometry, Options()), *contraction_kernels(geometry)]
        assert usual >= {kernel.name for kernel in needed}
    names = {kernel.name for kernel in warming.usual_kernels(NINE)}
    assert any(str(name).endswith("count_boards") for name in names)
    assert any(str(name).endswith("sum_wide") for name in names)


def test_all_is_for_all_boards_that_come_with_the_program():
    everything = {kernel.name for kernel in warming.all_kernels(NINE)}
    for entry in collection.entries():
        assert everything >= {kernel.name for kernel in warming.usual_kernels(entry.box)}
    for strategy, group in ("first", "locked"), ("min", "all"), ("first", "none"):
        options = Options(strategy=strategy, propagate=group)
        assert everything >= {kernel.name for kernel in search_kernels(NINE, options)}
