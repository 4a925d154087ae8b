"""The page's modules and styles as one text each."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from gpusudoku.web.joined import PAGE, STYLES, joined_modules, joined_styles

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node to read JavaScript")

FILES = {
    "top.js": (
        'import { Middle, half } from "./middle.js";\n'
        'import { low } from "./low.js";\n\n'
        "export default { middle: new Middle(), half, low };\n"
    ),
    "middle.js": (
        'import {\n  low,\n} from "./low.js";\n\n'
        "export class Middle {\n  value = low;\n}\n\n"
        "export const half = () => low / 2;\n"
    ),
    "low.js": "const secret = 6;\n\nexport const low = secret;\n",
    "other.js": "a file that nobody uses",
}

REFUSED = [
    ("const half = 1;\nexport const low = 1;", "half is at the top of low.js and of middle.js"),
    ("export const lower = 1;", "middle.js: low.js does not export low"),
    ("const low = 1;", "middle.js: low.js does not export low"),
    ('import { half } from "./middle.js";', "middle.js and low.js use each other"),
    ('import { a } from "./absent.js";', "there is no module absent.js"),
    ('import a from "./a.js";\nexport const low = a;', "low.js: cannot join 'import a from"),
    ('export const low = 1;\nexport { a } from "./a.js";', "low.js: cannot join 'export { a }"),
    ("export default 3;\nexport const low = 1;", "low.js: cannot join 'export default 3;'"),
    ("const { a } = b;\nexport const low = a;", "low.js: one name in each declaration"),
]
"""What stands in low.js, and why it cannot be joined."""


def joined(**changed: str) -> str:
    return joined_modules(
        {**FILES, **{f"{name}.js": text for name, text in changed.items()}}, "top.js"
    )


class TestJoining:
    def test_a_module_stands_after_those_that_it_uses(self):
        text = joined()
        heads = re.findall(r"^// (.*)$", text, re.MULTILINE)
        assert heads == ["low.js", "middle.js", "top.js"]

    def test_nothing_is_imported_and_only_the_default_exported(self):
        text = joined()
        assert "import" not in text
        assert re.findall(r"^export.*", text, re.MULTILINE) == [
            "export default { middle: new Middle(), half, low };"
        ]

    @needs_node
    def test_it_does_what_the_modules_do(self, tmp_path):
        path = tmp_path / "joined.mjs"
        path.write_text(joined(), encoding="utf-8")
        code = f"const all = (await import({str(path)!r})).default;"
        code += "console.log(all.middle.value, all.half(), all.low);"
        assert run_node("--input-type=module", "--eval", code) == "6 3 6\n"


class TestRefusing:
    @pytest.mark.parametrize(("low", "message"), REFUSED)
    def test_what_cannot_be_joined(self, low, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            joined(low=low)

    def test_what_is_inside_a_function_is_its_own(self):
        low = "export function low() {\n  const half = 1;\n  return half;\n}\n"
        assert "const half = 1" in joined(low=low)


class TestThePage:
    def test_the_widget_is_one_module(self):
        text = joined_modules()
        assert not re.search(r"^\s*(import|export)\b(?! default)", text, re.MULTILINE)
        assert len(re.findall(r"^export default", text, re.MULTILINE)) == 1

    def test_it_asks_no_other_address(self):
        comments = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.MULTILINE | re.DOTALL)
        text = comments.sub("", joined_modules() + joined_styles())
        addresses = set(re.findall(r"\b(?:https?|wss?):[^\s\"'`]*", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, which nobody fetches
        assert not re.search(r"\bfetch\(|XMLHttpRequest|\bimport\(|@import|url\(", text)

    def test_it_listens_only_to_what_is_its_own(self):
        listening = re.findall(r"(\S*)addEventListener\(", joined_modules())
        own = {
            each for each in listening if not re.match(r"(window|document|globalThis)\b|$", each)
        }
        assert own == set(listening)

    @needs_node
    def test_a_browser_can_read_it(self, tmp_path):
        """All names that are used when it is loaded are there, and none is there twice."""
        path = tmp_path / "joined.mjs"
        path.write_text(joined_modules(), encoding="utf-8")
        run_node("--check", str(path))
        code = f"console.log(typeof (await import({str(path)!r})).default.render);"
        assert run_node("--input-type=module", "--eval", code) == "function\n"

    def test_its_styles_are_those_of_the_page(self):
        index = (PAGE / "index.html").read_text(encoding="utf-8")
        assert tuple(re.findall(r'href="/page/(\S+\.css)"', index)) == STYLES

    def test_its_colours_do_not_depend_on_the_browser(self):
        assert "prefers-color-scheme" not in joined_styles()
        assert "@scope (.gs-dark) {" in joined_styles()


def run_node(*arguments: str) -> str:
    assert NODE is not None
    done = subprocess.run([NODE, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
