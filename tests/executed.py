"""List the modules of the package in which a command executes a function.

    python tests/executed.py count boards/2c.txt

Run it twice: the first run compiles kernels. Each line is a module; the last line has the totals.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType

CO_OPTIMIZED = 1
"""The flag of code objects of functions; bodies of modules and classes lack it."""


def executed_modules(arguments: list[str]) -> set[str]:
    """Run a command; return the modules of the functions that it calls, except during imports."""
    from gpusudoku.__main__ import main

    modules: set[str] = set()
    import_depth = 0  # bodies of modules that are being executed

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal import_depth
        name = frame.f_globals.get("__name__", "")
        if not str(name).startswith("gpusudoku"):
            return
        if frame.f_code.co_name == "<module>":
            import_depth += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not import_depth and frame.f_code.co_flags & CO_OPTIMIZED:
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
    outside_kernels = [name for name in executed if not name.startswith("gpusudoku.kernels")]
    imported_count = sum(name.startswith("gpusudoku") for name in sys.modules)
    print(*executed, sep="\n", file=sys.stderr)
    print(
        f"{imported_count} imported, {len(executed)} executed, "
        f"{len(outside_kernels)} outside kernels",
        file=sys.stderr,
    )
