"""A server whose answers are in a grammar, for clients of OpenAI's and of Anthropic's interfaces.

In: HTTP requests that say what their answers must be (``response_format``, ``tools``, a grammar, a regular
expression), a model and its tokenizer. Out: answers, whole or as they are written; each is what was asked for, or the
request is an error. Nothing is answered without the constraint that the request names.

`application` has the routes, `keys` who may ask, `bodies` reads what they send, `prompts` makes tokens of it;
`preparing` does what takes long of that in threads beside the event loop. `protocol` says what requests may contain,
`fields` what is said of all else, `response_formats` what their answers must be, `requested_tools` which calls they may
have, `tool_format` how the model writes these; `request_constraints` makes constraints of that, once each and beside
the running requests; `engine` runs the model, all requests in one batch, with `token_choice` choosing their tokens;
`writing` makes events of tokens: what is a thought, a text or a call. `answers` is the one stream of them, which
`chat`, `completions` and `lorax` write as their clients want it, and so do `responses` and `anthropic_messages`, as
`blocks`; the requests of these two are read as those of chats. `describing` says what can be asked.
`failures` and `advice` say what is wrong with a request. `accounts` counts and logs what becomes of each one, by
`metrics` and `logs`; `draining` brings all to an end, and `running` is the server's process, with its `connections`.

Does not know: automata, masks (`pdacon.integrations.huggingface` applies them).

Needs ``pip install 'pdacon[serve]'``. Sources: OpenAI's API reference of chat completions, completions and responses;
Anthropic's of messages; LoRAX's ``/generate``.
"""

from __future__ import annotations

try:
    import prometheus_client  # noqa: F401
    import pydantic  # noqa: F401
    import pythonjsonlogger  # noqa: F401
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise ImportError(f"pdacon.serving needs {error.name}; install it with: pip install 'pdacon[serve]'") from error

from pdacon.serving.application import create_app
from pdacon.serving.logs import write_json
from pdacon.serving.running import serve
from pdacon.serving.settings import ServerSettings

__all__ = ["ServerSettings", "create_app", "serve", "write_json"]
