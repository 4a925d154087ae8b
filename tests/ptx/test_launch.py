"""Grids, blocks, barriers, device functions, garbage and arguments."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.arguments import Pointer
from tests.ptx.executor import load
from tests.ptx.faults import Fault
from tests.ptx.written import HEAD, kernel, run

NOTHING = np.zeros(1)


def test_every_thread_of_every_block() -> None:
    names = [f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"]
    moves = [
        f"mov.u32 %r1, {name}; st.global.u32 [%a+{4 * i}], %r1;" for i, name in enumerate(names)
    ]
    built = kernel(
        "ld.global.u64 %d1, [%b];",
        "atom.global.add.u64 %d1, [%b], 52;",
        "add.u64 %a, %a, %d1;",
        *moves,
        "mov.u32 %r1, %laneid; st.global.u32 [%a+48], %r1;",
    )
    grid, block = (2, 3, 2), (5, 2, 4)
    rows = np.zeros((12 * 40, 13), np.uint32)
    built.launch(grid, block, [Pointer(rows), Pointer(np.zeros(1, np.uint64))])
    assert {tuple(row) for row in rows[:, 3:6].tolist()} == {block}
    assert {tuple(row) for row in rows[:, 9:12].tolist()} == {grid}
    places = rows[:, [0, 1, 2, 6, 7, 8]]
    assert len({tuple(row) for row in places.tolist()}) == len(rows)
    assert (places.max(0) == [4, 1, 3, 1, 2, 1]).all()
    x, y, z = rows[:, :3].T
    assert (rows[:, 12] == (x + 5 * (y + 2 * z)) % 32).all()


def test_sizes_that_no_card_can_run() -> None:
    with pytest.raises(ValueError, match=r"no block can be \(1025, 1, 1\)"):
        run(kernel("ret;"), NOTHING, NOTHING, block=1025)
    with pytest.raises(ValueError, match=r"no grid can be \(0, 1, 1\)"):
        kernel("ret;").launch(0, 1, [Pointer(NOTHING), Pointer(NOTHING)])


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("checked", [True, False])
def test_barriers(checked: bool, seed: int) -> None:
    """Threads pass words around in a ring; registers and local memory outlive each wait."""
    built = kernel(
        ".local .align 8 .b8 mine[8];",
        "cvt.u64.u32 %d7, %tid;",
        "mul.lo.u64 %d7, %d7, 1000003;",
        "st.local.u64 [mine], %d7;",
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
        "mad.wide.u32 %a, %tid, 4, %a;",
        "st.global.u32 [%a], %r5;",
        "ld.local.u64 %d1, [mine];",
        "mad.wide.u32 %b, %tid, 8, %b;",
        "st.global.u64 [%b], %d1;",
        before=".shared .align 4 .b8 ring[400];",
        checked=checked,
    )
    found, kept = np.zeros(100, np.uint32), np.zeros(100, np.uint64)
    run(built, found, kept, block=100, seed=seed)
    assert found.tolist() == [(i + 5) % 100 * 7 + 5 for i in range(100)]
    assert kept.tolist() == [i * 1000003 for i in range(100)]


def test_what_a_condition_may_change_is_kept_at_a_barrier() -> None:
    built = kernel(
        "mov.u32 %r1, %tid;",
        "setp.eq.u32 %p1, %tid, 1;",
        "bar.sync 0;",
        "@%p1 mov.u32 %r1, 7;",
        "mad.wide.u32 %a, %tid, 4, %a;",
        "st.global.u32 [%a], %r1;",
    )
    found = np.zeros(3, np.uint32)
    run(built, found, NOTHING, block=3)
    assert found.tolist() == [0, 7, 2]


def test_local_memory_outlives_a_barrier_at_which_no_register_is_live() -> None:
    text = """
    .visible .entry test(.param .u64 a) {
      .local .align 4 .b8 mine[4];
      .reg .b32 %r<3>; .reg .b64 %d<3>;
      mov.u32 %r1, %tid.x; st.local.u32 [mine], %r1;
      bar.sync 0;
      ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mad.wide.u32 %d1, %r1, 4, %d1;
      ld.local.u32 %r2, [mine]; st.global.u32 [%d1], %r2;
      ret;
    }
    """
    found = np.zeros(3, np.uint32)
    run(load(HEAD + text)["test"], found, block=3)
    assert found.tolist() == [0, 1, 2]


def test_threads_that_end_do_not_keep_others_waiting() -> None:
    built = kernel(
        "setp.ge.u32 %p1, %tid, 5;",
        "@%p1 ret;",
        "bar.sync 0;",
        "atom.global.add.u32 %r1, [%a], 1;",
    )
    total = np.zeros(1, np.uint32)
    run(built, total, NOTHING, block=32)
    assert total[0] == 5


def test_other_ways_to_wait_and_to_end() -> None:
    built = kernel(
        "membar.gl; membar.cta; fence.acq_rel.gpu; fence.sc.sys;",
        "barrier.sync 0;",
        "barrier.sync.aligned 0;",
        "barrier.cta.sync 0;",
        "bar.cta.sync 0;",
        "st.shared::cta.u32 [block], 5;",
        "ld.shared::cta.u32 %r1, [block];",
        "atom.shared::cta.add.u32 %r2, [block], 1;",
        "red.relaxed.gpu.global.add.u32 [%a], %r1;",
        "setp.eq.u32 %p1, %tid, 1;",
        "@!%p1 exit;",
        "st.global.u32 [%a+4], %r2;",
        before=".shared .align 4 .b8 block[4];",
    )
    found = np.zeros(2, np.uint32)
    run(built, found, NOTHING, block=2)
    assert found.tolist() == [10, 5]


def test_atomic_additions_of_many_workers() -> None:
    """Blocks run side by side, long enough to meet; every number is claimed once."""
    each, slots = 1 << 20, 1 << 20
    built = kernel(
        "mov.u32 %r1, 0;",
        "LOOP:",
        "atom.global.add.u64 %d1, [%a], 1;",
        f"and.b64 %d1, %d1, {slots - 1};",
        "mad.lo.u64 %d1, %d1, 4, %b;",
        "red.global.add.u32 [%d1], 1;",
        "add.u32 %r1, %r1, 1;",
        f"setp.lt.u32 %p1, %r1, {each};",
        "@%p1 bra LOOP;",
    )
    total, claimed = np.zeros(1, np.uint64), np.zeros(slots, np.uint32)
    built.launch(4, 4, [Pointer(total), Pointer(claimed)], workers=4)
    assert total[0] == 16 * each
    assert (claimed == 16 * each // slots).all()


FUNCTIONS = """
.func (.param .b64 result) power(.param .b64 base, .param .b32 times)
{
  .local .align 4 .b8 count[4];
  .reg .b64 %x<4>;
  .reg .b32 %n<4>;
  .reg .pred %q;
  ld.param.b64 %x1, [base];
  ld.param.b32 %n1, [times];
  st.local.u32 [count], 0;
  mov.u64 %x2, 1;
AGAIN:
  ld.local.u32 %n2, [count];
  setp.ge.u32 %q, %n2, %n1;
  @%q bra END;
  mul.lo.u64 %x2, %x2, %x1;
  add.u32 %n2, %n2, 1;
  st.local.u32 [count], %n2;
  bra.uni AGAIN;
END:
  st.param.b64 [result], %x2;
  ret;
}
.func check(.param .b64 value)
{
  .reg .b64 %x;
  .reg .pred %q;
  ld.param.b64 %x, [value];
  setp.eq.u64 %q, %x, 243;
  @%q trap;
  ret;
}
"""
CALLS = """
{
  .param .b64 first;
  .param .b32 second;
  .param .b64 back;
  .reg .b64 %inner;
  ld.global.u64 %inner, [%a];
  st.param.b64 [first+0], %inner;
  st.param.b32 [second+0], 5;
  call.uni (back), power, (first, second);
  ld.param.b64 %d1, [back+0];
  st.param.b64 [first], %d1;
  call.uni check, (first);
}
{
  .reg .b64 %inner;
  mov.u64 %inner, 1;
  add.u64 %inner, %inner, %d1;
  st.global.u64 [%b], %inner;
}
"""


def test_device_functions() -> None:
    """With parameters, a result, local memory, and registers of one name in two scopes."""
    built = kernel(CALLS, before=FUNCTIONS)
    base, result = np.array([7], np.uint64), np.zeros(1, np.uint64)
    run(built, base, result)
    assert result[0] == 7**5 + 1


def test_a_fault_in_a_device_function_ends_the_kernel() -> None:
    with pytest.raises(Fault, match="in check") as caught:
        run(kernel(CALLS, before=FUNCTIONS), np.array([3], np.uint64), NOTHING)
    assert caught.value.kernel == "check"


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
    seen = []
    for seed in (0, 2, 4):
        found = np.zeros(3, np.uint64)
        for _ in range(2):  # nothing is left of what was written before
            built.launch(2, 1, [Pointer(found), Pointer(NOTHING)], seed=seed)
        assert len(set(found.tolist())) == 1
        seen.append(int(found[0]))
    assert seen[0] == 0xA5A5A5A5A5A5A5A5
    assert len(set(seen)) == 3


def test_a_register_of_the_same_name_in_an_inner_scope() -> None:
    text = (
        "{ .reg .b32 %x; mov.u32 %x, 3; { .reg .b32 %x; mov.u32 %x, 4; } st.global.u32 [%a], %x; }"
    )
    found = np.zeros(1, np.uint32)
    run(kernel(text), found, NOTHING)
    assert found[0] == 3


def test_variables_of_the_module() -> None:
    """They keep their values from launch to launch."""
    built = load(
        HEAD
        + """
        .const .align 4 .u32 table[3] = {5, 6, 4294967295};
        .common .global .align 8 .u64 calls;
        .visible .entry count(.param .u64 a) {
          .reg .b64 %d<3>; .reg .b32 %r<2>;
          ld.param.u64 %d1, [a];
          ld.const.u32 %r1, [table+8];
          atom.global.add.u64 %d2, [calls], 1;
          st.global.u32 [%d1], %r1;
          st.global.u64 [%d1+8], %d2;
        }
        """
    )["count"]
    found = np.zeros(2, np.uint64)
    for call in range(3):
        built.launch(1, 1, [Pointer(found)])
        assert found.tolist() == [2**32 - 1, call]
