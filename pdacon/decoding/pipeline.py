"""`Pipeline`: a model with its tokenizer, and what can be asked of it under constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

import torch

from pdacon.base.arguments import require, require_count, require_instance, require_number, require_seed
from pdacon.decoding.border_tokens import Border
from pdacon.decoding.constrained_models import ConstrainedModel
from pdacon.decoding.masses import Mass, Method, mass_of
from pdacon.decoding.particles import draw
from pdacon.decoding.probabilities import TextProbability, of_texts
from pdacon.decoding.samples import Samples, samples_of
from pdacon.decoding.states import States
from pdacon.decoding.steps import Steps
from pdacon.front.constraint import Constraint
from pdacon.integrations.huggingface.arguments import Given
from pdacon.integrations.huggingface.beginnings import NOTHING_ENDS, begin, begun
from pdacon.integrations.huggingface.generation import generate
from pdacon.integrations.huggingface.options import MOST_TOKENS
from pdacon.integrations.huggingface.padded_prompts import Chat, Prompt, split
from pdacon.integrations.huggingface.results import Generation
from pdacon.integrations.huggingface.threads import few_threads
from pdacon.matching import Budget, Matcher


class Pipeline(ConstrainedModel):
    """A model with its tokenizer: texts under constraints, and their true probabilities.

    A grammar is whatever `compile` takes (a `Grammar`, a `RegularSet`, a built-in one's name, a text in Lark's
    language, a path, a type, a function), or what it made: a `Constraint`. Each is compiled once.

    Parameters
    ----------
    model : transformers.PreTrainedModel or str
        A causal language model or an encoder-decoder; or the name of one on the Hugging Face hub, or its folder, which
        is loaded, on the GPU if there is one. ``"tiny"`` is the one that comes with pdacon.
    tokenizer : transformers.PreTrainedTokenizerFast, optional
        Default: the one that is saved with the model.

    Attributes
    ----------
    model, tokenizer
        What was given, or loaded.

    Raises
    ------
    TypeError, OSError, VocabularyError

    Notes
    -----
    Threads may share it. Source: M. Cognetta, D. Pohl, J. Lee and N. Okazaki, "Pitfalls, subtleties, and techniques in
    automata-based subword-level constrained generation" (2025), section 6 and appendix A.

    Examples
    --------
    ::

        pipeline = pdacon.Pipeline("tiny")
        answer = pipeline.generate("Describe a person as JSON:", "json_dumps", seed=0)
        answer.value, answer.diagnostics.log_prob
        pipeline.compute_probability_mass("Is it?", pdacon.Grammar.from_choices(["yes", "no"])).mass
    """

    @overload
    def generate(
        self,
        prompt: str | Chat,
        grammar: Given | None = None,
        *,
        num_return_sequences: Literal[1] | None = None,
        **options: Any,
    ) -> Generation: ...
    @overload
    def generate(
        self,
        prompt: Sequence[str] | Sequence[Chat],
        grammar: Given | Sequence[Given | None] | None = None,
        **options: Any,
    ) -> list[Generation]: ...
    @overload
    def generate(
        self,
        prompt: Prompt | Sequence[Prompt],
        grammar: Given | Sequence[Given | None] | None = None,
        **options: Any,
    ) -> Generation | list[Generation]: ...

    def generate(
        self,
        prompt: Prompt | Sequence[Prompt],
        grammar: Given | Sequence[Given | None] | None = None,
        *,
        diagnostics: bool = True,
        **options: Any,
    ) -> Generation | list[Generation]:
        """Answer prompts, with the probabilities of what was generated: `pdacon.generate` with another default.

        Parameters
        ----------
        prompt : str, list of messages, or list of either
        grammar : Grammar, str, pathlib.Path, type, function or Constraint, or list with one for each prompt, optional
            Default, and None in a list: nothing but the characters of the pipeline constrains the text.
        diagnostics : bool
            Whether texts have their ``diagnostics``; they take one more pass of the model.
        **options
            All others of `pdacon.generate`: ``prefix``, ``max_tokens``, ``budget``, ``batch_size``, ``temperature``,
            ``top_p``, ``seed``, ``num_return_sequences``, ``num_beams``, ...

        Returns
        -------
        Generation, or list of Generation
            As `pdacon.generate`.

        Raises
        ------
        PdaconError, TypeError, ValueError
            See `pdacon.generate`.
        """
        given: Any = grammar
        several = given if isinstance(given, list | tuple) else [given] * len(split(prompt))
        made = [self._constraint(one) for one in several]
        return generate(self.model, self.tokenizer, prompt, grammar=made, diagnostics=diagnostics, **options)

    @overload
    def compute_probability(  # type: ignore[overload-overlap]  # a str is a sequence of them
        self,
        prompt: Prompt,
        text: str,
        grammar: Given | None = None,
        *,
        prefix: str = "",
        border: Border = "end",
        chat_options: Mapping[str, Any] | None = None,
    ) -> TextProbability: ...
    @overload
    def compute_probability(
        self,
        prompt: Prompt,
        text: Sequence[str],
        grammar: Given | None = None,
        *,
        prefix: str = "",
        border: Border = "end",
        chat_options: Mapping[str, Any] | None = None,
    ) -> list[TextProbability]: ...

    def compute_probability(
        self,
        prompt: Prompt,
        text: str | Sequence[str],
        grammar: Given | None = None,
        *,
        prefix: str = "",
        border: Border = "end",
        chat_options: Mapping[str, Any] | None = None,
    ) -> TextProbability | list[TextProbability]:
        """How probable it is that the model answers with a text, in the tokens that its tokenizer makes of it.

        A text has other tokenizations, too, which a model seldom writes; ``compute_probability_mass(prompt,
        pdacon.Grammar.from_choices([text]))`` has them all.

        Parameters
        ----------
        prompt : str or list of messages
        text : str or sequence of str
            What stands after the prompt and `prefix`. A sequence gives a list, computed in batches.
        grammar : Grammar, str, pathlib.Path, type, function or Constraint, optional
            Of the whole answer, `prefix` included. Without it there is no other probability than the model's.
        prefix : str
            A beginning of the answer that is given, so that it costs no probability.
        border : {"end", "word", "any"}
            What has to come after the text: an end token; an end token or one that begins with no letter, digit or
            ``_``, so that the last word is over; or anything, which is the probability that the answer begins with
            these tokens. The probability of a word after a prompt whose last word is over is that of the text with
            ``border="word"``, divided by that of the empty text (Pimentel and Meister 2024).
        chat_options : mapping, optional
            More arguments of ``tokenizer.apply_chat_template``.

        Raises
        ------
        PdaconError, TypeError, ValueError

        Notes
        -----
        Cost: one pass of the model over the prompt and each text.
        """
        made = self._constraint(grammar)
        before = begun(prefix)
        texts = [text] if isinstance(text, str) else list(text) if isinstance(text, Iterable) else [text]
        for one in texts:
            require_instance("compute_probability", "text", one, str, "a str or a list of them")
        tokens = [tuple(self.tokenizer(one, add_special_tokens=False)["input_ids"]) for one in texts]
        if not texts:
            return []
        with few_threads(self.model):
            found = of_texts(
                self.model,
                self._inputs(prompt, before, chat_options),
                list(zip(texts, tokens, strict=True)),
                None if made is None else begin(made, before),
                self._borders("compute_probability", border, made),
            )
        return found[0] if isinstance(text, str) else found

    def compute_probability_mass(
        self,
        prompt: Prompt,
        grammar: Given,
        *,
        prefix: str = "",
        border: Border = "end",
        max_tokens: int = MOST_TOKENS,
        method: Method = "auto",
        most_prefixes: int = 10_000,
        samples: int = 1_000,
        seed: int | None = None,
        batch_size: int = 32,
        chat_options: Mapping[str, Any] | None = None,
    ) -> Mass:
        """How probable it is that the model, without the grammar, answers with any text that the grammar allows.

        All sequences of tokens count that spell such a text; for those alone that the tokenizer makes, give
        ``pipeline.compile(grammar, canonical=True)``.

        Parameters
        ----------
        prompt : str or list of messages
        grammar : Grammar, str, pathlib.Path, type, function or Constraint
        prefix : str
            A beginning of the answer that is given, so that it costs no probability.
        border : {"end", "word", "any"}
            What has to come after a sentence, as for `compute_probability`. A text that goes on after a border is not
            counted once more.
        max_tokens : int
            Only sentences of at most so many tokens are counted, the end not included.
        method : {"auto", "exact", "sampling"}
            ``"exact"`` sums up all allowed sequences of tokens; ``"sampling"`` estimates by importance sampling.
            ``"auto"``: exact if that takes no more than `most_prefixes`.
        most_prefixes : int
            For how many beginnings of sequences the model may be asked, each once, if the sum is to be exact.
        samples : int
            How many sequences are drawn, if it is not.
        seed : int, optional
            Makes sampling repeatable. Default: torch's global state is used.
        batch_size : int
            How many sequences the model is given at once.
        chat_options : mapping, optional
            More arguments of ``tokenizer.apply_chat_template``.

        Returns
        -------
        Mass
            With the probability of each text that was seen, a standard error and an effective sample size.

        Raises
        ------
        ValueError
            ``"exact"`` needs more prefixes; a number is out of range; no sentence is within `max_tokens`.
        PdaconError, TypeError

        Notes
        -----
        Cost: exact, one step of the model for each prefix, and the caches of some `batch_size` of each length; sampled,
        one step for each token that is drawn, and the caches of `batch_size`.

        Source: Cognetta et al. 2025, section 5.1; R. Geh, H. Zhang, K. Ahmed, B. Wang and G. Van den Broeck, "Where is
        the signal in tokenization space?" (2024), for sums over tokenizations by importance sampling.
        """
        made = self.compile(grammar)
        before = begun(prefix)
        for name, count in (("most_prefixes", most_prefixes), ("samples", samples), ("batch_size", batch_size)):
            require_count("compute_probability_mass", name, count)
        if seed is not None:
            require_seed("compute_probability_mass", seed)
        matcher = _within("compute_probability_mass", made, begin(made, before), max_tokens)
        with few_threads(self.model):
            return mass_of(
                lambda: States.after_prompt(self.model, self._inputs(prompt, before, chat_options).arguments),
                matcher,
                self._borders("compute_probability_mass", border, made),
                made.vocabulary,
                before,
                max_tokens=max_tokens,
                method=method,
                most_prefixes=most_prefixes,
                samples=samples,
                seed=seed,
                batch_size=batch_size,
                device=self.model.device,
            )

    def sample(
        self,
        prompt: Prompt,
        grammar: Given,
        *,
        prefix: str = "",
        particles: int = 64,
        resample_below: float = 0.5,
        checks: int = 0,
        max_tokens: int = MOST_TOKENS,
        seed: int | None = None,
        chat_options: Mapping[str, Any] | None = None,
    ) -> Samples:
        """Draw texts as the model alone writes them, given that it writes what the grammar allows: the posterior.

        `generate` does not: at each step it divides what is allowed by its sum, so it prefers texts that begin as the
        model likes and can then only end as it does not. Here texts have weights that make good for it, and while they
        are written, those that are worth little are replaced by copies of others: sequential Monte Carlo.

        Parameters
        ----------
        prompt : str or list of messages
        grammar : Grammar, str, pathlib.Path, type, function or Constraint
        prefix : str
            A beginning of the answer that is given.
        particles : int
            How many texts, all written at once. The more, the nearer to the posterior.
        resample_below : float
            Texts are replaced when the effective sample size is below this part of `particles`, from 0 to 1. 0: never,
            which is importance sampling.
        checks : int
            0: masks say what is allowed. More: no mask is computed; tokens are drawn from the model's own distribution
            and checked one by one until one is allowed, and so many more after it, which say how much weight it has.
            Faster where the model mostly wants what is allowed.
        max_tokens : int
            The most tokens of a text, its end not included.
        seed : int, optional
            Makes it repeatable. Default: torch's global state is used.
        chat_options : mapping, optional
            More arguments of ``tokenizer.apply_chat_template``.

        Returns
        -------
        Samples
            Weighted texts; ``.draw()`` chooses by the weights.

        Raises
        ------
        ValueError
            A number is out of range; no sentence is within `max_tokens`.
        PdaconError, TypeError

        Notes
        -----
        Cost: as many steps of the model as the longest text has tokens, each of as many rows as there are texts under
        way.

        Source: A. Lew, T. Zhi-Xuan, G. Grand and V. Mansinghka, "Sequential Monte Carlo steering of large language
        models using probabilistic programs" (2023); J. Loula et al., "Syntactic and semantic control of large language
        models via sequential Monte Carlo" (2025); B. Lipkin et al., "Fast controlled generation from language models
        with adaptive weighted rejection sampling" (2025).
        """
        require_count("sample", "particles", particles)
        require_count("sample", "checks", checks)
        require_number("sample", "resample_below", resample_below, "a number from 0 to 1")
        if particles < 1 or checks < 0 or not 0 <= resample_below <= 1:
            raise ValueError(
                f"sample: particles is {particles} (at least 1), checks {checks} (at least 0), resample_below "
                f"{resample_below} (from 0 to 1)"
            )
        made = self.compile(grammar)
        before = begun(prefix)
        generator = None
        if seed is not None:
            generator = torch.Generator(self.model.device).manual_seed(require_seed("sample", seed))
        matcher = _within("sample", made, begin(made, before), max_tokens)
        with few_threads(self.model):
            drawn = draw(
                States.after_prompt(self.model, self._inputs(prompt, before, chat_options).arguments),
                matcher,
                self._borders("sample", "end", made),
                particles,
                max_tokens,
                generator,
                resample_below=resample_below,
                checks=checks,
            )
        return samples_of(drawn, made, before)

    def steps(
        self,
        prompt: Prompt,
        grammar: Given | None = None,
        *,
        prefix: str = "",
        budget: Budget | None = None,
        chat_options: Mapping[str, Any] | None = None,
    ) -> Steps:
        """A text to be written one token at a time, by whoever decides which.

        Parameters
        ----------
        prompt : str or list of messages
        grammar : Grammar, str, pathlib.Path, type, function or Constraint, optional
        prefix : str
            The beginning of the answer.
        budget : Budget, optional
            Within how much after `prefix` the text is to be a sentence: what leads further is not allowed.
        chat_options : mapping, optional
            More arguments of ``tokenizer.apply_chat_template``.

        Raises
        ------
        PdaconError, TypeError, ValueError
        """
        made = self._constraint(grammar)
        before = begun(prefix)
        if budget is not None:
            require("steps", "budget", budget, Budget)
        if made is None and budget is not None:
            raise ValueError(f"steps: {NOTHING_ENDS}")
        matcher = None if made is None else begin(made, before, budget=budget)
        states = States.after_prompt(self.model, self._inputs(prompt, before, chat_options).arguments)
        return Steps(states, matcher, self._vocabulary if made is None else made.vocabulary, before)


def _within(caller: str, constraint: Constraint, matcher: Matcher, max_tokens: int) -> Matcher:
    """Limit a matcher to so many tokens, if they can be counted for its constraint: else what is longer is cut off."""
    if require_count(caller, "max_tokens", max_tokens) < 1:
        raise ValueError(f"max_tokens is {max_tokens}; at least 1 token must be allowed")
    layout = constraint.grammar.data.layout
    if not (matcher._is_filtered() or constraint.grammar.data.labels or (layout is not None and layout.escaped)):
        matcher.keep_within(Budget(tokens=max_tokens))
    return matcher
