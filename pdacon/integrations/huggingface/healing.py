"""Token healing: the end of a prompt is cut off and becomes the beginning of the constrained text.

A prompt may end within what would be one token: after ``http:`` a model never saw ``//``, which its tokenizer reads as
``://``. So the last tokens of the prompt are taken back, and their text is what the answer begins with, in any tokens.

Source: token healing as in guidance (microsoft/guidance); Cognetta et al. 2025, section 4.4.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pdacon.base.arguments import require_count
from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError
from pdacon.front.grammar import Grammar, GrammarSource, grammar_of


@dataclass(frozen=True)
class Healed:
    """What `heal` makes of a prompt and a grammar.

    Attributes
    ----------
    prompt : str
        The prompt without its end.
    grammar : Grammar
        The sentences of the grammar, each after `tail`.
    tail : str
        The end of the prompt, with which each answer begins: ``answer.text.removeprefix(tail)`` is the sentence.
    """

    prompt: str
    grammar: Grammar
    tail: str


def heal(tokenizer: Any, prompt: str, grammar: GrammarSource, tokens: int = 1) -> Healed:
    """Take the last tokens of a prompt back, and let the model write their text anew together with what follows.

    Parameters
    ----------
    tokenizer : transformers.PreTrainedTokenizerFast
        It reads texts as bytes; tokenizers that take a space from what they decode are refused.
    prompt : str
    grammar : Grammar, str, pathlib.Path, type or function
        Of the answer, as for `compile`; without a postlex, since it is composed with the prompt's end.
    tokens : int
        How many tokens to take back, or the fewest more of which the tokenizer reads the rest of the prompt as before.

    Returns
    -------
    Healed
        For ``generate(model, tokenizer, healed.prompt, healed.grammar)``, or to be compiled, with ``canonical`` as
        well: then the end of the prompt and the answer are in the tokens that the tokenizer makes of both together.

    Raises
    ------
    ValueError, TypeError
        The prompt has fewer tokens, or ends in one that has no text.
    VocabularyError
        The tokenizer takes a space from what it decodes.
    UnsupportedGrammarError
        The grammar cannot stand after a text; see `Grammar.compose`.

    Notes
    -----
    Cost: tokenizing the prompt, and composing and compiling the grammar, for each prompt.
    """
    if require_count("heal", "tokens", tokens) < 1:
        raise ValueError(f"heal: tokens is {tokens}; it must be at least 1")
    if Vocabulary.from_huggingface(tokenizer).strip_leading_space:
        raise VocabularyError(
            "heal: the tokenizer takes a space from what it decodes, so that nobody sees whether an answer begins with "
            "one; give the end of the prompt as prefix= to generate"
        )
    read = tokenizer(prompt, return_offsets_mapping=True)
    ids, places = read["input_ids"], read["offset_mapping"]
    for kept in range(len(ids) - tokens, -1, -1):
        cut, end = places[kept]
        if cut == end:
            break  # a token without text
        if tokenizer(prompt[:cut])["input_ids"] == ids[:kept]:
            return _healed(prompt, cut, grammar)
    raise ValueError(f"heal: the prompt has not {tokens} tokens of text at its end")


def _healed(prompt: str, cut: int, grammar: GrammarSource) -> Healed:
    tail = prompt[cut:]
    written = json.dumps(tail, ensure_ascii=False).replace("\x7f", "\\x7f")
    template = f"start: TAIL answer\nTAIL: {written}\n"
    return Healed(prompt[:cut], Grammar.compose(template, answer=grammar_of("heal", grammar)), tail)
