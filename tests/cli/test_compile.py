"""``gpusudoku compile``: what is compiled before it is needed."""

from __future__ import annotations

import pytest

from gpusudoku import collection
from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.cli.compile import all_kernels, usual_kernels
from gpusudoku.enumeration.splitting import walk_kernel
from gpusudoku.kernels import kernel_store
from gpusudoku.kernels.kernel_store import Store
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.options import Options
from gpusudoku.planning.choose import contraction_kernels
from gpusudoku.planning.search import search_kernels
from gpusudoku.puzzles.difficulty import rate_kernels
from gpusudoku.puzzles.neighbours import placements_kernel
from gpusudoku.puzzles.remove_clues import minimise_kernel

COMPILE = ["compile", "--box", "2x2", "-j", "1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Let two kernels be all that is needed, which are soon compiled, and return their folder."""
    store = Store(tmp_path / "kept" / "state", b"state")
    monkeypatch.setattr(kernel_store, "user_store", lambda: store)

    def kernels(geometry):
        assert geometry == Geometry(2, 2)
        return [cpu.pack.__wrapped__(Shape(*shape)) for shape in ((1, 2), (1, 3))]

    monkeypatch.setattr("gpusudoku.cli.compile.usual_kernels", kernels)
    return store.folder


def test_compiled_once_and_kept(run, folder, monkeypatch):
    """Then the folder may be read-only."""
    status, out, err = run(*COMPILE)
    assert (status, out) == (0, "")
    assert err.splitlines() == [
        "gpusudoku: compiling 2 kernels, about 1 s",
        f"gpusudoku: compiled 2 kernels; 0 already cached, in {folder.parent}",
    ]
    assert len(list(folder.iterdir())) == 2
    folder.chmod(0o500)
    monkeypatch.setattr(Store, "write", None)
    said = f"gpusudoku: compiled 0 kernels; 2 already cached, in {folder.parent}\n"
    assert run(*COMPILE) == (0, "", said)
    assert run(*COMPILE, "--quiet") == (0, "", "")


def test_where_nothing_can_be_kept_it_says_so(run, folder):
    folder.parent.write_text("no folder")
    status, out, err = run(*COMPILE)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("gpusudoku: compiled code cannot be cached: ")


def test_what_commands_need_with_their_defaults_is_compiled():
    for geometry in NINE, Geometry(4, 4):
        usual = {kernel.name for kernel in usual_kernels(geometry)}
        needed = [*search_kernels(geometry, Options()), *contraction_kernels(geometry)]
        needed += [minimise_kernel(geometry), placements_kernel(geometry), *rate_kernels(geometry)]
        needed.append(walk_kernel(geometry))
        assert usual >= {kernel.name for kernel in needed}


def test_all_is_for_all_boards_that_come_with_the_program():
    everything = {kernel.name for kernel in all_kernels(NINE)}
    for box in {entry.box for entry in collection.entries()}:
        assert everything >= {kernel.name for kernel in usual_kernels(box)}
    for strategy, group in ("first", "locked"), ("min", "all"), ("first", "none"):
        options = Options(strategy=strategy, propagate=group)
        assert everything >= {kernel.name for kernel in search_kernels(NINE, options)}
