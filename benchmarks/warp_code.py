"""Machine code (SASS) of compute capability 8.0 to 9.0: a listing made into rows of numbers.

The listing is nvdisasm's.

NVIDIA documents no more than the names of these instructions. Their meaning is known from what the
assembler makes of PTX, which is documented, and is checked by counts of whole boards. Code with an
instruction that is not in FORMS, down to the last modifier, is refused.

All that an instruction can read is a row of one table of 32 values, a value a thread: registers,
uniform registers (the same value 32 times), special registers, immediates and the constant bank.
Numba compiles what reads it: two million instructions of a warp take a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import GpusudokuError

THREADS = 32
EVERYONE = WORD = (1 << 32) - 1
SIGN = -(1 << 63)
POISON = 0xA5
"""What registers, shared and local memory hold before they are written."""
SECTOR = 32
"""The fewest bytes of global or local memory that are moved at once."""
BANKS = 32
"""The banks of shared memory. A bank gives one word of 32 bits in a pass."""

# Rows of the table of values. RZ, and what is written to it, may stand for up to four words.
ZERO, UNIFORM, NOWHERE, LITERALS = 255, 259, 328, 332
SPECIALS = {
    **{"SR_TID.X": 323, "SR_CTAID.X": 324, "SR_LANEID": 325, "SR_LTMASK": 326},
    "SR_CgaCtaId": 327,
}
"""The special registers. The last one is the number of a block in its cluster: 0."""
SIGNS = {"~": (1 << 16, r"U?(IADD3|IMAD)\.X"), "-": (3 << 16, r"U?(IADD3|IMAD(\.MOV)?|LEA)")}
"""What is added to the row of a source with a sign, and the instructions that may have some."""

TRUE, FALSE, NOT = 7, 7 + 16, 16
"""PT, its opposite, and what is added to a predicate that is negated. P0 to PT are 0 to 7, UP0 to
UPT 8 to 15; each is a bit a thread."""

GLOBAL, LOCAL, SHARED = range(3)
"""The spaces of memory, by the letter behind LD and ST: L, S, and any other."""


class Layout(NamedTuple):
    """Where an architecture has things."""

    parameters: int
    """The first byte of the kernel's parameters in the constant bank."""
    shared: int
    """The first byte of shared memory that a kernel may use."""


LAYOUTS = {"80": Layout(0x160, 0), "89": Layout(0x160, 0), "90": Layout(0x210, 0x400)}

CONTROL, LOAD, STORE, ADD = range(4)
FORMS = {
    r"NOP|YIELD": ("", "0"),
    r"LOP3\.LUT": ("Pdabc#p", "tested(logic({n}, a, b, c), p)"),
    r"IADD3(\.X)?|VIADD": ("dPQabcpq", "a + b + c + p + q"),
    r"IMAD(\.X|\.IADD|(\.MOV|\.SHL)?\.U32|\.MOV)?": ("dabcp", "a * b + c + p"),
    r"IMAD\.WIDE\.U32(\.X)?": ("DPabCp", "a * b + c + p"),
    r"IMAD\.WIDE": ("DabC", "signed(a) * signed(b) + c"),
    r"IMAD\.HI\.U32": ("dPabC", "high_sum(a, b, c)"),
    r"SHF\.L\.U32": ("dabc", "(c << 32 | a) << b if b < 64 else 0"),
    r"SHF\.L\.U64\.HI": ("dabc", "(c << 32 | a) << b >> 32 & WORD if b < 64 else 0"),
    r"SHF\.L\.W\.U32\.HI": ("dabc", "(c << 32 | a) << (b & 31) >> 32 & WORD"),
    r"SHF\.R\.U32\.HI": ("dabc", "c >> min(b, 63)"),
    r"SHF\.R\.S32\.HI": ("dabc", "signed(c) >> min(b, 63)"),
    r"SHF\.R\.U64": ("dabc", "a >> b | c << 32 - b if b < 32 else c >> min(b - 32, 63)"),
    r"SGXT\.U32": ("dab", "a & (1 << min(b, 32)) - 1"),
    r"LEA": ("dPab#", "(a << {n} & WORD) + b"),
    r"LEA\.HI(\.X)?": ("dPabc#p", "((c << 32 | a) << {n} >> 32 & WORD) + b + p"),
    r"SEL": ("dabp", "a if p else b"),
    r"PRMT": ("dabc", "permute(c << 32 | a, b)"),
    r"BREV": ("da", "reverse(a)"),
    r"FLO\.U32": ("da", "int(np.log2(a)) if a else -1"),
    r"POPC": ("da", "bits(a)"),
    r"MOV|LDC|S2R|S2UR": ("dc", "c"),
    r"LDC\.64|CS2R": ("DC", "c"),
    r"HFMA2\.MMA": ("dc", "c"),  # of zeros and two halves of a constant
    r"P2R": ("d__s", "{n} * p"),
    r"PLOP3\.LUT": ("Ptpqr#_", "({n} >> 4 * p + 2 * q + r & 1) << 32"),
    r"VOTEU?\.ANY": ("dPp", "tested(ballot, 0)"),
    r"SHFL\.IDX": ("tdab*", "given[0, b & 31]"),
    r"LD[GLS]?(\.E)?(\.U8|\.64|\.128)?": ("dm", LOAD),
    r"ST[GLS]?(\.E)?(\.U8|\.64|\.128)?": ("mc", STORE),
    r"ATOMG\.E\.ADD\.64\.STRONG\.GPU": ("tdmc", ADD),
    r"BRA(\.DIV)?|BSSY|BSYNC|BREAK|EXIT|WARPSYNC\.COLLECTIVE|ENDCOLLECTIVE": ("", CONTROL),
    r"CALL\.(REL|ABS)\.NOINC": ("", CONTROL),
}
"""For names of instructions, with all their modifiers: the operands, in order, and the value.

d is the destination; a, b and c are sources, m one in memory; D and C are of two words. P and Q are
predicates to write, p, q and r to read, t is PT; # is a number, _ an operand without effect, * the
whole warp; s is a number whose only bit selects a predicate to read. Predicates tell themselves
from the rest, so any that is not there is passed over.

The value is that of a thread, from its words a, b, c, its bits p, q, r, the number n, the ballot
of the threads for which p holds, and what is given to others. P is set if it is above a word, Q if
it is above two; of a value of two words, P is the carry. Of branches, and of what is done in
memory, it is the number of an operation.
"""
COMPARISONS = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
for (name, sign), (way, join) in product(COMPARISONS.items(), {"AND": "&", "OR": "|"}.items()):
    for kind, holds in {"": f"signed(a) {sign} signed(b)", r"\.U32": f"a {sign} b"}.items():
        form = rf"ISETP\.{name}{kind}\.{way}"
        FORMS[form] = "Ptabq", f"(int({holds}) {join} q) << 32"
        FORMS[rf"{form}\.EX"] = "Ptabqp", f"((p if a == b else int({holds})) {join} q) << 32"
FIXED = {"t": ("PT", "UPT"), "*": ("0x1f",)}
SIZES = {".U8": 0, ".64": 2, ".128": 4}
"""Words in memory, if not one. Bytes are solutions, which are not written here."""
FIELDS = {
    **dict.fromkeys(("op", "uniform", "space", "n", "size", "shift"), 0),
    **dict.fromkeys("de", NOWHERE),  # e is the upper word of d
    **dict.fromkeys("abchu", ZERO),  # h is the upper word of c; u is added to an address
    **dict.fromkeys("pqr", FALSE),
    **dict.fromkeys(("guard", "P", "Q"), TRUE),  # PT is not written
}
"""The fields of an instruction as a row of numbers, with their defaults."""

TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)", re.MULTILINE)
KERNEL = re.compile(r"\n//-+ \.text\.(?:(?!\n//-).)*STO_CUDA_ENTRY(?:(?!\n//-).)*", re.DOTALL)
"""The section of a kernel: functions that it calls have sections of their own."""
FUNCTION = re.compile(r"32@(lo|hi)\(\(.*\)\)")
"""Half of an address of code, for a call."""
LINE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*([^;]*);")
NOTE = re.compile(r"\s*\(\*.*?\*\)")
"""What the disassembler says of an instruction, for example that it spills a register."""
LABEL = re.compile(r"^\s*(\.L_x_\d+):")
PREDICATE = re.compile(r"(!?)(U?)P(\d|T)")
WHOLE = re.compile(r"-?(0x[0-9a-f]+|\d+)")
REGISTER = re.compile(r"([US]?)R(\d+|Z)")
ADDRESS = re.compile(
    r"(?:desc\[UR\d+\])?\[(?:(R\w+?)(\.64)?(?:\.X(\d+))?)?(?:\+?(UR\w+))?(?:\+?(-?0x[0-9a-f]+))?\]"
)
CONSTANT = re.compile(r"c\[0x0\]\[(?:(0x[0-9a-f]+)|RZ)\]")


class CodeError(GpusudokuError):
    """The machine code has an instruction that is not known, or does what is not expected."""


def predicate(text: str) -> int:
    """Return the number of a predicate; NOT is added if it begins with ``!``."""
    negated, uniform, number = PREDICATE.findall(text)[0]
    return NOT * bool(negated) + 8 * bool(uniform) + (7 if number == "T" else int(number))


EXPRESSIONS: dict[str, int] = {}
"""The values of the instructions of all kernels so far, and the numbers of their operations."""


@cache
def calculator(expressions: int) -> Callable[..., None]:
    """Compile a function that writes the values of an operation below its operands.

    It has the first so many EXPRESSIONS. Compiling takes long, so all kernels share it, if they are
    all there before the first of them runs.
    """
    lines = ["def calculate(op, given, ballot):"]
    for text, number in list(EXPRESSIONS.items())[:expressions]:
        lines += [f"    if op == {number}:", "        for i in range(THREADS):"]
        lines += ["            a, b, c = given[0, i], given[1, i], given[2, i]"]
        lines += ["            p, q, r = given[3, i], given[4, i], given[5, i]"]
        lines += [f"            given[6, i] = {text}"]
    space: dict[str, Any] = dict(globals())
    exec("\n".join(lines), space)
    compiled: Callable[..., None] = numba.njit(space["calculate"])
    return compiled


class Code:
    """A kernel as rows of numbers; CodeError is raised if it has an unknown instruction."""

    def __init__(self, listing: str, frame: int, shared: int = 0) -> None:
        self.frame = -(-frame // 16) * 16
        """Bytes of local memory of a thread."""
        self.shared = -(-shared // 16) * 16
        """Bytes of shared memory of a block."""
        target = TARGET.search(listing)
        architecture = target[1] if target else "90"
        if architecture not in LAYOUTS:
            raise CodeError(f"unknown architecture: sm_{architecture}")
        self.layout = LAYOUTS[architecture]
        if kernel := KERNEL.search(listing):
            listing = kernel[0]
        self.instructions: list[tuple[str, str, list[str]]] = []
        """Their guards, which are predicates, names with modifiers, and operands, as written."""
        self.labels: dict[str, int] = {}
        """The number of the instruction at each."""
        self._literals: dict[tuple[str, int], int] = {}
        """The row of every immediate, ("", value), and word of the constant bank, ("c", offset)."""
        rows = []
        for line in listing.splitlines():
            if label := LABEL.match(line):
                self.labels[label[1]] = len(rows)
            elif found := LINE.match(line):
                text = NOTE.sub("", found[3]).replace(".reuse", "").strip()
                text = FUNCTION.sub("0x0", text)
                operands = re.findall(r"[^,\s][^,]*", text)
                self.instructions.append((found[1] or "PT", found[2], operands))
                try:
                    rows.append(tuple(self._decoded(*self.instructions[-1]).values()))
                except (AttributeError, LookupError, TypeError, ValueError):
                    raise CodeError(f"unknown instruction: {line.strip()}") from None
        self.rows = np.array(rows, [(name, np.int64) for name in FIELDS])
        """The instructions, as rows of FIELDS."""
        self.ends = list(range(len(rows) + 1))
        """Where the instructions end that are taken together, from each that is no branch."""
        for at in reversed(np.flatnonzero(self.rows["op"] != CONTROL).tolist()):
            self.ends[at] = self.ends[at + 1]

    @property
    def calculate(self) -> Callable[..., None]:
        """The compiled function of all values."""
        return calculator(len(EXPRESSIONS))

    def table(self, bank: NDArray[np.uint32], block: int) -> NDArray[np.int64]:
        """Make the table of values, of a warp that is a block, with words of the constant bank."""
        values = np.full((LITERALS + 2 * len(self._literals), THREADS), POISON, np.int64)
        lanes = np.arange(THREADS)
        values[ZERO:UNIFORM] = 0
        for name, value in zip(SPECIALS, (lanes, block, lanes, (1 << lanes) - 1, 0), strict=True):
            values[SPECIALS[name]] = value
        for (kind, number), row in self._literals.items():
            pair = bank[number // 4 :] if kind else (number & WORD, number >> 32 & WORD)
            values[row], values[row + 1] = pair[:2]
        return values

    def _decoded(self, guard: str, name: str, operands: list[str]) -> dict[str, int]:
        """Return the fields of an instruction."""
        form = next((form for form in FORMS if re.fullmatch(f"U?({form})", name)), "")
        roles, value = FORMS[form]
        row = FIELDS | {"guard": predicate(guard)}
        row["uniform"] = int(bool(operands) and operands[0].startswith("U"))
        row["size"] = next((SIZES[each] for each in SIZES if each in name), 1)
        row["space"] = {"L": LOCAL, "S": SHARED}.get(name.split(".")[0][2:], GLOBAL)
        given = list(operands) if value != CONTROL else []
        if name == "HFMA2.MMA":
            halves = np.array(given[:2:-1], float).astype(np.float16)
            given[1:] = [str(halves.view(np.uint32)[0])] if given[1:3] == ["-RZ", "RZ"] else given
        for role in roles:
            if given and bool(PREDICATE.fullmatch(given[0])) == (role in "PQpqrt"):
                self._place(row, name, role, given.pop(0))
        if given:
            raise ValueError
        row["d"] = NOWHERE if row["d"] == ZERO else row["d"]
        row["e"] = row["d"] + 1 if "D" in roles else NOWHERE
        row["h"] = row["c"] + 1 if "C" in roles else ZERO
        if isinstance(value, str):
            text = value.format(n=row["n"])
            value = EXPRESSIONS.setdefault(text, ADD + 1 + len(EXPRESSIONS))
        row["op"] = value
        return row

    def _place(self, row: dict[str, int], name: str, role: str, text: str) -> None:
        """Set the fields of an operand."""
        if role in "PQpqr":
            row[role] = predicate(text)
        elif role == "m":
            register, wide, scale, uniform, offset = ADDRESS.fullmatch(text).groups()
            row["a"], row["n"] = self._row(register or "RZ", name), int(offset or "0", 16)
            row["b"] = row["a"] + 1 if wide else ZERO
            row["u"] = self._row(uniform or "RZ", name)
            row["shift"] = int(scale or "1").bit_length() - 1
            if wide and uniform:
                raise ValueError
        elif role in "#s":
            row["n"] = int(text, 0)
            if role == "s":
                row["p"] = (row["n"] & -row["n"]).bit_length() - 1
                [0].index(row["n"] & row["n"] - 1)
        elif role in FIXED:
            FIXED[role].index(text)
        elif role != "_":
            row[role.lower()] = self._row(text, name)

    def _row(self, text: str, name: str) -> int:
        """Return the row of a source or destination of an instruction."""
        if text in SPECIALS:
            return SPECIALS[text]
        if found := REGISTER.fullmatch(text):
            return ZERO if found[2] == "Z" else UNIFORM * (found[1] == "U") + int(found[2])
        key = "", 0
        if constant := CONSTANT.fullmatch(text):
            key = "c", int(constant[1] or "0", 16)
        elif WHOLE.fullmatch(text):
            key = "", int(text, 0)
        else:
            number, names = SIGNS[text[0]]
            return number + self._row(text[1:], re.fullmatch(names, name)[0])
        # The next row is its upper half.
        return self._literals.setdefault(key, LITERALS + 2 * len(self._literals))


def loop_of(listing: str) -> list[str]:
    """Return the instructions of the longest loop, each once, as they are written.

    In the code of a search it is that of the rounds, with what a thread does in few of them.
    """
    labels: dict[str, int] = {}
    lines: list[str] = []
    start = end = 0
    for line in listing.splitlines():
        if label := LABEL.match(line):
            labels[label[1]] = len(lines)
        elif instruction := LINE.match(line):
            lines.append(instruction[0].strip())
            target = re.search(r"`\((\.L_x_\d+)\)", instruction[3])
            if "BRA" in instruction[2] and target and target[1] in labels:
                first = labels[target[1]]
                if len(lines) - first > end - start:
                    start, end = first, len(lines)
    return lines[start:end]


@numba.njit
def signed(x):  # type: ignore[no-untyped-def]
    """Return a word as a number with a sign."""
    return x - ((x & 0x80000000) << 1)


@numba.njit
def high_sum(a, b, c):  # type: ignore[no-untyped-def]
    """Return the upper word of a * b + c, where c has two words, and its carry above that."""
    total = a * b + c
    carry = total + SIGN < c + SIGN  # compares them as numbers without a sign
    return total >> 32 & WORD | int(carry) << 32


@numba.njit
def logic(table, a, b, c):  # type: ignore[no-untyped-def]
    """Return the bits that a truth table has for three words: bit 4a + 2b + c of it."""
    found = 0
    for k in range(8):
        if table >> k & 1:
            found |= ~(a ^ -(k >> 2)) & ~(b ^ -(k >> 1 & 1)) & ~(c ^ -(k & 1))
    return found & WORD


@numba.njit
def tested(x, p):  # type: ignore[no-untyped-def]
    """Return a word, with a bit above it that says whether it is not 0, or p is set."""
    return x | (p | int(x != 0)) << 32


@numba.njit
def permute(pair, selector):  # type: ignore[no-untyped-def]
    """Return the bytes of two words that a selector names, or their signs."""
    found = 0
    for k in range(4):
        which = selector >> 4 * k & 15
        byte = pair >> 8 * (which & 7) & 255
        found |= (255 * (byte >> 7) if which & 8 else byte) << 8 * k
    return found


@numba.njit
def reverse(x):  # type: ignore[no-untyped-def]
    """Return a word with its bits in reverse order."""
    found = 0
    for k in range(32):
        found |= (x >> k & 1) << 31 - k
    return found


@numba.njit
def bits(x):  # type: ignore[no-untyped-def]
    """Return how many bits are set."""
    found = 0
    while x:
        found, x = found + 1, x & x - 1
    return found


@numba.njit
def mask_of(predicates, number):  # type: ignore[no-untyped-def]
    """Return the threads for which a predicate holds, as bits."""
    found = predicates[number & NOT - 1]
    return ~found & EVERYONE if number & NOT else found


@numba.njit
def word(values, source, lane):  # type: ignore[no-untyped-def]
    """Return a thread's word of a source. That of 0, negated, has a carry."""
    return (values[source & 0xFFFF, lane] ^ WORD * (source >> 16 & 1)) + (source >> 17)


@numba.njit
def transfer(row, values, memory, spaces, threads, banks):  # type: ignore[no-untyped-def]
    """Let some threads load or store; return what it takes, -1 if one may not.

    In global and local memory that is the sectors. Threads have the same word of local memory side
    by side. In shared memory it is the passes: threads whose words are all the same, or in
    different banks, need one. Of larger words, those that make 32 words of 32 bits go together.
    ``banks`` has the different words, or sectors, of each bank, behind their number.
    """
    first, size, start, frame = spaces[row.space]
    together = THREADS // max(1, row.size) if row.space == SHARED else THREADS
    taken = 0
    for lane in range(THREADS):
        if lane % together == 0:
            banks[:, 0] = 0
        if threads >> lane & 1:
            address = (values[row.a, lane] << row.shift) + values[row.u, lane] + row.n
            if row.space == GLOBAL:
                address += values[row.b, lane] << 32
            else:
                address &= WORD  # a sum of 32 bits
            at = address - first
            if row.size == 0 or at < 0 or at + 4 * row.size > size or at % (4 * row.size):
                return -1
            place = start + (lane * frame + at) // 4
            given = values[row.c, lane] | values[row.c + 1, lane] << 32
            for k in range(row.size):
                if row.op == STORE:
                    memory[place + k] = values[row.c + k, lane]
                else:
                    values[row.d + k, lane] = memory[place + k]
                unit = place + k
                if row.space == LOCAL:
                    unit = (at // 4 + k) * THREADS + lane
                if row.space != SHARED:
                    unit //= SECTOR // 4
                note(banks[unit % BANKS], unit)
            if row.op == ADD:
                memory[place : place + 2].view(np.int64)[0] += given
        if (lane + 1) % together == 0:
            taken += banks[:, 0].max() if row.space == SHARED else banks[:, 0].sum()
    return taken


@numba.njit
def note(bank, unit):  # type: ignore[no-untyped-def]
    """Add a word or sector to those of a bank, unless it is one of them."""
    for i in range(bank[0]):
        if bank[i + 1] == unit:
            return
    bank[0] += 1
    bank[bank[0]] = unit


@numba.njit
def execute(calculate, rows, state, start, end, party):  # type: ignore[no-untyped-def]
    """Let a party of threads take some instructions; return where one went wrong, or ``end``."""
    values, predicates, memory, spaces, counts = state
    given = np.empty((7, THREADS), np.int64)
    banks = np.empty((BANKS, 1 + 4 * THREADS), np.int64)
    for at in range(start, end):
        row = rows[at]
        guard = mask_of(predicates, row.guard)
        threads = guard if row.uniform else guard & party
        counts[at, 0] += 1
        counts[at, 1] += bits(guard & party)
        if threads == 0:
            continue
        if row.op == LOAD or row.op == STORE or row.op == ADD:
            taken = transfer(row, values, memory, spaces, threads, banks)
            if taken < 0:
                return at
            counts[at, 2] += taken
            continue
        a, b, c, h = row.a, row.b, row.c, row.h
        p, q = mask_of(predicates, row.p), mask_of(predicates, row.q)
        r = mask_of(predicates, row.r)
        for i in range(THREADS):
            given[0, i], given[1, i] = word(values, a, i), word(values, b, i)
            given[2, i] = word(values, c, i) | values[h, i] << 32
            given[3, i], given[4, i], given[5, i] = p >> i & 1, q >> i & 1, r >> i & 1
        calculate(row.op, given, p & guard & party)
        one = two = 0
        for i in range(THREADS):
            if threads >> i & 1:
                found = given[6, i]
                values[row.d, i], values[row.e, i] = found & WORD, found >> 32 & WORD
                if row.e == NOWHERE:
                    one |= int(found >> 32 > 0) << i
                else:  # without signs, the sum of two words is less than what was added
                    one |= int((found ^ SIGN) < (given[2, i] ^ SIGN)) << i
                two |= int(found >> 32 > 1) << i
        for number, mask in ((row.P, one), (row.Q, two)):
            if number & 7 != TRUE:
                predicates[number] = predicates[number] & ~threads | mask & threads
    return end
