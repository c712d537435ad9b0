"""Random numbers of one call: ``model.generate`` draws from torch's global state, and takes no other.

While a call is `Seeded`, what its thread draws comes from a generator of its own instead. So neither does it depend on
what other threads draw meanwhile, nor is the global state changed, saved or put back.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsIndex

import torch
from torch.overrides import TorchFunctionMode

# What draws for a tensor, on its device, and takes ``generator=``: as functions of torch and as methods.
_OF_TENSORS = frozenset({"multinomial", "bernoulli", "bernoulli_", "exponential_", "uniform_", "normal_", "random_"})
_OF_SHAPES = frozenset({"rand", "randn", "randint", "randperm"})
_LIKE = {"rand_like": torch.Tensor.uniform_, "randn_like": torch.Tensor.normal_}
_DRAWS = _OF_TENSORS | _OF_SHAPES | _LIKE.keys()


class Seeded(TorchFunctionMode):
    """Within it, this thread's random numbers come from the seed alone: on each device the sequence that follows it.

    The numbers are those that ``torch.manual_seed(seed)`` would bring. With several seeds, row i of what is drawn by
    ``torch.multinomial`` for as many rows has the numbers of seed i, as if it were drawn alone.
    """

    def __init__(self, seed: int | Sequence[int]) -> None:
        super().__init__()
        seeds = [seed] if isinstance(seed, SupportsIndex) else list(seed)
        self._rows = [Seeded(one) for one in seeds] if len(seeds) > 1 else []
        self._seed = operator.index(seeds[0])
        self._generators = {torch.device("cpu"): torch.Generator().manual_seed(self._seed)}  # which says what a seed is

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        name = func.__name__ if hasattr(func, "__name__") else ""
        if name not in _DRAWS:  # of the thousand calls of a model's step, all but one
            return func(*args, **kwargs) if kwargs else func(*args)
        if name == "multinomial" and self._rows and len(args[0]) == len(self._rows):
            rows = zip(args[0].split(1), self._rows, strict=True)
            return torch.cat([one.__torch_function__(func, types, (row, *args[1:]), kwargs) for row, one in rows])
        given = dict(kwargs or {})
        if given.get("generator") is None:
            if name in _OF_TENSORS and args and isinstance(args[0], torch.Tensor):
                given["generator"] = self._generator(args[0].device)
            elif name in _OF_SHAPES:
                device = given.get("device")
                given["generator"] = self._generator(torch.get_default_device() if device is None else device)
            elif name in _LIKE and args:
                empty = torch.empty_like(args[0], **given)
                return _LIKE[name](empty, generator=self._generator(empty.device))
        return func(*args, **given)

    def _generator(self, device: torch.device | str | int) -> torch.Generator:
        device = torch.empty(0, device=device).device  # with its number
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        return self._generators[device]
