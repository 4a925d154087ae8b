"""Kernels written by hand, for tests of the executor."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tests.ptx.launch import Kernel, Pointer, load

ENTRY = """
.visible .entry {name}(
  .param .u64 a,
  .param .u64 b
)
{{
  .reg .pred %p<9>;
  .reg .b16 %h<9>;
  .reg .b32 %r<9>;
  .reg .b64 %d<9>;
  .reg .b32 %tid;
  .reg .b32 %flag;
  .reg .b64 %a;
  .reg .b64 %b;
  mov.u32 %tid, %tid.x;
  ld.param.u64 %a, [a];
  ld.param.u64 %b, [b];
{code}
  ret;
}}
"""


def entry(name: str, *code: str) -> str:
    """Return the PTX of a kernel with two arrays, ``%a`` and ``%b``, and 9 registers per width."""
    lines = (line.strip() for line in "\n".join(code).split("\n"))
    return ENTRY.format(name=name, code="\n".join(lines))


def kernel(*code: str, before: str = "", checked: bool = True) -> Kernel:
    """Build a kernel; ``before`` is the text of the module before it."""
    return load("\n".join([before, entry("test", *code)]), checked)["test"]


def run(kernel: Kernel, *arrays: NDArray[Any], block: int = 1, **options: Any) -> None:
    """Launch one block."""
    kernel.launch(1, block, [Pointer(array) for array in arrays], **options)
