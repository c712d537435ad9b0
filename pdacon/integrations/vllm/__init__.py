"""vLLM: pdacon as the back end of its structured outputs, for every request of an engine.

vLLM loads `register` by the entry point ``vllm.general_plugins`` in each of its processes. Nothing happens unless the
environment says ``PDACON_VLLM=1``; then there is no other back end in the engine: a request that pdacon cannot hold to
its format is refused, and vLLM does not start where pdacon does not fit it.

`environment_settings` reads the environment, `requests` checks requests and compiles what they ask for, `backend` and
`tracking` are what vLLM's scheduler calls, `figures` are for its ``/metrics``, `plugin` puts them in. Only `plugin`
imports vLLM. Written for vLLM 0.32 and 0.33.
"""

from __future__ import annotations

from pdacon.integrations.vllm.environment_settings import is_wanted


def register() -> None:
    """Make pdacon the back end of structured outputs if the environment says so; for vLLM, which calls this.

    Raises
    ------
    ValueError
        A variable of the environment cannot be read.
    RuntimeError
        vLLM is one that this was not written for.
    """
    if not is_wanted():
        return
    from pdacon.integrations.vllm.plugin import install

    install()


__all__ = ["register"]
