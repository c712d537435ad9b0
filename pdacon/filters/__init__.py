"""What else texts and tokens must be, whatever the grammar: values that narrow any constraint.

In: what a user asks for, a tokenizer, and the vocabulary that was read from it. Out: sets of texts, and a native
automaton over tokens. A constraint with filters allows a token if the grammar allows it, each filter does, and all
together can still come to an end.

    values.py           the filters: `Characters`, `Scripts`, `Words`, `NormalForm`, `Normalized`, `InTerminals`
    normal_forms.py     NFC and its like as automata over characters
    scripts.py          the property Script of Unicode
    automata.py         texts of some characters only, and texts without some words
    normalizers.py      what normalizers do to texts
    charsmap.py         the tables of SentencePiece's
    characters.py       sets of code points, and the classes that a tokenizer tells apart
    split_regex.py      the regexes with which tokenizers split texts -> programs
    splitting.py        programs -> an automaton over characters and marks at the borders of pretokens
    spaces.py           how tokenizers of SentencePiece's kind write spaces
    unspanned_cuts.py   where no token spans two characters -> the same automaton, of a vocabulary
    tokenizer_parts.py  tokenizers -> pairs that merge, and regexes; others are refused by name
    tokenizer_texts.py  tokenizers -> the texts that they leave as they are
    word_pieces.py      what WordPiece makes of words
    unigram.py          the scores of unigram models
    canonical.py        all of it -> the native filter, made once for a tokenizer

This room knows no grammar, and imports no package of tokenizers: they are handed in.

Sources: Cognetta, Pohl, Lee and Okazaki 2025, "Pitfalls, subtleties, and techniques in automata-based subword-level
constrained generation", sections 3.3 and 4; Vieira et al. 2025, "Language models over canonical byte-pair encodings".
"""

from pdacon.filters.canonical import FILTERS, TokenFilter, canonical_of, require_filters
from pdacon.filters.spaces import Prefix
from pdacon.filters.tokenizer_texts import changes_or_refusal
from pdacon.filters.values import Characters, Filter, InTerminals, NormalForm, Normalized, Scripts, Words, texts_of

__all__ = [
    "FILTERS",
    "Characters",
    "Filter",
    "InTerminals",
    "NormalForm",
    "Normalized",
    "Prefix",
    "Scripts",
    "TokenFilter",
    "Words",
    "canonical_of",
    "changes_or_refusal",
    "require_filters",
    "texts_of",
]
