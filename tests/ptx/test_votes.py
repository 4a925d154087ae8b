"""Votes of the threads of a warp."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.faults import Fault
from tests.ptx.written import kernel, run

WAYS = ["any.pred", "all.pred", "uni.pred", "ballot.b32"]
NOTHING = np.zeros(1)


def outcome(way: str, says: list[bool], lanes: list[int]) -> int:
    """What the threads of a warp learn, given what those that are still there say."""
    if way == "ballot.b32":
        return sum(1 << lane for lane, one in zip(lanes, says, strict=True) if one)
    return int({"any": any(says), "all": all(says), "uni": len({*says}) == 1}[way[:3]])


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("gone", [0, 5])
@pytest.mark.parametrize("way", WAYS)
def test_a_vote(way: str, gone: int, seed: int) -> None:
    """Some threads have ended, and the last warp is not whole; each votes as its word says."""
    pred = way.endswith("pred")
    built = kernel(
        "mad.wide.u32 %a, %tid, 4, %a;",
        "mad.wide.u32 %b, %tid, 4, %b;",
        "ld.global.u32 %r1, [%a];",
        "rem.u32 %r2, %tid, 32;",
        f"setp.lt.u32 %p1, %r2, {gone};",
        "@%p1 ret;",
        "setp.ne.u32 %p2, %r1, 0;",
        f"vote.sync.{way} {'%p3' if pred else '%r3'}, %p2, -1;",
        "selp.u32 %r3, 1, 0, %p3;" if pred else "",
        "st.global.u32 [%b], %r3;",
    )
    threads, rng = 5 * 32 + 13, np.random.default_rng(1)
    says = rng.integers(0, 2, threads).astype(np.uint32)
    says[32:64], says[64:96] = 0, 1
    found = np.full(threads, 99, np.uint32)
    run(built, says, found, block=threads, seed=seed)
    for first in range(0, threads, 32):
        lanes = [lane for lane in range(gone, 32) if first + lane < threads]
        wanted = outcome(way, [bool(says[first + lane]) for lane in lanes], lanes)
        assert found[[first + lane for lane in lanes]].tolist() == [wanted] * len(lanes)
    assert found.tolist().count(99) == gone * 6


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("checked", [True, False])
def test_a_warp_goes_on_while_any_thread_has_work(checked: bool, seed: int) -> None:
    """Votes in a loop, of two instructions in turn, and a barrier after it."""
    built = kernel(
        "mad.wide.u32 %a, %tid, 4, %a;",
        "mad.wide.u32 %b, %tid, 8, %b;",
        "ld.global.u32 %r1, [%a];",
        "mov.u32 %r2, 0;",
        "LOOP:",
        "add.u32 %r2, %r2, 1;",
        "setp.gt.u32 %p1, %r1, %r2;",
        "and.b32 %r3, %tid, 1;",
        "setp.eq.u32 %p2, %r3, 0;",
        "@%p2 bra EVEN;",
        "vote.sync.any.pred %p3, %p1, 4294967295;",
        "bra.uni BOTH;",
        "EVEN:",
        "vote.sync.any.pred %p3, %p1, 4294967295;",
        "BOTH:",
        "@%p3 bra LOOP;",
        "bar.sync 0;",
        "st.global.u32 [%b], %r2;",
        "mul.lo.u32 %r4, %tid, 3;",
        "setp.lt.u32 %p4, %r4, 100;",
        "vote.sync.all.pred %p5, !%p4, -1;",
        "selp.u32 %r5, 1, 0, %p5;",
        "st.global.u32 [%b+4], %r5;",
        checked=checked,
    )
    threads = 96
    work = np.random.default_rng(2).integers(1, 50, threads).astype(np.uint32)
    found = np.zeros((threads, 2), np.uint32)
    run(built, work, found, block=threads, seed=seed)
    longest = work.reshape(3, 32).max(1)
    assert found[:, 0].tolist() == np.repeat(longest, 32).tolist()
    assert found[:, 1].tolist() == [0] * 64 + [1] * 32


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("gone", [0, 5])
def test_a_barrier_of_a_warp(gone: int, seed: int) -> None:
    """Each reads what its neighbour of the warp wrote; other warps wait for nothing."""
    built = kernel(
        "mad.wide.u32 %a, %tid, 4, %a;",
        "mad.wide.u32 %b, %tid, 4, %b;",
        f"setp.lt.u32 %p1, %tid, {gone};",
        "@%p1 ret;",
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
    threads = 3 * 32
    found, written = np.full(threads, 99, np.uint32), np.full(threads, 98, np.uint32)
    run(built, written, found, block=threads, seed=seed)
    wanted = np.arange(threads) ^ 31
    wanted[wanted < gone], wanted[:gone] = 98, 99
    assert found.tolist() == wanted.tolist()


def test_some_vote_while_others_wait_elsewhere() -> None:
    for other in ("bar.sync 0;", "vote.sync.all.pred %p2, %p1, -1;", "bar.warp.sync -1;"):
        built = kernel(
            "setp.lt.u32 %p1, %tid, 7;",
            "@%p1 bra OTHER;",
            "vote.sync.any.pred %p2, %p1, -1;",
            "ret;",
            "OTHER:",
            other,
        )
        with pytest.raises(Fault, match="threads of a warp wait at different places") as caught:
            run(built, NOTHING, NOTHING, block=32)
        assert caught.value.thread == (7, 0, 0)


def test_votes_are_of_whole_warps() -> None:
    for vote in ("vote.sync.any.pred %p2, %p1, %r1;", "bar.warp.sync %r1;"):
        built = kernel("mov.u32 %r1, 15;", vote)
        with pytest.raises(Fault, match="a vote of a part of a warp"):
            run(built, NOTHING, NOTHING, block=4)
