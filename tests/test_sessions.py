"""Commands and Python lines print what the files in ``sessions/`` show.

After a change of what is printed, ``pytest tests/test_sessions.py --update-sessions`` writes the
files again; read the difference before you commit it.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.session import Session, Step, keep_patterns, matches, parse, write

FOLDER = Path(__file__).parent / "sessions"


@pytest.fixture
def folder(tmp_path, monkeypatch, without_cuda):
    """Run in an empty folder, on the CPU, with help and errors 80 columns wide."""
    monkeypatch.chdir(tmp_path)
    with patch.dict(os.environ, GPUSUDOKU_DEVICE="cpu", COLUMNS="80"):  # a session may change more
        yield


def difference(text: str) -> tuple[str, str]:
    """Run a session; return what differs, and the text of the session as it should be."""
    session = Session()
    old_steps = list(parse(text))
    new_steps = []
    for step in old_steps:
        output = session.run(step)
        is_expected = matches(step.expected, output)
        new_steps.append(
            step if is_expected else Step(step.source, keep_patterns(step.expected, output))
        )
    texts = [write(steps).splitlines() for steps in (old_steps, new_steps)]
    return "\n".join(unified_diff(*texts, "expected", "printed", lineterm="")), write(new_steps)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.session")), ids=lambda path: path.stem)
def test_session(path, folder, request):
    diff, new = difference(path.read_text("utf-8"))
    if request.config.getoption("--update-sessions"):
        path.write_text(new, "utf-8")
    elif diff:
        pytest.fail(diff, pytrace=False)


def test_a_difference_is_found(folder):
    text = "## One\n\n$ gpusudoku count 1...............\n73\n\n>>> 1 / 0\n[..]\n"
    diff, new = difference(text)
    assert "-73\n+72" in diff
    assert "Zero" not in diff
    assert new == text.replace("73", "72")


@pytest.mark.parametrize(
    ("expected", "printed", "merged"),
    [
        ("1[..] .[..]9", "123 .:288", "1[..] .:288"),
        ("a ... z", "b c d z", "b ... z"),
        ("a ... y z", "a b c z", "a ... c z"),
        ("... z", "a b x", "... x"),
        ("1 [..] 3", "x y 3", "x y 3"),
        ("a 1[..] c", "1x 1y c", "1[..] 1y c"),
    ],
)
def test_lines_that_still_match_keep_their_pattern(expected, printed, merged):
    assert keep_patterns(expected.split(), printed.split()) == merged.split()


def test_status_and_both_streams_are_compared(folder):
    _, new = difference("$ gpusudoku count 1\n\n$ gpusudoku count 1... | cat > f\n$ ls\n")
    assert new.endswith("$ ls\nf\n")
    assert "[2]" in new
    assert "! gpusudoku: " in new
