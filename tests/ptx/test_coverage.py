"""The opcodes of the project's kernels are those that are tested, none is taken on trust."""

from __future__ import annotations

import re

from tests.ptx import compiled, test_memory
from tests.ptx.model import Instruction
from tests.ptx.parse import parse
from tests.ptx.reference import FORMS

pytestmark = compiled.WAITING

ELSEWHERE = {
    *("bra", "bra.uni", "ret", "bar.sync"),  # test_launch.py
    *("vote.sync.any.pred", "vote.sync.ballot.b32", "bar.warp.sync"),  # test_votes.py
    "cvta.to.global.u64",  # the generic addresses of global memory are its own
    *("ld.param.u64", "ld.param.b64"),  # every kernel of the tests
}


def test_opcodes() -> None:
    used = {}
    for case, ptx in compiled.texts().items():
        for function in parse(ptx).functions.values():
            for each in function.body:
                if isinstance(each, Instruction):
                    used[".".join((each.opcode, *each.modifiers))] = case
    tested = FORMS.keys() | test_memory.TESTED | ELSEWHERE
    assert {opcode: case for opcode, case in used.items() if opcode not in tested} == {}
    assert len(used) > 100


def test_each_is_for_its_card() -> None:
    for (*_, major, minor), ptx in compiled.texts().items():
        [target] = re.findall(r"^\.target sm_(\d+)", ptx, re.MULTILINE)
        assert target == f"{major}{minor}"


def test_two_dialects() -> None:
    """Cards differ in the dialect only, so that each dialect is built once for all its cards."""
    for kind in ((3, 3, 3, 1), (0,), (1,)):
        texts = [compiled.plain(compiled.texts()[*kind, *c]) for c in compiled.CAPABILITIES]
        assert len({*texts[:3]}) == len({*texts[3:]}) == 1
        assert texts[0] != texts[3]
