"""Facts about Lark's private parts that the loader stands on, so that another Lark fails here and not at a user's."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lark
import pytest
from grammar.samples import GOOD
from lark import load_grammar

from pdacon.front.grammar import Grammar


def test_the_version_is_the_one_whose_private_parts_we_know() -> None:
    """1.2.2 is the one that vLLM asks for: of what pdacon reads, nothing is otherwise in it."""
    assert re.fullmatch(r"1\.2\.2|1\.3\.\d+", lark.__version__)


@pytest.mark.slow
def test_larks_own_parser_is_built_once_and_lark_is_left_as_it_was(tmp_path: Path) -> None:
    """In a fresh process: the first load fills Lark's cache, puts LexerConf back, and Lark works as before."""
    code = """
from lark import load_grammar
from lark.common import LexerConf
assert not hasattr(load_grammar._get_parser, "cache")
from pdacon.front.grammar import Grammar
Grammar.from_lark('start: "a"')
first = load_grammar._get_parser.cache
assert load_grammar.LexerConf is LexerConf
Grammar.from_lark('start: "b"')
assert load_grammar._get_parser.cache is first
import lark
assert lark.Lark('start: "c"', parser="lalr", strict=True).parse("c").data == "start"
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_only_the_parser_of_larks_own_language_uses_the_name_that_is_replaced() -> None:
    users = [name for name, value in vars(load_grammar).items() if _uses(value, "LexerConf")]
    assert users == ["_get_parser"]


def _uses(value: object, name: str) -> bool:
    code = getattr(value, "__code__", None)
    methods = vars(value).values() if isinstance(value, type) and value.__module__ == load_grammar.__name__ else ()
    return (code is not None and name in code.co_names) or any(_uses(method, name) for method in methods)


def test_invert_negates_once_for_each_production_of_a_rule() -> None:
    text = GOOD["invert flips once for each production"]
    rules = lark.Lark(text, parser="lalr", priority="invert").rules
    assert {r.origin.name: r.options.priority for r in rules} == {"start": None, "a": 5, "b": -5}
    grammar = Grammar.from_lark(text, priority="invert")
    assert {p.rule: p.priority for p in grammar.data.productions} == {"start": 0, "a": 5, "b": -5}


@pytest.mark.slow
def test_loads_in_several_threads_give_what_one_gives() -> None:
    names = list(GOOD) * 3
    with ThreadPoolExecutor(8) as pool:
        several = list(pool.map(lambda name: Grammar.from_lark(GOOD[name]).fingerprint, names))
    assert several == [Grammar.from_lark(GOOD[name]).fingerprint for name in names]
