"""Reads a grammar as its file has it: a text in Lark's language, under the options at its head.

In: a text, where it lies, and what the caller says beside. Out: a `Grammar`. Files, commands, editors and the
playground take this way, so that a file has one meaning everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from pdacon.base.languages import LLGUIDANCE, is_llguidance
from pdacon.base.snippets import shown_in
from pdacon.errors import GrammarSyntaxError, UnsupportedGrammarError
from pdacon.grammar import GrammarData, GrammarOptions
from pdacon.grammar.head_options import Head, read_head
from pdacon.regular import RegularSet


class _Narrowed(Protocol):
    def __and__(self, texts: Any, /) -> Any: ...


_Made = TypeVar("_Made", bound=_Narrowed)
_Made_co = TypeVar("_Made_co", bound=_Narrowed, covariant=True)


class LarkWaysIn(Protocol[_Made_co]):
    """The ways in that such a file can take: those of `Grammar`, which takes this way itself."""

    def from_lark(self, *given: Any, **options: Any) -> _Made_co: ...
    def from_llguidance(self, *given: Any, **options: Any) -> _Made_co: ...


def lark_file_grammar(
    kind: LarkWaysIn[_Made],
    text: str,
    path: str | os.PathLike[str] | None,
    given: Mapping[str, Any],
    *,
    filters: Mapping[str, Any] | None = None,
    otherwise: Mapping[str, Any] | None = None,
) -> _Made:
    """The grammar of a file in Lark's language, or, if its first statement says so, in llguidance's variant.

    Parameters
    ----------
    kind : type of Grammar
    text : str
    path : path, optional
        Where the text lies, or is to be.
    given : mapping
        Arguments of `Grammar.from_lark`, which go before what the head says.
    filters : mapping, optional
        Arguments of `filter_texts`, which do so, too.
    otherwise : mapping, optional
        Arguments of `Grammar.from_lark` that hold where neither says anything.

    Raises
    ------
    GrammarError, ValueError, TypeError
        As `Grammar.from_lark`; what the head has wrong has its place there.
    """
    own_path = None if path is None else os.fspath(path)
    with shown_in(text, own_path):
        head = read_head(text, own_path)
        chosen = {**(otherwise or {}), **head.options, **given}
        if is_llguidance(text) and given.keys() <= {*LLGUIDANCE.policies}:
            grammar = _of_llguidance(text, own_path, head, chosen, kind)
        else:
            with _placed(head, given):
                grammar = kind.from_lark(text, **{"source_path": own_path, **chosen})
        texts = _filtered_texts(head, filters or {})
        return grammar if texts is None else _narrowed(grammar, texts, head)


def _narrowed(grammar: _Made, texts: RegularSet, head: Head) -> _Made:
    """The grammar of the texts that filters allow."""
    try:
        narrowed: _Made = grammar & texts
    except UnsupportedGrammarError as error:  # texts of bytes have no characters
        span = head.place("use_bytes")
        if error.span is not None or span is None:
            raise
        raise UnsupportedGrammarError(error.reason, span, error.feature, error.advice) from None
    return narrowed


def _of_llguidance(
    text: str, path: str | None, head: Head, chosen: Mapping[str, Any], kind: LarkWaysIn[_Made]
) -> _Made:
    for name, _, span in head.places:
        if name not in (*LLGUIDANCE.policies, *head.filters):
            raise GrammarSyntaxError("this option does not go with a grammar for llguidance; leave it out", span)
    options = {name: chosen[name] for name in LLGUIDANCE.policies if name in chosen}
    return kind.from_llguidance(text, source_path=path, **options)


def composed_file(path: os.PathLike[str], holes: Mapping[str, Callable[[], GrammarData]]) -> GrammarData:
    """What `Grammar.compose` makes of a file with open names, and of the options at its head."""
    from pdacon.frontends.insertion import composed
    from pdacon.frontends.narrowing import with_texts_within
    from pdacon.grammar.indentation import read_postlex
    from pdacon.grammar.lark_reading import read_source

    text, own_path = read_source(path), os.fspath(path)
    with shown_in(text, own_path):
        head = read_head(text, own_path)
        chosen: dict[str, Any] = dict(head.options)
        chosen |= {name: tuple(value) for name, value in chosen.items() if isinstance(value, list)}
        chosen["postlex"] = read_postlex(chosen.get("postlex"))
        with _placed(head, {}):
            grammar = composed(text, holes, GrammarOptions(import_base=own_path, **chosen))
        texts = _filtered_texts(head, {})
    return grammar if texts is None else with_texts_within(grammar, texts)


def filter_texts(
    *, characters: str | None = None, scripts: list[str] | None = None, normal_form: Any = None
) -> RegularSet:
    """The texts that all of these filters allow; at least one is given.

    Raises ValueError: there is no such script, or no character.
    """
    from pdacon.filters import Characters, Filter, NormalForm, Scripts, texts_of

    filters: list[Filter] = []
    if characters is not None:
        filters.append(Characters("ascii" if characters == "ascii" else list(characters)))
    if scripts is not None:
        filters.append(Scripts(scripts))
    if normal_form is not None:
        filters.append(NormalForm(normal_form))
    texts = texts_of(filters)
    assert texts is not None
    return texts


def _filtered_texts(head: Head, given: Mapping[str, Any]) -> RegularSet | None:
    """The texts that the filters of a head allow, and those that are given, which go before; None: all texts."""
    filters = {**head.filters, **given}
    if not filters:
        return None
    try:
        return filter_texts(**filters)
    except ValueError as error:
        span = None if "scripts" in given else head.place("scripts")
        if span is None:
            raise
        raise GrammarSyntaxError(f"--script: {error}", span) from None


@contextmanager
def _placed(head: Head, given: Mapping[str, Any]) -> Iterator[None]:
    """Give what is wrong with an option of the head its place there."""
    from pdacon.grammar.lark_rules import UndefinedStartError  # brings lark along

    try:
        yield
    except UndefinedStartError as error:
        span = None if "start" in given else head.place("start", error.start)
        raise GrammarSyntaxError(error.message, span or error.span) from None
    except UnsupportedGrammarError as error:
        span = None if error.feature in given else head.place(error.feature)
        if error.span is not None or span is None:
            raise
        raise UnsupportedGrammarError(error.reason, span, error.feature, error.advice) from None
