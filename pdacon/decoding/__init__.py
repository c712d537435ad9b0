"""What loops over a model: its probabilities, with a constraint and without, and texts drawn by them.

In: a causal language model or an encoder-decoder of transformers, its tokenizer, and constraints. Out: a `Pipeline`,
which generates, says how probable a text is, and how probable all texts together are that a constraint allows.

    pipeline.py            `Pipeline`: the calls, and what their arguments mean
    constrained_models.py  what the calls share: a model, its tokenizer, the constraints compiled for them
    states.py              a model after several texts that share a prompt, with their key-value caches
    border_tokens.py       what has to come after a text for it to be over
    ways_on.py             one matcher for each row, its mask, and what of the model's distribution it leaves
    probabilities.py       the probability of a given text
    tries.py               the trie of all allowed sequences of tokens, evaluated exactly
    particles.py           importance sampling and sequential Monte Carlo
    rejection.py           one token by checks in place of a mask
    samples.py             `Samples`: weighted texts
    masses.py              `Mass`: the probability of a language
    steps.py               `Steps`: one token at a time

This room knows no automata: matchers say what is allowed. It needs torch and transformers, and `import pdacon` imports
neither.
"""

from pdacon.decoding.masses import Mass
from pdacon.decoding.pipeline import Pipeline
from pdacon.decoding.probabilities import TextProbability
from pdacon.decoding.samples import Samples
from pdacon.decoding.steps import Steps

__all__ = ["Mass", "Pipeline", "Samples", "Steps", "TextProbability"]
