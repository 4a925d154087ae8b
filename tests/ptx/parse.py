"""PTX text -> ``model.Module``: the statements that NVVM writes, and an error for any other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.ptx.model import (
    TYPES,
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Module,
    Negated,
    Operand,
    Pair,
    PtxError,
    Register,
    Symbol,
    Type,
    Variable,
    Vector,
)

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<number>0[xX][0-9a-fA-F]+U?|\d+U?(?![\w.]))
    |(?P<name>[A-Za-z_$%.][\w$.%]*(?:::[\w.]+)*)
    |(?P<string>"[^"]*")
    |(?P<version>\d+\.\d+)
    |(?P<mark>[{}()\[\],;:<>@!+\-=|])""",
    re.VERBOSE | re.DOTALL,
)
SPACES = {"global", "const", "shared", "local", "param"}
LINKING = {".visible", ".extern", ".common", ".weak"}
IGNORED_LINES = re.compile(r"^[ \t]*\.(?:loc|file)\b[^\n]*", re.MULTILINE)
"""Positions in the source, which end with the line."""


class Token(NamedTuple):
    text: str
    line: int
    kind: str


def tokens(ptx: str) -> Iterator[Token]:
    at, line = 0, 1
    while at < len(ptx):
        match = TOKEN.match(ptx, at)
        if match is None:
            raise PtxError(f"line {line}: not PTX: {ptx[at : at + 20]!r}")
        if match.lastgroup != "skip":
            yield Token(match[0], line, str(match.lastgroup))
        line, at = line + match[0].count("\n"), match.end()


def parse(ptx: str) -> Module:
    """Read a module.

    Raises
    ------
    PtxError
        If anything in it is not known; the message names the line.
    """
    return Parser(ptx).module()


class Parser:
    def __init__(self, ptx: str) -> None:
        self._lines = ptx.splitlines()
        self._tokens = list(tokens(IGNORED_LINES.sub("", ptx)))
        self._at = 0
        self._scopes: list[dict[str, str]] = []
        """Registers visible in each scope, innermost last: the name in the text, and ours."""

    @property
    def _next(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _take(self, *expected: str) -> str:
        if self._at == len(self._tokens):
            raise PtxError(f"line {len(self._lines)}: the text ends too soon")
        token = self._tokens[self._at]
        if expected and token.text not in expected:
            raise self._error(f"expected {' or '.join(expected)}, not {token.text}")
        self._at += 1
        return token.text

    def _accept(self, text: str) -> bool:
        found = self._next == text
        self._at += found
        return found

    def _error(self, reason: str) -> PtxError:
        line = self._tokens[min(self._at, len(self._tokens) - 1)].line
        return PtxError(f"line {line}: {self._lines[line - 1].strip()}: {reason}")

    def _number(self) -> int:
        sign = -1 if self._accept("-") else 1
        try:
            return sign * int(self._take().rstrip("U"), 0)
        except ValueError:
            self._at -= 1
            raise self._error(f"expected a whole number, not {self._next}") from None

    def module(self) -> Module:
        module = Module()
        while self._at < len(self._tokens):
            if self._next in (".version", ".address_size", ".target"):
                self._at += 2
                while self._accept(","):
                    self._take()
                continue
            extern = False
            while self._next in LINKING:
                extern |= self._take() == ".extern"
            if self._next in (".entry", ".func"):
                self._function(module, extern)
            else:
                module.variables += self._variables(extern)
                self._take(";")
        return module

    def _function(self, module: Module, extern: bool) -> None:
        entry = self._take() == ".entry"
        results = self._parameters() if self._next == "(" else []
        name = self._take()
        function = Function(name, entry, self._parameters(), results)
        if extern:
            raise self._error(f"the function {name} is not in the module")
        while self._next in (".maxntid", ".reqntid", ".minnctapersm", ".maxnreg"):
            self._take()
            self._number()
            while self._accept(","):
                self._number()
        if self._accept(";"):
            return
        self._take("{")
        self._block(function)
        module.functions[name] = function

    def _parameters(self) -> list[Variable]:
        parameters: list[Variable] = []
        self._take("(")
        while not self._accept(")"):
            parameters += self._variables(False)
            self._accept(",")
        return parameters

    def _type(self) -> Type:
        name = self._take()[1:]
        if name not in TYPES:
            self._at -= 1
            raise self._error(f"unknown type .{name}")
        return TYPES[name]

    def _variables(self, extern: bool) -> list[Variable]:
        """Read one declaration, as far as its semicolon, or one parameter."""
        space = self._take()[1:]
        if space not in SPACES:
            self._at -= 1
            raise self._error(f"unknown directive .{space}")
        align = 0
        if self._accept(".align"):
            align = self._number()
        kind = self._type()
        if self._accept(".ptr"):
            while self._next in (".global", ".const", ".shared", ".local"):
                self._take()
            if self._accept(".align"):
                self._number()
        if extern and space != "shared":
            raise self._error("a variable of another module")
        found = [self._variable(space, kind, align, extern)]
        while space != "param" and self._accept(","):
            found.append(self._variable(space, kind, align, extern))
        return found

    def _variable(self, space: str, kind: Type, align: int, extern: bool) -> Variable:
        name, count, initial = self._take(), 1, b""
        while self._accept("["):
            count *= 0 if self._next == "]" else self._number()
            self._take("]")
        if self._accept("="):
            values = [self._number() for _ in self._listed()]
            initial = b"".join(
                (value % 2**kind.bits).to_bytes(kind.bytes, "little") for value in values
            )
        size = None if extern and count == 0 else count * kind.bytes
        return Variable(name, space, kind, align or kind.bytes, size, initial)

    def _listed(self) -> Iterator[None]:
        """Stop before each item of a list in braces, or before the one that stands alone."""
        if not self._accept("{"):
            yield
            return
        while True:
            yield
            if self._take(",", "}") == "}":
                return

    def _block(self, function: Function) -> None:
        """Read a body after its opening brace, as far as the closing one."""
        self._scopes.append({})
        while not self._accept("}"):
            if self._accept("{"):
                self._block(function)
            elif self._next == ".reg":
                self._registers(function)
            elif self._next == ".pragma":
                self._at += 2
                self._take(";")
            elif self._next.startswith("."):
                function.variables += self._variables(False)
                self._take(";")
            elif self._tokens[self._at + 1].text == ":":
                function.body.append(Label(self._take()))
                self._take(":")
            else:
                function.body.append(self._instruction())
        self._scopes.pop()

    def _registers(self, function: Function) -> None:
        self._take(".reg")
        kind = self._type()
        while True:
            name = self._take()
            if self._accept("<"):
                names = [f"{name}{i}" for i in range(self._number())]
                self._take(">")
            else:
                names = [name]
            for each in names:
                ours = each
                while ours in function.registers:  # one of the same name in another scope
                    ours += "'"
                function.registers[ours] = kind
                self._scopes[-1][each] = ours
            if self._take(",", ";") == ";":
                return

    def _register(self, name: str) -> Register:
        for scope in reversed(self._scopes):
            if name in scope:
                return Register(scope[name])
        return Register(name)  # a special one, or an error when it is read

    def _instruction(self) -> Instruction:
        line, guard = self._tokens[self._at].line, None
        if self._accept("@"):
            negated = self._accept("!")
            register = self._register(self._take())
            guard = Negated(register) if negated else register
        opcode, *modifiers = self._take().split(".")
        operands = []
        while not self._accept(";"):
            operands.append(self._operand())
            if self._next != ";":
                self._take(",")
        text = self._lines[line - 1].strip()
        return Instruction(line, text, opcode, tuple(modifiers), tuple(operands), guard)

    def _operand(self) -> Operand:
        if self._next in ("{", "("):
            closing = "}" if self._take() == "{" else ")"
            items = []
            while not self._accept(closing):
                items.append(self._operand())
                self._accept(",")
            return Vector(tuple(items))
        if self._accept("["):
            base, offset = self._operand(), 0
            assert isinstance(base, Register | Symbol | Immediate)
            if self._accept("+") or self._next == "-":
                offset = self._number()
            self._take("]")
            return Address(base, offset)
        if self._accept("!"):
            return Negated(self._register(self._take()))
        if self._next == "-" or self._tokens[self._at].kind == "number":
            return Immediate(self._number())
        name = self._take()
        if not name.startswith("%"):
            return self._register(name) if self._declared(name) else Symbol(name)
        if self._accept("|"):
            return Pair(self._register(name), self._register(self._take()))
        return self._register(name)

    def _declared(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes)
