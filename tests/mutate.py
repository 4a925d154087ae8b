"""How strong the tests are: change the product in one place at a time, and see whether they fail.

    python tests/mutate.py                    # 60 changes outside the kernels, 15 in them
    python tests/mutate.py --room cli --count 12 --seed 5
    python tests/mutate.py --tests REVISION   # the same changes, with the tests of another commit

Each change is made in a clone of the last commit. There the tests of the changed module's room run,
those named like the module first, until one fails or their time is over.
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
"""Processor time for each change; by the clock two and a half times as much, for a busy machine."""

ALSO = {
    "gpusudoku/cli": ["tests/test_sessions.py"],
    "gpusudoku/runs": ["tests/cli/test_checkpoint.py", "tests/cli/test_parts.py"],
    "kernels/contraction": ["tests/contraction"],
    "kernels/search": ["tests/search"],
    "kernels/search/cuda.py": ["tests/engines/cuda", "tests/ptx"],
    "kernels/search/cuda_thread.py": ["tests/engines/cuda", "tests/ptx"],
}
"""Where else than in the folder of its name tests of a room are: first those of kernels, which are
told from results, and those of one module."""


def kind(node: ast.AST) -> str:
    """Return what kind of change a node allows, or nothing."""
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


def places(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a module that can be changed; annotations and decorators are no code."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                if kind(node):
                    yield node
                yield from places(node)


def change(node: ast.AST) -> None:
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
        case _:  # a statement: a constant in its place does nothing
            node.__class__, node.value = ast.Expr, ast.Constant(None)


def sample(root: Path, folder: str, count: int, chance: random.Random) -> list[tuple[Path, int]]:
    """Draw changes in the modules of a folder: the kind first, then the place."""
    found: dict[str, list[tuple[Path, int]]] = {}
    for path in sorted((root / folder).rglob("*.py")):
        for number, node in enumerate(places(ast.parse(path.read_text()))):
            found.setdefault(kind(node), []).append((path.relative_to(root), number))
    drawn = [chance.choice(found[chance.choice(sorted(found))]) for _ in range(count)]
    return list(dict.fromkeys(drawn))


def tests_of(root: Path, module: Path) -> list[str]:
    """Return the test files of a room, those named like the module or its folders first."""
    parts = module.parts
    room = parts[0] if parts[0] == "kernels" else parts[1]
    folder = root / "tests" / room
    files = sorted(folder.rglob("test_*.py") if folder.is_dir() else root.glob("tests/test_*.py"))
    for place, more in ALSO.items():
        if module.is_relative_to(place):
            for name in more:
                path = root / name
                found = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
                first = room == "kernels" or module == Path(place)
                files = [*found, *files] if first else [*files, *found]
    alike = {module.stem.strip("_"), *module.parts[1:-1]} - {room}
    names = [path.relative_to(root).with_suffix("") for path in files if path.exists()]
    names.sort(key=lambda name: -sum(part in name.parts or part in name.stem for part in alike))
    return list(dict.fromkeys(f"{name}.py" for name in names))


def outcome(root: Path, module: Path) -> str:
    """Run the tests of a module's room in a clone."""
    cache = os.environ.get("GPUSUDOKU_CACHE_DIR", "")
    if module.parts[0] == "kernels":  # its kernels are of no use to anybody else
        cache = str(root / "cache")
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"GPUSUDOKU_CACHE_DIR": cache} if cache else {}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider"]
    command += [f"--timeout={SECONDS}", "--timeout-method=thread"]  # what waits for ever has failed
    running = subprocess.Popen(
        [*command, *tests_of(root, module)], cwd=root, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
    )  # fmt: skip
    try:
        status = running.wait(timeout=2.5 * SECONDS)
    except subprocess.TimeoutExpired:
        status = None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    if status == 5:
        raise RuntimeError(f"{' '.join(running.args)}: no test ran")
    if status == 0:
        return "survived"
    return "caught" if status is not None and status > 0 else "no time"


def tried(root: Path, module: Path, number: int) -> tuple[str, str]:
    """Change one place in a clone, run the tests, restore it; return the outcome and the change."""
    path = root / module
    text = path.read_text()
    tree = ast.parse(text)
    node = list(places(tree))[number]
    line = node.lineno
    name = kind(node)
    before = ast.unparse(node).split("\n")[0]
    change(node)
    after = ast.unparse(node).split("\n")[0]
    path.write_text(ast.unparse(tree))
    try:
        return outcome(root, module), f"{module}:{line} {name}: {before}  ->  {after}"
    finally:
        path.write_text(text)


def clone(root: Path, into: Path, tests: str | None) -> Path:
    """Clone the last commit, with the tests of another one if asked, so that it runs in place."""
    subprocess.run(["git", "clone", "-q", "--shared", root, into], check=True)
    if tests:
        subprocess.run(["git", "rm", "-rq", "tests"], cwd=into, check=True)
        subprocess.run(["git", "checkout", "-q", tests, "--", "tests"], cwd=into, check=True)
    return into


def main() -> None:
    """Draw the changes, try them two at a time, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (this one)")
    parser.add_argument("--tests", metavar="REVISION", help="a commit to take the tests from")
    parser.add_argument("--room", help="one folder, such as cli or kernels (all)")
    parser.add_argument("--count", type=int, default=60, help="how many changes (60)")
    parser.add_argument("--in-kernels", type=int, default=15, help="how many in kernels (15)")
    parser.add_argument("--seed", type=int, default=28)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        roots: queue.SimpleQueue[Path] = queue.SimpleQueue()  # no two changes in one clone at once
        for name in ("one", "two"):
            roots.put(clone(given.root, Path(folder) / name, given.tests))
        root = Path(folder) / "one"
        # Tests that cannot even be imported would catch every change.
        collect = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-n0", "tests"]
        environment = {**os.environ, "PYTHONPATH": str(root)}
        subprocess.run(collect, cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)
        if given.room is None:
            drawn = sample(root, "gpusudoku", given.count, chance)
            drawn += sample(root, "kernels", given.in_kernels, chance)
        else:
            place = "kernels" if given.room == "kernels" else f"gpusudoku/{given.room}"
            if not (root / place).is_dir():
                parser.error(f"--room {given.room}: there is no folder {place}")
            drawn = sample(root, place, given.count, chance)
        outcomes: Counter[tuple[str, str]] = Counter()

        def run(change: tuple[Path, int]) -> None:
            began = time.monotonic()
            own = roots.get()
            try:
                result, shown = tried(own, *change)
            finally:
                roots.put(own)
            outcomes["kernels" if change[0].parts[0] == "kernels" else "rooms", result] += 1
            print(f"{result:8} {time.monotonic() - began:4.0f} s  {shown}", flush=True)

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(run, drawn))
    for place in ("rooms", "kernels"):
        of_place = {result: n for (where, result), n in outcomes.items() if where == place}
        if of_place:
            print(f"{place}: {of_place.get('caught', 0)} of {sum(of_place.values())} caught")


if __name__ == "__main__":
    main()
