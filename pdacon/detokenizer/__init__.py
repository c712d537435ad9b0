"""Tokenizers and lists of tokens become a Vocabulary: for every id the bytes it stands for, if any.

In: a list of tokens, or a Hugging Face tokenizer. Out: a frozen `Vocabulary`, checked once against the
tokenizer's own decoding. After this point nothing asks a tokenizer what an id means, and no id is text that
its tokenizer would not print.

This room knows no grammar, no lexer and no parser, and imports neither torch nor transformers.

Sources: Koo, Liu & He 2024, "Automata-based constraints for language model decoding", section 3 (the
detokenizing transducer); Radford et al. 2019 (byte-level BPE).
"""

from pdacon.detokenizer.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
