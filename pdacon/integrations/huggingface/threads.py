"""How many threads a model is run with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_SMALL = 10_000_000  # Parameters of a model with which threads cost more than they bring.


@contextmanager
def few_threads(model: Any) -> Iterator[None]:
    """One thread for a model that is so small that several wait for each other; the setting is put back."""
    threads = torch.get_num_threads()
    if threads == 1 or model.device.type != "cpu" or model.num_parameters() > _SMALL:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
