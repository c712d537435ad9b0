"""What holds for every request, whatever it asks for: keys, paths, methods, and errors that programs can read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving.conftest import KEY, Running

from pdacon.cli import main
from pdacon.cli.failures import BadInput
from pdacon.cli.serving import keys_of
from pdacon.serving import ServerSettings
from pdacon.serving.failures import RequestError
from pdacon.serving.keys import require_key


@pytest.mark.parametrize(
    ("given", "right"),
    [
        (f"Bearer {KEY}", True),
        (f"bearer {KEY}", True),
        (f"BEARER   {KEY}", True),
        ("Bearer another", True),
        (KEY, False),
        ("another", False),
        ("Bearer", False),
        (f"Bearer Bearer {KEY}", False),
        (f"Basic {KEY}", False),
        (f"Bearer {KEY}x", False),
        ("", False),
    ],
)
def test_a_key_is_given_with_its_scheme(server: Running, given: str, right: bool) -> None:
    answer = httpx.get(f"{server.address}/v1/models", headers={"Authorization": given})
    assert answer.status_code == (200 if right else 401)
    if not right:
        assert answer.json()["error"]["code"] == "invalid_api_key"
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_two_headers_with_keys_are_no_key(server: Running) -> None:
    twice = [("Authorization", f"Bearer {KEY}"), ("Authorization", "Bearer wrong")]
    assert httpx.get(f"{server.address}/v1/models", headers=twice).status_code == 401


def test_keys_are_compared_as_bytes() -> None:
    require_key(("ключ",), [(b"authorization", "Bearer ключ".encode())])
    with pytest.raises(RequestError):
        require_key(("ключ",), [(b"authorization", b"Bearer \xff")])


def test_keys_come_from_all_places_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "keys"
    file.write_text("from the file\n\n  indented \nfirst\n")
    monkeypatch.setenv("PDACON_API_KEY", "variable another")
    assert keys_of(["first"], file) == ("first", "variable", "another", "from the file", "indented")
    monkeypatch.delenv("PDACON_API_KEY")
    assert keys_of(["first"], None) == ("first",)
    assert keys_of([], None) == ()


def test_an_empty_place_for_keys_does_not_open_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "keys"
    file.write_text("\n \n")
    with pytest.raises(BadInput, match="no key"):
        keys_of(["one"], file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="UTF-8"):
        keys_of([], file)
    with pytest.raises(OSError, match="No such file"):
        keys_of([], tmp_path / "absent")
    monkeypatch.setenv("PDACON_API_KEY", " ")
    with pytest.raises(BadInput, match="PDACON_API_KEY"):
        keys_of([], None)


@pytest.mark.parametrize(
    "option",
    [
        "--compile-seconds=inf", "--compile-seconds=nan", "--compile-seconds=-1", "--compile-seconds=1e300",
        "--drain-delay=inf", "--drain-delay=nan", "--drain-seconds=inf", "--drain-seconds=nan", "--drain-seconds=-1",
        "--api-key=", "--api-key= x", "--api-key=a\tb", "--api-key=\udcff", "--api-key-file=", "--cache=", "--store=",
        "--tool-format=", "--tool-format=hermess",
        "--host=", "--host=\udcff", "--served-model-name=", "--model=", "--port=-1", "--batch-size=0",
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_one_line(
    option: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdacon.cli.serving.load_model", lambda name: pytest.fail("the model is loaded"))
    assert main(["serve", "--port=0", option]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    assert "Traceback" not in line
    assert option.partition("=")[0] in line or "API key" in line


@pytest.mark.parametrize("name", ["shutdown_seconds", "hang_seconds", "read_seconds", "template_seconds"])
@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), -1.0, True])
def test_settings_have_no_endless_times(name: str, seconds: float) -> None:
    with pytest.raises(ValueError, match=name):
        ServerSettings(**{name: seconds})  # type: ignore[arg-type]


def test_settings_do_not_show_keys() -> None:
    assert "secret" not in repr(ServerSettings(api_keys=("secret",)))
    for key in (" secret", "se\ncret"):
        with pytest.raises(ValueError, match="api_keys"):
            ServerSettings(api_keys=(key,))


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v2/models", 404, "not_found"),
        ("POST", "/v1/chat/completions/", 404, "not_found"),
        ("GET", "/" + "x" * 20_000, 404, "not_found"),
        ("GET", "/v1/models/other", 404, "model_not_found"),
        ("GET", "/v1/models/%ED%A0%80%FF", 404, "model_not_found"),
        ("GET", "/v1/chat/completions", 405, "method_not_allowed"),
        ("OPTIONS", "/v1/chat/completions", 405, "method_not_allowed"),
        ("DELETE", "/v1/models", 405, "method_not_allowed"),
        ("BREW", "/health", 405, "method_not_allowed"),
    ],
)
def test_paths_and_methods_that_there_are_not(server: Running, method: str, path: str, status: int, code: str) -> None:
    for host in ("127.0.0.1", "[", "a b", "[::1", "evil.example:99999"):
        headers = {"Authorization": f"Bearer {KEY}", "Host": host}
        answer = httpx.request(method, server.address + path, headers=headers)
        assert answer.status_code == status, (host, answer.text)
        error = answer.json()["error"]
        assert error["code"] == code
        assert len(error["message"]) < 3_000
        assert status != 405 or "POST" in answer.headers["Allow"] or "GET" in answer.headers["Allow"]


def test_head_has_no_body(server: Running) -> None:
    answer = httpx.head(f"{server.address}/health")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("status", [400, 401, 404, 405, 408, 413, 415, 500, 503])
def test_an_error_always_has_a_code_and_can_always_be_sent(status: int) -> None:
    error = RequestError(status, "half of a pair: \ud800 " + "x" * 10_000, param="p" * 10_000)
    said = json.loads(bytes(error.response().body))["error"]
    assert isinstance(said["code"], str)
    assert said["type"].endswith("_error")
    assert len(said["message"]) <= 2_000
    assert len(said["param"]) <= 500


TWO_WAYS = 'start: a | b\na: "x"\nb: "x"'


@pytest.mark.parametrize(
    ("path", "asked", "see"),
    [
        ("/v1/chat/completions", {"structured_outputs": {"regex": "("}}, "/docs/UnsupportedGrammarError"),
        ("/v1/chat/completions", {"structured_outputs": {"grammar": TWO_WAYS}}, "/docs/PDA002"),
        ("/v1/messages", {"max_tokens": 5, "output_format": {"type": "json_schema", "schema": {"$ref": "#/none"}}},
         "/docs/UnsupportedSchemaError"),
        ("/v1/chat/completions", {"temperature": "hot"}, "/docs"),
        ("/v1/nothing", {}, "/docs"),
    ],
)  # fmt: skip
def test_an_error_ends_with_where_more_is_read(server: Running, path: str, asked: dict[str, Any], see: str) -> None:
    """By a path of this server: who asks over HTTP need not have pdacon."""
    headers = {"Authorization": f"Bearer {KEY}"}
    said = {"model": "tiny", "messages": [{"role": "user", "content": "x"}], **asked}
    error = httpx.post(f"{server.address}{path}", json=said, headers=headers).json()["error"]
    assert list(error.items())[-1] == ("see", see), error
    page = httpx.get(f"{server.address}{see}", headers=headers)
    assert (page.status_code, see.rpartition("/")[2] in page.text) == (200, True)


def test_a_page_that_is_not_there(server: Running) -> None:
    answer = httpx.get(f"{server.address}/docs/..%2fserving", headers={"Authorization": f"Bearer {KEY}"})
    assert answer.status_code == 404
    answer = httpx.get(f"{server.address}/docs/vocabularyerror", headers={"Authorization": f"Bearer {KEY}"})
    assert (answer.status_code, "VocabularyError" in answer.json()["error"]["message"]) == (404, True)


def test_a_choice_that_is_the_name_of_a_tool_is_told_how_it_is_given(server: Running) -> None:
    fields = {"messages": [{"role": "user", "content": "x"}], "tool_choice": "f"}
    headers = {"Authorization": f"Bearer {KEY}"}
    error = httpx.post(f"{server.address}/v1/chat/completions", json=fields, headers=headers).json()["error"]
    assert error["param"] == "tool_choice"
    assert error["message"].endswith('or of a tool {"type": "function", "function": {"name": "f"}}')


@pytest.mark.parametrize("place", ["tools.0.function.strict", "tools.0.strict"])
@pytest.mark.parametrize("strict", ["yes", 1, {}])
def test_strict_is_true_or_false(server: Running, strict: Any, place: str) -> None:
    """OpenAI has it within the function; some clients write it beside that."""
    function: dict[str, Any] = {"name": "f", "parameters": {"type": "object"}}
    tool: dict[str, Any] = {"type": "function", "function": function}
    (function if "function" in place else tool)["strict"] = strict
    asked = {"model": "tiny", "messages": [{"role": "user", "content": "x"}], "tools": [tool], "max_tokens": 1}
    headers = {"Authorization": f"Bearer {KEY}"}
    answer = httpx.post(f"{server.address}/v1/chat/completions", json=asked, headers=headers)
    assert (answer.status_code, answer.json().get("error", {}).get("param")) == (400, place)


MISSPELLED: Any = {"type": "object", "properties": {"a": {"type": "string", "maxlength": 3}, "maxlength": {"const": 1}}}
FUNCTION: Any = {"name": "f", "parameters": MISSPELLED}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": MISSPELLED}}},
            "response_format.json_schema.schema",
        ),
        ({"tools": [{"type": "function", "function": FUNCTION}], "tool_choice": "required"}, "tools"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_clients_hear_of_misspelled_keywords(server: Running, fields: Any, param: str, stream: bool) -> None:
    """In a header of each answer, also of one whose constraint was there before; with `strict` it is an error."""
    common = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 9}
    asked = {**common, "stream": stream, **fields}
    headers = {"Authorization": f"Bearer {KEY}"}
    for _ in range(2):
        answer = httpx.post(f"{server.address}/v1/chat/completions", json=asked, headers=headers)
        assert answer.status_code == 200
        (told,) = answer.headers.get_list("x-pdacon-warning")
        assert told.startswith(param)
        assert "maxlength" in told
        assert 'did you mean "maxLength"?' in told
    strict = json.loads(re.sub(r'("name": "[nf]")', r'\1, "strict": true', json.dumps(asked)))
    answer = httpx.post(f"{server.address}/v1/chat/completions", json=strict, headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], "\n" in error["message"]) == (400, "bad_schema", False)
    assert error["param"].endswith("/properties/a")
    assert 'maxlength: it is no keyword of JSON Schema and says nothing; did you mean "maxLength"?' in error["message"]


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("chat/completions", {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1, "verbosity": "medium"}),
        ("responses", {"input": "x", "max_output_tokens": 1, "max_tool_calls": 3, "prompt_cache_retention": "24h"}),
    ],
)
def test_openais_fields_that_say_nothing_here_are_taken(server: Running, path: str, fields: Any) -> None:
    answer = httpx.post(f"{server.address}/v1/{path}", json=fields, headers={"Authorization": f"Bearer {KEY}"})
    assert answer.status_code == 200
