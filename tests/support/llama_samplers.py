"""As much of llama.cpp as its samplers are called by: structures as in its llama.h, and chains. Tests go without it."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_float, c_int32, c_int64, c_size_t, c_void_p
from typing import Any


class llama_token_data(Structure):  # noqa: N801
    _fields_ = [("id", c_int32), ("logit", c_float), ("p", c_float)]


class llama_token_data_array(Structure):  # noqa: N801
    _fields_ = [("data", POINTER(llama_token_data)), ("size", c_size_t), ("selected", c_int64), ("sorted", c_bool)]


class llama_sampler_i(Structure):  # noqa: N801
    _fields_ = [
        ("name", CFUNCTYPE(c_char_p, c_void_p)),
        ("accept", CFUNCTYPE(None, c_void_p, c_int32)),
        ("apply", CFUNCTYPE(None, c_void_p, POINTER(llama_token_data_array))),
        ("reset", CFUNCTYPE(None, c_void_p)),
        ("clone", CFUNCTYPE(c_void_p, c_void_p)),
        ("free", CFUNCTYPE(None, c_void_p)),
        *((f"graph{number}", c_void_p) for number in range(5)),
        ("copy_state", CFUNCTYPE(None, c_void_p, c_void_p)),
    ]


class llama_sampler(Structure):  # noqa: N801
    _fields_ = [("iface", POINTER(llama_sampler_i)), ("ctx", c_void_p)]


made: dict[int, llama_sampler] = {}
"""The samplers that are alive, by their addresses."""


@CFUNCTYPE(c_void_p, POINTER(llama_sampler_i), c_void_p)
def llama_sampler_init(interface: Any, context: int) -> int:
    """What llama.cpp's does."""
    one = llama_sampler(interface, context)
    made[ctypes.addressof(one)] = one
    return ctypes.addressof(one)


def at(sampler: Any) -> int:
    """The address of a sampler, however ctypes has it."""
    return sampler if isinstance(sampler, int) else ctypes.cast(sampler, c_void_p).value or 0


def free(sampler: Any) -> None:
    address = at(sampler)
    made[address].iface.contents.free(address)
    del made[address]


def clone(sampler: Any) -> int:
    found: int = made[at(sampler)].iface.contents.clone(at(sampler))
    return found


def copy_state(source: Any, target: Any) -> None:
    made[at(source)].iface.contents.copy_state(at(source), at(target))


def reset(sampler: Any) -> None:
    made[at(sampler)].iface.contents.reset(at(sampler))


def accept(sampler: Any, token: int) -> None:
    made[at(sampler)].iface.contents.accept(at(sampler), token)


def name(sampler: Any) -> bytes:
    found: bytes = made[at(sampler)].iface.contents.name(at(sampler))
    return found


def left(sampler: Any, candidates: list[int]) -> list[int]:
    """The candidates that a sampler leaves of these, in their order."""
    data = (llama_token_data * max(len(candidates), 1))(*((token, token / 8, 0.0) for token in candidates))
    given = llama_token_data_array(data, len(candidates), 0, False)
    made[at(sampler)].iface.contents.apply(at(sampler), ctypes.byref(given))
    kept = [given.data[place] for place in range(given.size)]
    assert given.selected == (-1 if candidates else 0)
    assert all(one.logit in (one.id / 8, 0.0) for one in kept)
    return [one.id for one in kept]


class Chain:
    """What llama-cpp-python's own chain is to those who put a sampler into it; it holds addresses."""

    def __init__(self, processors: int) -> None:
        self.sampler = self
        self.custom_samplers = [(place, None) for place in range(processors)]
        self.parts: list[Any] = [*(f"processor {place}" for place in range(processors)), "penalties", "top-k", "dist"]


def llama_sampler_chain_n(chain: Chain) -> int:
    return len(chain.parts)


def llama_sampler_chain_add(chain: Chain, part: Any) -> None:
    chain.parts.append(part)


def llama_sampler_chain_remove(chain: Chain, place: int) -> Any:
    return chain.parts.pop(place)
