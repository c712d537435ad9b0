"""From prompts to constrained texts in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from pdacon.base.type_variables import OfForm
from pdacon.errors import MatcherError
from pdacon.front.constraint import Constraint
from pdacon.front.grammar import Grammar, Untyped
from pdacon.integrations.huggingface.arguments import Grammars
from pdacon.integrations.huggingface.drafts import Draft
from pdacon.integrations.huggingface.engine import write
from pdacon.integrations.huggingface.options import Options, require_names
from pdacon.integrations.huggingface.padded_prompts import Chat, Prompt, is_one
from pdacon.integrations.huggingface.progress import Progress
from pdacon.integrations.huggingface.results import Generation
from pdacon.matching import Budget

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from pdacon.frontends.types import Call

_Type = TypeVar("_Type")


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Chat,
    grammar: type[_Type] | Grammar[_Type] | Constraint[_Type],
    *,
    num_return_sequences: Literal[1] | None = None,
    **options: Any,
) -> Generation[_Type]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Sequence[str] | Sequence[Chat],
    grammar: type[_Type] | Grammar[_Type] | Constraint[_Type],
    **options: Any,
) -> list[Generation[_Type]]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Chat,
    grammar: Untyped | None = None,
    *,
    num_return_sequences: Literal[1] | None = None,
    **options: Any,
) -> Generation[Any]: ...
@overload
def generate(
    model: Any, tokenizer: Any, prompt: Sequence[str] | Sequence[Chat], grammar: Untyped | None = None, **options: Any
) -> list[Generation[Any]]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Chat,
    grammar: TypeForm[OfForm],
    *,
    num_return_sequences: Literal[1] | None = None,
    **options: Any,
) -> Generation[OfForm]: ...
@overload
def generate(
    model: Any, tokenizer: Any, prompt: Sequence[str] | Sequence[Chat], grammar: TypeForm[OfForm], **options: Any
) -> list[Generation[OfForm]]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Chat,
    grammar: Callable[..., Any],
    *,
    num_return_sequences: Literal[1] | None = None,
    **options: Any,
) -> Generation[Call]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Sequence[str] | Sequence[Chat],
    grammar: Callable[..., Any],
    **options: Any,
) -> list[Generation[Call]]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Chat,
    grammar: Grammars | None = None,
    *,
    num_return_sequences: Literal[1] | None = None,
    **options: Any,
) -> Generation: ...
@overload
def generate(
    model: Any, tokenizer: Any, prompt: Sequence[str] | Sequence[Chat], grammar: Grammars | None = None, **options: Any
) -> list[Generation]: ...
@overload
def generate(
    model: Any, tokenizer: Any, prompt: Prompt | Sequence[Prompt], grammar: Grammars | None = None, **options: Any
) -> Generation | list[Generation]: ...


def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt | Sequence[Prompt],
    grammar: Grammars | None = None,
    *,
    start: str | None = None,
    prefix: str | Generation | Sequence[str | Generation] = "",
    max_tokens: int | None = None,
    budget: Budget | None = None,
    draft: Draft | None = None,
    skip_forced: bool = False,
    seed: int | Sequence[int] | None = None,
    temperature: float | None = None,
    num_beams: int | None = None,
    num_return_sequences: int | None = None,
    batch_size: int | None = None,
    eos_token_id: int | Sequence[int] | None = None,
    pad_token_id: int | None = None,
    generation_config: Any = None,
    on_text: Callable[[str], None] | None = None,
    progress: bool | Callable[[Progress], None] = False,
    chat_options: Mapping[str, Any] | None = None,
    diagnostics: bool = False,
    **options: Any,
) -> Generation | list[Generation]:
    """Answer prompts with text that a grammar allows.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model or an encoder-decoder.
    tokenizer : transformers.PreTrainedTokenizerFast
        Its tokenizer.
    prompt : str, list of messages, or list of either
        What comes before; it is not constrained and not returned. A text is taken as it is, a list of messages (such as
        ``{"role": "user", "content": "..."}``) is written with the tokenizer's chat template. An empty
        text: the answer starts at the model's begin token.
    grammar : Grammar, str, pathlib.Path, type, function or Constraint, or list with one for each prompt
        A grammar as `compile` takes it, which is compiled in this call: a `Grammar`, a built-in one's name
        (``"json"``), the text of one in Lark's notation, the path of a file, ... Or, for several calls, what `compile`
        made of it for ``tokenizer=`` and ``model=``; or use a `Generator`. In a list None constrains nothing.
    start : str, optional
        Which of the grammar's start rules; the first if it is not given.
    prefix : str or Generation, or list with one for each prompt
        The beginning of the answer, to be continued: a text, or a generation that was cut off.
    max_tokens : int, optional
        The most tokens to generate for a text, the end token included; ``max_new_tokens``, transformers' name, is the
        same. Default: what `generation_config` or the model's says, or 256.
    budget : Budget, optional
        Within how much, after `prefix`, every text is to be a sentence, so that none is cut off. It says how many
        tokens are generated as well, in place of `max_tokens`.
    draft : Draft, optional
        Drafts tokens that the grammar forces, or that texts have shown, for the model to verify several in one pass.
        For one text at a time, without beams.
    skip_forced : bool
        Append tokens that are the only ones allowed without asking the model for each: a run of them is read in the
        pass that writes the token after it. Texts stay the same, and `Generation.skip_rate` says how many tokens that
        were. With a constraint that is ``canonical`` most of what a grammar forces is such tokens; without, a text can
        often be cut in other ways. For one text at a time, without beams.
    seed : int, or list with one for each text, optional
        Makes sampling repeatable, in any number of threads: this call draws from random numbers of its own. With a list
        each text is drawn as it would be alone with its seed, whatever else is in the batch; without beams. Default:
        torch's global state is used, which all threads share.
    temperature : float, optional
        0: no sampling; 1: sample from the model's own distribution. Default: what `generation_config` or the model's
        says, or 1; 0 with beams, unless `generation_config` samples. ``do_sample=False`` is 0, too.
    num_beams : int, optional
        More than 1: beam search. Default: what `generation_config` or the model's says, or 1.
    num_return_sequences : int, optional
        How many texts for each prompt. Beam search returns fewer where it finds fewer; two of them may be the same
        text in different tokens. Default: what `generation_config` says, or 1.
    batch_size : int, optional
        How many prompts the model reads at a time; all of them if it is not given. With one `seed`, text i of all is
        drawn with ``seed + i`` then, so that it does not depend on the size, but for the model's rounding.
    eos_token_id : int or sequence of int, optional
        Exactly the ids that end a text; they stand for no text then. Default: the model's. A constraint was compiled
        for its own.
    pad_token_id : int, optional
        What pads rows. Default: what the model or the tokenizer says, or an end token.
    generation_config : transformers.GenerationConfig, optional
        What it says goes before what the model's says, and after the arguments of this call. It has no seed: that is
        `seed`.
    on_text : callable, optional
        Is given what is generated piece by piece, in whole characters, meanwhile. For one text only.
    progress : bool or callable
        True: a bar that says how many texts are written and how long the rest may take, on standard error or in the
        notebook. Or what is called with a `Progress` whenever a text is done; what it raises ends the call. Beams, and
        texts whose model is run elsewhere, count when their batch is done.
    chat_options : mapping, optional
        More arguments of ``tokenizer.apply_chat_template``, such as ``tools``.
    diagnostics : bool
        Whether each text is to have the probabilities of its tokens, with the constraint and without:
        `Generation.diagnostics`. They take one more pass of the model over prompt and text.
    **options
        More arguments of ``model.generate``: ``assistant_model``, ``prompt_lookup_num_tokens``, ``top_p``,
        ``cache_implementation``, ``streamer``, ``stopping_criteria``, ``stop_strings``, ... A ``logits_processor``
        comes before the constraint.

    Returns
    -------
    Generation
        For one prompt.
    list of Generation
        For a list of prompts, or more than one text: those of the first prompt first, the best first. None for none.

    Raises
    ------
    TypeError
        The prompt is none, there is no grammar, an option is one that this function sets itself, or two are names of
        one thing.
    ValueError
        A number is out of range, several texts were asked for where there is only one, or a prefix is not the
        beginning of a sentence. A name is no built-in grammar's. No sentence is within `budget`.
    VocabularyError
        The constraint was compiled for another vocabulary, or see `vocabulary`.
    MatcherError
        See `PDALogitsProcessor`; or beam search found no text.
    PdaconError
        A grammar cannot be compiled: see `compile`.

    Warns
    -----
    IncompleteWarning
        The most tokens were too few for a text.
    """
    given = dict(locals())  # all arguments by their names
    require_names("generate", model, options)
    asked = Options.of("generate", model, given | options)
    texts = write(model, tokenizer, prompt, asked)
    if asked.num_return_sequences > 1 or not is_one(prompt):
        return texts
    if not texts:
        raise MatcherError("beam search has found no text; give more num_beams")
    return texts[0]
