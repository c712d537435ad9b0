"""Frameworks for agents, themselves: what docs/frameworks.md shows of each, and each of their ways to ask for a schema.

Every schema is closed and bounded, so that whatever a random model writes is a value of it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from serving.conftest import Running, saying

from pdacon.integrations.huggingface import load_tiny
from pdacon.serving import ServerSettings, application
from pdacon.serving.token_choice import Sampling

PAGE = Path(__file__).resolve().parents[2] / "docs" / "frameworks.md"
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PACKAGES = {
    "openai": "openai",
    "anthropic": "anthropic",
    "LangChain": "langchain_openai",
    "PydanticAI": "pydantic_ai",
    "instructor": "instructor",
    "LlamaIndex": "llama_index.llms.openai_like",
    "DSPy": "dspy",
    "smolagents": "smolagents",
}
ASKED = "Describe a person as JSON:"
MESSAGES: Any = [{"role": "user", "content": ASKED}]
# Past calls as Hermes writes them, and an empty thought before each answer.
TEMPLATE = """{% for tool in tools or [] %}{{ tool | tojson }}
{% endfor %}{% for m in messages %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}<tool_call>
{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}
</tool_call>{% endfor %}
{% endfor %}{% if add_generation_prompt %}<think>

</think>

{% endif %}"""

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the frameworks about each other's releases


@pytest.fixture(scope="module")
def speaker() -> Iterator[Running]:
    model, _ = load_tiny()
    model.config.max_position_embeddings = 16_384  # some of them say a great deal in their prompts
    running = Running(ServerSettings(model_name="tiny", max_tokens=1_500), model, TEMPLATE)
    assert running.application.tool_format.name == "hermes"
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def _repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most frameworks send no seed: the first request of a test has 1 then, the next 2."""
    seeds = count(1)

    def seeded(*given: Any, **named: Any) -> Sampling:
        sampling = Sampling(*given, **named)
        return replace(sampling, seed=next(seeds)) if sampling.seed is None else sampling

    monkeypatch.setattr(application, "Sampling", seeded)


@pytest.fixture
def address(speaker: Running) -> str:
    return speaker.address


def installed(framework: str) -> Any:
    return pytest.importorskip(PACKAGES[framework], reason=f"{framework} is not installed")


@pytest.fixture
def names(address: str, tmp_path: Path) -> dict[str, Any]:
    """What all examples of the page begin with, in a file of its own, for the server of the tests."""
    first = PYTHON.search(PAGE.read_text(encoding="utf-8"))
    assert first is not None
    file = tmp_path / "beginning.py"
    file.write_text(first[1], encoding="utf-8")
    names: dict[str, Any] = {"__name__": "beginning"}
    exec(compile(first[1], file, "exec", dont_inherit=True), names)
    return names | {"ADDRESS": address}


@pytest.fixture
def person(names: dict[str, Any]) -> Any:
    """The class of the page."""
    return names["Person"]


def test_every_framework_has_a_section() -> None:
    assert [name for name, _ in SECTION.findall(PAGE.read_text(encoding="utf-8"))] == list(PACKAGES)


@pytest.mark.slow
@pytest.mark.parametrize("framework", PACKAGES)
def test_what_the_page_shows(names: dict[str, Any], framework: str) -> None:
    installed(framework)
    (text,) = (text for name, text in SECTION.findall(PAGE.read_text(encoding="utf-8")) if name == framework)
    (example,) = PYTHON.findall(text)
    exec(compile(example, PAGE, "exec", dont_inherit=True), names)
    said = [names[name] for name in ("person", "again") if name in names]
    assert all(isinstance(value, names["Person"]) for value in said)
    assert said or names["calls"]
    for call in names.get("calls", ()):
        assert set(arguments_of(call)) == {"city"}


def arguments_of(call: Any) -> dict[str, Any]:
    """The arguments of a call as any of the frameworks has it."""
    if isinstance(call, dict):
        return dict(call["args"])
    if hasattr(call, "tool_kwargs"):
        return dict(call.tool_kwargs)
    arguments = call.function.arguments
    return dict(json.loads(arguments) if isinstance(arguments, str) else arguments)


@pytest.mark.slow
@pytest.mark.parametrize("is_newer", [False, True])
@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
def test_methods_of_langchain(address: str, person: Any, method: Any, is_newer: bool) -> None:
    """Classes and schemas; whole and streamed. With ``json_mode`` the schema is given beside it."""
    person.model_config["extra"] = "forbid"
    person.model_rebuild(force=True)
    chat = installed("LangChain").ChatOpenAI(
        model="tiny", base_url=f"{address}/v1", api_key="none", use_responses_api=is_newer,
        extra_body=in_body(person, "responses" if is_newer else "chat") if method == "json_mode" else None,
    )  # fmt: skip
    schema = person.model_json_schema()
    held = chat.with_structured_output(person, method=method)
    assert isinstance(held.invoke(ASKED), person)
    assert isinstance(list(held.stream(ASKED))[-1], person)
    if method == "json_mode":
        return
    raw = chat.with_structured_output(schema, method=method, strict=True, include_raw=True).invoke(ASKED)
    assert raw["parsing_error"] is None
    person(**raw["parsed"])


@pytest.mark.slow
@pytest.mark.parametrize("is_newer", [False, True])
def test_choices_of_langchain(address: str, names: dict[str, Any], is_newer: bool) -> None:
    chat = installed("LangChain").ChatOpenAI(
        model="tiny", base_url=f"{address}/v1", api_key="none", use_responses_api=is_newer, max_tokens=200
    )
    for choice in ("any", "weather"):
        message = chat.bind_tools([names["weather"]], tool_choice=choice, parallel_tool_calls=False).invoke(
            "The weather?"
        )
        assert [call["name"] for call in message.tool_calls] + [
            call["name"] for call in message.invalid_tool_calls
        ] == ["weather"]
    for choice in ("auto", "none"):
        message = chat.bind_tools([names["weather"]], tool_choice=choice).invoke("The weather?")
        assert choice == "auto" or not message.tool_calls
        assert "<tool_call>" not in str(message.content)


@pytest.mark.slow
@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
@pytest.mark.parametrize(
    ("output", "is_streamed"),
    [("tool", False), ("tool", True), ("native", False), ("native", True), ("classes", False), ("prompted", False)],
)
def test_outputs_of_pydantic_ai(address: str, person: Any, api: str, output: str, is_streamed: bool) -> None:
    ai = installed("PydanticAI")
    outputs: dict[str, Any] = {
        "tool": ai.ToolOutput(person),
        "native": ai.NativeOutput(person),
        "prompted": ai.PromptedOutput(person),
        "classes": [person, type("Other", (person,), {"__doc__": "Another one."})],
    }
    settings: Any = {"max_tokens": 1_500}
    if output == "prompted":  # it says the schema in words
        person.model_config["extra"] = "forbid"
        person.model_rebuild(force=True)
        settings["extra_body"] = in_body(person, api)
    agent = ai.Agent(pydantic_ai_model(address, api), output_type=outputs[output], model_settings=settings)
    if not is_streamed:
        assert isinstance(agent.run_sync(ASKED).output, person)
        return

    async def streamed() -> Any:
        async with agent.run_stream(ASKED) as stream:
            return await stream.get_output()

    assert isinstance(asyncio.run(streamed()), person)


def pydantic_ai_model(address: str, api: str) -> Any:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    if api == "anthropic":
        provider: Any = AnthropicProvider(base_url=address, api_key="none")
        return AnthropicModel("tiny", provider=provider, profile=ModelProfile(supports_json_schema_output=True))
    provider = OpenAIProvider(base_url=f"{address}/v1", api_key="none")
    return (OpenAIChatModel if api == "chat" else OpenAIResponsesModel)("tiny", provider=provider)


WITH_SCHEMA = (
    "FUNCTIONS", "TOOLS", "TOOLS_STRICT", "JSON_SCHEMA", "RESPONSES_TOOLS", "RESPONSES_TOOLS_WITH_INBUILT_TOOLS",
    "ANTHROPIC_TOOLS", "ANTHROPIC_REASONING_TOOLS",
)  # fmt: skip


def instructor_client(address: str, mode: str) -> Any:
    instructor = installed("instructor")
    import anthropic
    import openai

    if mode.startswith("ANTHROPIC"):
        own: Any = anthropic.Anthropic(base_url=address, api_key="none")
        return instructor.from_anthropic(own, mode=instructor.Mode[mode])
    own = openai.OpenAI(base_url=f"{address}/v1", api_key="none")
    return instructor.from_openai(own, mode=instructor.Mode[mode])


@pytest.mark.slow
@pytest.mark.parametrize("mode", [*WITH_SCHEMA, "JSON", "MD_JSON", "ANTHROPIC_JSON"])
def test_modes_of_instructor(address: str, person: Any, mode: str) -> None:
    """The last ones say the schema in words, and are given it beside that."""
    client = instructor_client(address, mode)
    person.model_config["extra"] = "forbid"
    person.model_rebuild(force=True)
    asked: Any = {"model": "tiny", "messages": MESSAGES, "max_tokens": 1_500, "max_retries": 0}
    if mode not in WITH_SCHEMA:
        asked["extra_body"] = in_body(person, "anthropic" if mode.startswith("ANTHROPIC") else "chat")
    assert isinstance(client.create(response_model=person, **asked), person)
    *_, last = client.create_partial(response_model=person, **asked)
    person(**last.model_dump())


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["PARALLEL_TOOLS", "ANTHROPIC_PARALLEL_TOOLS"])
def test_parallel_modes_of_instructor(speaker: Running, person: Any, mode: str) -> None:
    """These leave it to the model whether it calls."""
    client = instructor_client(speaker.address, mode)
    call = '<tool_call>\n{"name": "Person", "arguments": {"name": "A", "age": 1}}\n</tool_call>'
    with saying(speaker, f"{call}\n{call}"):
        people = client.create(
            model="tiny", messages=MESSAGES, max_tokens=300, max_retries=0, response_model=Iterable[person]
        )
    assert list(people) == [person(name="A", age=1)] * 2


def in_body(person: Any, api: str) -> dict[str, Any]:
    """What a request has beside what its framework writes."""
    format = {"type": "json_schema", "schema": person.model_json_schema()}
    if api == "anthropic":
        return {"output_config": {"format": format}}
    if api == "responses":
        return {"text": {"format": format}}
    return {"response_format": {"type": "json_schema", "json_schema": {"schema": person.model_json_schema()}}}


@pytest.mark.slow
def test_programs_of_llama_index(address: str, names: dict[str, Any], person: Any) -> None:
    module = installed("LlamaIndex")
    from llama_index.core.prompts import PromptTemplate
    from llama_index.core.tools import FunctionTool

    for structured in (False, True):
        llm = module.OpenAILike(
            model="tiny", api_base=f"{address}/v1", api_key="none", context_window=8_000, is_chat_model=True,
            is_function_calling_model=True, should_use_structured_outputs=structured, max_tokens=1_500,
        )  # fmt: skip
        assert isinstance(llm.structured_predict(person, PromptTemplate(ASKED)), person)
        *_, last = llm.stream_structured_predict(person, PromptTemplate(ASKED))
        assert isinstance(last, person) or not structured
        tools = [FunctionTool.from_defaults(names["weather"])]
        *_, answer = llm.stream_chat_with_tools(tools, "The weather?", tool_required=True)
        (call, *_) = llm.get_tool_calls_from_response(answer)
        assert call.tool_name == "weather"


@pytest.mark.slow
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("adapter", ["JSONAdapter", "ChatAdapter", "XMLAdapter"])
def test_adapters_of_dspy(address: str, person: Any, adapter: str, api: str) -> None:
    """Those that want another form fall back on JSON; the first answer in theirs is what the model likes."""
    dspy = installed("DSPy")
    held = type(
        "Held",
        (dspy.LM,),
        {
            "supports_response_schema": True,
            "supports_function_calling": True,
            "supported_params": frozenset({"response_format", "tools", "tool_choice"}),
        },
    )
    lm = held("openai/tiny", api_base=f"{address}/v1", api_key="none", cache=False, max_tokens=1_500, model_type=api)
    signature = dspy.Signature("question -> person: Person", custom_types={"Person": person})
    with dspy.context(lm=lm, adapter=getattr(dspy, adapter)()):
        assert isinstance(dspy.Predict(signature)(question="Who?").person, person)


@pytest.mark.slow
@pytest.mark.parametrize("is_streamed", [False, True])
def test_agents_of_smolagents(address: str, names: dict[str, Any], is_streamed: bool) -> None:
    smolagents = installed("smolagents")
    model = smolagents.OpenAIModel(model_id="tiny", api_base=f"{address}/v1", api_key="none", max_tokens=150)
    agent = smolagents.ToolCallingAgent(
        tools=[smolagents.tool(names["weather"])],
        model=model,
        max_steps=2,
        verbosity_level=0,
        stream_outputs=is_streamed,
    )
    said = list(agent.run("The weather in Oslo?", stream=True))
    steps = [step for step in said if isinstance(step, smolagents.ActionStep)]
    calls = [call for step in steps for call in step.tool_calls or ()]
    assert calls
    assert {call.name for call in calls} <= {"weather", "final_answer"}
