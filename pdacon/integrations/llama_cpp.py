"""llama.cpp through llama-cpp-python: a constraint for a text, as a list of logits processors that cannot fail open.

llama-cpp-python calls a logits processor from within llama.cpp and swallows what it raises, with which the next token
would be any. So nothing is raised there: an error is kept, nothing but an end is allowed from then on, and `Held.check`
raises the error when the text has come back. `complete` and `chat` do all of that.

    answer = complete(llama, "Describe a person as JSON:", "json", max_tokens=100)

Needs ``pip install llama-cpp-python``; written for 0.3.36.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pdacon.compiling import compile
from pdacon.constraint import Constraint
from pdacon.detokenizer import Vocabulary
from pdacon.errors import MatcherError, VocabularyError
from pdacon.grammar import GrammarSource

_SILENT = 1 | 2 | 8  # llama.cpp's attributes of tokens without a text: unknown, unused, control
_read: WeakKeyDictionary[Any, Vocabulary] = WeakKeyDictionary()


def vocabulary(llama: Any) -> Vocabulary:
    """The vocabulary of a model, as llama.cpp writes its tokens; read once for each model.

    Parameters
    ----------
    llama : llama_cpp.Llama

    Raises
    ------
    VocabularyError
        No token ends a text.
    """
    known = _read.get(llama)
    if known is None:
        known = _read[llama] = _vocabulary(llama)
    return known


def _vocabulary(llama: Any) -> Vocabulary:
    import llama_cpp

    model = llama._model
    vocab, size = model.vocab, llama.n_vocab()
    ends = [token for token in range(size) if llama_cpp.llama_vocab_is_eog(vocab, token)]
    if not ends:
        raise VocabularyError("this model has no token that ends a text")
    tokens = [
        None if token in ends or model.token_get_attr(token) & _SILENT else _piece(llama_cpp, vocab, token)
        for token in range(size)
    ]
    return Vocabulary.from_tokens([text or None for text in tokens], eos_ids=ends)


def _piece(llama_cpp: Any, vocab: Any, token: int) -> bytes:
    """The bytes of a token, as `Llama.detokenize` has them within a text."""
    room = 64
    while True:
        buffer = ctypes.create_string_buffer(room)
        length = llama_cpp.llama_token_to_piece(vocab, token, buffer, room, 0, False)
        if length >= 0:
            return buffer.raw[:length]
        room = -length


class Held(list[Any]):
    """A constraint of one text, to give to llama-cpp-python as ``logits_processor``; see `hold`.

    Attributes
    ----------
    failure : BaseException or None
        What went wrong; nothing but an end is allowed since.
    """

    def __init__(self, llama: Any, constraint: Constraint) -> None:
        super().__init__([self._masked])
        self.failure: BaseException | None = None
        self._llama = llama
        self._matcher = constraint.matcher(max_rollback=0, keep_text=False)
        self._ends = list(constraint.vocabulary.eos_ids)
        self._seen: NDArray[np.intc] | None = None

    def check(self) -> None:
        """Raise what went wrong while the text was written; call it when the text is there.

        Raises
        ------
        MatcherError
            The constraint was not asked for a single token, so that the text is any.
        BaseException
            What a token or a mask has raised, `KeyboardInterrupt` included.
        """
        if self.failure is not None:
            raise self.failure
        if self._seen is None:
            raise MatcherError("the constraint was not asked for a single token: no text, or llama.cpp has left it out")

    def extend(self, others: Iterable[Any]) -> NoReturn:
        """Refuse ``logit_bias``, with which llama-cpp-python drops both it and the constraint.

        Raises
        ------
        TypeError
        """
        raise TypeError("logit_bias beside a constraint: llama-cpp-python drops both; leave logit_bias out")

    def _masked(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        """Scores with -inf for what may not come next."""
        if self.failure is None:
            try:
                self._follow(np.asarray(input_ids))
                return np.where(self._matcher.allowed_mask(), scores, np.float32(-np.inf))
            except BaseException as error:  # else it is swallowed, and with it the mask
                self.failure = error
        ended = np.full_like(scores, -np.inf)
        ended[[end for end in self._ends if end < len(ended)]] = 0.0
        return ended

    def _follow(self, ids: NDArray[np.intc]) -> None:
        """Accept the tokens that are new; what came before the first call is the prompt."""
        if self._llama.draft_model is not None:
            raise MatcherError("a draft model beside a constraint: llama-cpp-python shows tokens that are only drafts")
        if self._seen is not None:
            known = len(self._seen)
            if len(ids) < known or not np.array_equal(ids[:known], self._seen):
                raise MatcherError("another text has begun; hold each text by a constraint of its own")
            for token in ids[known:].tolist():
                if not self._matcher.accept_token(token):
                    raise MatcherError(f"token {token} was chosen, which the constraint does not allow")
        self._seen = ids.copy()


def hold(llama: Any, grammar: GrammarSource | Constraint) -> Held:
    """A constraint for one text that llama-cpp-python is to write.

    Give it as ``logits_processor`` to any method of `Llama` and call `Held.check` when the text is there.

    Parameters
    ----------
    llama : llama_cpp.Llama
    grammar : Grammar, str, pathlib.Path, type, function or Constraint
        What `pdacon.compile` takes, or a constraint for ``vocabulary(llama)``, to compile it once.

    Raises
    ------
    ValueError
        The constraint is for another vocabulary, or the model has a draft model.
    PdaconError
        See `pdacon.compile`.
    """
    if llama.draft_model is not None:
        raise ValueError("a constraint does not go with a draft model: llama-cpp-python shows tokens that are drafts")
    words = vocabulary(llama)
    constraint = grammar if isinstance(grammar, Constraint) else compile(grammar, words)
    if constraint.vocabulary.fingerprint != words.fingerprint:
        raise ValueError("the constraint was compiled for another vocabulary; compile it for vocabulary(llama)")
    return Held(llama, constraint)


def complete(llama: Any, prompt: str | list[int], grammar: GrammarSource | Constraint, **options: Any) -> Any:
    """``llama.create_completion`` under a constraint; ``stream=True`` gives the pieces.

    Parameters
    ----------
    llama : llama_cpp.Llama
    prompt : str or list of int
    grammar : Grammar, str, pathlib.Path, type, function or Constraint
        See `hold`.
    **options
        As ``create_completion`` has them, but for ``logits_processor`` and ``logit_bias``.

    Raises
    ------
    TypeError, ValueError, PdaconError
        See `hold`; or something went wrong while the text was written.
    """
    return _checked(llama.create_completion, prompt, hold(llama, grammar), options)


def chat(llama: Any, messages: list[Any], grammar: GrammarSource | Constraint, **options: Any) -> Any:
    """``llama.create_chat_completion`` under a constraint, as `complete` is.

    Parameters
    ----------
    llama : llama_cpp.Llama
    messages : list of dict
    grammar : Grammar, str, pathlib.Path, type, function or Constraint
        See `hold`.
    **options
        As ``create_chat_completion`` has them, but for ``logits_processor``, ``logit_bias``, ``tools`` and
        ``response_format``.

    Raises
    ------
    TypeError, ValueError, PdaconError
        See `complete`.
    """
    return _checked(llama.create_chat_completion, messages, hold(llama, grammar), options)


_OURS = ("logits_processor", "logit_bias", "tools", "functions", "response_format")


def _checked(write: Any, asked: Any, held: Held, options: dict[str, Any]) -> Any:
    for name in _OURS:
        if options.get(name) is not None:
            raise TypeError(f"{name} is not for a text that pdacon constrains; leave it out")
    answer = write(asked, logits_processor=held, **options)
    if not isinstance(answer, dict):
        return _pieces(answer, held)
    held.check()
    return answer


def _pieces(pieces: Iterator[Any], held: Held) -> Iterator[Any]:
    for piece in pieces:
        if held.failure is not None:
            raise held.failure
        yield piece
    held.check()
