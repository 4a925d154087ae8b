"""Sizes with which ``benchmarks/gpu.py`` does every kind of step once, in the simulator, too."""

from __future__ import annotations

from gpu_steps import Sizes

TINY = Sizes(
    first=("search of @box2x2-empty", "contraction of @1a"),
    searched=("box2x2-empty", "no-place"),
    searched_last=("box1x5-few",),
    varied=("1a", "box2x2-many"),
    techniques=("none",),
    contracted=("1a",),
    kernel=(("1a", 0), ("box2x2-empty", 0)),
    kernel_seconds=0.0,
    timed=(("box2x2-few", 0, 4),),
    batch=2,
    expensive=(),
    started="box2x2-few",
    swept=(("1a", 0, "1a"), ("box2x2-empty", 0, "box2x2-few")),
    blocks=(32,),
    registers=(None, 64),
    sweep_seconds=0.0,
)
