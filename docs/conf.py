"""The documentation site: the Markdown pages of this repository, as they are.

    pip install '.[docs]'
    sphinx-build -W --keep-going -c docs . build/site

The root of the repository is the source folder, so that a link between two pages leads to the
right place in a checkout as well as on the site.
"""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring

project = "gpusudoku"
author = "The gpusudoku authors"
copyright = author  # noqa: A001 - the name that Sphinx expects
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
]
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "NDArray": "NDArray"}
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "kernels/*.md", "boards/*.md", "benchmarks/*.md"]
exclude_patterns = [".*", "build", "dist"]
highlight_language = "none"
myst_heading_anchors = 4
html_theme = "furo"
html_title = "gpusudoku"
html_extra_path = ["site"]

DETAILS = """
## Details

```{eval-rst}
.. automodule:: gpusudoku
   :members:
   :imported-members:
   :member-order: groupwise
```
"""
PAGE = re.compile(r"\]\(([\w./-]+)\.md\)")


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Make a table of contents of the pages that the index links to, in their order there."""
    if page == root_doc:
        folder = Path(root_doc).parent
        pages = "\n".join(f"/{(folder / name).as_posix()}" for name in PAGE.findall(source[0]))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def add_details(app: Sphinx, page: str, source: list[str]) -> None:
    """Add all docstrings to the reference, which has their first sentences."""
    if page == "docs/reference":
        source[0] += DETAILS


def read_sections(
    app: Sphinx, kind: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Make fields of the sections of a docstring, which are in NumPy's form.

    The extension napoleon would take an attribute's docstring up to a colon for its type.
    """
    kind = "method" if kind in ("attribute", "property") else kind
    docstring = NumpyDocstring(
        lines, Config(napoleon_use_rtype=False), app, kind, name, value, options
    )
    lines[:] = str(docstring).splitlines()


def name_aliases(*described: Any) -> tuple[str | None, str | None]:
    """Show a type that has a name of its own, such as ``ArrayLike``, by that name."""
    *_, signature, returned = described
    return signature and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature), returned


def setup(app: Sphinx) -> None:
    """Have Sphinx call this module."""
    app.connect("source-read", add_contents)
    app.connect("source-read", add_details)
    app.connect("autodoc-process-docstring", read_sections)
    app.connect("autodoc-process-signature", name_aliases)
