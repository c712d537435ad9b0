"""What a grammar can be asked without a vocabulary, and what it shows of itself."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any
from xml.etree import ElementTree

import pytest
from support.lark_oracle import accepts

import pdacon
from pdacon import Grammar

ORDERS = """
start: order ("," order)* "."
order: COUNT DRINK
COUNT: /[1-9][0-9]?/
DRINK: "tea" | "coffee"
%ignore " "
"""


@pytest.fixture(scope="module")
def orders() -> Grammar:
    return Grammar.from_lark(ORDERS)


def test_it_accepts_what_stock_lark_parses(orders: Grammar) -> None:
    rng = Random(1)
    pieces = ["1", "23", "tea", "coffee", ",", ".", " ", "x", ""]
    texts = ["".join(rng.choices(pieces, k=rng.randint(0, 6))) for _ in range(400)] + orders.sample(50, seed=1)
    said = [orders.accepts(text) for text in texts]
    assert said == [accepts(orders, text) for text in texts]
    assert [orders.accepts(text.encode()) for text in texts] == said
    assert 50 <= sum(said) < 400


def test_texts_that_no_grammar_has() -> None:
    anything = Grammar.from_lark("start: /.+/s")
    assert anything.accepts("é\n🙂")
    assert not anything.accepts("\ud800")
    assert not anything.accepts(b"\xff")
    assert not anything.accepts("")
    octets = Grammar.from_lark(r"start: /[\x80-\xff]+/", use_bytes=True)
    assert octets.accepts("é")
    assert octets.accepts(b"\xe9\xff")
    assert not octets.accepts("€")
    with pytest.raises(TypeError, match="takes a str or bytes, not int"):
        anything.accepts(3)  # type: ignore[arg-type]


def test_it_explains_a_text(orders: Grammar) -> None:
    explanation = orders.explain("1 tea, lamp")
    assert not explanation.allowed
    assert (explanation.line, explanation.column) == (1, 8)
    assert "COUNT" in explanation.reason
    assert orders.explain("").render() == orders.explain(b"").render()
    assert orders.explain("1 tea.").may_end


def test_starts_can_be_named() -> None:
    grammar = Grammar.from_lark('a: "x"\nb: "y"', start=["a", "b"])
    assert grammar.accepts("x")
    assert not grammar.accepts("y")
    assert grammar.accepts("y", "b")
    assert grammar.sample(start="b") == ["y"]
    assert grammar.explain("y", "b").allowed
    with pytest.raises(ValueError, match="'c' is not a start"):
        grammar.accepts("x", "c")


def test_samples_are_different_sentences_and_repeat_with_a_seed(orders: Grammar) -> None:
    texts = orders.sample(20, seed=4)
    assert len(texts) == len(set(texts)) == 20
    assert all(accepts(orders, text) for text in texts)
    assert texts == orders.sample(20, seed=4) != orders.sample(20, seed=5)
    assert sorted(Grammar.from_lark('start: "a" | "b"').sample(10)) == ["a", "b"]
    assert orders.sample(0) == []
    with pytest.raises(ValueError, match="-1"):
        orders.sample(-1)


def test_what_cannot_be_compiled_cannot_be_asked() -> None:
    with pytest.raises(pdacon.NondeterministicGrammarError):
        Grammar.from_lark('start: start start | "x"').accepts("x")


def test_several_threads_ask_one_grammar() -> None:
    grammar = Grammar.from_lark('start: "a"+')
    said: list[bool] = []
    threads = [Thread(target=lambda: said.append(grammar.accepts("aaa"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [True] * 8


def test_a_grammar_that_was_asked_pickles_as_before(orders: Grammar) -> None:
    orders.accepts("1 tea.")
    again = pickle.loads(pickle.dumps(orders))
    assert again == orders
    assert len(pickle.dumps(orders)) < 20_000
    assert again.accepts("1 tea.")


def test_pictures(orders: Grammar, tmp_path: Path) -> None:
    pytest.importorskip("railroad")
    for picture in (orders.draw(), orders.draw("order"), orders.draw("COUNT"), orders.draw('","')):
        assert ElementTree.fromstring(picture).tag.endswith("svg")
        assert re.sub(r"-[0-9a-f]{8}(?=[\") ])", "", picture._repr_svg_()) == picture.removesuffix("\n")
    assert orders._repr_svg_() == orders.draw()._repr_svg_()
    orders.draw().save(tmp_path / "rules.svg")
    assert (tmp_path / "rules.svg").read_text(encoding="utf-8") == orders.draw()
    with pytest.raises(pdacon.DrawingError, match="did you mean order"):
        orders.draw("oder")


def test_pictures_on_one_page_have_no_id_in_common() -> None:
    grammars = [Grammar.from_lark('start: "id=\\"title\\"" x | "(#a)"\nx: start "y"\n'), Grammar.builtin("arithmetic")]
    pictures = [grammar.draw() for grammar in grammars] + [
        Grammar.builtin("json").draw(name) for name in ("NUMBER", "WS")
    ]
    ids: list[str] = []
    for picture in pictures:
        shown = ElementTree.fromstring(picture._repr_svg_())
        own = [element.get("id", "") for element in shown.iter() if "id" in element.attrib]
        uses = re.findall(r'(?:href="|url\()#([^")]+)', picture._repr_svg_())
        assert set(uses) <= set(own)
        assert set(shown.get("aria-labelledby", "").split()) <= set(own)
        assert list(shown.itertext()) == list(ElementTree.fromstring(picture).itertext())
        ids += own
    assert len(ids) == len(set(ids))


def test_a_report_draws_its_conflicts() -> None:
    pytest.importorskip("graphlay")
    report = pdacon.check('start: "if" start ["else" start] | "x"\n%ignore /[ ]+/')
    assert ElementTree.fromstring(report.draw(1)).tag.endswith("svg")
    for number in (0, 2):
        with pytest.raises(pdacon.DrawingError, match=rf"no finding {number}; <grammar>: refused \(1 error"):
            report.draw(number)


def test_html_is_escaped(orders: Grammar) -> None:
    html = orders.explain("<script>")._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    report = pdacon.check(ORDERS)._repr_html_()
    assert report.startswith("<pre")
    assert ">note</b>[PDA016]" in report
    finding = pdacon.check('start: "<" a a\na: "x" | "x" "x"\n').findings[0]._repr_html_()
    assert ">error</b>[PDA001]: shift/reduce conflict" in finding
    assert 'for example: "&lt;"' in finding
    assert "•" in finding
    constraint = pdacon.compile('start: "<b>"\n', pdacon.Vocabulary.bytes())._repr_html_()
    assert constraint.startswith("<pre")
    assert "for 257 tokens" in constraint
    assert "start: " in constraint


@pytest.mark.parametrize("ask", [pdacon.compile, pdacon.check])
def test_options_that_belong_elsewhere(ask: Any) -> None:
    with pytest.raises(TypeError, match=r"has no option json_schema; .* pdacon\.Grammar\.from_json_schema"):
        ask("json", pdacon.Vocabulary.bytes(), json_schema={})
    with pytest.raises(TypeError, match=r"has no option conflicts; .* Grammar\.builtin\(name, conflicts="):
        ask("json", pdacon.Vocabulary.bytes(), conflicts="shift")
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        ask("json", pdacon.Vocabulary.bytes(), nonsense=1)


@pytest.mark.parametrize("count", ["5", 2.5, True, None])
def test_a_number_of_samples_is_a_number(count: Any) -> None:
    with pytest.raises(TypeError, match="sample: count is a number of texts, not"):
        pdacon.Grammar.builtin("json").sample(count)


def test_what_is_drawn_has_a_name() -> None:
    with pytest.raises(TypeError, match="draw takes names of rules or terminals, not 1"):
        pdacon.Grammar.builtin("json").draw(1)  # type: ignore[arg-type]
