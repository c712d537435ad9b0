"""Composes a lowered grammar with a vocabulary: lexing automaton o detokenizing trie x parse tables -> token-level PDA.

In: a `Lexer` and LALR `Tables`, which ``lowered`` makes of a grammar, and a `Vocabulary`. Out: a native token-level
pushdown automaton, in which the set of allowed tokens is found by the lexer state and the top of the stack.

It reads no grammar text and no regular expression. Masks are computed when they are first needed, and interned; what
is not coaccessible (no text spelled by the vocabulary leads on to acceptance) is never allowed.

Sources: Koo, Liu & He 2024, "Automata-based constraints for language model decoding" (composition with the
detokenizing transducer); Willard & Louf 2023, "Efficient guided generation" (the index over sub-stacks).
"""

from pdacon.composition.bytewise import byte_vocabulary
from pdacon.composition.lowered import lower
from pdacon.composition.token_pda import compose, native_trie

__all__ = ["byte_vocabulary", "compose", "lower", "native_trie"]
