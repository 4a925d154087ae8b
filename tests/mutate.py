"""Measure how strong the tests are: change the product in one place at a time, and run them.

    python tests/mutate.py                    # 60 changes outside the kernels, 15 in them
    python tests/mutate.py --room cli --count 12 --seed 5
    python tests/mutate.py --tests REVISION   # the same changes, with the tests of another commit

Each change is made in a clone of the last commit. The tests of the changed module's package run
there, those named like the module first, until one fails or the time limit has passed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import queue
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or,
    ast.Or: ast.And,
}  # fmt: skip

SECONDS = 60
"""The limit of processor time for each change. The limit of wall time is 2.5 times as much, for a
busy machine."""

MORE_TESTS = {
    "gpusudoku/cli": ["tests/test_sessions.py"],
    "gpusudoku/runs": ["tests/cli/test_checkpoint.py", "tests/cli/test_parts.py"],
    "kernels/contraction": ["tests/contraction"],
    "kernels/search": ["tests/search"],
    "kernels/search/cuda.py": ["tests/engines/cuda", "tests/ptx"],
    "kernels/search/cuda_thread.py": ["tests/engines/cuda", "tests/ptx"],
}
"""Tests of a package or module outside of the folder with its name. Those of kernels, which are
tested by their results, and those of a single module run first."""

Change = tuple[Path, int]
"""A place in the product: a module, and the number of the node in it."""


def change_kind(node: ast.AST) -> str:
    """Return the kind of change that a node allows, or an empty text."""
    match node:
        case ast.Compare(ops=[op]) | ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op):
            return "operator" if type(op) in SWAPPED else ""
        case ast.Constant(value=bool() | int() | float()):
            return "constant"
        case ast.If() | ast.IfExp() | ast.While():
            return "branch" if ast.unparse(node.test) != "TYPE_CHECKING" else ""
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Break() | ast.Continue():
            return "dropped"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return "dropped"
    return ""


def changeable_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a module that can be changed, except in annotations and decorators."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                if change_kind(node):
                    yield node
                yield from changeable_nodes(node)


def change_node(node: ast.AST) -> None:
    """Change a node in place."""
    match node:
        case ast.Compare():
            node.ops = [SWAPPED[type(node.ops[0])]()]
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            node.op = SWAPPED[type(node.op)]()
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant():
            node.value += 1
        case ast.If() | ast.IfExp() | ast.While():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case _:  # a statement is replaced by a constant, which has no effect
            node.__class__ = ast.Expr
            node.value = ast.Constant(None)


def draw_changes(root: Path, folder: str, count: int, rng: random.Random) -> list[Change]:
    """Draw changes in the modules of a folder: first the kind of each, then the place."""
    changes: dict[str, list[Change]] = {}
    for path in sorted((root / folder).rglob("*.py")):
        for number, node in enumerate(changeable_nodes(ast.parse(path.read_text()))):
            changes.setdefault(change_kind(node), []).append((path.relative_to(root), number))
    drawn = []
    for _ in range(count):
        kind = rng.choice(sorted(changes))
        drawn.append(rng.choice(changes[kind]))
    return list(dict.fromkeys(drawn))


def package_of(module: Path) -> str:
    """Return the name of a module's package: ``kernels``, or a folder (or file) of gpusudoku."""
    return module.parts[0] if module.parts[0] == "kernels" else module.parts[1]


def tests_of(root: Path, module: Path) -> list[str]:
    """Return the test files of a package, those named like the module or its folders first."""
    package = package_of(module)
    folder = root / "tests" / package
    files = sorted(folder.rglob("test_*.py") if folder.is_dir() else root.glob("tests/test_*.py"))
    for place, more_tests in MORE_TESTS.items():
        if not module.is_relative_to(place):
            continue
        for name in more_tests:
            path = root / name
            more_files = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
            if package == "kernels" or module == Path(place):
                files = [*more_files, *files]
            else:
                files = [*files, *more_files]

    module_names = {module.stem.strip("_"), *module.parts[1:-1]} - {package}

    def shared_names(test: Path) -> int:
        return sum(name in test.parts or name in test.stem for name in module_names)

    tests = [path.relative_to(root).with_suffix("") for path in files if path.exists()]
    tests.sort(key=shared_names, reverse=True)
    return list(dict.fromkeys(f"{test}.py" for test in tests))


def run_tests(root: Path, module: Path) -> str:
    """Run the tests of a module's package in a clone; return caught, survived or no time."""
    cache = os.environ.get("GPUSUDOKU_CACHE_DIR", "")
    if module.parts[0] == "kernels":  # changed kernels must not enter the user's store
        cache = str(root / "cache")
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"GPUSUDOKU_CACHE_DIR": cache} if cache else {}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider"]
    # A test that waits for ever has caught the change.
    command += [f"--timeout={SECONDS}", "--timeout-method=thread"]
    process = subprocess.Popen(
        [*command, *tests_of(root, module)], cwd=root, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
    )  # fmt: skip
    try:
        status = process.wait(timeout=2.5 * SECONDS)
    except subprocess.TimeoutExpired:
        status = None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # also the processes that the tests started
    process.wait()
    if status == 5:
        raise RuntimeError(f"{' '.join(process.args)}: no test ran")
    if status == 0:
        return "survived"
    # A negative status: the limit of processor time has ended the process.
    return "caught" if status is not None and status > 0 else "no time"


def try_change(root: Path, module: Path, number: int) -> tuple[str, str]:
    """Change one place in a clone, run the tests, restore it; return the outcome and the change."""
    path = root / module
    text = path.read_text()
    tree = ast.parse(text)
    node = list(changeable_nodes(tree))[number]
    line = node.lineno
    kind = change_kind(node)
    old_code = ast.unparse(node).split("\n")[0]
    change_node(node)
    new_code = ast.unparse(node).split("\n")[0]
    path.write_text(ast.unparse(tree))
    try:
        return run_tests(root, module), f"{module}:{line} {kind}: {old_code}  ->  {new_code}"
    finally:
        path.write_text(text)


def clone(root: Path, target: Path, tests: str | None) -> Path:
    """Clone the last commit, with the tests of the commit ``tests`` if that is given."""
    subprocess.run(["git", "clone", "-q", "--shared", root, target], check=True)
    if tests:
        subprocess.run(["git", "rm", "-rq", "tests"], cwd=target, check=True)
        subprocess.run(["git", "checkout", "-q", tests, "--", "tests"], cwd=target, check=True)
    return target


def parse_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (this one)")
    parser.add_argument("--tests", metavar="REVISION", help="a commit to take the tests from")
    parser.add_argument("--room", help="one package, such as cli or kernels (all)")
    parser.add_argument("--count", type=int, default=60, help="how many changes (60)")
    parser.add_argument("--in-kernels", type=int, default=15, help="how many in kernels (15)")
    parser.add_argument("--seed", type=int, default=28)
    options = parser.parse_args()
    if options.room is not None and not (options.root / folder_of(options.room)).is_dir():
        parser.error(f"--room {options.room}: there is no folder {folder_of(options.room)}")
    return options


def folder_of(package: str) -> str:
    """Return the folder of a package."""
    return "kernels" if package == "kernels" else f"gpusudoku/{package}"


def check_collection(root: Path) -> None:
    """Raise an error unless all tests of a clone can be imported: else they catch every change."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-n0", "tests"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    subprocess.run(command, cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Draw the changes, try them two at a time, and print the outcome of each."""
    options = parse_options()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        free_clones: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for name in ("one", "two"):
            free_clones.put(clone(options.root, Path(folder) / name, options.tests))
        root = Path(folder) / "one"
        check_collection(root)
        if options.room is None:
            changes = draw_changes(root, "gpusudoku", options.count, rng)
            changes += draw_changes(root, "kernels", options.in_kernels, rng)
        else:
            changes = draw_changes(root, folder_of(options.room), options.count, rng)
        outcomes: Counter[tuple[str, str]] = Counter()

        def run(change: Change) -> None:
            start = time.monotonic()
            own_clone = free_clones.get()
            try:
                outcome, description = try_change(own_clone, *change)
            finally:
                free_clones.put(own_clone)
            place = "kernels" if package_of(change[0]) == "kernels" else "packages"
            outcomes[place, outcome] += 1
            print(f"{outcome:8} {time.monotonic() - start:4.0f} s  {description}", flush=True)

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(run, changes))

    for place in ("packages", "kernels"):
        total = sum(n for (its_place, _), n in outcomes.items() if its_place == place)
        if total:
            print(f"{place}: {outcomes[place, 'caught']} of {total} caught")


if __name__ == "__main__":
    main()
