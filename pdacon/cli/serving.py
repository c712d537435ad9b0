"""The server of `pdacon serve`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pdacon.base.quoting import did_you_mean
from pdacon.cli.failures import BadInput
from pdacon.cli.listening import listen
from pdacon.cli.models import load_model, require
from pdacon.cli.option_records import Serving
from pdacon.cli.waiting import waiting

if TYPE_CHECKING:
    from pdacon.integrations.json_reading import JsonReading

API_KEY = "PDACON_API_KEY"
_LONGEST = 1_000_000  # seconds; some timers of the system take no more than a few million


def serve_model(told: Serving) -> int:
    """Serve until a signal ends it; exit status 0.

    Raises BadInput: an option has no value that makes sense, the port is taken, the model cannot be loaded, a package
    is missing, or there is no key where one was announced.
    """
    _require_sensible(told)
    keys = keys_of(told.api_keys or (), told.api_key_file)
    needed = ("torch", "transformers", "starlette", "uvicorn", "pydantic", "prometheus_client", "pythonjsonlogger")
    require(*needed, extra="serve")
    if told.store is not None:
        _require_store(told.store)
    reading = _reading(told.json)
    port = _free(told.host, told.port)
    with waiting("loading PyTorch and transformers"):
        from pdacon.base.limits import Limits
        from pdacon.serving import ServerSettings, serve, write_json

    write_json()
    model, tokenizer = load_model(told.model)
    write_json()  # once more: loading has brought libraries that write as they like
    settings = ServerSettings(
        model_name=told.name or ("tiny" if told.model is None else told.model),
        api_keys=keys,
        limits=Limits(seconds=told.compile_seconds),
        compile_workers=told.compile_workers,
        compile_in=told.compile_in,
        max_requests=told.max_requests,
        batch_size=told.batch_size,
        cache_tokens=told.cache_tokens,
        cache_bytes=told.cache_mib << 20,
        cache_directory=told.cache,
        cache_store=told.store,
        tool_format=told.tool_format,
        json=reading,
        max_tokens=told.max_tokens,
        shutdown_delay_seconds=told.drain_delay,
        shutdown_seconds=told.drain_seconds,
    )
    serve(model, tokenizer, host=told.host, port=port, settings=settings)
    return 0


def _require_sensible(told: Serving) -> None:
    """Say what is wrong with options before anything is loaded: an empty host, say, would be every address.

    Raises BadInput.
    """
    seconds = (("--compile-seconds", told.compile_seconds), ("--drain-delay", told.drain_delay))
    for option, number in (*seconds, ("--drain-seconds", told.drain_seconds)):
        if not 0 <= number <= _LONGEST:
            raise BadInput(f"{option} is a number of seconds of at most {_LONGEST:,}, not {number:g}")
    texts = (("--model", told.model), ("--host", told.host), ("--served-model-name", told.name))
    for option, text in (*texts, ("--store", told.store)):
        if text is not None and not text.strip():
            raise BadInput(f"{option} is empty; leave it out, or give it a value")
    from pdacon.frontends.tool_formats import FORMATS

    if told.tool_format != "auto" and told.tool_format not in FORMATS:
        near = did_you_mean(told.tool_format[:60], tuple(FORMATS))
        raise BadInput(f"--tool-format {told.tool_format!r:.60}: {near}there are auto, {', '.join(FORMATS)}")
    for option, path in (("--cache", told.cache), ("--api-key-file", told.api_key_file)):
        if path == Path():  # what an empty text becomes
            raise BadInput(f"{option} is empty, or the folder that you are in; give its path")


def _reading(said: str | None) -> JsonReading:
    """How JSON is written. Raises BadInput."""
    from pdacon.integrations.json_reading import JsonReading

    try:
        return JsonReading() if said is None else JsonReading.of_json(said)
    except ValueError as error:
        raise BadInput(f"--json: {error}") from None


def keys_of(given: Sequence[str], file: Path | None) -> tuple[str, ...]:
    """The keys of the command line, of ``PDACON_API_KEY`` and of a file, each once.

    Raises BadInput: a place for keys is named and has none: the server would be open. Or a key cannot be sent.
    """
    keys = list(given)
    if (variable := os.environ.get(API_KEY)) is not None:
        keys += _some(variable.split(), f"{API_KEY} is set, and no key is in it; unset it")
    if file is not None:
        try:
            lines = file.read_text("utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise BadInput(f"--api-key-file {file}: it is no UTF-8") from error
        keys += _some(
            filter(None, map(str.strip, lines)), f"--api-key-file {file}: it has no key; write each on a line"
        )
    for key in keys:
        if not key or key != key.strip() or not key.isprintable():
            raise BadInput(
                "an API key is empty, begins or ends with a blank, or has what no header can carry; give another"
            )
    return tuple(dict.fromkeys(keys))


def _some(keys: Iterable[str], otherwise: str) -> list[str]:
    listed = list(keys)
    if not listed:
        raise BadInput(otherwise)
    return listed


def _require_store(url: str) -> None:
    """Say what is wrong with a store before the model is loaded.

    Raises BadInput.
    """
    from pdacon.front.stores import ObjectStore

    try:
        ObjectStore(url)
    except Exception as error:  # each backend has its own
        raise BadInput(f"--store {url}: {error}") from error


def _free(host: str, port: int) -> int:
    """The port, or a free one for 0; it is asked for before the model is loaded, which takes long."""
    with listen(host, port) as listening:
        return int(listening.getsockname()[1])
