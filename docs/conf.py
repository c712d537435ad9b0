"""The site, which is written into the folder SITE.

``pip install '.[site,huggingface]' && sphinx-build -W -b html docs SITE``
"""

from __future__ import annotations

import re
from importlib.metadata import version as version_of
from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "pdacon"
version = release = version_of("pdacon")
author = "the authors of pdacon"
project_copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_llms_txt"]
exclude_patterns = ["README.md"]  # the list of pages for who reads the folder; `index.md` is that of the site
suppress_warnings = [
    "misc.highlighting_failure",  # what pages print is not always whole JSON or Python
    "ref.python",  # `bytes` is a type, and a number in Budget and Limits
]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autodoc_typehints = "none"  # the docstrings have them, with shapes and units
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # fields are described where they are declared
add_module_names = False

html_theme = "furo"
html_title = f"pdacon {version}"
html_static_path = ["site"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_sourcelink = False
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

llms_txt_title = "pdacon"
llms_txt_summary = (
    "Grammar-first constrained decoding: Lark grammars, JSON Schemas, types and tools as exact token masks for "
    "language models, a checker that explains conflicts, and an OpenAI-compatible server."
)

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!docs/)[^)\s]*\)")
_FOLDER = re.compile(r"\]\((decisions|findings)/\)")


def _site_links(app: Sphinx, name: str, source: list[str]) -> None:
    """Let links to folders lead to their pages; files of the repository that are no pages are named only."""
    source[0] = _FOLDER.sub(r"](\1.md)", _OUTSIDE.sub(r"\1", source[0]))


def setup(app: Sphinx) -> None:
    """Sphinx calls it."""
    for language in ("lark", "gbnf", "ebnf"):
        app.add_lexer(language, TextLexer)
    app.connect("source-read", _site_links)
