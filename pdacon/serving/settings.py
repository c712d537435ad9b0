"""What a server is told when it starts."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Literal

from pdacon.base.limits import Limits
from pdacon.frontends.tool_formats import FORMATS
from pdacon.integrations.json_reading import JsonReading


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server behaves. All have defaults that hold against requests from strangers.

    Attributes
    ----------
    model_name : str
        What ``/v1/models`` lists, and requests call the model.
    api_keys : tuple of str
        One of them is asked for on every path but ``/health`` and ``/metrics``. Empty: none is.
        ``repr`` leaves them out.
    max_body_bytes : int
        Of a request; a longer one is refused with 413 before it is read to its end.
    read_seconds : float
        How long the head of a request may take to be whole, and then its body, which is refused with 408. `serve` sees
        to the head; what else runs `create_app` has limits of its own.
    prepare_workers : int
        How many requests are read, rendered and tokenized at the same time, beside the event loop.
    template_seconds : float
        How long the model's chat template may take for the messages of a request.
    max_grammar_bytes : int
        Of the schema, grammar or regular expression in a request.
    limits : Limits
        Of the compilation of one grammar; ``seconds`` counts the front end, too.
    compile_workers : int
        How many grammars are compiled at the same time.
    compile_in : str
        ``"processes"``: each in a process of its own, of which there are as many as `compile_workers` at most; a
        grammar cannot hold up anything else then, and a process that does not keep to its time is ended.
        ``"threads"``: in threads of this process, which needs less memory; a very large grammar holds Python's lock
        for some tenths of a second at a time then, and with it all answers.
    max_compiles : int
        How many compilations may run and wait together; with more a request is refused with 503. A format that is in
        memory, or that another request has compiled just now, is none of them.
    max_requests : int
        How many answers may be written and wait for room together; with more a request is refused with 503. As many
        requests may be read at a time, and wait for their constraints.
    max_choices : int
        The most answers to one request (``n``); never more than `max_requests`.
    batch_size : int
        How many answers are written at the same time.
    cache_tokens : int or None
        How many tokens the key-value cache has room for. None: what the accelerator has room for, and on the CPU
        64 tokens for each of 1,024.
    cache_bytes : int
        How much constraints may take that are kept, in memory and in the folder each.
    cache_directory : path, optional
        Where constraints outlive the process, and are shared with other servers.
    cache_store : str, optional
        A URL of fsspec's through which they are shared with other machines; see `pdacon.CompileCache`.
    tool_format : str
        How the model writes its thoughts and calls: ``"auto"``, as its chat template does; ``"json"``; or the name of
        another format of `pdacon.Grammar.from_tools`.
    json : JsonReading
        How the JSON Schemas of requests are read that do not say it of themselves, in their member ``x-pdacon``.
    max_tokens : int or None
        The most tokens of an answer whose request does not say so. None: what the model's context has room for.
    shutdown_delay_seconds : float
        How long requests are taken as before after ``/ready`` has begun to say no, once the server is told to stop.
    shutdown_seconds : float
        How long answers that are being written may take after that; then each ends with an error.
    hang_seconds : float
        How long a step of the model may take; after that its answers end with an error, and ``/health`` says no.
    """

    model_name: str = "pdacon"
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    max_body_bytes: int = 4 << 20
    read_seconds: float = 30.0
    prepare_workers: int = 2
    template_seconds: float = 2.0
    max_grammar_bytes: int = 512 << 10
    limits: Limits = field(default_factory=lambda: Limits(seconds=10.0))
    compile_workers: int = 2
    compile_in: Literal["processes", "threads"] = "processes"
    max_compiles: int = 64
    max_requests: int = 256
    max_choices: int = 16
    batch_size: int = 32
    cache_tokens: int | None = None
    cache_bytes: int = 1 << 30
    cache_directory: str | os.PathLike[str] | None = None
    cache_store: str | None = None
    tool_format: str = "auto"
    json: JsonReading = field(default_factory=JsonReading)
    max_tokens: int | None = None
    shutdown_delay_seconds: float = 0.0
    shutdown_seconds: float = 30.0
    hang_seconds: float = 300.0

    def __post_init__(self) -> None:
        counts = ("max_body_bytes", "max_grammar_bytes", "compile_workers", "max_compiles", "max_requests")
        for name in (*counts, "max_choices", "batch_size", "prepare_workers"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"Settings: {name} is a number of at least 1, not {value!r}")
        if self.tool_format != "auto" and self.tool_format not in FORMATS:
            known = ", ".join(("auto", *FORMATS))
            raise ValueError(f"Settings: tool_format is one of {known}, not {self.tool_format!r}")
        if not isinstance(self.json, JsonReading):
            raise ValueError(f"Settings: json is a JsonReading(...), not {self.json!r:.40}")
        if self.compile_in not in ("processes", "threads"):
            raise ValueError(f'Settings: compile_in is "processes" or "threads", not {self.compile_in!r}')
        for name in ("cache_tokens", "max_tokens"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ValueError(f"Settings: {name} is None or a number of at least 1, not {value!r}")
        times = ("shutdown_delay_seconds", "shutdown_seconds", "hang_seconds", "read_seconds", "template_seconds")
        for name in times:
            seconds = getattr(self, name)
            if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
                raise ValueError(f"Settings: {name} is a number of seconds, 0 or more, not {seconds!r}")
        if isinstance(self.api_keys, str) or not all(isinstance(key, str) and key for key in self.api_keys):
            raise ValueError("Settings: api_keys is a tuple of texts that are not empty")
        if any(key != key.strip() or not key.isprintable() for key in self.api_keys):
            raise ValueError("Settings: a key of api_keys begins or ends with a blank, or has what no header can carry")
