"""The variant of Lark's language that llguidance takes -> Grammar.

In: the text of a grammar. Out: a `Grammar` with the same rules and places. A terminal of llguidance is a regular
language, and its lexer is one of maximal munch over all of them. So each terminal becomes a `RegularSet`, and the
rules are built over the names of these.

The modules within, in the order in which data goes through them: ``tree`` (what there is), ``parsing`` (a text as a
tree), ``rust_patterns`` (patterns as Python's ``re`` writes them), ``terminal_sets`` (trees as sets), ``building``
(rules over sets), ``loaded`` (the grammar with some sets), ``lazy`` (lexemes that end as soon as they can),
``splitting`` (sets that share texts), ``ordering`` (maximal munch by priorities), ``translating`` (one after the
other).

Source: https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md, and the engine itself (1.9.1).
"""

from pdacon.frontends.dialects.llguidance.translating import llguidance_grammar

__all__ = ["llguidance_grammar"]
