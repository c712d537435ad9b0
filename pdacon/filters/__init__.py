"""What a tokenizer itself produces, as an automaton over tokens that narrows any constraint.

In: a tokenizer, and the vocabulary that was read from it. Out: a native filter. A constraint with a filter allows a
token if the grammar allows it, the filter does, and both together can still come to an end.

    characters.py       sets of code points, and the classes that a tokenizer tells apart
    split_regex.py      the regexes with which tokenizers split texts -> programs
    splitting.py        programs -> an automaton over characters and marks at the borders of pretokens
    tokenizer_parts.py  tokenizers -> pairs that merge, and regexes; others are refused by name
    canonical.py        all of it -> the native filter, made once for a tokenizer

This room knows no grammar, and imports no package of tokenizers: they are handed in.

Sources: Cognetta, Pohl, Lee and Okazaki 2025, "Pitfalls, subtleties, and techniques in automata-based subword-level
constrained generation", section 3.3; Vieira et al. 2025, "Language models over canonical byte-pair encodings".
"""

from pdacon.filters.canonical import canonical_filter

__all__ = ["canonical_filter"]
