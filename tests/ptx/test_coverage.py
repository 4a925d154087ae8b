"""The opcodes of the project's kernels are those that are tested, none is taken on trust."""

from __future__ import annotations

import pytest

from tests.ptx import compiled, test_memory
from tests.ptx.opcodes import OPCODES
from tests.ptx.parse import Instruction, parse

pytestmark = [compiled.WAITING, pytest.mark.slow]

ELSEWHERE = {
    *("bra", "bra.uni", "ret", "bar.sync"),  # test_launch.py
    *("vote.sync.any.pred", "vote.sync.ballot.b32", "bar.warp.sync"),
    "cvta.to.global.u64",  # the generic addresses of global memory are its own
    *("ld.param.u64", "ld.param.b64"),  # every kernel of the tests
}


def test_opcodes() -> None:
    case_of = {}
    for case, ptx in compiled.texts().items():
        [function] = parse(ptx).functions.values()
        case_of |= {
            statement.opcode: case
            for statement in function.body
            if isinstance(statement, Instruction)
        }
    computing = {f"{name}.{kind}" for name, opcode in OPCODES.items() for kind in opcode.types}
    tested = computing | test_memory.TESTED | ELSEWHERE
    assert {opcode: case for opcode, case in case_of.items() if opcode not in tested} == {}
    assert len(case_of) > 100
    names = {opcode.rpartition(".")[0] for opcode in case_of}
    only_in_tests = {"mad.wide"}  # in kernels of the tests
    assert OPCODES.keys() - names == only_in_tests, "opcodes that no kernel has"


def test_two_dialects() -> None:
    """Cards differ in the dialect only, so that only one card of each is tried."""
    for kind in ((3, 3, *compiled.DEFAULT), (0,)):
        texts = [compiled.plain(compiled.texts()[*kind, *c]) for c in compiled.CAPABILITIES]
        assert len({*texts[:2]}) == len({*texts[2:]}) == 1
        assert texts[0] != texts[2]
