"""Machine code (SASS) of compute capability 9.0, as nvdisasm prints it, made into rows of numbers.

NVIDIA does not document these instructions beyond their names. What they do is known from what the
assembler makes of PTX, which is documented, and is proven by whole boards whose counts come out
right. Whatever is not in FORMS, down to the last modifier, is refused.

All that an instruction can read has a row in one table, of 32 values: registers, uniform registers
(the same value 32 times), special registers, immediates and the constant bank. ``warp_lanes`` does
what instructions say.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import GpusudokuError

# Operations; warp_lanes.result says what each does.
OPERATIONS = (
    *("CONTROL", "NOTHING", "LOGIC", "ADD", "MULTIPLY", "HIGH", "LEFT", "RIGHT", "RIGHT_PAIR"),
    *("EXTEND", "SCALE", "SCALE_HIGH", "SELECT", "PERMUTE", "MOVE", "REVERSE", "HIGHEST", "COUNT"),
    *("COMPARE", "LOAD", "STORE", "ATOMIC", "PREDICATES", "VOTE", "SHUFFLE"),
)
NUMBER = {name: number for number, name in enumerate(OPERATIONS)}
COMPARISONS = ("LT", "LE", "GT", "GE", "EQ", "NE")
COMBINATIONS = ("AND", "OR", "XOR")

# Rows of the table of values.
ZERO = 255
"""RZ, and three more: it may stand for up to four words."""
UNIFORM = 259
SPECIALS = {"SR_TID.X": 323, "SR_CTAID.X": 324, "SR_LANEID": 325, "SR_LTMASK": 326}
NOWHERE = 327
"""What is written to RZ goes here, up to four words."""
LITERALS = 331
COMPLEMENT, NEGATIVE = 1 << 16, 1 << 17
"""Added to the row of a source of which all bits are flipped, or which is negated."""

# Predicates: P0 to P6 and PT, UP0 to UP6 and UPT, each a bit a thread.
TRUE, FALSE, NOT = 7, 7 + 16, 16

FIELDS = {
    "op": NUMBER["NOTHING"],
    "guard": TRUE,  # the predicate of the threads that do it
    "uniform": 0,  # 1 if it is done once for a warp
    "d": NOWHERE,  # destination
    **{"a": ZERO, "b": ZERO, "c": ZERO},  # sources
    **{"p": FALSE, "q": FALSE, "r": FALSE},  # predicates that are read
    **{"P": TRUE, "Q": TRUE},  # predicates that are written; PT is not
    "number": 0,  # a table of truth, a shift, an offset in memory
    "other": 0,  # another table of truth
    "plus": 0,  # added to a sum
    "wide": 0,  # 1 if c and d are two words
    "signed": 0,
    "high": 0,  # 1 if the high word of the result is wanted
    "comparison": 0,
    "combination": 0,
    "extended": 0,  # 1 if p says how the low words compare
    "size": 4,  # bytes in memory
    "local": 0,  # 1 if in a thread's local memory
}
"""The fields of a row, with their defaults."""
ROW = np.dtype([(name, np.int64) for name in FIELDS])


class CodeError(GpusudokuError):
    """The machine code has an instruction that is not known, or does what is not expected."""


class Form(NamedTuple):
    """What instructions of some names do.

    The operands, in order: d is the destination; a, b and c are sources, m is one in memory; P and
    Q are predicates to write, p, q and r to read; # and $ are whole numbers, * is WHOLE_WARP.
    Predicates tell themselves from the rest, so any that is not there is passed over.
    """

    names: str
    """A regular expression for the whole name with its modifiers."""
    operation: str
    operands: str
    fields: dict[str, int] = {}  # noqa: RUF012


WIDE, SIGNED, HIGH = {"wide": 1}, {"signed": 1}, {"high": 1}
FORMS = [
    Form(r"NOP|YIELD", "NOTHING", ""),
    Form(r"LOP3\.LUT", "LOGIC", "Pdabc#p"),
    Form(r"IADD3(\.X)?", "ADD", "dPQabcpq"),
    Form(r"VIADD", "ADD", "dab"),
    Form(r"IMAD(\.X|\.IADD|(\.MOV|\.SHL)?\.U32|\.MOV)?", "MULTIPLY", "dabcp"),
    Form(r"IMAD\.WIDE\.U32", "MULTIPLY", "dabc", WIDE),
    Form(r"IMAD\.WIDE", "MULTIPLY", "dabc", WIDE | SIGNED),
    Form(r"IMAD\.HI\.U32", "HIGH", "dabc"),
    Form(r"SHF\.L\.U32", "LEFT", "dabc"),
    Form(r"SHF\.L\.U64\.HI", "LEFT", "dabc", HIGH),
    Form(r"SHF\.R\.U32\.HI", "RIGHT", "dabc"),
    Form(r"SHF\.R\.S32\.HI", "RIGHT", "dabc", SIGNED),
    Form(r"SHF\.R\.U64", "RIGHT_PAIR", "dabc"),
    Form(r"SGXT\.U32", "EXTEND", "dab"),
    Form(r"LEA", "SCALE", "dPab#"),
    Form(r"LEA\.HI(\.X)?", "SCALE_HIGH", "dPabc#p"),
    Form(r"SEL", "SELECT", "dabp"),
    Form(r"PRMT", "PERMUTE", "dabc"),
    Form(r"BREV", "REVERSE", "da"),
    Form(r"FLO\.U32", "HIGHEST", "da"),
    Form(r"POPC", "COUNT", "da"),
    Form(r"MOV|LDC|S2R", "MOVE", "dc"),
    Form(r"S2UR", "MOVE", "dc", {"uniform": 1}),
    Form(r"LDC\.64|CS2R", "MOVE", "dc", WIDE),
    Form(r"HFMA2\.MMA", "MOVE", "dc"),  # makes a constant; see ``_halves``
    Form(r"ISETP\.(?P<comparison>LT|LE|GT|GE|EQ|NE)(?P<unsigned>\.U32)?"
         r"\.(?P<combination>AND|OR|XOR)(?P<extended>\.EX)?", "COMPARE", "PQabqp"),
    Form(r"PLOP3\.LUT", "PREDICATES", "PQpqr#$"),
    Form(r"VOTEU?\.ANY", "VOTE", "dPp"),
    Form(r"SHFL\.IDX", "SHUFFLE", "Pdab*"),
    Form(r"LDG?(\.E)?(?P<size>\.U8|\.64|\.128)?", "LOAD", "dm"),
    Form(r"STG?(\.E)?(?P<size>\.U8|\.64|\.128)?", "STORE", "mc"),
    Form(r"LDL(?P<size>\.U8|\.64|\.128)?", "LOAD", "dm", {"local": 1}),
    Form(r"STL(?P<size>\.U8|\.64|\.128)?", "STORE", "mc", {"local": 1}),
    Form(r"ATOMG\.E\.ADD(?P<size>\.64)\.STRONG\.GPU", "ATOMIC", "Pdmc"),
    Form(r"BRA(\.DIV)?|BSSY|BSYNC|BREAK|EXIT|WARPSYNC\.COLLECTIVE|ENDCOLLECTIVE", "CONTROL", ""),
]  # fmt: skip
WHOLE_WARP = "0x1f"
SIZES = {None: 4, ".U8": 1, ".64": 8, ".128": 16}


class Instruction(NamedTuple):
    """An instruction, as it is written."""

    guard: str
    """A predicate, which may begin with !; PT if all threads do it."""
    name: str
    """With its modifiers."""
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"@{self.guard} {self.name} {', '.join(self.operands)}"


@dataclass
class Code:
    """A kernel."""

    instructions: list[Instruction]
    labels: dict[str, int]
    """The number of the instruction at every label."""
    rows: NDArray[Any] = field(init=False)
    """The same as rows of FIELDS."""
    literals: dict[tuple[str, int], int] = field(default_factory=dict)
    """The row of every immediate, ("", value), and word of the constant bank, ("c", offset)."""

    def __post_init__(self) -> None:
        decoded = [_decoded(one, self) for one in self.instructions]
        self.rows = np.array([tuple(row.values()) for row in decoded], ROW)
        control = self.rows["op"] == NUMBER["CONTROL"]
        starts = {len(decoded), *self.labels.values(), *np.flatnonzero(control).tolist()}
        starts |= set((np.flatnonzero(control) + 1).tolist())
        self.ends = [0] * len(decoded)
        """Where the instructions end that are taken together, from each that they may begin at."""
        ordered = sorted(starts | {0})
        for start, end in pairwise(ordered):
            self.ends[start] = end

    def literal(self, kind: str, value: int) -> int:
        """The row of a literal. The next is its high half."""
        return self.literals.setdefault((kind, value), LITERALS + 2 * len(self.literals))


LINE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*([^;]*);")
LABEL = re.compile(r"^\s*(\.L_x_\d+):")
PREDICATE = re.compile(r"(!?)(U?)P(\d|T)")
WHOLE = re.compile(r"-?(0x[0-9a-f]+|\d+)")
REGISTER = re.compile(r"([US]?)R(\d+|Z)")
ADDRESS = re.compile(r"(?:desc\[UR\d+\])?\[(R\w+)(\.64)?(?:\+(-?0x[0-9a-f]+))?\]")
CONSTANT = re.compile(r"c\[0x0\]\[(?:(0x[0-9a-f]+)|RZ)\]")


def parse(text: str) -> Code:
    """Read a kernel from a disassembler's listing.

    Raises
    ------
    CodeError
        If it has an instruction that is not known.
    """
    instructions: list[Instruction] = []
    labels = {}
    for line in text.splitlines():
        if label := LABEL.match(line):
            labels[label[1]] = len(instructions)
        elif found := LINE.match(line):
            plain = found[3].replace(".reuse", "").strip()
            operands = tuple(each.strip() for each in plain.split(",")) if plain else ()
            instructions.append(Instruction(found[1] or "PT", found[2], operands))
    return Code(instructions, labels)


def predicate(text: str) -> int:
    """The number of a predicate; NOT is added if it begins with ``!``."""
    negated, uniform, number = PREDICATE.findall(text)[0]
    return NOT * bool(negated) + 8 * bool(uniform) + (7 if number == "T" else int(number))


def _decoded(instruction: Instruction, code: Code) -> dict[str, int]:
    """The fields of an instruction."""
    for name in (instruction.name, instruction.name.removeprefix("U")):
        for form in FORMS:
            if match := re.fullmatch(form.names, name):
                row = FIELDS | form.fields | {"op": NUMBER[form.operation]}
                row["guard"] = predicate(instruction.guard)
                row["uniform"] |= int(name != instruction.name)
                _modify(row, match.groupdict())
                try:
                    _place(row, instruction, form, code)
                except CodeError as error:
                    raise CodeError(f"{error}: {instruction}") from None
                return row
    raise CodeError(f"unknown instruction: {instruction}")


def _modify(row: dict[str, int], modifiers: dict[str, str | None]) -> None:
    """Set the fields for which a form names modifiers."""
    if "size" in modifiers:
        row["size"] = SIZES[modifiers["size"]]
    if (comparison := modifiers.get("comparison")) is not None:
        row["comparison"] = COMPARISONS.index(comparison)
        row["combination"] = COMBINATIONS.index(str(modifiers["combination"]))
        row["signed"] = int(modifiers["unsigned"] is None)
        row["extended"] = int(modifiers["extended"] is not None)


def _place(row: dict[str, int], instruction: Instruction, form: Form, code: Code) -> None:
    """Set the fields of an instruction's operands."""
    given = [] if form.operation == "CONTROL" else list(instruction.operands)
    if instruction.name.startswith("HFMA2"):
        given = [given[0], _halves(given)]
    for role in form.operands:
        if not given or (role in "PQpqrd" and bool(PREDICATE.fullmatch(given[0])) == (role == "d")):
            continue
        text = given.pop(0)
        if role in "PQpqr":
            row[role] = predicate(text)
        elif role in "#$" and WHOLE.fullmatch(text):
            row["number" if role == "#" else "other"] = int(text, 0)
        elif role == "m":
            row["a"], row["number"] = _address(text, bool(row["local"]), code)
        elif role == "d":
            row["d"] = NOWHERE if text in ("RZ", "URZ") else _row(text, code)
        elif role in "abc":
            row[role] = _row(text, code)
        elif role != "*" or text != WHOLE_WARP:
            raise CodeError(f"unknown operand {text}")
        if form.operation == "ADD" and role in "abc" and row[role] & NEGATIVE:
            row[role] += COMPLEMENT - NEGATIVE  # as the adder does it: then the carry is right, too
            row["plus"] += 1
    signs = any(row[source] >= COMPLEMENT for source in "abc")
    one_word = not row["wide"] and form.operation not in ("LOAD", "STORE", "ATOMIC", "SHUFFLE")
    if given or (signs and not one_word) or (row["plus"] and ".X" in instruction.name):
        raise CodeError("unknown operands")


def _row(text: str, code: Code) -> int:
    """The row of a source or destination."""
    if WHOLE.fullmatch(text):
        return code.literal("", int(text, 0))
    sign = {"-": NEGATIVE, "~": COMPLEMENT}.get(text[0], 0)
    plain = text[1:] if sign else text
    if plain in SPECIALS:
        return SPECIALS[plain]
    if found := CONSTANT.fullmatch(plain):
        return sign + code.literal("c", int(found[1] or "0", 16))
    if found := REGISTER.fullmatch(plain):
        first = UNIFORM if found[1] == "U" else 0
        return sign + (ZERO if found[2] == "Z" else first + int(found[2]))
    raise CodeError(f"unknown operand {text}")


def _address(text: str, local: bool, code: Code) -> tuple[int, int]:
    """Where in memory: the row of a register, and an offset. Global addresses are two words."""
    found = ADDRESS.fullmatch(text)
    if not found or (found[2] is None) != local:
        raise CodeError(f"unknown address {text}")
    return _row(found[1], code), int(found[3] or "0", 16)


def _halves(operands: list[str]) -> str:
    """The constant that a product of zeros plus two numbers of 16 bits is, as a whole number."""
    _, zero, other_zero, *numbers = operands
    if (zero, other_zero) != ("-RZ", "RZ"):
        raise CodeError("unknown product of half precision")
    high, low = (struct.unpack("<H", struct.pack("<e", float(each)))[0] for each in numbers)
    return hex(high << 16 | low)
