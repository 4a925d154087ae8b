"""Write the reference of docs/python.md from the docstrings of ``gpusudoku``, or check it.

The reference stands between the lines ``<!-- interface -->`` and ``<!-- end of interface -->``.

    python docs/interface.py           write
    python docs/interface.py --check   write nothing; exit status 1 if the page is not current
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ForwardRef

import gpusudoku

PAGE = Path(__file__).with_name("python.md")
REFERENCE = re.compile(r"(<!-- interface -->\n).*(<!-- end of interface -->)", re.DOTALL)
SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
ROLE = re.compile(r":\w+:`~?([\w.]+)`")
LONGEST = 92
"""Characters of a signature that stands on one line."""


class Annotation(str):
    """An annotation that a signature shows without quotation marks."""

    __slots__ = ()
    __repr__ = str.__str__


def reference() -> Iterator[str]:
    """Every public name of the package: functions, then classes, then errors."""
    found = [(name, getattr(gpusudoku, name)) for name in gpusudoku.__all__]
    classes = [(name, value) for name, value in found if inspect.isclass(value)]
    functions = [(name, value) for name, value in found if inspect.isfunction(value)]
    yield "## Functions\n"
    for name, function in functions:
        yield f"### {name}\n"
        yield signature(name, function)
        yield described(function)
    for title, are_errors in (("Classes", False), ("Errors", True)):
        yield f"## {title}\n"
        for name, kind in classes:
            if issubclass(kind, BaseException) == are_errors:
                yield f"### {name}\n"
                yield from class_reference(name, kind)
    yield "## Other names\n"
    for name, value in found:
        if (name, value) not in classes + functions:
            yield f"- `{name}`: `{type(value).__name__}`\n"


def class_reference(name: str, kind: type) -> Iterator[str]:
    """A class: its docstring, how it is made, what it holds and what it does."""
    if issubclass(kind, BaseException):
        bases = ", ".join(base.__name__ for base in kind.__bases__)
        yield f"An error of type `{bases}`.\n"
    else:
        yield signature(name, kind)
    yield described(kind)
    fields = declared_fields(kind)
    told = "Parameters" in SECTION.split(inspect.getdoc(kind) or "")[1::2]
    members = [f"- `{field}: {annotation}`" + (f". {inline(text)}" if text else "")
               for field, (annotation, text) in fields.items()
               if text or not told]  # fmt: skip
    for member, value in vars(kind).items():
        if not member.startswith("_") and member not in fields and documentation(value):
            members.append(f"- `{shown(member, value)}`. {inline(documentation(value))}")
    if members:
        yield "**Members**\n"
        yield "\n".join(members) + "\n"


def declared_fields(kind: type) -> dict[str, tuple[str, str]]:
    """The public fields in the body of a class: the annotation, and the string below it if any."""
    [body] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    found: dict[str, tuple[str, str]] = {}
    for node, below in pairwise([*body.body, ast.Pass()]):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            text = inspect.cleandoc(str(below.value.value)) if is_text else ""
            found[node.target.id] = ast.unparse(node.annotation), text
    return {name: field for name, field in found.items() if not name.startswith("_")}


def documentation(value: object) -> str:
    """The docstring of a method or a property, empty for everything else."""
    function = plain_function(value)
    return inspect.getdoc(function) or "" if function else ""


def plain_function(value: object) -> Callable[..., Any] | None:
    """The function in a method, a class method or any kind of property."""
    for attribute in ("fget", "func", "__func__"):
        value = getattr(value, attribute, value)
    return value if inspect.isfunction(value) else None


def shown(name: str, member: object) -> str:
    """A property with its type, or a method with its parameters."""
    function = plain_function(member)
    assert function is not None
    plain = plain_signature(function)
    if hasattr(member, "fget") or hasattr(member, "func"):
        return f"{name}: {plain.return_annotation}"
    first, *others = plain.parameters.values()
    return f"{name}{plain.replace(parameters=others if first.name in ('self', 'cls') else None)}"


def signature(name: str, value: Callable[..., Any]) -> str:
    """The signature in a block of code, one parameter on a line if it is long."""
    plain = plain_signature(value)
    if inspect.isclass(value):
        plain = plain.replace(return_annotation=inspect.Signature.empty)
    text = f"{name}{plain}"
    if len(text) > LONGEST:
        arguments = str(plain.replace(return_annotation=inspect.Signature.empty))[1:-1]
        lines = re.split(r", (?=[\w*]+(?::|,|$))", arguments)
        end = text.rpartition(")")[2]
        text = "\n".join([f"{name}(", *(f"    {line}," for line in lines), f"){end}"])
    return f"```python\n{text}\n```\n"


def plain_signature(value: Callable[..., Any]) -> inspect.Signature:
    """The signature with annotations as they stand in the source."""
    found = inspect.signature(value)
    parameters = [
        parameter.replace(annotation=plain_annotation(parameter.annotation))
        for parameter in found.parameters.values()
    ]
    return found.replace(
        parameters=parameters, return_annotation=plain_annotation(found.return_annotation)
    )


def plain_annotation(annotation: object) -> object:
    """An annotation without quotation marks."""
    if isinstance(annotation, ForwardRef):  # of a NamedTuple's fields
        annotation = annotation.__forward_arg__
    return Annotation(annotation) if isinstance(annotation, str) else annotation


def described(value: object) -> str:
    """A docstring in NumPy's form as Markdown: its sections become lists."""
    text, *sections = SECTION.split(ROLE.sub(r"`\1`", inspect.getdoc(value) or ""))
    parts = [text.strip()]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        items = [
            f"- {', '.join(f'`{name}`' for name in names)}" + (f": {inline(text)}" if text else "")
            for names, text in section_items(body)
        ]
        parts.append("\n".join([f"**{title}**\n", *items]))
    return "\n\n".join(parts) + "\n"


def section_items(body: str) -> list[tuple[list[str], str]]:
    """What a section lists: names, and the indented text below them."""
    items: list[tuple[list[str], list[str]]] = []
    for line in body.strip().splitlines():
        if line.startswith(" "):
            items[-1][1].append(line.strip())
        elif line:
            items.append((re.split(r", (?=[A-Z])", line), []))
    return [(names, " ".join(lines)) for names, lines in items]


def inline(text: str) -> str:
    """A docstring on one line: its sections follow the text."""
    first, *sections = SECTION.split(ROLE.sub(r"`\1`", text))
    line = " ".join(first.split())
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        items = [f"`{', '.join(names)}`" + (f": {text}" if text else "")
                 for names, text in section_items(body)]  # fmt: skip
        line += f" {title}: {'; '.join(items)}"
    return line


def main(arguments: list[str]) -> None:
    """Write the page, or check it."""
    before = PAGE.read_text(encoding="utf-8")
    text = "\n".join(reference()).strip() + "\n"
    after = REFERENCE.sub(lambda found: found[1] + text + found[2], before)
    if arguments != ["--check"]:
        PAGE.write_text(after, encoding="utf-8")
    elif after != before:
        sys.exit("docs/python.md is not what the docstrings say: run docs/interface.py")


if __name__ == "__main__":
    main(sys.argv[1:])
