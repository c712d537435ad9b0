"""What the server takes, as OpenAPI describes it, and as a page for people."""

from __future__ import annotations

import html
import json
from functools import cache
from typing import Any

from pydantic import BaseModel

import pdacon
from pdacon.determinism.report.findings import TITLES
from pdacon.determinism.report.pages import ERRORS
from pdacon.determinism.report.pages import page as page_of
from pdacon.serving.advice import cut
from pdacon.serving.anthropic_messages import CountRequest, MessagesRequest
from pdacon.serving.failures import RequestError
from pdacon.serving.protocol import ChatRequest, CompletionRequest, DetokenizeRequest, NativeRequest, TokenizeRequest
from pdacon.serving.responses import ResponsesRequest

_POSTED: dict[str, type[BaseModel]] = {
    "/v1/chat/completions": ChatRequest,
    "/v1/responses": ResponsesRequest,
    "/v1/messages": MessagesRequest,
    "/v1/messages/count_tokens": CountRequest,
    "/v1/completions": CompletionRequest,
    "/generate": NativeRequest,
    "/generate_stream": NativeRequest,
    "/tokenize": TokenizeRequest,
    "/detokenize": DetokenizeRequest,
}
_ASKED = (
    "/v1/models",
    "/v1/models/{name}",
    "/health",
    "/ready",
    "/metrics",
    "/version",
    "/openapi.json",
    "/docs",
    "/docs/{name}",
)
_QUOTED = 100  # characters of a name
_OK = {"200": {"description": "An answer, or a stream of events."}}


@cache
def described() -> dict[str, Any]:
    """The OpenAPI document, version 3.1, whose schemas are JSON Schemas."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for path, model in _POSTED.items():
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        schemas[model.__name__] = schema
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}
        paths[path] = {"post": {"requestBody": {"required": True, "content": content}, "responses": _OK}}
    for path in _ASKED:
        name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
        parameters = {"parameters": [name]} if "{name}" in path else {}
        paths[path] = {"get": {**parameters, "responses": _OK}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "pdacon serve", "version": pdacon.__version__},
        "paths": paths,
        "components": {"schemas": schemas},
    }


@cache
def page() -> str:
    """The same for people, who have it without asking another server."""
    document = described()
    rows = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
            body = json.dumps(document["components"]["schemas"][name], indent=2) if name else ""
            shown = f"<pre>{html.escape(body)}</pre>" if body else ""
            rows.append(
                f"<details><summary>{method.upper()} <code>{html.escape(path)}</code></summary>{shown}</details>"
            )
    title = "pdacon serve"
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><h1>{title}</h1>"
        f'<p>As <a href="openapi.json">OpenAPI</a>:</p>{"".join(rows)}</html>'
    )


def page_of_error(name: str) -> str:
    """The page about an error, in Markdown. Raises RequestError: there is none of that name."""
    names = *ERRORS, *TITLES
    if name not in names:
        raise RequestError(404, f"/docs has no page {cut(name, _QUOTED)!r}; there are {', '.join(names)}")
    return page_of(name)
