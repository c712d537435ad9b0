"""Tokenizers and lists of tokens become a Vocabulary: for every id the bytes it stands for, if any.

In: a list of tokens, a Hugging Face tokenizer, a SentencePiece model, a tiktoken or tekken file. Out: a frozen
`Vocabulary`, checked once against the tokenizer's own decoding where there is a tokenizer to ask. After this point
nothing asks a tokenizer what an id means, and no id is text that its tokenizer would not print.

    raw_vocabulary.py   what every reader hands back
    decoders.py      the decoder pipeline of a Hugging Face tokenizer -> a rule per token; others are refused by name
    huggingface.py, slow.py, sentencepiece_model.py, tiktoken_ranks.py, tekken_file.py   the readers
    verification.py  bytes beside the tokenizer's own decoding
    cache.py         readings on disk, under the fingerprint of what they were read from
    labelled.py      sets of tokens with a name, and special tokens
    vocabulary.py    `Vocabulary`
    given.py         which vocabulary a tokenizer and a model mean

This room knows no grammar, no lexer and no parser, and imports neither torch nor transformers, nor any package of
tokenizers: they are handed in, or their files are read.

Sources: Koo, Liu & He 2024, "Automata-based constraints for language model decoding", section 3 (the
detokenizing transducer); Radford et al. 2019 (byte-level BPE); Kudo & Richardson 2018 (SentencePiece).
"""

from pdacon.detokenizer.given import logits_width, vocabulary_of
from pdacon.detokenizer.vocabulary import Vocabulary

__all__ = ["Vocabulary", "logits_width", "vocabulary_of"]
