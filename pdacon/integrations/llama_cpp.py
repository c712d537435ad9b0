"""llama.cpp through llama-cpp-python: a constraint as one of llama.cpp's samplers, or as a list of logits processors.

    answer = complete(llama, "Describe a person as JSON:", "json", max_tokens=100)

`complete` and `chat` put a native sampler into the chain that llama-cpp-python makes for a text: it leaves the
candidates that are allowed, and no Python runs between two tokens. `sampler` makes one for a chain of one's own.

`hold` is for what takes ``logits_processor`` and nothing else. llama-cpp-python calls those from within llama.cpp and
swallows what they raise, with which the next token would be any. In both ways, so, nothing is raised there: an error is
kept, nothing but an end is allowed from then on, and `Held.check` or `check_sampler` raises it when the text is there.

Needs ``pip install llama-cpp-python``; written for 0.3.36.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.detokenizer import Vocabulary
from pdacon.errors import MatcherError, VocabularyError
from pdacon.front.compiling import compile
from pdacon.front.constraint import Constraint
from pdacon.front.grammar import GrammarSource

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
    """A constraint for one text that llama-cpp-python is to write, as logits processors.

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
        raise ValueError(
            "logits processors do not go with a draft model: llama-cpp-python shows them tokens that are drafts; "
            "complete and chat take one"
        )
    return Held(llama, _constraint(llama, grammar))


def _constraint(llama: Any, grammar: GrammarSource | Constraint) -> Constraint:
    words = vocabulary(llama)
    constraint = grammar if isinstance(grammar, Constraint) else compile(grammar, words)
    if constraint.vocabulary.fingerprint != words.fingerprint:
        raise ValueError("the constraint was compiled for another vocabulary; compile it for vocabulary(llama)")
    return constraint


def sampler(llama: Any, grammar: GrammarSource | Constraint) -> Any:
    """A constraint for one text as a ``llama_sampler``, for a chain of one's own.

    Put it before the samplers that leave candidates out, such as top-k. As of every sampler that llama.cpp makes, the
    chain frees it (``llama_sampler_chain_add``), or you do (``llama_sampler_free``). It can be cloned, reset for
    another text, and must not accept a prompt.

    Parameters
    ----------
    llama : llama_cpp.Llama
    grammar : Grammar, str, pathlib.Path, type, function or Constraint
        As for `hold`.

    Returns
    -------
    pointer to llama_cpp.llama_sampler

    Raises
    ------
    ValueError
        The constraint is for another vocabulary, or this llama.cpp has structures that pdacon does not know.
    PdaconError
        See `pdacon.compile`.

    Notes
    -----
    Cost of a token: that of a mask, and a look at each candidate.
    """
    import llama_cpp

    structures = (
        llama_cpp.llama_sampler,
        llama_cpp.llama_sampler_i,
        llama_cpp.llama_token_data,
        llama_cpp.llama_token_data_array,
    )
    address = _core.llama_sampler(
        _constraint(llama, grammar).matcher(max_rollback=0, keep_text=False),
        ctypes.cast(llama_cpp.llama_sampler_init, ctypes.c_void_p).value or 0,
        *map(ctypes.sizeof, structures),
    )
    return ctypes.cast(address, ctypes.POINTER(llama_cpp.llama_sampler))


def check_sampler(sampler: Any) -> None:
    """Raise what went wrong in a `sampler` since its text began; call it when the text is there, before it is freed.

    Parameters
    ----------
    sampler : pointer to llama_cpp.llama_sampler

    Raises
    ------
    MatcherError
        It was not asked for a single token, another sampler had left no candidate that is allowed, or a token was
        accepted that is not.
    PdaconError
        What a mask has raised.
    """
    _core.check_llama_sampler(ctypes.cast(sampler, ctypes.c_void_p).value or 0)


def complete(llama: Any, prompt: str | list[int], grammar: GrammarSource | Constraint, **options: Any) -> Any:
    """``llama.create_completion`` under a constraint; ``stream=True`` gives the pieces.

    Parameters
    ----------
    llama : llama_cpp.Llama
        With a draft model, too.
    prompt : str or list of int
    grammar : Grammar, str, pathlib.Path, type, function or Constraint
        See `sampler`.
    **options
        As ``create_completion`` has them.

    Raises
    ------
    TypeError, ValueError, PdaconError
        See `sampler`; or something went wrong while the text was written.
    """
    return _checked(llama, "create_completion", prompt, grammar, options)


def chat(llama: Any, messages: list[Any], grammar: GrammarSource | Constraint, **options: Any) -> Any:
    """``llama.create_chat_completion`` under a constraint, as `complete` is.

    Parameters
    ----------
    llama : llama_cpp.Llama
    messages : list of dict
    grammar : Grammar, str, pathlib.Path, type, function or Constraint
        See `sampler`.
    **options
        As ``create_chat_completion`` has them, but for ``tools``, ``functions`` and ``response_format``.

    Raises
    ------
    TypeError, ValueError, PdaconError
        See `complete`.
    """
    return _checked(llama, "create_chat_completion", messages, grammar, options)


_OURS = ("tools", "functions", "response_format")


class _Text:
    """One text of llama-cpp-python, whose chain of samplers gets the constraint."""

    def __init__(self, llama: Any, constraint: Constraint) -> None:
        self._llama = llama
        self._constraint = constraint
        self._chain: Any = None  # kept, since the sampler is freed with it
        self._sampler: Any = None

    def __enter__(self) -> _Text:
        if not hasattr(self._llama, "_init_sampler"):
            raise TypeError("this llama-cpp-python makes its samplers in another way; hold() is for it")
        self._make = self._llama._init_sampler
        self._llama._init_sampler = self._made
        return self

    def __exit__(self, *_: object) -> None:
        vars(self._llama).pop("_init_sampler", None)

    def _made(self, *args: Any, **options: Any) -> Any:
        """A chain with the constraint, once; the next text of this model is another's."""
        import llama_cpp

        self.__exit__()
        chain = self._make(*args, **options)
        ours = sampler(self._llama, self._constraint)
        # Behind the logits processors, who count on every token, and before whatever leaves tokens out.
        place = len(chain.custom_samplers)
        behind = llama_cpp.llama_sampler_chain_n(chain.sampler) - place
        llama_cpp.llama_sampler_chain_add(chain.sampler, ours)
        for _ in range(behind):
            other = llama_cpp.llama_sampler_chain_remove(chain.sampler, place)
            llama_cpp.llama_sampler_chain_add(chain.sampler, other)
        self._chain, self._sampler = chain, ours
        return chain

    def check(self) -> None:
        if self._sampler is None:
            raise MatcherError("llama-cpp-python has made no sampler for this text, so that the text is any")
        check_sampler(self._sampler)


def _checked(llama: Any, write: str, asked: Any, grammar: GrammarSource | Constraint, options: dict[str, Any]) -> Any:
    for name in _OURS:
        if options.get(name) is not None:
            raise TypeError(f"{name} is not for a text that pdacon constrains; leave it out")
    text = _Text(llama, _constraint(llama, grammar))
    if options.get("stream"):
        return _pieces(llama, write, asked, text, options)
    with text:
        answer = getattr(llama, write)(asked, **options)
    text.check()
    return answer


def _pieces(llama: Any, write: str, asked: Any, text: _Text, options: dict[str, Any]) -> Iterator[Any]:
    with text:
        for piece in getattr(llama, write)(asked, **options):
            text.check()
            yield piece
    text.check()
