"""``--postlex``: an Indenter by a short name, or as ``module:name``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdacon.cli.failures import BadInput
from pdacon.cli.imported import imported
from pdacon.errors import PdaconError

if TYPE_CHECKING:
    from pdacon.grammar.model import Indentation


def load_postlexer(name: str) -> Indentation | None:
    """What a short name stands for, or what a module has under a name. The module is imported.

    It is found where ``python -m`` would find it, so first in the current directory.

    Raises BadInput: if it is neither, cannot be imported, or is no Indenter. UnsupportedGrammarError: if it is an
    Indenter that does something else.
    """
    from pdacon.grammar.indentation import SHORT_NAMES, read_postlex

    if name in SHORT_NAMES:
        return read_postlex(name)
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise BadInput(
            f"--postlex {name}: expected {' or '.join(SHORT_NAMES)}, or an Indenter of your own as MODULE:CLASS"
        )
    found = imported(name, f"--postlex {name}")
    try:
        return read_postlex(found)
    except PdaconError:
        raise
    except Exception as error:  # whatever a class raises when it is made
        raise BadInput(f"--postlex {name}: {type(error).__name__}: {error}") from error
