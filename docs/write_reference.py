"""Write ``reference.md``: all names of the package, with signatures and a line from the docstrings.

    python docs/write_reference.py

The page is read on GitHub as it is; the site adds all parameters below it (see ``conf.py``).
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cached_property
from pathlib import Path
from textwrap import dedent
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference.md"
HEAD = """\
# Reference of the Python interface

<!-- Written by docs/write_reference.py from the docstrings. -->

All functions, classes and errors of `gpusudoku`, each with the first sentence of its docstring.
In Python `help(gpusudoku.count)` shows all parameters; the site has them below these lists.
[The introduction](python.md) has examples.
"""
COLLECTION = "`gpusudoku.collection` has the boards that come with the program:"


def sentence_of(docstring: str | None) -> str:
    """Return the first paragraph of a docstring on one line, as Markdown."""
    text = " ".join(inspect.cleandoc(docstring or "").partition("\n\n")[0].split())
    return re.sub(r"``(.+?)``", r"`\1`", text)


def signature_of(name: str, function: Any) -> str:
    """Return the signature of a function or method, without the types of its parameters."""
    signature = inspect.signature(function)
    params = [
        param.replace(annotation=param.empty)
        for param in signature.parameters.values()
        if param.name not in ("self", "cls")
    ]
    returned = signature.return_annotation
    if returned is not signature.empty and not isinstance(returned, str):
        returned = getattr(returned, "__name__", str(returned))
    text = str(inspect.Signature(params))
    arrow = "" if returned in (signature.empty, "None") else f" -> {returned}"
    return f"{name}{text}{arrow}"


def field_lines(kind: type) -> list[str]:
    """List the attributes that the body of a class documents, with the first sentence of each."""
    [body] = ast.parse(dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    lines = []
    documented = [node for node in body.body if isinstance(node, ast.AnnAssign | ast.Expr)]
    for node, following in zip(documented, [*documented[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if node.target.id.startswith("_"):
            continue
        text = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            text = f": {sentence_of(following.value.value)}"
        lines.append(f"  - `{node.target.id}`{text}")
    return lines


def member_lines(kind: type) -> list[str]:
    """List the public properties and methods that a class itself defines."""
    lines = []
    for name, member in {**_inherited(kind), **vars(kind)}.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property | cached_property):
            lines.append(f"  - `{name}`: {sentence_of(member.__doc__)}")
        elif inspect.isroutine(member):
            function = getattr(kind, name)
            lines.append(f"  - `{signature_of(name, function)}`: {sentence_of(function.__doc__)}")
    return lines


def _inherited(kind: type) -> dict[str, object]:
    """Return the members of bases of this package that have no entry of their own."""
    members: dict[str, object] = {}
    for base in kind.__bases__:
        if base.__module__.startswith("gpusudoku") and not _is_public(base):
            members |= vars(base)
    return members


def _is_public(kind: type) -> bool:
    import gpusudoku

    return kind.__name__ in gpusudoku.__all__


def class_lines(kind: type) -> list[str]:
    """List a class and its members."""
    bases = [base.__name__ for base in kind.__bases__ if _is_public(base)]
    if issubclass(kind, Exception):
        bases = [base.__name__ for base in kind.__bases__]
    of_bases = f" ({', '.join(f'`{base}`' for base in bases)})" if bases else ""
    head = f"- **`{kind.__name__}`**{of_bases}: {sentence_of(kind.__doc__)}"
    return [head, *field_lines(kind), *member_lines(kind)]


def reference() -> str:
    """Return the whole page."""
    import gpusudoku

    functions: list[str] = []
    classes: list[str] = []
    errors: list[str] = []
    for name in gpusudoku.__all__:
        member = getattr(gpusudoku, name)
        if inspect.isfunction(member):
            line = f"- **`{signature_of(name, member)}`**: {sentence_of(member.__doc__)}"
            functions.append(line)
        elif inspect.isclass(member):
            lines = errors if issubclass(member, Exception) else classes
            lines += class_lines(member)
    collection = [
        f"- **`collection.{signature_of(name, member)}`**: {sentence_of(member.__doc__)}"
        for name, member in vars(gpusudoku.collection).items()
        if inspect.isroutine(inspect.unwrap(member))
        and member.__module__ == "gpusudoku.collection"
        and not name.startswith("_")
    ]
    sections = [
        f"## Functions\n\n{chr(10).join(functions)}",
        f"{COLLECTION}\n\n{chr(10).join(collection)}",
        f"## Classes\n\n{chr(10).join(classes)}",
        f"## Errors\n\n{chr(10).join(errors)}",
    ]
    return HEAD + "\n" + "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PAGE.write_text(reference(), encoding="utf-8")
