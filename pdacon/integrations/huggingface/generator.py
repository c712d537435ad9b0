"""`Generator`: a model under a grammar that is compiled once and asked many times."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import torch
from transformers import StoppingCriteria

from pdacon.base.html import preformatted
from pdacon.base.type_variables import OfForm, Value
from pdacon.front.constraint import Constraint
from pdacon.front.grammar import Grammar, Untyped
from pdacon.integrations.huggingface.arguments import Grammars, constraint_of, each_once
from pdacon.integrations.huggingface.generation import generate
from pdacon.integrations.huggingface.options import Options, merged, require_names
from pdacon.integrations.huggingface.padded_prompts import Chat, Prompt
from pdacon.integrations.huggingface.results import Generation
from pdacon.integrations.huggingface.streams import AsyncStream, Stream

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from pdacon.frontends.types import Call

_Type = TypeVar("_Type")


class Generator(Generic[Value]):
    """A model under a grammar: call it with prompts, as often as you like.

    Parameters
    ----------
    model, tokenizer
        See `generate`.
    grammar : Grammar, str, pathlib.Path, type, function or Constraint, or list of them and None
        As for `generate`. A list has one for each prompt of every call.
    start : str, optional
        Which of the grammar's start rules; the first if it is not given.
    **options
        Options of `generate` for every call, such as ``temperature`` and ``max_new_tokens``; a call may give others.
        Without them: what the model's ``generation_config`` says, or sampling, at most 256 tokens.

    Attributes
    ----------
    constraint : Constraint, or list of Constraint and None
        The grammar, compiled for this model. The masks that it has learnt stay: later calls are faster.

    Notes
    -----
    Threads may share it: each call has its own state.

    Raises
    ------
    PdaconError, TypeError, ValueError
        See `compile` and `generate`.

    Examples
    --------
    ::

        write = pdacon.Generator(model, tokenizer, "json", temperature=0)
        write("Describe a person as JSON:").value
        [answer.text for answer in write(["A city:", "A river:"], max_new_tokens=50)]
    """

    @overload
    def __init__(
        self: Generator[_Type],
        model: Any,
        tokenizer: Any,
        grammar: type[_Type] | Grammar[_Type] | Constraint[_Type],
        *,
        start: str | None = None,
        **options: Any,
    ) -> None: ...
    @overload
    def __init__(
        self: Generator[Any], model: Any, tokenizer: Any, grammar: Untyped, *, start: str | None = None, **options: Any
    ) -> None: ...
    @overload
    def __init__(
        self: Generator[OfForm],
        model: Any,
        tokenizer: Any,
        grammar: TypeForm[OfForm],
        *,
        start: str | None = None,
        **options: Any,
    ) -> None: ...
    @overload
    def __init__(
        self: Generator[Call],
        model: Any,
        tokenizer: Any,
        grammar: Callable[..., Any],
        *,
        start: str | None = None,
        **options: Any,
    ) -> None: ...
    @overload
    def __init__(
        self: Generator[Any], model: Any, tokenizer: Any, grammar: Grammars, *, start: str | None = None, **options: Any
    ) -> None: ...

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        grammar: Any,
        *,
        start: str | None = None,
        **options: Any,
    ) -> None:
        self._options = {**options, **({} if start is None else {"start": start})}
        chosen = self._require_options(model, self._options)
        sources: Any = grammar
        several = isinstance(sources, list | tuple)
        if several and not sources:
            raise ValueError("Generator: there is no grammar: the list is empty")
        made = each_once("Generator", sources, partial(constraint_of, model, tokenizer, chosen), 1)
        for one in filter(None, made):
            one.accepts("", start)  # raises if there is no such start
        self.constraint: Any = made if several else made[0]
        self.model, self.tokenizer = model, tokenizer

    @overload
    def __call__(
        self, prompt: str | Chat, *, num_return_sequences: Literal[1] | None = None, **options: Any
    ) -> Generation[Value]: ...
    @overload
    def __call__(self, prompt: Sequence[str] | Sequence[Chat], **options: Any) -> list[Generation[Value]]: ...
    @overload
    def __call__(
        self, prompt: Prompt | Sequence[Prompt], **options: Any
    ) -> Generation[Value] | list[Generation[Value]]: ...

    def __call__(
        self, prompt: Prompt | Sequence[Prompt], **options: Any
    ) -> Generation[Value] | list[Generation[Value]]:
        """Answer one prompt or several: `generate` with the constraint, which has been compiled.

        Parameters
        ----------
        prompt : str, chat, or a sequence of either
            As for `generate`: one prompt gives a `Generation`, a sequence a list of them, in its order.
        **options : optional
            Those of `generate`, such as ``max_new_tokens``, ``temperature`` and ``seed``; they go before those that the
            Generator was made with.

        Raises
        ------
        TypeError, ValueError
            As `generate`.
        """
        self._require_options(self.model, options)
        options = merged(self.model, self._options, options)
        return generate(self.model, self.tokenizer, prompt, self.constraint, **options)

    @overload
    async def agenerate(
        self, prompt: str | Chat, *, num_return_sequences: Literal[1] | None = None, **options: Any
    ) -> Generation[Value]: ...
    @overload
    async def agenerate(self, prompt: Sequence[str] | Sequence[Chat], **options: Any) -> list[Generation[Value]]: ...
    @overload
    async def agenerate(
        self, prompt: Prompt | Sequence[Prompt], **options: Any
    ) -> Generation[Value] | list[Generation[Value]]: ...

    async def agenerate(
        self, prompt: Prompt | Sequence[Prompt], **options: Any
    ) -> Generation[Value] | list[Generation[Value]]:
        """The same as calling it, for ``await``: the model runs in a thread, and the loop is free.

        Raises
        ------
        TypeError, ValueError
            As a call.
        """
        return await asyncio.to_thread(partial(self, prompt, **options))

    def stream(self, prompt: Prompt, **options: Any) -> Stream[Value]:
        """Answer one prompt, piece by piece: ``for piece in write.stream(prompt): print(piece, end="")``.

        Together the pieces are the text that the same call without ``stream`` gives, after a ``prefix``; each has
        whole characters. ``piece.value`` is the value as far as it has come, of a type with instances of what is whole
        in it. Once it is iterated, ``result`` is the `Generation`.

        Parameters
        ----------
        prompt : str or chat
        **options : optional
            As for a call. One text only: no beams, no ``num_return_sequences``.

        Raises
        ------
        TypeError, ValueError
            As `generate`, at once for options and when it is iterated for the rest.

        Notes
        -----
        The model runs in a thread, which ends at its next token where iterating is given up.
        """
        if "on_text" in options:
            raise TypeError("Generator.stream is given the pieces itself; leave on_text out, or call the Generator")
        self._require_options(self.model, options)
        criteria = [*options.pop("stopping_criteria", ())]

        def call(on_text: Callable[[str], None], stopped: Callable[..., bool]) -> Generation:
            criterion: Any = _Stopped(stopped)
            answer: Any = self(prompt, on_text=on_text, stopping_criteria=[*criteria, criterion], **options)
            one: Generation = answer[0]
            return one  # of one text, which a list of one prompt is, too

        constraint = self.constraint[0] if isinstance(self.constraint, list) else self.constraint
        given = options.get("prefix", self._options.get("prefix", ""))
        return Stream(call, constraint, given if isinstance(given, str) else given.text)

    def astream(self, prompt: Prompt, **options: Any) -> AsyncStream[Value]:
        """The same for ``async for``."""
        return AsyncStream(self.stream(prompt, **options))

    @staticmethod
    def _require_options(model: Any, options: Mapping[str, Any]) -> Options:
        if "grammar" in options:
            raise TypeError(
                "Generator: the grammar, or a list with one for each prompt, is given when it is made; for one that "
                "changes from call to call: pdacon.generate(model, tokenizer, prompt, grammar=...)"
            )
        require_names("Generator", model, options)
        return Options.of("Generator", model, options)

    def __repr__(self) -> str:
        return f"<Generator of {self.constraint!r} with {type(self.model).__name__}>"

    def _repr_html_(self) -> str:
        constraints: list[Constraint | None] = (
            self.constraint if isinstance(self.constraint, list) else [self.constraint]
        )
        pictures = [constraint._repr_html_() for constraint in dict.fromkeys(constraints) if constraint is not None]
        return preformatted(repr(self)) + "".join(pictures)


class _Stopped(StoppingCriteria):
    """Ends every row as soon as somebody says so."""

    def __init__(self, stopped: Callable[..., bool]) -> None:
        self._stopped = stopped

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **_: Any) -> Any:
        return torch.full((len(input_ids),), self._stopped(), dtype=torch.bool, device=input_ids.device)
