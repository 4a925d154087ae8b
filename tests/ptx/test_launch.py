"""Grids, blocks, barriers, votes of warps, garbage and arguments."""

from __future__ import annotations

from inspect import signature
from typing import NamedTuple

import numpy as np
import pytest

from gpusudoku.kernels.contraction.nine import cuda as nine
from tests.ptx import compiled
from tests.ptx.launch import Fault, Pointer, flatten
from tests.ptx.parse import parse
from tests.ptx.written import kernel, run

NOTHING = np.zeros(1)
ROW_OF_A = "mad.wide.u32 %a, %tid, 4, %a;"
ROW_OF_B = "mad.wide.u32 %b, %tid, 4, %b;"
SEEDS = pytest.mark.parametrize("seed", [0, 1])
"""Threads run forwards, or backwards."""


def test_every_thread_of_every_block() -> None:
    names = ["%tid.x", "%ctaid.x", "%ntid.x", "%nctaid.x", "%tid.y", "%nctaid.z", "%laneid"]
    moves = [
        f"mov.u32 %r1, {name};\nst.global.u32 [%a+{4 * i}], %r1;" for i, name in enumerate(names)
    ]
    built = kernel("atom.global.add.u64 %d1, [%b], 28;", "add.u64 %a, %a, %d1;", *moves)
    rows = np.zeros((3 * 40, 7), np.uint32)
    built.launch(3, 40, [Pointer(rows), Pointer(np.zeros(1, np.uint64))])
    expected = [[i, block, 40, 3, 0, 1, i % 32] for block in range(3) for i in range(40)]
    assert rows.tolist() == expected


@SEEDS
@pytest.mark.parametrize("checked", [True, False])
def test_barriers(checked: bool, seed: int) -> None:
    """Threads pass words around in a ring; registers and local memory outlive each wait."""
    built = kernel(
        ".local .align 8 .b8 mine[8];",
        "mul.lo.u32 %r7, %tid, 1000003;",
        "st.local.u32 [mine], %r7;",
        "mov.u32 %r1, 0;",
        "mov.u32 %r7, %ntid.x;",
        "add.u32 %r2, %tid, 1;",
        "rem.u32 %r2, %r2, %r7;",
        "mov.u32 %r6, ring;",
        "mad.lo.u32 %r3, %tid, 4, %r6;",
        "mad.lo.u32 %r4, %r2, 4, %r6;",
        "mul.lo.u32 %r5, %tid, 7;",
        "LOOP:",
        "st.shared.u32 [%r3], %r5;",
        "bar.sync 0;",
        "ld.shared.u32 %r5, [%r4];",
        "add.u32 %r5, %r5, 1;",
        "bar.sync 0;",
        "add.u32 %r1, %r1, 1;",
        "setp.lt.u32 %p1, %r1, 5;",
        "@%p1 bra LOOP;",
        ROW_OF_A,
        "st.global.u32 [%a], %r5;",
        "ld.local.u32 %r1, [mine];",
        ROW_OF_B,
        "st.global.u32 [%b], %r1;",
        before=".shared .align 4 .b8 ring[400];",
        checked=checked,
    )
    ring_values = np.zeros(100, np.uint32)
    local_values = np.zeros(100, np.uint32)
    run(built, ring_values, local_values, block=100, seed=seed)
    assert ring_values.tolist() == [(i + 5) % 100 * 7 + 5 for i in range(100)]
    assert local_values.tolist() == [i * 1000003 for i in range(100)]


def test_threads_that_end_do_not_keep_others_waiting() -> None:
    built = kernel(
        "setp.lt.u32 %p1, %tid, 5;",
        "@%p1 bra ON;",
        "ret;",
        "ON:",
        "bar.sync 0;",
        "atom.global.add.u32 %r1, [%a], 1;",
    )
    total = np.zeros(1, np.uint32)
    run(built, total, NOTHING, block=32)
    assert total[0] == 5


@pytest.mark.parametrize("checked", [True, False])
def test_garbage(checked: bool) -> None:
    """Registers, local and shared memory that nobody wrote depend on the seed."""
    built = kernel(
        ".local .align 8 .b8 mine[8];",
        "ld.local.u64 %d1, [mine];",
        "ld.shared.u64 %d2, [block];",
        "st.global.u64 [%a], %d1;",
        "st.global.u64 [%a+8], %d2;",
        "st.global.u64 [%a+16], %d3;",
        "st.local.u64 [mine], 5;",
        "st.shared.u64 [block], 5;",
        before=".shared .align 8 .b8 block[8];",
        checked=checked,
    )
    values = []
    for seed in (0, 2, 4):
        contents = np.zeros(3, np.uint64)
        for _ in range(2):  # nothing is left of what was written before
            built.launch(2, 1, [Pointer(contents), Pointer(NOTHING)], seed=seed)
        assert len(set(contents.tolist())) == 1
        values.append(int(contents[0]))
    assert values[0] == 0xA5A5A5A5A5A5A5A5
    assert len(set(values)) == 3


@SEEDS
@pytest.mark.parametrize("gone", [0, 5])
@pytest.mark.parametrize("way", ["any.pred", "ballot.b32"])
def test_a_vote(way: str, gone: int, seed: int) -> None:
    """Some threads have ended, and the last warp is not whole; each votes as its word says."""
    vote = f"vote.sync.{way} {'%p3' if way == 'any.pred' else '%r3'}, %p2, -1;"
    built = kernel(
        ROW_OF_A,
        ROW_OF_B,
        "ld.global.u32 %r1, [%a];",
        "rem.u32 %r2, %tid, 32;",
        f"setp.ge.u32 %p1, %r2, {gone};",
        "@%p1 bra STAY;",
        "ret;",
        "STAY:",
        "setp.ne.u32 %p2, %r1, 0;",
        vote,
        "selp.u32 %r3, 1, 0, %p3;" if way == "any.pred" else "",
        "st.global.u32 [%b], %r3;",
    )
    threads = 5 * 32 + 13
    rng = np.random.default_rng(1)
    says = rng.integers(0, 2, threads).astype(np.uint32)
    says[32:64], says[64:96] = 0, 1
    votes = np.full(threads, 99, np.uint32)
    run(built, says, votes, block=threads, seed=seed)
    for start in range(0, threads, 32):
        lanes = [lane for lane in range(gone, 32) if start + lane < threads]
        ballot = sum(1 << lane for lane in lanes if says[start + lane])
        expected = ballot if way == "ballot.b32" else int(ballot != 0)
        assert votes[[start + lane for lane in lanes]].tolist() == [expected] * len(lanes)
    assert votes.tolist().count(99) == gone * 6


@SEEDS
def test_a_barrier_of_a_warp(seed: int) -> None:
    """Each reads what its neighbour of the warp wrote; other warps wait for nothing."""
    built = kernel(
        ROW_OF_A,
        ROW_OF_B,
        "st.global.u32 [%a], %tid;",
        "bar.warp.sync -1;",
        "ld.global.u32 %r1, [%a];",
        "bar.warp.sync -1;",
        "xor.b32 %r2, %tid, 31;",
        "sub.u32 %r2, %r2, %tid;",
        "mad.wide.s32 %a, %r2, 4, %a;",
        "ld.global.u32 %r3, [%a];",
        "st.global.u32 [%b], %r3;",
    )
    received = np.full(96, 99, np.uint32)
    sent = np.full(96, 98, np.uint32)
    run(built, sent, received, block=96, seed=seed)
    assert received.tolist() == (np.arange(96) ^ 31).tolist()


def test_threads_of_a_warp_wait_at_one_place() -> None:
    code = ["@%p1 bra OTHER;", "bar.sync 0;", "ret;", "OTHER:", "bar.warp.sync -1;"]
    run(kernel("setp.lt.u32 %p1, %tid, 32;", *code), NOTHING, NOTHING, block=64)
    with pytest.raises(Fault, match="threads of a warp wait at different places") as caught:
        run(kernel("setp.lt.u32 %p1, %tid, 7;", *code), NOTHING, NOTHING, block=32)
    assert caught.value.thread == 7


def test_votes_are_of_whole_warps() -> None:
    for vote in ("vote.sync.any.pred %p2, %p1, %r1;", "bar.warp.sync %r1;"):
        with pytest.raises(Fault, match="a vote of a part of a warp"):
            run(kernel("mov.u32 %r1, 15;", vote), NOTHING, NOTHING, block=4)


class Group(NamedTuple):
    one: np.ndarray
    number: int


def test_arguments_are_flattened_as_numba_does() -> None:
    array = np.zeros((3, 4), np.int16)
    start = array.ctypes.data
    numbers, [region] = flatten((Group(array, -1), np.uint64(2**64 - 1)), "arguments")
    assert numbers == [0, 0, 12, 2, start, 3, 4, 8, 2, -1, 2**64 - 1]
    assert (region.start, region.size, region.name) == (start, 24, "arguments.0.one")
    assert flatten(np.zeros((0, 4)), "empty")[1] == []
    with pytest.raises(TypeError, match=r"arguments\.0: a kernel cannot be given a float"):
        flatten((1.5,), "arguments")


@compiled.WAITING
def test_numba_flattens_them_like_this() -> None:
    """The number of words is that of the parameters which the compiler made."""
    [function] = parse(compiled.results("sums")[0, 9, 0]["ptx"]).functions.values()
    words = [1, 1, 9, 9, 11 + 7 + 9, 3 * 7, 7]
    assert len(words) == len(signature(nine.build_kernel()).parameters)
    assert len(function.parameters) == sum(words)
