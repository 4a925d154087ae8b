"""LLVM IR that all kernels share: finding an array, recording a fault, running a block."""

from __future__ import annotations

from tests.ptx.layout import Layout, load_context

RUNTIME = """
define internal void @fault(ptr %context, i64 %site, i64 %address) cold noinline {
  LOAD CONTEXT
  store i64 %site, ptr %context.fault_site.at
  store i64 %address, ptr %context.fault_address.at
  ret void
}

; Return whether an access is aligned and inside an array. Store that array in the site, as its
; start and the largest offset at which an access of this width may begin.
define internal i1 @find(ptr %context, i64 %site, i64 %address, i64 %width) cold noinline {
  LOAD CONTEXT
  %regions = inttoptr i64 %context.regions to ptr
  %sites = inttoptr i64 %context.sites to ptr
  %less = sub i64 %width, 1
  %low = and i64 %address, %less
  %aligned = icmp eq i64 %low, 0
  br i1 %aligned, label %loop, label %none
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %more ]
  %end = icmp eq i64 %i, %context.region_count
  br i1 %end, label %none, label %try
try:
  %two = mul i64 %i, 2
  %start.at = getelementptr i64, ptr %regions, i64 %two
  %start = load i64, ptr %start.at
  %size.at = getelementptr i64, ptr %start.at, i64 1
  %size = load i64, ptr %size.at
  %wide = icmp uge i64 %size, %width
  %rest = sub i64 %size, %width
  %offset = sub i64 %address, %start
  %near = icmp ule i64 %offset, %rest
  %inside = and i1 %wide, %near
  br i1 %inside, label %hit, label %more
more:
  %next = add i64 %i, 1
  br label %loop
hit:
  %twice = mul i64 %site, 2
  %slot = getelementptr i64, ptr %sites, i64 %twice
  store i64 %start, ptr %slot
  %slot.rest = getelementptr i64, ptr %slot, i64 1
  store i64 %rest, ptr %slot.rest
  ret i1 true
none:
  ret i1 false
}

; Return the common state of the threads of a warp that have not ended: they must wait at the same
; barrier, or in votes of one kind. Return -1 if all have ended, -2 after a fault. Store their votes
; as the ballot.
define internal i64 @agreed(ptr %context, ptr %states, i64 %first, i64 %count) {
  LOAD CONTEXT
  %votes = inttoptr i64 %context.votes to ptr
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %more ]
  %common = phi i64 [ -1, %0 ], [ %common.next, %more ]
  %ballot = phi i64 [ 0, %0 ], [ %ballot.next, %more ]
  %thread = add i64 %first, %i
  %state.at = getelementptr i64, ptr %states, i64 %thread
  %state = load i64, ptr %state.at
  %ended = icmp slt i64 %state, 0
  %alone = icmp slt i64 %common, 0
  %same = icmp eq i64 %state, %common
  %kind = lshr i64 %state, 32
  %common.kind = lshr i64 %common, 32
  %kinds = icmp eq i64 %kind, %common.kind
  %voting = icmp ne i64 %kind, 0
  %both = and i1 %kinds, %voting
  %fits.alone = or i1 %ended, %alone
  %fits.common = or i1 %same, %both
  %fits = or i1 %fits.alone, %fits.common
  br i1 %fits, label %more, label %apart
more:
  %common.next = select i1 %ended, i64 %common, i64 %state
  %vote.at = getelementptr i64, ptr %votes, i64 %thread
  %vote = load i64, ptr %vote.at
  %counts = select i1 %ended, i64 0, i64 %vote
  %bit = shl i64 %counts, %i
  %ballot.next = or i64 %ballot, %bit
  %next = add i64 %i, 1
  %all = icmp eq i64 %next, %count
  br i1 %all, label %end, label %loop
end:
  store i64 %ballot.next, ptr %context.ballot.at
  ret i64 %common.next
apart:
  %low = and i64 %state, 4294967295
  %site = sub i64 %low, 1
  call void @fault(ptr %context, i64 %site, i64 0)
  store i64 %thread, ptr %context.tid.at
  ret i64 -2
}

; Run a block until all threads have ended. Each round runs warp after warp to the next barrier.
; Each pass runs the threads of a warp, one after the other, to the next vote or barrier.
; Return 0, or -1 after a fault.
define i64 @run_block(ptr %context, ptr %states, ptr %kernel) {
  LOAD CONTEXT
  %frames = inttoptr i64 %context.frames to ptr
  %turned = icmp ne i64 %context.backwards, 0
  %up = add i64 %context.threads, 31
  %warps = lshr i64 %up, 5
  %last.warp = sub i64 %warps, 1
  br label %round
round:
  br label %warp
warp:
  %w = phi i64 [ 0, %round ], [ %w.next, %next.warp ]
  %waiting = phi i64 [ 0, %round ], [ %waiting.next, %next.warp ]
  %w.mirror = sub i64 %last.warp, %w
  %own = select i1 %turned, i64 %w.mirror, i64 %w
  %first = shl i64 %own, 5
  %rest = sub i64 %context.threads, %first
  %count = call i64 @llvm.umin.i64(i64 %rest, i64 32)
  %last = sub i64 %count, 1
  br label %pass
pass:
  br label %each
each:
  %i = phi i64 [ 0, %pass ], [ %i.next, %next ]
  %mirror = sub i64 %last, %i
  %lane = select i1 %turned, i64 %mirror, i64 %i
  %thread = add i64 %first, %lane
  %state.at = getelementptr i64, ptr %states, i64 %thread
  %state = load i64, ptr %state.at
  %over = icmp slt i64 %state, 0
  br i1 %over, label %next, label %run
run:
  store i64 %thread, ptr %context.tid.at
  %frame.offset = mul i64 %thread, %context.stride
  %frame = getelementptr i8, ptr %frames, i64 %frame.offset
  %result = call i64 %kernel(ptr %context, ptr %frame, i64 %state)
  %failed = icmp slt i64 %result, 0
  br i1 %failed, label %fault, label %went
went:
  %ended = icmp eq i64 %result, 0
  %new = select i1 %ended, i64 -1, i64 %result
  store i64 %new, ptr %state.at
  br label %next
next:
  %i.next = add i64 %i, 1
  %all = icmp eq i64 %i.next, %count
  br i1 %all, label %stopped, label %each
stopped:
  %common = call i64 @agreed(ptr %context, ptr %states, i64 %first, i64 %count)
  %apart = icmp eq i64 %common, -2
  br i1 %apart, label %fault, label %together
together:
  %voted = icmp sgt i64 %common, 4294967295
  br i1 %voted, label %pass, label %next.warp
next.warp:
  %waits = icmp sge i64 %common, 0
  %more.waiting = zext i1 %waits to i64
  %waiting.next = add i64 %waiting, %more.waiting
  %w.next = add i64 %w, 1
  %all.warps = icmp eq i64 %w.next, %warps
  br i1 %all.warps, label %after, label %warp
after:
  %more = icmp ne i64 %waiting.next, 0
  br i1 %more, label %round, label %done
fault:
  ret i64 -1
done:
  ret i64 0
}
"""

INTRINSICS = [
    *(f"i{n} @llvm.{name}.i{n}(i{n}, i{n})" for n in (16, 32, 64) for name in ("smin", "smax")),
    *(f"i{n} @llvm.{name}.i{n}(i{n}, i{n})" for n in (16, 32, 64) for name in ("umin", "umax")),
    *(f"i{n} @llvm.{name}.i{n}(i{n})" for n in (32, 64) for name in ("ctpop", "bitreverse")),
    *(f"i{n} @llvm.ctlz.i{n}(i{n}, i1)" for n in (32, 64)),
    "void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
]


def runtime(layout: Layout) -> str:
    """Return the functions that the kernels of a module call."""
    declarations = "".join(f"declare {intrinsic}\n" for intrinsic in INTRINSICS)
    text = RUNTIME.replace("  LOAD CONTEXT", "\n".join(load_context()))
    checks = [bounds_check(layout, space) for space in ("local", "shared")]
    return "\n".join([declarations, text, *checks])


def bounds_check(layout: Layout, space: str) -> str:
    """Return ``in_local`` or ``in_shared``, which checks that an access is inside a variable."""
    places = layout.spaces[space].places.values()
    attribute = "alwaysinline" if len(places) < 5 else ""
    lines = [f"define internal i1 @in_{space}(i64 %address, i64 %width) {attribute} {{"]
    inside_any = "false"
    for i, place in enumerate(places):
        lines += [
            f"  %wide{i} = icmp uge i64 {place.variable.size}, %width",
            f"  %rest{i} = sub i64 {place.variable.size}, %width",
            f"  %offset{i} = sub i64 %address, {place.offset}",
            f"  %near{i} = icmp ule i64 %offset{i}, %rest{i}",
            f"  %inside{i} = and i1 %wide{i}, %near{i}",
            f"  %any{i} = or i1 {inside_any}, %inside{i}",
        ]
        inside_any = f"%any{i}"
    return "\n".join([*lines, f"  ret i1 {inside_any}", "}", ""])
