"""The options of `Grammar.from_lark` by name: `builtin` and `from_file` take them, too."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from pdacon.grammar.model import ConflictPolicy, ImportPath, LexerKind, LookaheadPolicy, PriorityPolicy


class LarkOptions(TypedDict, total=False):
    """What `Grammar.from_lark` takes beside the text; `Grammar.from_lark` says what each is."""

    start: str | Sequence[str]
    lexer: LexerKind
    conflicts: ConflictPolicy
    lookahead: LookaheadPolicy
    postlex: Any
    g_regex_flags: int
    use_bytes: bool
    priority: PriorityPolicy | None
    maybe_placeholders: bool
    source_path: str | os.PathLike[str] | None
    import_paths: Sequence[ImportPath | os.PathLike[str]]
    extensions: bool
    sets: Mapping[str, Any] | None
