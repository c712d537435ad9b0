"""What a request asks of an answer: whether calls come, how many, and a thought; and what is refused."""

from __future__ import annotations

import copy
import datetime
import enum
import pickle
from typing import Any

import pydantic
import pytest
from support.tool_answers import TOOLS, accepted, encoded, read, tools_of, vocabulary_of

import pdacon
from pdacon import Call
from pdacon.errors import UnsupportedGrammarError, UnsupportedTypeError, VocabularyError
from pdacon.frontends.tool_formats import FORMATS, Answer, Thought, ToolFormat

CALL = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
SEARCH = '<tool_call>\n{"name": "search", "arguments": {"tags": []}}\n</tool_call>'


def hermes(**options: Any) -> pdacon.Grammar:
    return pdacon.Grammar.from_tools(TOOLS, format="hermes", **options)


@pytest.mark.parametrize(
    ("options", "texts", "others"),
    [
        ({}, ["", "Hi.", CALL, f"Hi.\n{CALL}\n{SEARCH}", f"{CALL}Bye."], ["<tool_call>", f"<think>x</think>{CALL}"]),
        ({"choice": "required"}, [CALL, f"{CALL}\n{SEARCH}"], ["", "Hi.", f"Hi.\n{CALL}", f"{CALL}Bye."]),
        ({"choice": "none"}, ["", "Hi."], [CALL, "<tool_call>"]),
        ({"choice": "search"}, [SEARCH], ["", CALL, f"{SEARCH}\n{SEARCH}"]),
        ({"parallel": False}, ["Hi.", f"Hi.{CALL}"], [f"{CALL}\n{SEARCH}", f"{CALL}Bye."]),
        ({"choice": "required", "parallel": False}, [CALL], [f"{CALL}\n{SEARCH}"]),
        ({"reasoning": True}, ["Hi.", "<think>x</think>Hi.", f"<think>.</think>{CALL}"], ["<think>", "</think>"]),
        ({"reasoning": "begun"}, ["x</think>Hi.", f"\nx\n</think>\n\n{CALL}"], ["Hi.", CALL, "<think>x"]),
        ({"reasoning": True, "choice": "required"}, [CALL, f"<think>x</think>\n\n{CALL}"], ["<think>x</think>Hi."]),
    ],
)  # fmt: skip
def test_choices(options: dict[str, Any], texts: list[str], others: list[str]) -> None:
    grammar = hermes(**options)
    assert [text for text in texts if not grammar.accepts(text)] == []
    assert [text for text in others if grammar.accepts(text)] == []


def test_answers_that_are_parsed() -> None:
    constraint = pdacon.compile(hermes(reasoning=True), pdacon.Vocabulary.bytes())
    answer = constraint.parse(f"<think>\nWhy?\n</think>\n\nHi.\n{CALL}\n{SEARCH}")
    assert (answer.reasoning, answer.text, answer.missing) == ("Why?", "Hi.", None)
    assert [(call.name, call.arguments) for call in answer.calls] == [("get_time", {}), ("search", {"tags": []})]


def test_functions_are_called_with_typed_arguments() -> None:
    def add(left: int, right: float = 1.0) -> float:
        return left + right

    grammar = pdacon.Grammar.from_tools([add], format="qwen3_coder")
    text = "<tool_call>\n<function=add>\n<parameter=left>\n2\n</parameter>\n<parameter=right>\n3.5\n</parameter>\n</function>\n</tool_call>"  # noqa: E501
    answer = pdacon.compile(grammar, pdacon.Vocabulary.bytes()).parse(text)
    assert answer.calls[0].call() == 5.5
    assert grammar.write(answer) == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "hermess"}, "did you mean 'hermes'"),
        ({"format": "hermes", "choice": "sing"}, "or a tool of get_weather"),
        ({"format": "llama3", "reasoning": True}, "no thoughts"),
        ({"format": "hermes", "reasoning": "open"}, "reasoning is True, False"),
        ({"format": "hermes", "several": True}, "leave out form"),
        ({"format": "hermes", "form": "python"}, "leave out form"),
        ({"choice": "required"}, "give format"),
        ({"reasoning": True}, "give format"),
    ],
)
def test_refused_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pdacon.Grammar.from_tools(TOOLS, **options)


def test_refused_names() -> None:
    with pytest.raises(UnsupportedTypeError, match="has no '\"'"):
        pdacon.Grammar.from_tools([{"name": 'a"b'}], format="hermes")


def test_special_tokens_have_to_be_in_the_vocabulary() -> None:
    grammar = pdacon.Grammar.from_tools(TOOLS, format="mistral")
    with pytest.raises(VocabularyError, match=r"no special token \[(TOOL_CALLS|ARGS)\]"):
        pdacon.compile(grammar, pdacon.Vocabulary.bytes())


def test_a_thought_may_have_the_letters_of_a_special_token() -> None:
    """Fed tokens, the reader tells the token from its letters; what is text stays text."""
    format = FORMATS["mistral"]
    grammar = pdacon.Grammar.from_tools(TOOLS, format=format, reasoning=True)
    constraint = pdacon.compile(grammar, vocabulary_of(format))
    ids = [*encoded(format, "[THINK]"), *b"Say [TOOL_CALLS]", *encoded(format, "[/THINK][TOOL_CALLS]get_time[ARGS]{}")]
    matcher, reader = constraint.matcher(), constraint.reader()
    for token in ids:
        assert matcher.accept_token(token)
        reader.feed(token)
    assert matcher.is_accepting()
    assert reader.close() == []
    assert (reader.answer.reasoning, len(reader.answer.calls)) == ("Say [TOOL_CALLS]", 1)


def test_grammars_of_answers_pickle_and_copy() -> None:
    grammar = hermes(reasoning=True)
    again = pickle.loads(pickle.dumps(grammar))
    assert again.data.values == grammar.data.values == copy.copy(grammar).data.values
    assert again.data.values != hermes().data.values


def test_loaded_constraints_read_with_their_grammar(tmp_path: Any) -> None:
    grammar, vocabulary = hermes(), pdacon.Vocabulary.bytes()
    pdacon.compile(grammar, vocabulary).save(tmp_path / "a.pda")
    with pytest.raises(TypeError, match="given to load"):
        pdacon.Constraint.load(tmp_path / "a.pda", vocabulary).reader()
    loaded = pdacon.Constraint.load(tmp_path / "a.pda", vocabulary, grammar=grammar)
    assert [event.kind for event in loaded.reader().feed(CALL)] == ["name", "arguments", "end"]


def test_readers_refuse_what_is_no_answer() -> None:
    reader = pdacon.compile(hermes(), pdacon.Vocabulary.bytes()).reader()
    with pytest.raises(ValueError, match=r"at character 14 .* had to come"):
        reader.feed("Hi.<tool_call>oops")
    with pytest.raises(ValueError, match="had to come"):
        reader.feed("more")
    reader.close()
    assert reader.answer.missing is not None
    with pytest.raises(ValueError, match="closed"):
        reader.feed("x")
    fed_text = pdacon.compile(hermes(), pdacon.Vocabulary.bytes()).reader()
    fed_text.feed("H")
    with pytest.raises(TypeError, match="tokens or text"):
        fed_text.feed(65)
    with pytest.raises(TypeError, match="no answers to read"):
        pdacon.compile("json", pdacon.Vocabulary.bytes()).reader()


def test_a_character_that_is_cut_is_missing() -> None:
    reader = pdacon.compile(hermes(), pdacon.Vocabulary.bytes()).reader()
    assert [event.text for event in reader.feed("Zü".encode()[:-1])] == ["Z"]
    reader.close()
    assert "character" in str(reader.answer.missing)


def test_a_format_of_ones_own() -> None:
    own = ToolFormat(
        name="own", models="none", source="here", call="CALL $name WITH $arguments END", trigger="CALL ", separator=" ",
        thought=Thought("(", ")"),
    )  # fmt: skip
    constraint = pdacon.compile(pdacon.Grammar.from_tools(TOOLS, format=own, reasoning=True), pdacon.Vocabulary.bytes())
    answer = constraint.parse('(hm)Now CALL search WITH {"tags": ["END"]} END CALL get_time WITH {} END')
    assert (answer.reasoning, answer.text) == ("hm", "Now ")
    assert [call.name for call in answer.calls] == ["search", "get_time"]
    with pytest.raises(ValueError, match="trigger"):
        ToolFormat(name="own", models="none", source="here", call="$name", trigger="CALL")


@pytest.mark.parametrize("name", FORMATS)
def test_names_that_begin_alike(name: str) -> None:
    """The name of a tool may begin that of another one, and so may the name of an argument."""
    properties = {"a": {"type": "string"}, "ab": {"type": "string"}}
    tools = [
        {"name": tool, "parameters": {"type": "object", "properties": properties, "additionalProperties": False}}
        for tool in ("get", "get_it", "get_it_all")
    ]
    format = FORMATS[name]
    grammar = pdacon.Grammar.from_tools(tools, format=name, choice="required", parallel=False)
    constraint = pdacon.compile(grammar, vocabulary_of(format))
    for tool in ("get", "get_it", "get_it_all"):
        for arguments in ({}, {"a": "x"}, {"ab": "y"}, {"a": "x", "ab": "y"}):
            answer = Answer("", "", (Call(tool, arguments),))
            ids = encoded(format, constraint.grammar.write(answer))
            assert accepted(constraint, ids)
            reader = constraint.reader()
            read(reader, ids)
            assert reader.answer == answer


@pytest.mark.parametrize(
    ("format", "tool"),
    [
        ("kimi_k2", {"name": "a:b"}),
        ("llama3", {"name": 'a"b'}),
        ("qwen3_coder", {"name": "a>b"}),
        ("qwen3_coder", {"name": "f", "parameters": {"properties": {"a>\nb": {"type": "string"}}}}),
        ("deepseek_v3_2", {"name": "f", "parameters": {"properties": {'a" string="b': {"type": "string"}}}}),
        ("glm4_7", {"name": "f", "parameters": {"properties": {"a</arg_key><arg_value>": {"type": "string"}}}}),
    ],
)
def test_names_that_have_what_ends_them_are_refused(format: str, tool: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedTypeError, match="in the format"):
        pdacon.Grammar.from_tools([tool], format=format)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("reasoning", [False, True, "begun"])
def test_answers_with_blanks_and_without_parts_are_written(name: str, reasoning: Any) -> None:
    """An answer that a constraint could have given is written as a text that is read as that answer."""
    format = FORMATS[name]
    if reasoning and format.thought is None:
        with pytest.raises(ValueError, match="has no thoughts"):
            pdacon.Grammar.from_tools(tools_of(format), format=name, reasoning=reasoning)
        return
    grammar = pdacon.Grammar.from_tools(tools_of(format), format=name, reasoning=reasoning)
    constraint = pdacon.compile(grammar, vocabulary_of(format))
    for thought in ("", "hm", "\nhm\n") if reasoning else ("",):
        for text in ("", "hi", "\n\n\nhi\n"):
            for calls in ((),) if text and format.calls_alone else ((), (Call("get_time", {}),)):
                answer = Answer(thought, text, calls)
                ids = encoded(format, grammar.write(answer))
                assert accepted(constraint, ids), answer
                reader = constraint.reader()
                read(reader, ids)
                assert reader.answer == answer


@pytest.mark.parametrize(
    ("options", "answer", "why"),
    [
        ({}, Answer("", f"So: {CALL}", ()), 'its text has "<tool_call>"'),
        ({}, Answer("", "a<think>b", ()), 'its text has "<think>"'),
        ({}, Answer("", "a</tool_call>b", ()), 'its text has "</tool_call>"'),
        ({}, Answer("hm", "", ()), "its reasoning would be read as ''"),
        ({"reasoning": True}, Answer("a</think>b", "", ()), 'its reasoning has "</think>"'),
        ({"reasoning": "begun"}, Answer("a</think>b", "", ()), 'its reasoning has "</think>"'),
        ({"choice": "none"}, Answer("", "", (Call("get_time", {}),)), "its text would be read as"),
        ({"choice": "required"}, Answer("", "Hi.", ()), "had to come"),
        ({"choice": "required"}, Answer("", "", ()), "had to come"),
        ({"choice": "search"}, Answer("", "", (Call("get_time", {}),)), "choice is 'search'"),
        ({"parallel": False}, Answer("", "", (Call("get_time", {}),) * 2), "had to come|would be read"),
    ],
)  # fmt: skip
def test_what_would_be_read_as_something_else_is_not_written(options: dict[str, Any], answer: Answer, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        hermes(**options).write(answer)


def test_a_format_that_does_not_say_where_its_parts_end() -> None:
    """The way out that is named is one that there is for tools."""
    own = ToolFormat(
        name="own", models="none", source="here", call="CALL $name:$arguments", argument="$key=$value;",
        trigger="CALL ", text_after=True,
    )  # fmt: skip
    tool = {"name": "f", "parameters": {"properties": {"q": {}, "r": {}}, "additionalProperties": False}}
    with pytest.raises(UnsupportedGrammarError, match=r"f\.q .* and text .*; rename .*, or choose a format") as caught:
        _ = pdacon.Grammar.from_tools([tool], format=own).data
    assert "excludes" not in str(caught.value)


@pytest.mark.parametrize("format", [None, "hermes", "llama3", "qwen3_coder", "glm4_7"])
def test_arguments_that_a_schema_does_not_take_are_not_written(format: str | None) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 9}, "tags": {"type": "array", "maxItems": 1}},
        "required": ["n"],
        "additionalProperties": False,
    }
    grammar = pdacon.Grammar.from_tools([{"name": "f", "parameters": schema}], format=format)
    given: list[dict[str, Any]] = [{}, {"n": "x"}, {"n": 10}, {"n": 1, "m": 1}, {"n": 1, "tags": [1, 2]}, {"n": True}]
    for arguments in given:
        call = Call("f", arguments)
        with pytest.raises(ValueError, match=r"schema takes|cannot be written|lists no argument"):
            grammar.write(call if format is None else Answer("", "", (call,)))
    call = Call("f", {"n": 9, "tags": ["a"]})
    assert grammar.accepts(grammar.write(call if format is None else Answer("", "", (call,))))


@pytest.mark.parametrize("format", ["hermes", "llama3", "qwen3_coder"])
def test_arguments_are_written_as_the_grammar_has_them(format: str) -> None:
    """In the order of the schema, with the blanks of the spelling."""
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False}
    for whitespace in ("json.dumps", "compact"):
        spelling = pdacon.Spelling(whitespace=whitespace)
        grammar = pdacon.Grammar.from_tools([{"name": "f", "parameters": schema}], format=format, spelling=spelling)
        text = grammar.write(Answer("", "", (Call("f", {"b": [1, 2], "a": {"c": 1}}),)))
        assert grammar.accepts(text), text


COUNTED = [name for name, format in FORMATS.items() if "$index" in format.call]


@pytest.mark.parametrize("name", COUNTED)
def test_the_number_of_a_call_has_an_end(name: str) -> None:
    """It counts calls, so that a random model ends it; the reader refuses what the constraint does."""
    format = FORMATS[name]
    tool = {"name": "f", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}
    constraint = pdacon.compile(pdacon.Grammar.from_tools([tool], format=name, choice="f"), vocabulary_of(format))
    text = constraint.grammar.write(Answer("", "", (pdacon.Call("f", {}),)))
    before, after = next(
        (text[:k], text[k + 1 :])
        for k, digit in enumerate(text)
        if digit in "01" and accepted(constraint, encoded(format, f"{text[:k]}9999{text[k + 1 :]}"))
    )
    for index, fits in {"0": True, "7": True, "9999": True, "": False, "00": False, "10000": False, "x": False}.items():
        text = before + index + after
        assert accepted(constraint, encoded(format, text)) == fits, text
        refusals = set()
        for pieces in ([text], list(text), [text[k : k + 3] for k in range(0, len(text), 3)], [before, index, after]):
            reader = constraint.reader()
            if fits:
                assert [event.kind for piece in pieces for event in reader.feed(piece)][-1] == "end"
                continue
            place = len(before) + max(0, len(index) - 1)
            with pytest.raises(ValueError, match=rf"at character {place} .* came, where") as refusal:
                read(reader, pieces)
            refusals.add(str(refusal.value))
        assert len(refusals) == (not fits), refusals


class _Priority(enum.Enum):
    low = "low"
    high = "high"


class _Ticket(pydantic.BaseModel):
    """A ticket."""

    priority: _Priority
    due: datetime.date
    count: int = 1


def test_calls_of_classes_are_written_of_json_values_too() -> None:
    """As a history of messages has them."""
    grammar = pdacon.Grammar.from_tools([_Ticket], format="qwen3")
    typed = {"priority": _Priority.low, "due": datetime.date(2024, 1, 2)}

    def written(arguments: Any) -> str:
        return grammar.write(pdacon.Answer("", "", (pdacon.Call("_Ticket", arguments),)))

    assert written({"priority": "low", "due": "2024-01-02"}) == written(typed)
    for wrong in ({"count": "1"}, {"count": 1.5}, {"count": True}, {"priority": "none"}, {"due": "2024-13-01"}):
        with pytest.raises(ValueError, match="_Ticket"):
            written({"priority": "low", "due": "2024-01-02", **wrong})


@pytest.mark.parametrize(
    ("arguments", "words"), [('{"q": "x"}', "json.loads"), (None, "{} has none"), ([], "{} has none")]
)
def test_arguments_of_a_call_that_are_no_dict_are_refused(arguments: Any, words: str) -> None:
    tool = {"name": "s", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}
    grammar = pdacon.Grammar.from_tools([tool], format="qwen3")
    with pytest.raises(TypeError, match=f"s: the arguments of a call are a dict, not .*{words}"):
        grammar.write(pdacon.Answer("", "", (pdacon.Call("s", arguments),)))


@pytest.mark.parametrize("name", sorted(name for name, format in FORMATS.items() if format.thought is not None))
@pytest.mark.parametrize("choice", ["required", "auto"])
def test_thoughts_with_blanks_at_their_borders_are_written(name: str, choice: str) -> None:
    """What is written is in the grammar and read as it was, or refused."""
    tool = {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}
    grammar = pdacon.Grammar.from_tools([tool], format=name, choice=choice, reasoning="begun", tokens=[])
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    written = 0
    for thought in ("\nx", "\n\nx", "\n", "x\n", "x\n\n", " x ", "x", ""):
        answer = Answer(thought, "", (Call("f", {"a": 1}),))
        try:
            text = grammar.write(answer)
        except ValueError:  # the format has no way to write it
            continue
        assert grammar.accepts(text), text
        assert constraint.parse(text) == answer
        written += 1
    assert written >= 3


@pytest.mark.parametrize("tool", ["f", "fü", "f\x01"])
@pytest.mark.parametrize("options", [{"escapes": "any"}, {"escapes": "ascii"}, {"separators": (",", ":")}, {}])
@pytest.mark.parametrize("name", ["hermes", "mistral_v3", "phi4_mini", "llama3"])
def test_marks_of_a_format_are_its_own_in_each_spelling(name: str, options: dict[str, Any], tool: str) -> None:
    """A spelling is that of values: the names around arguments are marks, of one tool and of several."""
    tools = [{"name": each, "parameters": {"properties": {"a": {"type": "string"}}}} for each in (tool, "g")]
    spelling = pdacon.Spelling(**options)
    for given in (tools[:1], tools):
        grammar = pdacon.Grammar.from_tools(given, format=name, choice="required", spelling=spelling, tokens=[])
        constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
        for arguments in ({}, {"a": "x"}):
            call = Call(tool, arguments)
            text = grammar.write(Answer("", "", (call,)))
            assert constraint.accepts(text)
            assert constraint.parse(text).calls == (call,)
            for k, letter in enumerate(text):
                other = f"{text[:k]}\\u{ord(letter):04x}{text[k + 1 :]}"
                if grammar.accepts(other):
                    assert constraint.parse(other).calls == (call,)
