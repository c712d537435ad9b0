"""Formats -> pieces -> the grammar of a structural tag."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pdacon.base.cautions import caution
from pdacon.base.once import Once
from pdacon.errors import (
    EmptyLanguageError,
    GrammarError,
    UnsupportedGrammarError,
    UnsupportedSchemaError,
)
from pdacon.frontends.dialects import ebnf_grammar, gbnf_grammar
from pdacon.frontends.json_schema import Schema, Spelling, require_json
from pdacon.frontends.json_schema.calling import CallingExplorer
from pdacon.frontends.on_demand import OnDemand
from pdacon.frontends.structural_tags.free_text import FreeText
from pdacon.frontends.structural_tags.on_demand import UndecidedError, outer_places, schema_piece
from pdacon.frontends.structural_tags.pieces import (
    EMPTY,
    Piece,
    TextPiece,
    TextTokens,
    Token,
    either,
    grammar_piece,
    repeated,
    sequence,
    value_piece,
)
from pdacon.frontends.structural_tags.regular_grammars import sentences_of
from pdacon.frontends.structural_tags.styles import STYLES, StyledArguments
from pdacon.frontends.structural_tags.tag_formats import TagFormat, checked_text, malformed, root, special_names
from pdacon.grammar import GrammarData, GrammarOptions
from pdacon.grammar.expressions import OneOf
from pdacon.grammar.labels import Label, ids_of_name, label_without
from pdacon.grammar.lark_reading import read_text
from pdacon.regular import RegularSet

ANY_LABEL = label_without(())
_MOST_CHARACTERS = 5_000
_MOST_TIMES = 1_000
_MOST_TOKENS = 32_768
_SYNTAXES = {
    "ebnf": lambda text: ebnf_grammar(text, "root", None),
    "gbnf": lambda text: gbnf_grammar(text, None),
    "lark": lambda text: read_text(text, GrammarOptions()),
}


def structural_tag_grammar(
    tag: Any,
    spelling: Spelling | None = None,
    registry: Any = None,
    closed: bool = False,
    tokens: Collection[str] = (),
    styled: Callable[[StyledArguments], Piece] | None = None,
) -> GrammarData | OnDemand:
    """The grammar of the texts that a structural tag describes; see `Grammar.from_structural_tag`.

    ``styled`` makes arguments in styles other than JSON; None: there are none.
    """
    outermost = root(tag)
    reading = _Reading.of(spelling, closed, tokens, registry, styled)
    return _on_demand(outermost, reading) or _whole(outermost, reading)


def structural_tag_on_demand(
    tag: Any, *, spelling: Spelling | None = None, closed: bool = False, tokens: Collection[str] = ()
) -> OnDemand | None:
    """The same if it can be read on demand."""
    return _on_demand(root(tag), _Reading.of(spelling, closed, tokens))


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the JSON Schemas in a tag are read."""

    spelling: Spelling | None
    registry: Any
    closed: bool
    tokens: tuple[str, ...] = ()  # names of special tokens, the longest first
    styled: Callable[[StyledArguments], Piece] | None = None
    ids: frozenset[int] = frozenset()  # those of special tokens, where they are known

    def __post_init__(self) -> None:
        require_json("from_structural_tag", self.spelling)

    @classmethod
    def of(
        cls,
        spelling: Spelling | None,
        closed: bool,
        tokens: Collection[str],
        registry: Any = None,
        styled: Callable[[StyledArguments], Piece] | None = None,
    ) -> _Reading:
        """The same with the names of special tokens as a user gives them, perhaps with their ids."""
        ids = frozenset(tokens.values()) if isinstance(tokens, Mapping) else frozenset()
        return cls(spelling, registry, closed, special_names("from_structural_tag", tokens), styled, ids)


def _whole(outermost: TagFormat, reading: _Reading) -> GrammarData:
    from pdacon.frontends.structural_tags.making import made  # brings along what puts grammars together

    return made(_Translation(reading).piece(outermost, ()), _source(outermost), outermost.place)


def _on_demand(outermost: TagFormat, reading: _Reading) -> OnDemand | None:
    places = outer_places(lambda: _Translation(reading, on_demand=True).piece(outermost, ()))
    if places is None:
        return None
    schemas, outer = places
    documents = [schema.documents for schema in schemas]
    own = schemas[0].spelling if schemas else Spelling()
    key = (
        "structural tag on demand",
        _source(outermost),
        repr((reading.spelling, reading.closed, reading.tokens, sorted(reading.ids))),
    )
    whole = Once(lambda: _whole(outermost, reading))

    def explorer() -> CallingExplorer:
        return CallingExplorer(documents, own, outer.copied(), closed=reading.closed)

    return OnDemand(key, explorer, whole, "structural tag")


def _source(outermost: TagFormat) -> str:
    """The tag as JSON."""
    return json.dumps(outermost.given, ensure_ascii=False, default=float)


class _Translation:
    """Formats as pieces. ``ends`` are the texts that end the tag which a format lies in: free text stops there.

    ``on_demand``: schemas are no grammars, but symbols; what cannot be read so raises UndecidedError.
    """

    def __init__(self, reading: _Reading, *, on_demand: bool = False) -> None:
        self._reading, self._on_demand = reading, on_demand
        self._schemas: list[Schema] = []
        self._translators: dict[str, Callable[[TagFormat, tuple[str, ...]], Piece]] = {
            "const_string": self._const_string,
            "json_schema": self._json_schema,
            "qwen_xml_parameter": self._json_schema,
            "grammar": self._grammar,
            "regex": self._regex,
            "any_text": self._any_text,
            "any_tokens": self._any_tokens,
            "exclude_token": self._exclude_token,
            "token": self._token,
            "sequence": lambda node, ends: sequence(self._all(node.formats("elements"), ends)),
            "or": self._or,
            "optional": lambda node, ends: self._times(node, ends, 0, 1),
            "plus": lambda node, ends: self._times(node, ends, 1, None),
            "star": lambda node, ends: self._times(node, ends, 0, None),
            "repeat": self._repeat,
            "tag": self._tag,
            "triggered_tags": self._triggered_tags,
            "token_triggered_tags": self._token_triggered_tags,
            "tags_with_separator": self._tags_with_separator,
            "dispatch": self._dispatch,
            "token_dispatch": self._token_dispatch,
        }

    def piece(self, node: TagFormat, ends: tuple[str, ...]) -> Piece:
        """What a format stands for."""
        return self._translators[node.type](node, ends)

    def _all(self, formats: Iterable[TagFormat], ends: tuple[str, ...]) -> list[Piece]:
        return [self.piece(node, ends) for node in formats]

    def _possible(self, branches: Iterable[Callable[[], Piece]], needed: bool = True) -> list[Piece | None]:
        """Branches; None for each that no text takes, of which it is said. Raises if one is needed and none can be."""
        pieces = [_unless_empty(branch) for branch in branches]
        impossible = [piece for piece in pieces if isinstance(piece, EmptyLanguageError)]
        if needed and impossible and len(impossible) == len(pieces):
            raise impossible[0]
        for error in impossible:
            caution(f"{error}; so this alternative is left out")
        return [None if isinstance(piece, EmptyLanguageError) else piece for piece in pieces]

    def _alternatives(self, formats: Iterable[TagFormat], ends: tuple[str, ...], needed: bool = True) -> list[Piece]:
        """Formats that are alternatives, but those that no text matches."""
        return _those_that_can_be(self._possible([partial(self.piece, node, ends) for node in formats], needed))

    def _times(self, node: TagFormat, ends: tuple[str, ...], least: int, most: int | None) -> Piece:
        """The content of a format so many times."""
        content = self._alternatives([node.within("content")], ends, needed=least > 0)
        return repeated(content[0], least, most) if content else TextPiece(EMPTY, node.place)

    # What matches by itself

    def _const_string(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        return self._text(node.string("value"), node.place)

    def _regex(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        pattern = node.string("pattern")
        texts: RegularSet = self._within(node, "pattern", lambda: RegularSet.from_regex(pattern))
        if not texts:
            raise EmptyLanguageError(f"{node.place}/pattern: no text is matched by {pattern!r:.60}")
        return TextPiece(texts, node.place)

    def _json_schema(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        style = "qwen_xml" if node.type == "qwen_xml_parameter" else node.given.get("style", "json")
        if style not in STYLES:
            raise malformed(f"{node.place}/style", f"one of {', '.join(STYLES)}", style)
        blanks = node.number("max_whitespace_cnt")
        spelling = self._reading.spelling
        if blanks is not None:
            spelling = _with_fewer_blanks(spelling, blanks)
        if node.flag("any_order"):  # in any order, each that is required, and each once
            spelling = replace(spelling or Spelling(), order="any")
        if excludes := node.strings("excludes"):
            spelling = replace(spelling or Spelling(), excludes=excludes)
        schema = node.given.get("json_schema")
        if style != "json":
            return self._styled(node, style, schema, spelling or Spelling())

        described: Schema = self._within(
            node,
            "json_schema",
            lambda: Schema(schema, spelling=spelling, registry=self._reading.registry, closed=self._reading.closed),
        )
        place = f"{node.place}/json_schema"
        if not self._on_demand:
            return value_piece(self._within(node, "json_schema", described.grammar), place)
        self._schemas.append(described)
        if described.spelling != self._schemas[0].spelling:
            raise UndecidedError
        return schema_piece(described, place)

    def _styled(self, node: TagFormat, style: str, schema: Any, spelling: Spelling) -> Piece:
        """Arguments in a style other than JSON."""
        if self._on_demand:
            raise UndecidedError
        make = self._reading.styled
        assert make is not None
        if not isinstance(schema, bool | Mapping):
            raise malformed(f"{node.place}/json_schema", "a JSON Schema", schema)
        most = node.number("max_whitespace_cnt")
        blanks = RegularSet.from_regex(r"\n?" if most is None else rf"[ \n\t]{{0,{most}}}")
        place = f"{node.place}/json_schema"
        asked = StyledArguments(style, schema, spelling, self._reading.closed, blanks, place, self._reading.tokens)
        piece: Piece = self._within(node, "json_schema", lambda: make(asked))
        return piece

    def _grammar(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        if self._on_demand:
            raise UndecidedError
        text, syntax = node.string("grammar"), node.given.get("syntax", "ebnf")
        if not isinstance(syntax, str) or syntax not in _SYNTAXES:
            raise malformed(f"{node.place}/syntax", 'one of "ebnf", "gbnf", "lark"', syntax)
        grammar: GrammarData = self._within(node, "grammar", lambda: _SYNTAXES[syntax](text))
        place = f"{node.place}/grammar"
        sentences = sentences_of(grammar) if syntax != "lark" else None  # which says what a lexer takes
        return grammar_piece(grammar, place) if sentences is None else TextPiece(sentences, place)

    def _any_text(self, node: TagFormat, ends: tuple[str, ...]) -> Piece:
        most = node.number("max_chars")
        if most is not None and most > _MOST_CHARACTERS:
            raise node.refused(f"max_chars is {most:,}; it can be counted up to {_MOST_CHARACTERS:,}, so leave it out")
        stops = tuple(dict.fromkeys([*node.strings("excludes"), *self._spelled(ends)]))
        budget = _budget(node)
        if budget is None:
            return TextPiece(FreeText(stops, most).texts, node.place)
        if most is not None:
            raise node.refused("it counts tokens and characters; leave out one of max_tokens and max_chars")
        if stops:
            raise node.refused(
                f"max_tokens counts tokens, which may have {stops[0]!r:.40} in them with other text, so that nobody "
                "knows which of them are counted; let a special token end the tag (by its name, with "
                "tokens=vocabulary.special_tokens), or count characters with max_chars"
            )
        return self._tokens(node, ANY_LABEL, budget)

    def _any_tokens(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        return self._free_tokens(node, _budget(node))

    def _exclude_token(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        """One token with a text."""
        if self._on_demand:
            raise UndecidedError
        return TextTokens("a token", node.place, self._label_of(node), 1)

    def _free_tokens(self, node: TagFormat, most: int | None = None) -> Piece:
        """Any tokens with text but those excluded; text if it does not matter which tokens spell it."""
        label = self._label_of(node)
        if label == ANY_LABEL and most is None:
            return TextPiece(FreeText(()).texts, node.place)
        return self._tokens(node, label, most)

    def _tokens(self, node: TagFormat, label: Label, most: int | None) -> Piece:
        """Up to so many tokens, or none."""
        if self._on_demand:
            raise UndecidedError
        nothing = TextPiece(EMPTY, node.place)
        return nothing if most == 0 else OneOf((TextTokens("some tokens", node.place, label, most), nothing))

    def _label_of(self, node: TagFormat) -> Label:
        """The tokens with a text that a format does not exclude. No special token has one, so that none need be named:
        where nobody says which names these are, all in brackets are taken for some.
        """
        special, ids = self._reading.tokens, self._reading.ids
        excluded: list[int | str] = []
        for token in _excluded_tokens(node):
            if isinstance(token, int):
                is_special = token in ids
            else:
                in_brackets = (token[:1], token[-1:]) in (("<", ">"), ("[", "]"))
                is_special = token in special or (not special and in_brackets and ids_of_name(token) is None)
            if not is_special:
                excluded.append(token)
        return label_without(dict.fromkeys(excluded))

    def _token(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        if self._on_demand:
            raise UndecidedError
        (name,) = _names(node, [node.given.get("token")], "token")
        return Token(name, node.place)

    # What consists of others

    def _or(self, node: TagFormat, ends: tuple[str, ...]) -> Piece:
        pieces = self._alternatives(node.formats("elements"), ends)
        if not pieces:
            raise malformed(f"{node.place}/elements", "a list of formats that is not empty", [])
        return either(pieces)

    def _repeat(self, node: TagFormat, ends: tuple[str, ...]) -> Piece:
        least, most = node.number("min"), node.number("max", -1)
        if least is None or most is None or -1 < most < least:
            raise malformed(node.place, "a repetition with min and max (-1: no bound)", dict(node.given))
        if max(least, most) > _MOST_TIMES:
            raise node.refused(f"it is counted up to {max(least, most):,}; write at most {_MOST_TIMES:,}, or max: -1")
        return self._times(node, ends, least, None if most == -1 else most)

    def _tag(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        return sequence([self._begin(node), self._behind_begin(node)])

    def _begin(self, tag: TagFormat) -> Piece:
        begin = tag.given.get("begin")
        return self._text(tag.string("begin"), tag.place) if isinstance(begin, str) else self._token_of(tag, "begin")

    def _behind_begin(self, tag: TagFormat) -> Piece:
        """The content of a tag and its end."""
        end = tag.given.get("end")
        if isinstance(end, str | list | tuple):
            ends = (tag.string("end"),) if isinstance(end, str) else tag.strings("end", may_be_empty=True)
            if not ends:
                raise malformed(f"{tag.place}/end", "a text or some of them", end)
            stops = self._spelled(end for end in ends if end)
            closing = either([self._text(end, tag.place) for end in ends])
        else:
            stops, closing = (), self._token_of(tag, "end")
        return sequence([self.piece(tag.within("content"), stops), closing])

    def _token_of(self, tag: TagFormat, key: str) -> Piece:
        node = tag.within(key)
        if node.type != "token":
            raise malformed(node.place, 'a text or {"type": "token", "token": ...}', node.given)
        return self._token(node, ())

    # Free text with something else in it

    def _triggered_tags(self, node: TagFormat, ends: tuple[str, ...]) -> Piece:
        triggers = node.strings("triggers")
        fitting: list[str] = []
        tags: list[TagFormat] = []
        begins: set[str] = set()
        for tag in node.formats("tags", "tag"):
            begin = tag.string("begin")
            if begin in begins:
                raise tag.refused(f"there is a tag before it that begins with {begin!r:.60}, too; make them one")
            begins.add(begin)
            own = [trigger for trigger in triggers if begin.startswith(trigger)]
            if len(own) != 1:
                raise tag.refused(f"{len(own)} triggers are the beginning of {begin!r:.60}; one has to be")
            tags.append(tag)
            fitting += own
        unused = next((trigger for trigger in triggers if trigger not in fitting), None)
        if unused is not None:
            raise node.refused(f"no tag begins with the trigger {unused!r:.60}; add one, or put it into excludes")
        rules: dict[str, list[Piece]] = {trigger: [] for trigger in triggers}
        begun: list[Piece] = []
        contents = self._possible([partial(self._behind_begin, tag) for tag in tags], node.flag("at_least_one"))
        for tag, trigger, content in zip(tags, fitting, contents, strict=True):
            if content is not None:
                begin = tag.string("begin")
                rules[trigger].append(sequence([self._text(begin[len(trigger) :], tag.place), content]))
                begun.append(sequence([self._text(begin, tag.place), content]))
        return self._free_text_with(node, ends, rules, begun, not node.flag("stop_after_first"))

    def _dispatch(self, node: TagFormat, ends: tuple[str, ...]) -> Piece:
        rules: dict[str, list[Piece]] = {}
        for place, rule in enumerate(node.list("rules")):
            if not isinstance(rule, list | tuple) or len(rule) != 2 or not rule[0]:
                raise malformed(f"{node.place}/rules/{place}", "a text and a format", rule)
            if checked_text(rule[0], f"{node.place}/rules/{place}/0") in rules:
                raise node.refused(f"there are two rules for {rule[0]!r:.60}; make them one")
            rules[rule[0]] = self._alternatives([node.within("rules", place, 1)], ends, needed=False)
        # Unlike triggered_tags this does not stop at the end of the tag that it lies in: `excludes` says where it does.
        return self._free_text_with(node, (), rules, [], node.flag("loop", True))

    def _free_text_with(
        self,
        node: TagFormat,
        ends: tuple[str, ...],
        rules: dict[str, list[Piece]],
        begun: list[Piece],
        loops: bool,
    ) -> Piece:
        """Free text in which each of some strings goes on as its rules say; one without rules does not come in it."""
        excludes = node.strings("excludes")
        both = next((stop for stop in rules if stop in excludes or stop in ends), None)
        if both is not None:
            what = "is excluded" if both in excludes else "ends the tag that this lies in"
            raise node.refused(f"{both!r:.60} goes on with something, and {what}; it can be only one of the two")
        stops = tuple(dict.fromkeys([*self._spelled(rules), *excludes, *self._spelled(ends)]))
        for inner in self._spelled(rules):
            outer = next((stop for stop in stops if stop != inner and (inner in stop or stop in inner)), None)
            if outer is not None:
                raise node.refused(
                    f"of {inner!r:.60} and {outer!r:.60}, which the text stops at, one has the other in it, so that "
                    "nobody knows which one it is; leave one of them out, or make it longer"
                )
        free = FreeText(stops)
        at_least_one = node.type == "triggered_tags" and node.flag("at_least_one")
        possible = {stop: pieces for stop, pieces in rules.items() if pieces}
        rest = TextPiece(free.texts, node.place)
        if not possible:
            return _unless_needed(rest, node, at_least_one)
        dispatched = either([
            sequence([TextPiece(free.up_to(stop), node.place), either(pieces)])
            if stop in stops
            else sequence([rest, self._text(stop, node.place), either(pieces)])
            for stop, pieces in possible.items()
        ])  # fmt: skip
        if at_least_one:
            first = either(begun)
            return sequence([first, repeated(dispatched, 0, None), rest]) if loops else first
        return sequence([repeated(dispatched, 0, None), rest]) if loops else either([dispatched, rest])

    def _token_triggered_tags(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        triggers = _names(node, node.list("trigger_tokens"), "trigger_tokens")
        tags: list[TagFormat] = []
        for tag in node.formats("tags", "tag"):
            begin = self._token_of(tag, "begin")
            assert isinstance(begin, Token)
            if begin.name not in triggers:
                raise tag.refused(f"it begins with the token {begin.name!r:.60}, which is no trigger")
            tags.append(tag)
        at_least_one = node.flag("at_least_one")
        rules = _those_that_can_be(self._possible([partial(self._tag, tag, ()) for tag in tags], at_least_one))
        return self._tokens_in_text(node, rules, at_least_one, not node.flag("stop_after_first"))

    def _token_dispatch(self, node: TagFormat, ends: tuple[str, ...]) -> Piece:
        rules: list[Piece] = []
        for place, rule in enumerate(node.list("rules")):
            if not isinstance(rule, list | tuple) or len(rule) != 2:
                raise malformed(f"{node.place}/rules/{place}", "a token and a format", rule)
            if self._on_demand:
                raise UndecidedError
            (name,) = _names(node, [rule[0]], f"rules/{place}/0")
            contents = self._alternatives([node.within("rules", place, 1)], ends, needed=False)
            rules += [sequence([Token(name, node.place), content]) for content in contents]
        return self._tokens_in_text(node, rules, False, node.flag("loop", True))

    def _tokens_in_text(self, node: TagFormat, rules: list[Piece], at_least_one: bool, loops: bool) -> Piece:
        rest = self._free_tokens(node)
        if not rules:
            return _unless_needed(rest, node, at_least_one)
        dispatched = sequence([rest, either(rules)])
        if at_least_one:
            return sequence([either(rules), repeated(dispatched, 0, None), rest]) if loops else either(rules)
        return sequence([repeated(dispatched, 0, None), rest]) if loops else either([dispatched, rest])

    def _tags_with_separator(self, node: TagFormat, _: tuple[str, ...]) -> Piece:
        if not node.list("tags"):
            raise malformed(f"{node.place}/tags", "a list of tags that is not empty", [])
        nothing = TextPiece(EMPTY, node.place)
        separator = self._text(node.string("separator"), node.place)
        stop_after_first, at_least_one = node.flag("stop_after_first"), node.flag("at_least_one")
        tags = self._alternatives(node.formats("tags", "tag"), (), needed=at_least_one)
        if not tags:
            return nothing
        tag = either(tags)
        some = tag if stop_after_first else sequence([tag, repeated(sequence([separator, tag]), 0, None)])
        return some if at_least_one else either([some, nothing])

    def _text(self, text: str, place: str) -> Piece:
        """A text in which names of special tokens are these tokens."""
        for token in self._reading.tokens:
            before, name, after = text.partition(token)
            if name:
                if self._on_demand:
                    raise UndecidedError
                return sequence([self._text(before, place), Token(name, place), self._text(after, place)])
        return TextPiece((text,), place)

    def _spelled(self, stops: Iterable[str]) -> tuple[str, ...]:
        """Texts that free text stops at; it has no special token in it, so that it need not stop at one."""
        return tuple(dict.fromkeys(stop for stop in stops if not any(token in stop for token in self._reading.tokens)))

    def _within(self, node: TagFormat, key: str, make: Callable[[], Any]) -> Any:
        """What a schema, a grammar or a pattern in a format makes; its errors say where that is."""
        try:
            return make()
        except UnsupportedSchemaError as error:
            pointer = f"{node.place}/{key}{error.pointer.removeprefix('#')}"
            raise UnsupportedSchemaError(pointer, error.keyword, error.why) from error
        except EmptyLanguageError as error:
            raise EmptyLanguageError(f"{node.place}/{key}: {error}") from error
        except GrammarError as error:
            message = f"{node.place}/{key}: {error}"
            raise UnsupportedGrammarError(message, feature="structural tag") from error


def _with_fewer_blanks(spelling: Spelling | None, most: int) -> Spelling:
    """A spelling with at most so many blanks; of one that is given only if it counts them: both bounds hold then."""
    if spelling is None:
        return Spelling(whitespace="any", whitespace_pattern=rf"[ \n\t]{{0,{most}}}")
    if spelling.whitespace != "any" or spelling.whitespace_pattern is not None:
        return spelling
    return replace(spelling, max_blanks=min(most, spelling.most_blanks))


def _unless_empty(branch: Callable[[], Piece]) -> Piece | EmptyLanguageError:
    try:
        return branch()
    except EmptyLanguageError as error:
        return error


def _those_that_can_be(branches: Iterable[Piece | None]) -> list[Piece]:
    return [branch for branch in branches if branch is not None]


def _unless_needed(text: Piece, node: TagFormat, at_least_one: bool) -> Piece:
    """Free text without a tag, where none has to come."""
    if at_least_one:
        raise malformed(f"{node.place}/tags", "a list of tags that is not empty", [])
    return text


def _names(node: TagFormat, tokens: Sequence[Any], key: str) -> list[str]:
    """The names of special tokens; of one that is given by its id the name that says it."""
    names = []
    for token in tokens:
        if isinstance(token, int) and not isinstance(token, bool) and token >= 0:
            names.append(f"<[{token}]>")
        elif isinstance(token, str) and token:
            names.append(checked_text(token, f"{node.place}/{key}"))
        else:
            raise malformed(f"{node.place}/{key}", "the name or the id of a special token", token)
    return names


def _excluded_tokens(node: TagFormat) -> Iterator[int | str]:
    """What ``exclude_tokens`` lists: ids, names and texts."""
    for token in node.list("exclude_tokens"):
        is_id = isinstance(token, int) and not isinstance(token, bool) and token >= 0
        if not is_id and not (isinstance(token, str) and token):
            raise malformed(f"{node.place}/exclude_tokens", "the name or the id of a token", token)
        yield token if is_id else checked_text(token, f"{node.place}/exclude_tokens")


def _budget(node: TagFormat) -> int | None:
    """How many tokens a part of a text may have at most."""
    most = node.number("max_tokens")
    if most is not None and most > _MOST_TOKENS:
        raise node.refused(f"max_tokens is {most:,}; it can be counted up to {_MOST_TOKENS:,}, so leave it out")
    return most
