"""The rules of the house: rooms and their imports, lengths of files, some on names and words."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]

ROOMS = [
    {"errors"},
    {"jobs"},
    {"kernels"},
    {"board"},
    {"formats"},
    {"collection"},
    {"search"},
    {"options", "plot_style"},
    {"results", "iterating"},
    {"contraction"},
    {"engines"},
    {"planning"},
    {"enumeration"},
    {"checking", "counting", "logic", "puzzles", "runs", "solving"},
    {"bench", "web"},
    {"pipeline"},
    {"cli"},
]
"""Lowest first: a room uses those before it, and those beside it where no circle comes of it."""
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}

FRONT_DOORS = {"gpusudoku", "gpusudoku.__main__"}
"""They may use every room, and nobody uses them but for the version."""

MAX_LINES = 600
REASONS = {
    "gpusudoku.contraction.nine.batch": "the contraction of many boards, beside that of one",
    "gpusudoku.web.widget": "public, for notebooks",
}
"""Why modules of less than a hundred lines stand alone that one other module imports."""


def files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    """The module of a file; the kernels' folder is a part of the package."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] == "kernels":
        parts.insert(0, "gpusudoku")
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in files("gpusudoku", "kernels")}


def imports(module: str) -> Iterator[str]:
    """The package's modules that a module imports, anywhere in it."""
    path = MODULES[module]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (owner(name) for name in names if name.split(".")[0] == "gpusudoku")


def owner(name: str) -> str:
    """The module that a dotted name is, or is in."""
    while name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def room(module: str) -> str:
    return module.split(".")[1]


@cache
def edges() -> dict[str, set[str]]:
    """For every module those that it imports."""
    return {
        module: set(imports(module)) - FRONT_DOORS - {module}
        for module in MODULES
        if module not in FRONT_DOORS
    }


def test_every_module_is_in_a_room() -> None:
    assert {room(module) for module in edges()} == set(RANK)
    assert sum(map(len, edges().values())) > 300


def test_no_import_runs_upward() -> None:
    upward = [
        f"{module} imports {other}"
        for module, others in edges().items()
        for other in sorted(others)
        if RANK[room(other)] > RANK[room(module)]
    ]
    assert upward == []


def test_only_the_command_line_calls_click() -> None:
    importers = {
        module
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name]
        if name.split(".")[0] == "click" and room(module) != "cli"
    }
    assert importers == set()


def test_no_imports_make_a_circle() -> None:
    """Modules that import nothing are taken away, again and again; what is left goes round."""
    left = {module: set(others) for module, others in edges().items()}
    while free := {module for module, others in left.items() if not others}:
        left = {module: others - free for module, others in left.items() if module not in free}
    assert left == {}


def test_the_families_of_kernels_share_nothing_but_what_is_above_them() -> None:
    for one, other in (("search", "contraction"), ("contraction", "search")):
        for module in MODULES:
            if module.startswith(f"gpusudoku.kernels.{one}."):
                others = [each for each in edges()[module] if each.startswith("gpusudoku.kernels.")]
                assert other not in {each.split(".")[2] for each in others}, module


def test_files_are_neither_long_nor_crumbs() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in files("gpusudoku", "kernels", "benchmarks", "tests")
    }
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}
    importers = Counter(other for others in edges().values() for other in others)
    crumbs = {
        module
        for module, others in edges().items()
        if room(module) not in ("kernels", "cli") and MODULES[module].name != "__init__.py"
        if importers[module] <= 1 and lengths[MODULES[module].relative_to(ROOT).as_posix()] < 100
    }
    assert crumbs == set(REASONS)


def test_no_two_classes_share_a_name() -> None:
    names = Counter(
        node.name.lstrip("_")
        for path in files("gpusudoku")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert {name: number for name, number in names.items() if number > 1} == {}


def functions() -> Iterator[tuple[Path, Any]]:
    for path in files("gpusudoku"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def test_docstrings_of_functions_begin_with_verbs() -> None:
    found = [
        f"{path}:{node.lineno}: {text}"
        for path, node in functions()
        for text in [(ast.get_docstring(node) or "").partition("\n")[0]]
        if text.split(" ")[0] in ("What", "Whether", "How", "Where", "Who", "Which", "When", "Why")
    ]
    assert found == []


def test_no_tuple_smuggles_arguments() -> None:
    """Kernels, which take what they need one by one, are called by contractions and engines."""
    found = []
    for path, function in functions():
        if path.parts[-2] in ("nine", "general", "cuda", "engines"):
            continue
        nodes = list(ast.walk(function))
        tuples = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
            if len(node.value.elts) > 2
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            for each in node.args if isinstance(node, ast.Call) else ():
                if isinstance(each, ast.Starred) and isinstance(each.value, ast.Name):
                    found += [f"{path}:{each.lineno}"] * (each.value.id in tuples)
    assert found == []


@pytest.mark.parametrize(
    ("command", "limit"),
    [
        ("count boards/2c.txt", 46),
        ("enumerate boards/2c.txt -o {}/list", 60),
        ("generate -n 200", 56),
    ],
)
def test_a_command_executes_few_modules(command: str, limit: int, tmp_path: Path) -> None:
    """A reader who follows a command opens that many files. The first run compiles kernels."""
    arguments = [sys.executable, "tests/executed.py", *command.format(tmp_path).split()]
    for extra in ([], ["--force"] if "-o" in arguments else []):
        run = subprocess.run(
            [*arguments, *extra], cwd=ROOT, capture_output=True, text=True, check=True
        )
    outside = re.search(r"(\d+) outside kernels", run.stderr)
    assert outside is not None
    assert 20 < int(outside[1]) <= limit
