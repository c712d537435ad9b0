"""What notebooks show of objects: HTML that is well-formed, with everything in it escaped."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, Limits, RegularSet, Vocabulary

EVIL = "<script>alert('\"&')</script>"


class Shown(HTMLParser):
    """The text of a piece of HTML, whose tags are closed in their order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.open, self.tags = "", [], set[str]()
        self.feed(html)
        self.close()
        assert not self.open, self.open
        assert self.tags <= {"pre", "b", "span", "table", "thead", "tbody", "tr", "th", "td", "p"}, self.tags

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        assert {name for name, _ in attributes} <= {"style", "title"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_matcher_shows_where_it_is_and_what_may_come() -> None:
    vocabulary = Vocabulary.from_tokens([b"<script>", b"a", b"<", None], eos_ids=[3])
    matcher = pdacon.compile('start: "<script>" "a"?\n', vocabulary).matcher()
    assert '1 of 4 tokens may come next: "<script>"' in Shown(matcher._repr_html_()).text
    assert matcher.accept("<script>")
    shown = Shown(matcher._repr_html_()).text
    assert "accepting" in shown
    assert '2 of 4 tokens may come next: "a"  (an end token)' in shown


def test_a_matcher_at_a_limit_is_shown_too() -> None:
    constraint = pdacon.compile(Grammar.builtin("json"), Vocabulary.bytes(), limits=Limits(depth=2))
    matcher = constraint.matcher()
    assert matcher.accept("[")
    with pytest.raises(pdacon.LimitExceededError):
        matcher.accept("[[")
    assert Shown(matcher._repr_html_()).text.startswith("<Matcher after")


def test_vocabularies_and_sets() -> None:
    vocabulary = replace(Vocabulary.from_tokens([b"a", b"<s>", None], eos_ids=[2]), special_tokens={EVIL: 1})
    assert f"special tokens: {EVIL} 1" in Shown(vocabulary._repr_html_()).text
    assert "<Vocabulary: 257 tokens" in Shown(Vocabulary.bytes()._repr_html_()).text
    shown = Shown(RegularSet.from_choices([EVIL, "b"]).named("<i>")._repr_html_()).text
    assert "<RegularSet <i>:" in shown
    assert EVIL[:8] in shown.split("\n", 1)[1]
    assert "0 states, 0 strings" in Shown((RegularSet.from_regex("a") & RegularSet.from_regex("b"))._repr_html_()).text
    assert "12 characters" in Shown(RegularSet.substring_of("<b>abcdefghi")._repr_html_()).text


@pytest.mark.slow
def test_generators_pipelines_and_diagnostics() -> None:
    pytest.importorskip("transformers")
    from pdacon.integrations.huggingface import load_tiny
    from pdacon.integrations.huggingface.diagnostics import Diagnostics, Step

    model, tokenizer = load_tiny()
    write: Any = pdacon.Generator(model, tokenizer, "json", max_new_tokens=8)
    assert "<Generator of" in Shown(write._repr_html_()).text
    several: Any = pdacon.Generator(model, tokenizer, ["json", None, "json_dumps"], max_new_tokens=8)
    assert Shown(several._repr_html_()).text.count("constraint of json") == 2
    assert "<Pipeline of" in Shown(pdacon.Pipeline(model, tokenizer)._repr_html_()).text
    step = Step(1, EVIL, -1.0, -0.5, 0.25, 2, 5, "<b>", -0.1, False)
    html = Diagnostics((step,))._repr_html_()
    shown = Shown(html).text
    assert "<script>" in shown
    assert "25.0%" in html
    assert "the constraint refused" in html
    assert "all 1 tokens" in shown
    Shown(Diagnostics(())._repr_html_())
