"""What the environment says: the processes of vLLM have it in common, and nothing else that is ours."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from dataclasses import dataclass
from functools import partial

from pdacon.base.limits import Limits
from pdacon.integrations.json_reading import JsonReading, reading_of

WANTED = "PDACON_VLLM"
SECONDS = "PDACON_VLLM_SECONDS"
CACHE = "PDACON_VLLM_CACHE"
STORE = "PDACON_VLLM_STORE"
JSON = "PDACON_VLLM_JSON"
_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """How grammars are compiled."""

    limits: Limits  # of each
    cache_directory: str  # where the front end leaves what it has compiled for the engine
    cache_store: str | None  # through what other machines have it, too
    reading: JsonReading  # of the JSON Schemas of requests


def is_wanted() -> bool:
    """Whether ``PDACON_VLLM`` asks for pdacon.

    Raises ValueError: it is neither 0 nor 1: what was meant as yes must not be a no.
    """
    said = os.environ.get(WANTED, "").strip()
    if said not in ("", "0", "1"):
        raise ValueError(f"{WANTED} is {said!r}; write {WANTED}=1 for pdacon in vLLM, or 0")
    return said == "1"


def read_settings() -> VllmSettings:
    """The settings of this process and of those that it starts.

    If no folder is named, one is made for as long as this process runs, and named in the environment.

    Raises ValueError.
    """
    said = os.environ.get(SECONDS, "")
    try:
        seconds = float(said) if said else _SECONDS
        limits = Limits(seconds=seconds)
    except ValueError as error:
        raise ValueError(f"{SECONDS} is {said!r}; it is a number of seconds, 0 for no limit") from error
    reading = reading_of(JSON)
    if not os.environ.get(CACHE):
        folder = tempfile.mkdtemp(prefix="pdacon-vllm-")
        os.environ[CACHE] = folder
        atexit.register(partial(_remove, folder, os.getpid()))
    return VllmSettings(limits, os.environ[CACHE], os.environ.get(STORE) or None, reading)


def _remove(folder: str, owner: int) -> None:
    """Remove the folder that a process has made; its forks, which have the same hooks, leave it alone."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
