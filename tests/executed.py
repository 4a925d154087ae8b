"""The modules of the package in which a command executes a function.

    python tests/executed.py count boards/2c.txt

Run it twice: the first time, kernels are compiled. Each line is a module; the last has the numbers.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType

CO_OPTIMIZED = 1
"""The flag of code objects of functions; bodies of modules and classes lack it."""


def executed_modules(arguments: list[str]) -> set[str]:
    """Run a command, and return the modules with a function that it called after its import."""
    from gpusudoku.__main__ import main

    modules: set[str] = set()
    importing = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal importing
        name = frame.f_globals.get("__name__", "")
        if not str(name).startswith("gpusudoku"):
            return
        if frame.f_code.co_name == "<module>":
            importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not importing and frame.f_code.co_flags & CO_OPTIMIZED:
            modules.add(name)

    sys.argv = ["gpusudoku", *arguments]
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        main()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return modules


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    executed = sorted(executed_modules(sys.argv[1:]))
    outside = [name for name in executed if not name.startswith("gpusudoku.kernels")]
    imported = sum(name.startswith("gpusudoku") for name in sys.modules)
    print(*executed, sep="\n", file=sys.stderr)
    print(
        f"{imported} imported, {len(executed)} executed, {len(outside)} outside kernels",
        file=sys.stderr,
    )
