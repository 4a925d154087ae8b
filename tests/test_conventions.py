"""Conventions of the code: what may import what, lengths of files, names, statements, comments."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]

LAYERS = [
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
    {
        "checking",
        "counting",
        "estimating",
        "logic",
        "puzzles",
        "runs",
        "share_estimates",
        "solving",
        "weighted_samples",
    },
    {"bench", "web"},
    {"pipeline"},
    {"cli"},
]
"""Folders and files of the package, lowest first. Each imports from lower layers, or from its own
layer where that makes no cycle."""
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}

ENTRY_POINTS = {"gpusudoku", "gpusudoku.__main__"}
"""These may import everything. Others import nothing but the version from them."""

MAX_LINES = 600
"""Of a Python file."""
MIN_LINES = 100
"""A module with fewer lines that only one other module imports belongs into that module."""
SHORT_MODULES = {
    "gpusudoku.contraction.nine.batch": "the contraction of many boards, apart from that of one",
    "gpusudoku.web.widget": "public, for notebooks",
}
"""The exceptions, with the reason for each."""

VAGUE_WORDS = """
above after again all alone and any apart asked before below beside both busy chosen compiled
counted cut dealt done doubtful due each early ended few first found free gathered given got
held here hopeful idle joined kept known last late least left less listed lost made many more
most named near needed next none now once one ones only other others own put ranked read
reported resigned rest said sampled same searched seen sent several shown so solved some split
started such taken that then there these this those together told used wanted what which who
whose written
"""
"""Names that say nothing of the thing they name: participles, determiners, adverbs."""
VAGUE_NAMES = set(VAGUE_WORDS.split())
MAX_VAGUE = 0.02
"""Vague names among all names of locals and parameters."""
MAX_JOINED_IN_KERNELS = 0.004
"""Assignments of several unlike things, per line, in kernels. There are none elsewhere."""
MIN_COMMENTS = 0.03
"""Comments per line."""


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    """Return the name of a module. The folder of kernels is installed as a subpackage."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] == "kernels":
        parts.insert(0, "gpusudoku")
    return ".".join(parts).removesuffix(".__init__")


@cache
def syntax_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


MODULES = {module_name(path): path for path in python_files("gpusudoku", "kernels")}


def imported_modules(module: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports, also those within its functions."""
    path = MODULES[module]
    for node in ast.walk(syntax_tree(path)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.split(".")[0] == "gpusudoku":
                yield containing_module(name)


def containing_module(name: str) -> str:
    """Return the module that a dotted name is, or is defined in."""
    while name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def folder_of(module: str) -> str:
    return module.split(".")[1]


@cache
def imports() -> dict[str, set[str]]:
    """Return for every module the modules that it imports, without entry points."""
    return {
        module: set(imported_modules(module)) - ENTRY_POINTS - {module}
        for module in MODULES
        if module not in ENTRY_POINTS
    }


def test_every_module_is_in_a_layer() -> None:
    assert {folder_of(module) for module in imports()} == set(LEVEL)
    # The rules below would hold for nothing if no import were recognised.
    assert sum(map(len, imports().values())) > 300


def test_no_module_imports_from_a_higher_layer() -> None:
    upward = [
        f"{importer} imports {imported}"
        for importer, modules in imports().items()
        for imported in sorted(modules)
        if LEVEL[folder_of(imported)] > LEVEL[folder_of(importer)]
    ]
    assert upward == []


def test_only_the_command_line_imports_click() -> None:
    importers = set()
    for module, path in MODULES.items():
        for node in ast.walk(syntax_tree(path)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            if any(name.split(".")[0] == "click" for name in names):
                importers.add(folder_of(module))
    assert importers == {"cli"}


def test_no_imports_make_a_cycle() -> None:
    """Remove modules that import nothing, repeatedly. What remains is on a cycle."""
    remaining = {module: set(modules) for module, modules in imports().items()}
    while leaves := {module for module, modules in remaining.items() if not modules}:
        remaining = {
            module: modules - leaves
            for module, modules in remaining.items()
            if module not in leaves
        }
    assert remaining == {}


def test_search_and_contraction_kernels_do_not_import_each_other() -> None:
    for family, stranger in (("search", "contraction"), ("contraction", "search")):
        for module in MODULES:
            if module.startswith(f"gpusudoku.kernels.{family}."):
                assert not any(
                    imported.startswith(f"gpusudoku.kernels.{stranger}")
                    for imported in imports()[module]
                ), module


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_file_is_too_long() -> None:
    long_files = {
        path.relative_to(ROOT).as_posix(): line_count(path)
        for path in python_files("gpusudoku", "kernels", "benchmarks", "tests")
        if line_count(path) > MAX_LINES
    }
    assert long_files == {}


def test_no_module_is_too_short() -> None:
    importer_count = Counter(module for modules in imports().values() for module in modules)
    short_modules = {
        module
        for module in imports()
        # Kernels and commands have a module each, however short.
        if folder_of(module) not in ("kernels", "cli")
        if MODULES[module].name != "__init__.py"
        if importer_count[module] <= 1
        if line_count(MODULES[module]) < MIN_LINES
    }
    assert short_modules == set(SHORT_MODULES)


def test_no_two_classes_share_a_name() -> None:
    names = Counter(
        node.name.lstrip("_")
        for path in python_files("gpusudoku")
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.ClassDef)
    )
    assert {name: number for name, number in names.items() if number > 1} == {}


def functions() -> Iterator[tuple[Path, Any]]:
    for path in python_files("gpusudoku"):
        for node in ast.walk(syntax_tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def test_docstrings_of_functions_begin_with_verbs() -> None:
    questions = ("What", "Whether", "How", "Where", "Who", "Which", "When", "Why")
    offences = []
    for path, function in functions():
        summary = (ast.get_docstring(function) or "").partition("\n")[0]
        if summary.split(" ")[0] in questions:
            offences.append(f"{path}:{function.lineno}: {summary}")
    assert offences == []


def test_arguments_are_named_in_calls() -> None:
    """Refuse a tuple that is made only to be starred in calls: it hides which argument is which.

    Excepted are the callers of kernels, which take dozens of arrays one by one.
    """
    offences = []
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
        starred = [
            argument.value
            for call in nodes
            if isinstance(call, ast.Call)
            for argument in call.args
            if isinstance(argument, ast.Starred)
        ]
        for value in starred:
            if isinstance(value, ast.Name) and value.id in tuples:
                offences.append(f"{path}:{value.lineno}")
    assert offences == []


def assigned_names(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of every parameter and every assigned variable."""
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def test_names_say_what_they_name() -> None:
    name_count = 0
    vague = []
    for path in python_files("gpusudoku", "kernels"):
        for line, name in assigned_names(path):
            name_count += 1
            if name.lstrip("_") in VAGUE_NAMES:
                vague.append(f"{path.relative_to(ROOT)}:{line}: {name}")
    assert len(vague) < MAX_VAGUE * name_count, "\n".join(vague)


def joins_unlike_things(node: ast.AST) -> bool:
    """Return whether a statement is `a, b = x, y` with values that have nothing in common.

    Swaps and tuples of constants are allowed, and so is unpacking, which has no tuple on its right.
    """
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    target = node.targets[0]
    if not isinstance(target, ast.Tuple):
        return False
    targets = {ast.unparse(element) for element in target.elts}
    values = {ast.unparse(element) for element in node.value.elts}
    all_constant = all(isinstance(element, ast.Constant) for element in node.value.elts)
    return targets != values and not all_constant


def joined_assignments(*folders: str) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in python_files(*folders)
        for node in ast.walk(syntax_tree(path))
        if joins_unlike_things(node)
    ]


def test_a_statement_assigns_one_thing() -> None:
    assert joined_assignments("gpusudoku") == []
    line_total = sum(map(line_count, python_files("kernels")))
    in_kernels = joined_assignments("kernels")
    assert len(in_kernels) < MAX_JOINED_IN_KERNELS * line_total, "\n".join(in_kernels)


def test_code_has_comments() -> None:
    comment_count = line_total = 0
    for path in python_files("gpusudoku", "kernels"):
        text = path.read_text(encoding="utf-8")
        line_total += len(text.splitlines())
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comment_count += sum(token.type == tokenize.COMMENT for token in tokens)
    assert comment_count > MIN_COMMENTS * line_total


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
