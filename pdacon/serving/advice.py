"""What errors advise, for those who ask over HTTP: they have no Python here, and no command line."""

from __future__ import annotations

import json
import re
from typing import Any

from pdacon.errors import NondeterministicGrammarError, PdaconError

_SHOWN = 80  # characters of a value that a message quotes
LONGEST = 2_000
"""Characters of a message; what it quotes of a request may be as long as the request."""
_REPAIRS = 2  # of the first findings; each may have several lines

# How the library's messages name what cannot be given in a request, and what can be done there.
_REPLACED = tuple(
    (re.compile(pattern), advice)
    for pattern, advice in (
        (r"raise it with pdacon\.Limits\(\w+=\.\.\.\)", "make it smaller"),
        (r"give it more seconds", "make it smaller"),
        (r"\n[^\n]*print\(error\.report\.render\(\)\)[^\n]*", ""),
        (r"\n?Or (?:accept Lark's choice|settle it) with conflicts=\"shift\"(?:: [^\n]*|\.)?", ""),
        (r"(?:, or )?(?:accept (?:Lark's choice|the loss)|settle it) with (?:conflicts|lookahead)=\"\w+\"", ""),
        (r"; conflicts=\"shift\" takes the one that the grammar has first", ""),
        (
            r"; nothing is fetched: give it with registry=\{.*?\)\}",
            "; nothing is fetched: write it into the schema, under $defs",
        ),
        (r", or (?:allow it to be dropped|have those of the text counted) with lax=True", ""),
        (r" \(closed=True, or extra=\"forbid\" of a class\)", ""),
        (r" and give spelling=Spelling\(order=\"any\"\)", ""),
        (r"; Spelling\(order=\"any\"\) takes any order of few members", ""),
        (r" \(pdacon\.Grammar\.from_(gbnf|ebnf)\)", ""),
        (r" is for pdacon\.Grammar\.from_llguidance", " has it on its first line"),
        (r"; of a JSON Schema pdacon\.Grammar\.from_json_schema makes one", "; a JSON Schema is given as json_schema"),
        (r"; Grammar\.from_file reads one from a file", ""),
        (r"give its folder with import_paths=, or .* relative import", "write its rules into the grammar"),
        (r"define it, or give start= one of the rules: .*", "define it"),
        (r"; use pdacon\.Grammar\.compose", "; write its rules into the grammar"),
        (r"[,;] or name a set of tokens \(Vocabulary\.with_labels, Grammar\.from_lark with extensions=True\)", ""),
        (r"max_chars=\.\.\.", "max_chars"),
        (r"matcher\(budget=\.\.\.\) bounds", "max_tokens bounds"),
        (r"; (?:[^;]*? )?(?:say which it is|give it one), as in vocabulary\.with_\w+\(.*", "; the model has none"),
        (r"give extensions=True for what docs/extensions\.md has under this name, or the group", "give the group"),
        (r"; at the start of all, where the tokenizer decodes it without, say matcher\(strip_leading_space=True\)", ""),
        (r"; `pdacon check --tokenizer` says more", ""),
        (r"(?:, or|;) `pdacon check`[^;\n]*", ""),
    )
)


def described(error: PdaconError) -> str:
    """What is wrong with a grammar or schema, and what its author can do about it in a request."""
    if isinstance(error, NondeterministicGrammarError):
        errors = error.report.at_least("error")
        repairs = [f"Repair: {finding.repair}" for finding in errors[:_REPAIRS] if finding.repair is not None]
        return in_requests("\n".join([error.report.excerpt(), *repairs]))
    return in_requests(str(error))


def in_requests(text: str) -> str:
    """A message without what only Python or the command line can do; cut where it is long."""
    text = cut(text, LONGEST)
    for pattern, advice in _REPLACED:
        text = pattern.sub(advice, text)
    return text


def cut(text: str, most: int) -> str:
    """A text without its middle where it is long."""
    half = most // 2 - 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"


def shown(value: Any) -> str:
    """A value of a request as a message quotes it: texts in quotes, all else as JSON; cut where it is long."""
    if isinstance(value, str):
        return repr(cut(value, _SHOWN))
    return cut(json.dumps(value, ensure_ascii=False), _SHOWN)
