"""Structural tags -> the grammar of the texts that they describe.

In: a structural tag as XGrammar and vLLM take it, a tree of formats: free text, tags in it, JSON Schemas, grammars.
Out: a `Grammar`. Free text, triggers and delimiters are regular sets, so that it is known at each character where they
end; what is in the tags is put between them as `Grammar.compose` does it. So a token may end one part and begin the
next.

The modules within, in the order in which data goes through them: ``tag_formats`` (the tree, checked), ``pieces``
(sequences, alternatives and repetitions of sets, grammars and special tokens), ``free_text`` (text that stops at given
strings), ``translating`` (formats as pieces), ``right_linear`` (pieces that meet, told apart by their characters),
``final_rules`` (grammars whose ends the parser tells from what is in them), ``making`` (pieces as one grammar),
``piece_ends`` (whether a lexer finds where each piece ends). ``on_demand`` (pieces as places of a text that is read on
demand) takes the place of the last four where the next byte tells where each value ends.

Source: XGrammar's documentation, "Structural Tag Usage", https://xgrammar.mlc.ai/docs/structural_tag/structural_tag.html.
"""

from pdacon.frontends.structural_tags.translating import structural_tag_grammar, structural_tag_on_demand

__all__ = ["structural_tag_grammar", "structural_tag_on_demand"]
