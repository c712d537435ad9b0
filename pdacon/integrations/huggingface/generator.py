"""`Generator`: a model under a grammar that is compiled once and asked many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

from pdacon.compiling import compile
from pdacon.constraint import Constraint
from pdacon.grammar import GrammarSource
from pdacon.integrations.huggingface.arguments import require_same_texts
from pdacon.integrations.huggingface.generation import generate
from pdacon.integrations.huggingface.prompts import Chat, Prompt
from pdacon.integrations.huggingface.results import Generation


class Generator:
    """A model under a grammar: call it with prompts, as often as you like.

    Parameters
    ----------
    model, tokenizer
        See `generate`.
    grammar : Grammar, str, pathlib.Path or Constraint
        A `Grammar`, a built-in one's name (``"json"``), the text of one, the path of a file, or what `compile` made.
    **options
        Options of `generate` for every call, such as ``temperature`` and ``max_new_tokens``; a call may give others.

    Attributes
    ----------
    constraint : Constraint
        The grammar, compiled for this model. The masks that it has learnt stay: later calls are faster.

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

    def __init__(self, model: Any, tokenizer: Any, grammar: GrammarSource | Constraint, **options: Any) -> None:
        if isinstance(grammar, Constraint):
            require_same_texts(model, tokenizer, grammar)
            self.constraint = grammar
        else:
            self.constraint = compile(grammar, tokenizer=tokenizer, model=model)
        self.model, self.tokenizer = model, tokenizer
        self._options = options

    @overload
    def __call__(self, prompt: str | Chat, *, num_return_sequences: Literal[1] = 1, **options: Any) -> Generation: ...
    @overload
    def __call__(self, prompt: Sequence[str] | Sequence[Chat], **options: Any) -> list[Generation]: ...
    @overload
    def __call__(self, prompt: Prompt | Sequence[Prompt], **options: Any) -> Generation | list[Generation]: ...

    def __call__(self, prompt: Prompt | Sequence[Prompt], **options: Any) -> Generation | list[Generation]:
        """Answer one prompt or several: `generate` with the constraint."""
        chosen = {**self._options, **options}
        return generate(self.model, self.tokenizer, prompt, constraint=self.constraint, **chosen)

    def __repr__(self) -> str:
        return f"<Generator of {self.constraint!r} with {type(self.model).__name__}>"
