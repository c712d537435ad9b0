"""SGLang: pdacon as a grammar back end, by ``--grammar-backend pdacon``.

SGLang loads `register` by the entry point ``sglang.srt.plugins`` in each of its processes, which makes the back end
known by its name. `backend` is what SGLang's scheduler calls. Written for SGLang 0.5.23.
"""

from __future__ import annotations

NAME = "pdacon"


def register() -> None:
    """Make the back end known; for SGLang, which calls this."""
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend
    from sglang.srt.server_args import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices

    from pdacon.integrations.sglang.backend import create

    if NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([NAME])
    register_grammar_backend(NAME, create)


__all__ = ["NAME", "register"]
