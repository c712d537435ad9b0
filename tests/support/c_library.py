"""The C interface by ctypes, for tests: its functions, with a Python exception for each status that is not 0."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_bool, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdacon._native.embedding import library

OK, FORBIDDEN, INVALID, CANNOT_READ, BAD_ARTIFACT, LIMIT, MISUSE, EMPTY, NO_MEMORY, INTERNAL = range(10)

C = ctypes.CDLL(str(library()))
C.pdacon_abi_version.restype = c_uint32
C.pdacon_version.restype = c_char_p
C.pdacon_last_error.restype = c_char_p
for name in ("num_tokens", "mask_words", "num_starts"):
    function = getattr(C, f"pdacon_constraint_{name}")
    function.restype, function.argtypes = c_size_t, [c_void_p]
for name, arguments in {
    "constraint_load": [c_char_p, c_bool, POINTER(c_void_p)],
    "constraint_from_bytes": [c_void_p, c_size_t, c_bool, POINTER(c_void_p)],
    "constraint_token": [c_void_p, c_int64, POINTER(c_void_p), POINTER(c_size_t)],
    "constraint_end_tokens": [c_void_p, POINTER(POINTER(c_int32)), POINTER(c_size_t)],
    "constraint_settings": [c_void_p, POINTER(c_void_p), POINTER(c_size_t)],
    "matcher_new": [c_void_p, c_void_p, POINTER(c_void_p)],
    "matcher_fork": [c_void_p, POINTER(c_void_p)],
    "matcher_reset": [c_void_p],
    "matcher_fill_mask": [c_void_p, c_void_p, c_size_t],
    "matcher_is_allowed": [c_void_p, c_int64],
    "matcher_accept_token": [c_void_p, c_int64],
    "matcher_accept_bytes": [c_void_p, c_char_p, c_size_t],
    "matcher_validate_tokens": [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)],
    "matcher_rollback": [c_void_p, c_size_t],
    "matcher_is_accepting": [c_void_p, POINTER(c_bool)],
    "matcher_is_terminated": [c_void_p, POINTER(c_bool)],
    "matcher_forced_bytes": [c_void_p, c_size_t, c_void_p, c_size_t, POINTER(c_size_t)],
    "matcher_shortest_completion": [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)],
    "llama_sampler_new": [c_void_p, c_void_p, POINTER(c_void_p)],
    "llama_sampler_check": [c_void_p],
}.items():
    getattr(C, f"pdacon_{name}").argtypes = arguments
for name in ("constraint", "matcher"):
    free = getattr(C, f"pdacon_{name}_free")
    free.restype, free.argtypes = None, [c_void_p]


class Options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("start", c_size_t),
        ("max_rollback", c_int64),
        ("max_tokens", c_int64),
        ("strip_leading_space", c_bool),
    ]


class Llama(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("sampler_size", c_size_t),
        ("interface_size", c_size_t),
        ("candidate_size", c_size_t),
        ("candidates_size", c_size_t),
        ("sampler_init", c_void_p),
    ]


class StatusError(Exception):
    """A status that is not PDACON_OK, with the message."""

    def __init__(self, status: int) -> None:
        self.status, self.message = status, (C.pdacon_last_error() or b"").decode()
        super().__init__(f"{status}: {self.message}")


def call(name: str, *arguments: Any) -> None:
    status = getattr(C, f"pdacon_{name}")(*arguments)
    if status != OK:
        raise StatusError(status)


class Constraint:
    def __init__(self, source: str | bytes, verify: bool = False) -> None:
        self.address = c_void_p()
        if isinstance(source, str):
            call("constraint_load", source.encode(), verify, byref(self.address))
        else:
            call("constraint_from_bytes", source, len(source), verify, byref(self.address))

    def __del__(self) -> None:
        C.pdacon_constraint_free(self.address)

    @property
    def num_tokens(self) -> int:
        return int(C.pdacon_constraint_num_tokens(self.address))

    @property
    def mask_words(self) -> int:
        return int(C.pdacon_constraint_mask_words(self.address))

    @property
    def num_starts(self) -> int:
        return int(C.pdacon_constraint_num_starts(self.address))

    def token(self, token: int) -> bytes:
        text, size = c_void_p(), c_size_t()
        call("constraint_token", self.address, token, byref(text), byref(size))
        return ctypes.string_at(text.value or 0, size.value) if size.value else b""

    def end_tokens(self) -> list[int]:
        tokens, count = POINTER(c_int32)(), c_size_t()
        call("constraint_end_tokens", self.address, byref(tokens), byref(count))
        return [tokens[at] for at in range(count.value)]

    def settings(self) -> bytes:
        text, size = c_void_p(), c_size_t()
        call("constraint_settings", self.address, byref(text), byref(size))
        return ctypes.string_at(text.value or 0, size.value)


class Matcher:
    def __init__(self, constraint: Constraint, **options: Any) -> None:
        self.words = constraint.mask_words
        self.address = c_void_p()
        given = Options(ctypes.sizeof(Options), 0, -1, -1, False)
        for name, value in options.items():
            setattr(given, name, value)
        call("matcher_new", constraint.address, byref(given) if options else None, byref(self.address))

    def __del__(self) -> None:
        C.pdacon_matcher_free(self.address)

    def fork(self) -> Matcher:
        twin = Matcher.__new__(Matcher)
        twin.words, twin.address = self.words, c_void_p()
        call("matcher_fork", self.address, byref(twin.address))
        return twin

    def reset(self) -> None:
        call("matcher_reset", self.address)

    def mask(self, more: int = 0) -> NDArray[np.int32]:
        row = np.full(self.words + more, -1, np.int32)
        call("matcher_fill_mask", self.address, row.ctypes.data, len(row))
        return row

    def is_allowed(self, token: int) -> bool:
        return self._asked("matcher_is_allowed", token)

    def accept_token(self, token: int) -> bool:
        return self._asked("matcher_accept_token", token)

    def accept_bytes(self, text: bytes) -> bool:
        return self._asked("matcher_accept_bytes", text, len(text))

    def _asked(self, name: str, *arguments: Any) -> bool:
        try:
            call(name, self.address, *arguments)
        except StatusError as error:
            if error.status != FORBIDDEN:
                raise
            return False
        return True

    def validate_tokens(self, tokens: list[int]) -> int:
        valid = c_size_t()
        ids = np.array(tokens, np.int64)
        call("matcher_validate_tokens", self.address, ids.ctypes.data, len(ids), byref(valid))
        return valid.value

    def rollback(self, count: int) -> None:
        call("matcher_rollback", self.address, count)

    def is_accepting(self) -> bool:
        return self._told("matcher_is_accepting")

    def is_terminated(self) -> bool:
        return self._told("matcher_is_terminated")

    def _told(self, name: str) -> bool:
        answer = c_bool()
        call(name, self.address, byref(answer))
        return answer.value

    def forced_bytes(self, limit: int) -> bytes:
        return self._text("matcher_forced_bytes", limit)

    def shortest_completion(self) -> bytes:
        return self._text("matcher_shortest_completion")

    def _text(self, name: str, *arguments: Any) -> bytes:
        size = c_size_t()
        call(name, self.address, *arguments, None, 0, byref(size))
        room = ctypes.create_string_buffer(size.value + 1)
        call(name, self.address, *arguments, room, size.value, byref(size))
        return room.raw[: size.value]
