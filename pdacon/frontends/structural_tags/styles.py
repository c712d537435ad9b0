"""The styles in which structural tags write the arguments that a JSON Schema describes, and what is asked of one.

In: nothing. Out: names, and a record. What writes arguments in a style is given to who reads a tag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pdacon.frontends.json_schema import Spelling
from pdacon.regular import RegularSet

STYLES = (
    "json", "qwen_xml", "minimax_xml", "minimax_m3_xml", "deepseek_xml", "deepseek_v4_1_xml", "glm_xml", "cohere_xml",
    "kimi_k3_xml", "gemma",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StyledArguments:
    """Arguments in a style other than JSON.

    Attributes
    ----------
    style : str
    schema : bool or mapping
    spelling : Spelling
        How JSON in them is written.
    closed : bool
        Whether objects have only the properties listed.
    blanks : RegularSet
        What may stand before and after each argument.
    place : str
        The JSON pointer of the schema.
    tokens : tuple of str
        The names of special tokens, which are these tokens in marks.
    """

    style: str
    schema: bool | Mapping[str, Any]
    spelling: Spelling
    closed: bool
    blanks: RegularSet
    place: str
    tokens: tuple[str, ...]
