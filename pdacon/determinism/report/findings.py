"""Findings as data: what was found, where, with which witness, and what to write instead.

In: what the checks say. Out: records that render themselves as JSON; text, trees, SARIF and annotations are made of
them next door. Nothing here knows how a finding was made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

from pdacon.base.html import preformatted
from pdacon.base.quoting import quote
from pdacon.determinism.report.sizes import Sizes
from pdacon.grammar import Span

DOT = "•"
"""Where the parser has to decide."""

_DEEPEST_IN_JSON = 60  # JSON nests twice as deep as a tree, and its readers and writers recurse

Level = Literal["error", "warning", "note"]

#: Levels, worst first.
LEVELS: tuple[Level, ...] = get_args(Level)

#: What each id means. Ids are stable; a retired id is never given to something else.
TITLES: Mapping[str, str] = MappingProxyType(
    {
        "PDA001": "shift/reduce conflict",
        "PDA002": "reduce/reduce conflict",
        "PDA003": "reduce/reduce conflict settled by priority",
        "PDA004": "cyclic reads relation",
        "PDA005": "colliding terminals",
        "PDA006": "unbounded lookahead",
        "PDA007": "empty language",
        "PDA008": "unsupported",
        "PDA009": "terminal that nothing produces",
        "PDA010": "terminal that is never matched",
        "PDA011": "keyword that is not reserved",
        "PDA012": "pattern that matches less than it denotes",
        "PDA013": "never used",
        "PDA014": "rule that derives no text",
        "PDA015": "lexical dead end",
        "PDA016": "endless ignored text",
        "PDA017": "bytes that the vocabulary cannot spell",
        "PDA018": "lookahead of more than one byte",
        "PDA019": "text cut by priority",
        "PDA020": "words that need no blank between them",
        "PDA021": "label that text may hide",
        "PDA022": "labels that share tokens",
        "PDA023": "operator read as part of the next word",
    }
)


@dataclass(frozen=True, slots=True)
class Witness:
    """A shortest input that shows a finding.

    Parameters
    ----------
    symbols : tuple of str
        Terminals of the input, in the author's names; a rule's name stands where spelling it out would be long.
    position : int
        The decision is due before ``symbols[position]``.
    text : bytes or None
        The bytes that show a lexical finding.
    loop : bytes or None
        For unbounded lookahead: ``text + loop * n`` leaves the decision open for every n.
    tokens : tuple of int or None
        Token ids that spell ``text + loop``, where the checker was given a vocabulary that can.
    pieces : tuple of bytes or None
        The texts of these tokens.
    """

    symbols: tuple[str, ...] = ()
    position: int = 0
    text: bytes | None = None
    loop: bytes | None = None
    tokens: tuple[int, ...] | None = None
    pieces: tuple[bytes, ...] | None = None

    def __str__(self) -> str:
        shown = [*self.symbols[: self.position], DOT, *self.symbols[self.position :]] if self.symbols else []
        if self.text is not None:
            again = "" if self.loop is None else f", then {quote(self.loop)} any number of times"
            if self.position < len(self.symbols):  # else the text would read like one more symbol
                shown[-1] += ", text"
            shown.append(f"{quote(self.text)}{again}")
        return " ".join(shown) + spelling(self.tokens, self.pieces)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; bytes that are not UTF-8 appear as ``\\xNN``."""
        return dict(json_ready(self))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Derivation:
    """One reading of a sentence: a node of a derivation tree, which can be deep. A value; nothing of it recurses.

    Parameters
    ----------
    symbol : str
        The author's name of a rule or terminal.
    children : tuple of Derivation or None
        What the rule was expanded to, empty for an empty production; None for a leaf that is left as it stands: a
        terminal, or a rule that need not be spelt out.
    """

    symbol: str
    children: tuple[Derivation, ...] | None = None

    def leaves(self) -> tuple[str, ...]:
        """The sentence: symbols of the leaves from left to right. Linear in the tree, which may be deep."""
        found: list[str] = []
        pending = [self]
        while pending:
            node = pending.pop()
            if node.children is None:
                found.append(node.symbol)
            else:
                pending.extend(reversed(node.children))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: ``symbol`` and ``children``; of a node 60 levels down these are its leaves."""
        whole = _json_node(self)
        pending = [(self, whole, 1)]
        while pending:
            node, record, depth = pending.pop()
            children = node.children
            if children is not None and depth == _DEEPEST_IN_JSON:
                children = tuple(map(Derivation, node.leaves()))
            if children is not None:
                record["children"] = list(map(_json_node, children))
                pending += [(child, made, depth + 1) for child, made in zip(children, record["children"], strict=True)]
        return whole

    def _preorder(self) -> tuple[tuple[str, int], ...]:
        """Of each node, before those below it, its symbol and how many children it has; -1: it is a leaf."""
        found: list[tuple[str, int]] = []
        pending = [self]
        while pending:
            node = pending.pop()
            found.append((node.symbol, -1 if node.children is None else len(node.children)))
            pending += reversed(node.children or ())
        return tuple(found)

    def __eq__(self, other: object) -> bool:
        return self._preorder() == other._preorder() if isinstance(other, Derivation) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._preorder())

    def __repr__(self) -> str:
        pieces: list[str] = []
        pending: list[Derivation | str] = [self]
        while pending:
            node = pending.pop()
            if isinstance(node, str):
                pieces.append(node)
            elif not node.children:
                pieces.append(f"Derivation({node.symbol!r}{', ()' if node.children == () else ''})")
            else:
                pieces.append(f"Derivation({node.symbol!r}, (")
                pending += ["))", *(part for child in reversed(node.children) for part in (", ", child))]
        return "".join(pieces)

    def __reduce__(self) -> tuple[Any, ...]:
        return _grown, (self._preorder(),)


def _grown(preorder: Sequence[tuple[str, int]]) -> Derivation:
    made: list[Derivation] = []  # those that are no children yet, the first one last
    for symbol, count in reversed(preorder):
        children = None if count < 0 else tuple(made.pop() for _ in range(count))
        made.append(Derivation(symbol, children))
    return made[0]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two readings that the parser cannot tell apart where it has to decide.

    Parameters
    ----------
    unifying : bool
        True: both readings derive the same sentence of one symbol, so that the grammar is ambiguous. False: only the
        first ``position`` leaves are the same.
    first : Derivation
        The reading that takes Lark's choice: the shift, or for reduce/reduce the first production.
    second : Derivation
        The other one.
    position : int
        The decision is due before leaf ``position``.
    first_text, second_text : bytes or None
        Texts of the two sentences, where they can be spelled; one text twice if ``unifying``.
    complete : bool
        False: the search for a sentence that has both readings was cut short by its time limit.
    first_tokens, second_tokens : tuple of int or None
        Token ids that spell the texts, where the checker was given a vocabulary that can.
    first_pieces, second_pieces : tuple of bytes or None
        The texts of these tokens.
    """

    unifying: bool
    first: Derivation
    second: Derivation
    position: int
    first_text: bytes | None = None
    second_text: bytes | None = None
    complete: bool = True
    first_tokens: tuple[int, ...] | None = None
    second_tokens: tuple[int, ...] | None = None
    first_pieces: tuple[bytes, ...] | None = None
    second_pieces: tuple[bytes, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; bytes that are not UTF-8 appear as ``\\xNN``."""
        return {
            "unifying": self.unifying,
            "position": self.position,
            "first": _json_reading(self.first, self.first_text, self.first_tokens, self.first_pieces),
            "second": _json_reading(self.second, self.second_text, self.second_tokens, self.second_pieces),
            "complete": self.complete,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the checker has to say.

    Parameters
    ----------
    id : str
        Stable, a key of ``TITLES``.
    level : {"error", "warning", "note"}
        ``compile`` refuses a grammar with an error.
    title : str
        A few words, with the symbols concerned.
    message : str
        What happens and why; lines are separated by ``\\n``.
    span : Span or None
        Where in the grammar's text, if known.
    symbols : tuple of str
        Names of the terminals and rules concerned; for a conflict the lookahead terminals first.
    witness : Witness or None
        A shortest input that shows it.
    repair : str or None
        What to write instead, where known.
    cause : str or None
        For a conflict what kind it is, a stable word such as ``"dangling-else"``.
    counterexample : Counterexample or None
        For a conflict two readings of what the parser sees.
    related : tuple of (str, Span)
        Further places, each with a few words on what is there.
    """

    id: str
    level: Level
    title: str
    message: str
    span: Span | None = None
    symbols: tuple[str, ...] = ()
    witness: Witness | None = None
    repair: str | None = None
    cause: str | None = None
    counterexample: Counterexample | None = None
    related: tuple[tuple[str, Span], ...] = ()

    def __post_init__(self) -> None:
        if self.id not in TITLES or self.level not in LEVELS:
            raise ValueError(f"no such finding or level: {self.id!r}, {self.level!r}")

    @property
    def example(self) -> str:
        """What shows it, with a dot where the parser has to decide; empty where nothing is known that does."""
        if self.counterexample is None:
            return "" if self.witness is None else str(self.witness)
        leaves, at = self.counterexample.first.leaves(), self.counterexample.position
        return " ".join([*leaves[:at], DOT, *leaves[at:]])

    def _repr_html_(self) -> str:
        """What a report has of it but for the source lines and the trees, which need the whole report."""
        place = "" if self.span is None else f"{self.span}: "
        lines = [f"{place}{self.level}[{self.id}]: {self.title}", *(f"    {line}" for line in self.message.split("\n"))]
        if self.counterexample is not None or self.witness is not None:
            lines.append(f"    for example: {self.example}")
        if self.repair is not None:
            lines += [f"    {line}" for line in f"repair: {self.repair}".split("\n")]
        return preformatted("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            **json_ready(replace(self, counterexample=None)),
            "counterexample": None if self.counterexample is None else self.counterexample.to_dict(),
            "related": [{"label": label, "span": json_ready(span)} for label, span in self.related],
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no report of a grammar, for the formats that show reports to others."""

    path: str
    message: str
    span: Span | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: as of a report ``subject`` and ``ok``, and ``error`` with its ``message`` and ``span``."""
        return {"subject": self.path, "ok": False, "error": {"message": self.message, "span": json_ready(self.span)}}


@dataclass(frozen=True, slots=True)
class Findings:
    """What renderings show of a report: its fields, which the docstring of `pdacon.DeterminismReport` says."""

    subject: str
    findings: tuple[Finding, ...]
    conflicts: str
    lookahead: str
    source: str = field(default="", repr=False)
    sizes: Sizes | None = None
    imported_files: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    unfinished: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if no finding is an error: ``compile`` takes the grammar."""
        return not self.at_least("error")

    def at_least(self, level: Level) -> tuple[Finding, ...]:
        """The findings that are as bad as ``level`` or worse. ValueError if there is no such level."""
        if level not in LEVELS:
            raise ValueError(f"level={level!r}: expected one of {', '.join(map(repr, LEVELS))}")
        worst = LEVELS[: LEVELS.index(level) + 1]
        return tuple(finding for finding in self.findings if finding.level in worst)

    def summary(self) -> str:
        """One line: verdict and counts."""
        counts = Counter(finding.level for finding in self.findings)
        counted = [f"{n} {level}{'s' if n > 1 else ''}" for level in LEVELS if (n := counts[level])]
        return f"{self.subject}: {'ok' if self.ok else 'refused'} ({', '.join(counted) or 'no findings'})"


def _json_reading(tree: Derivation, text: object, tokens: object, pieces: object) -> dict[str, Any]:
    spelt = {"text": text, "tokens": tokens, "pieces": pieces}
    return {"derivation": tree.to_dict(), **{name: json_ready(value) for name, value in spelt.items()}}


def _json_node(node: Derivation) -> dict[str, Any]:
    return {"symbol": node.symbol, "children": None}


def json_ready(value: Any) -> Any:
    """Records as dicts of their fields, tuples as lists, bytes as text; what is not UTF-8 in them as ``\\xNN``."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, tuple):
        return [json_ready(item) for item in value]
    if is_dataclass(value):
        return {each.name: json_ready(getattr(value, each.name)) for each in fields(value)}
    return value


def spelling(tokens: tuple[int, ...] | None, pieces: tuple[bytes, ...] | None) -> str:
    """What to add to a text: how tokens spell it, by their texts and ids; nothing where they do not."""
    if tokens is None:
        return ""
    texts = "" if pieces is None else f"{' '.join(map(quote, pieces))}: "
    return f" (tokens {texts}{' '.join(map(str, tokens))})"
