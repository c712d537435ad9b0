"""What was given in place of a grammar, told apart by its looks, and what to say where it is none.

A text and a name are told apart by their looks, and a str is never taken for a path: what comes from elsewhere, such as
a request to a server, must not decide which files are read.
"""

from __future__ import annotations

import re
from typing import NoReturn

from pdacon.base.languages import BY_ENDING
from pdacon.grammar.habits import is_json

_ENDINGS = (".lark", *BY_ENDING)
_NAME = re.compile(r"\s*[\w-]+\s*")


def is_builtin_name(caller: str, given: str) -> bool:
    """Whether a str is the name of a built-in grammar rather than a text in Lark's language.

    Raises
    ------
    ValueError
        It is neither: JSON, or something like the path of a file.
    """
    if _NAME.fullmatch(given):
        return True
    if is_json(given):
        raise ValueError(
            f"{caller}: this text is JSON, not a grammar; of a JSON Schema pdacon.Grammar.from_json_schema makes one"
        )
    is_path = ":" not in given or given.endswith(_ENDINGS)
    if given.strip() and "\n" not in given and "%" not in given and is_path:
        if given.endswith(".pda"):
            raise ValueError(
                f"{caller}: grammar={given!r} looks like the path of a saved constraint; load it with "
                f"pdacon.Constraint.load({given!r})"
            )
        raise ValueError(
            f"{caller}: grammar={given!r:.80} is neither the name of a built-in grammar nor the text of one; for a "
            f"file give pathlib.Path({given!r:.60}), for a regular expression pdacon.Grammar.from_regex({given!r:.60})"
        )
    return False


def refuse_object(caller: str, given: object) -> NoReturn:
    """Raises TypeError for what is neither a text nor a type nor a function."""
    from pdacon.grammar.settings import schema_advice  # brings lark along

    advice = schema_advice(given) or "; of a lark.Lark, make one with Grammar.from_lark"
    raise TypeError(
        f"{caller}: grammar must be a pdacon.Grammar, the name of a built-in one, a pathlib.Path or the text of a "
        f"grammar, not {type(given).__name__}{advice}"
    )


def refuse_instance(caller: str, given: object) -> NoReturn:
    """Raises TypeError for an instance that can be called, but is no function."""
    from pdacon.grammar.settings import schema_advice  # brings lark along

    advice = schema_advice(given) or "; of a function or a class, give that"
    raise TypeError(f"{caller}: grammar must not be an object of the class {type(given).__name__}{advice}")
