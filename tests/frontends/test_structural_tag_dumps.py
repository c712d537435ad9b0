"""What XGrammar's classes write of themselves is taken with all their default values, and so are its tags for models.

`structural_tag_dumps/dumps.json` has what XGrammar 0.2.8 wrote; `record.py` beside it writes it again.
"""

from __future__ import annotations

import json
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from pdacon import Grammar

FOLDER = Path(__file__).parent / "structural_tag_dumps"
DUMPS = json.loads((FOLDER / "dumps.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", DUMPS["classes"])
def test_default_values_are_taken(name: str) -> None:
    dump = DUMPS["classes"][name]
    if name == "StructuralTagItem":
        dump = {"structures": [dump], "triggers": ["<"]}
    Grammar.from_structural_tag(dump)


@pytest.mark.parametrize("model", sorted({one["model"] for one in DUMPS["models"]}))
def test_tags_of_models_are_taken(model: str) -> None:
    for one in DUMPS["models"]:
        if one["model"] == model:
            Grammar.from_structural_tag(one["tag"])


def test_calls_in_the_format_of_llama() -> None:
    """An object without properties before a brace."""
    named = next(
        one for one in DUMPS["models"] if one["model"] == "llama" and isinstance(one["options"]["tool_choice"], dict)
    )
    grammar = Grammar.from_structural_tag(named["tag"])
    assert grammar.accepts('{"name": "clock", "parameters": {}}')
    assert grammar.accepts('{"name": "clock", "parameters": {"zone": {}}}')
    assert not grammar.accepts('{"name": "clock", "parameters": {}')
    assert not grammar.accepts('{"name": "weather", "parameters": {"city": "Bern"}}')


@pytest.mark.slow
def test_one_call_of_many_tools_in_the_format_of_harmony() -> None:
    """What XGrammar writes with ``parallel_tool_calls=False``; only the normal form tells thoughts from the call."""
    tags = next(one["tag"]["format"]["tags"] for one in DUMPS["models"] if one["model"] == "harmony")
    thoughts = [tag for tag in tags if "to=" not in tag["begin"]]
    calls = []
    for tool in range(20):
        schema = {"type": "object", "properties": {f"a{tool}": {}}, "additionalProperties": False}
        content = {"type": "json_schema", "json_schema": schema}
        name = f"weather_of_a_place_{tool}"
        calls += [
            {**tag, "begin": tag["begin"].replace("weather", name), "content": content}
            for tag in tags
            if "weather" in tag["begin"]
        ]
    between = "<|start|>assistant"
    thinking = {"type": "tags_with_separator", "separator": between, "tags": thoughts}
    one_call = {**thinking, "tags": calls, "at_least_one": True, "stop_after_first": True}
    elements = [{**thinking, "at_least_one": True}, {"type": "const_string", "value": between}, one_call]
    alternatives = [thinking, one_call, {"type": "sequence", "elements": elements}]
    grammar = Grammar.from_structural_tag({"type": "or", "elements": alternatives})
    thought = f"<|channel|>analysis<|message|>so<|end|>{between}"
    call = "<|channel|>commentary to=functions.weather_of_a_place_7<|constrain|>json<|message|>" + '{"a7": 4}<|call|>'
    assert grammar.accepts(thought + thought + call)
    assert grammar.accepts(call)
    assert not grammar.accepts(thought + call + between + call)
    assert not grammar.accepts(thought + call.replace("_7", "_8"))


@pytest.mark.skipif(find_spec("xgrammar") is None, reason="XGrammar is not installed; the recorded dumps are tested")
def test_xgrammar_writes_what_is_recorded_and_nothing_else_that_is_refused() -> None:
    spec = spec_from_file_location("record", FOLDER / "record.py")
    assert spec is not None
    assert spec.loader is not None
    recorder = module_from_spec(spec)
    spec.loader.exec_module(recorder)
    assert json.loads(json.dumps(recorder.classes())) == DUMPS["classes"]
    assert [json.loads(json.dumps(tag)) for _, _, tag in recorder.models()] == [one["tag"] for one in DUMPS["models"]]
    all_options = recorder.models(
        ("enabled", "disabled", "auto"), parallel_tool_calls=(True, False), max_whitespace_cnt=(None, 2)
    )
    for _, _, tag in all_options:
        Grammar.from_structural_tag(tag)
