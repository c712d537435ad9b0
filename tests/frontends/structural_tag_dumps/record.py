"""Records what XGrammar's classes of structural tags write of themselves, and the tags that it makes for models.

In: an installed XGrammar. Out: `dumps.json` beside this file, which `test_structural_tag_dumps.py` reads; where
XGrammar is installed that test walks all options, not only the recorded ones. Run it with a new version of XGrammar:
``python tests/frontends/structural_tag_dumps/record.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

DUMPS = Path(__file__).parent / "dumps.json"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "parameters": CITY}},
    {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}},
]
NAMED = {"type": "function", "function": {"name": "clock"}}
CHOICES: list[Any] = ["auto", "none", "required", NAMED]


def classes() -> dict[str, Any]:
    """Each class of formats with as little as it takes, so that all else has its default value."""
    from xgrammar import structural_tag as own

    text = own.AnyTextFormat()
    tag = own.TagFormat(begin="<a>", content=text, end="</a>")
    token_tag = own.TagFormat(begin=own.TokenFormat(token="<|a|>"), content=text, end=own.TokenFormat(token="<|b|>"))
    needed: dict[str, dict[str, Any]] = {
        "ConstStringFormat": {"value": "a"},
        "JSONSchemaFormat": {"json_schema": CITY},
        "GrammarFormat": {"grammar": 'root ::= "a"'},
        "RegexFormat": {"pattern": "a+"},
        "TokenFormat": {"token": "<|a|>"},
        "SequenceFormat": {"elements": [own.ConstStringFormat(value="a"), text]},
        "OrFormat": {"elements": [own.ConstStringFormat(value="a"), own.ConstStringFormat(value="b")]},
        "TagFormat": {"begin": "<a>", "content": text, "end": "</a>"},
        "TriggeredTagsFormat": {"triggers": ["<a>"], "tags": [tag]},
        "TokenTriggeredTagsFormat": {"trigger_tokens": ["<|a|>"], "tags": [token_tag]},
        "TagsWithSeparatorFormat": {"tags": [tag], "separator": ","},
        **{name: {"content": tag} for name in ("OptionalFormat", "PlusFormat", "StarFormat")},
        "RepeatFormat": {"content": tag, "min": 1, "max": 2},
        "DispatchFormat": {"rules": [("<a>", own.ConstStringFormat(value="b"))]},
        "TokenDispatchFormat": {"rules": [("<|a|>", own.ConstStringFormat(value="b"))]},
        "QwenXMLParameterFormat": {"json_schema": CITY},
    }
    kinds = [one for one in vars(own).values() if isinstance(one, type) and "type" in getattr(one, "model_fields", ())]
    formats = [one for one in kinds if one is not own.StructuralTag]
    dumps = {one.__name__: one(**needed.get(one.__name__, {})).model_dump() for one in formats}
    item = own.StructuralTagItem(begin="<a>", schema=CITY, end="</a>")
    return {
        **dumps,
        "StructuralTag": own.StructuralTag(format=text).model_dump(),
        "StructuralTagItem": item.model_dump(by_alias=True),
    }


def models(reasonings: tuple[str, ...] = ("enabled",), **more: tuple[Any, ...]) -> Iterator[tuple[str, Any, Any]]:
    """The tag of each model for each choice of tools and each combination of options, with its place among them."""
    from xgrammar import builtin_structural_tag as own

    for model in own._structural_tag_registry:
        for choice, reasoning, *values in product(CHOICES, reasonings, *more.values()):
            options = {"tool_choice": choice, "reasoning": reasoning, **dict(zip(more, values, strict=True))}
            yield model, options, own.get_model_structural_tag(model, tools=TOOLS, **options).model_dump()


def record() -> None:
    tags = [{"model": model, "options": options, "tag": tag} for model, options, tag in models()]
    lines = [
        f' "version": {json.dumps(version("xgrammar"))}',
        f' "classes": {json.dumps(classes(), ensure_ascii=False)}',
    ]
    rows = ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in tags)
    DUMPS.write_text("{\n" + ",\n".join([*lines, f' "models": [\n  {rows}\n ]']) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
