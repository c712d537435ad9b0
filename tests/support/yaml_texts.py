"""YAML in pdacon's spelling, read and written without pdacon: what its style is, said a second time.

`json_texts` reads a text of the style and says in which JSON the same value is written; `written` writes a value in one
of its spellings. Whether a string may be plain is asked of the readers, PyYAML (YAML 1.1) and ruamel.yaml (YAML 1.2).
"""

from __future__ import annotations

import itertools
import json
import re
from functools import lru_cache
from random import Random
from typing import Any

import ruamel.yaml
import yaml

_QUOTED = re.compile(r"""'(?:[^'\n]|'')*'|"(?:[^"\\\n]|\\.)*\"""")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?")
_ESCAPE = re.compile(r'\\(?:([0abtnvfre"\\NLP])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))')
_MEANT = dict(zip('0abtnvfre"\\NLP', '\0\a\b\t\n\v\f\r\x1b"\\\x85\u2028\u2029', strict=True))
_RAW = re.compile("[\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")
_WORDS = {"null": "null", "true": "true", "false": "false", "[]": "[]", "{}": "{}"}


def values_read(text: str) -> list[Any]:
    """What both readers make of a text. Raises what they raise."""
    reader = ruamel.yaml.YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True  # as PyYAML and JSON take them
    return [yaml.safe_load(text), reader.load(text)]


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal as values of JSON: 1 is not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


class _NameTwice(Exception):
    """A mapping has a key twice."""


class _Unique(yaml.SafeLoader):
    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(names) > len(set(map(repr, names))):
            raise _NameTwice
        return super().construct_mapping(node, deep)


def has_a_name_twice(text: str) -> bool:
    """Whether a mapping in a text has a key twice, which readers take in different ways."""
    try:
        yaml.load(text, Loader=_Unique)
    except _NameTwice:
        return True
    except (yaml.YAMLError, ValueError, TypeError):
        return False
    return False


@lru_cache(maxsize=65536)
def may_be_plain(text: str) -> bool:
    """Whether both readers take a plain scalar for the string that it looks like, wherever it stands."""
    if text.startswith(("---", "...")) or not text or _RAW.fullmatch(text) is None:
        return False
    places: list[tuple[str, Any]] = [
        (f"k: {text}\n", {"k": text}), (f"- {text}\n", [text]), (f"{text}: 1\n", {text: 1}), (f"{text}\n", text),
    ]  # fmt: skip
    try:
        return all(repr(read) == repr(meant) for place, meant in places for read in values_read(place))
    except (yaml.YAMLError, ruamel.yaml.error.YAMLError, ValueError, TypeError):
        return False


class _OutOfStyle(Exception):
    """The text is not in pdacon's spelling."""


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self.has_quoted_name = False  # one that may be plain

    def whole(self) -> list[str]:
        value = self._value(0, behind_name=False)
        if self._at != len(self._text):
            raise _OutOfStyle
        return value

    def _takes(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _line(self) -> str:
        end = self._text.find("\n", self._at)
        if end < 0:
            raise _OutOfStyle
        return self._text[self._at : end]

    def _value(self, level: int, *, behind_name: bool) -> list[str]:
        if behind_name and self._takes("\n"):
            rest = self._text[self._at :]
            for inner, is_array in ((level + 1, True), (level, True), (level + 1, False)):
                indent = "  " * inner
                if rest.startswith(f"{indent}- " if is_array else indent):
                    self._at += len(indent)
                    return self._array(inner) if is_array else self._object(inner)
            raise _OutOfStyle
        if behind_name:
            if not self._takes(" "):
                raise _OutOfStyle
            return self._scalar(level + 1)
        line = self._line()
        if line.startswith("- "):
            return self._array(level)
        if line not in _WORDS and self._name_of(line) is not None:
            return self._object(level)
        return self._scalar(max(level, 1))

    def _array(self, level: int) -> list[str]:
        items = []
        while self._takes("- "):
            items.append(self._value(level + 1, behind_name=False))
            indent = "  " * level
            if not self._text.startswith(f"{indent}- ", self._at):
                break
            self._at += len(indent)
        return [f"[{', '.join(texts)}]" for texts in itertools.product(*items)]

    def _object(self, level: int) -> list[str]:
        members = []
        indent = "  " * level
        while True:
            name = self._name_of(self._line())
            if name is None:
                raise _OutOfStyle
            written, text = name
            self._at += len(written)
            value = self._value(level, behind_name=True)
            members.append([f"{json.dumps(text, ensure_ascii=False)}: {one}" for one in value])
            rest = self._text[self._at :]
            if not rest.startswith(indent) or rest[len(indent) :].startswith((" ", "- ")) or rest == indent:
                break
            self._at += len(indent)
        return [f"{{{', '.join(texts)}}}" for texts in itertools.product(*members)]

    def _name_of(self, line: str) -> tuple[str, str] | None:
        """A name with its colon, as it is written, and the name."""
        quoted = _QUOTED.match(line)
        if quoted is not None:
            after = line[quoted.end() :]
            if after != ":" and not after.startswith(": "):
                return None
            text = _unquoted(quoted.group())
            self.has_quoted_name |= may_be_plain(text)
            return f"{quoted.group()}:", text
        end = line.find(": ")
        text = line[:end] if end >= 0 else line[:-1] if line.endswith(":") else ""
        return (f"{text}:", text) if may_be_plain(text) else None

    def _scalar(self, level: int) -> list[str]:
        line = self._line()
        self._at += len(line) + 1
        if line in _WORDS:
            return [_WORDS[line]]
        if _NUMBER.fullmatch(line):
            return list(dict.fromkeys([line, re.sub(r"\.0(?=[eE])", "", line)]))
        if line in ("|", "|-"):
            return [json.dumps(self._lines(level, line), ensure_ascii=False)]
        if _QUOTED.fullmatch(line):
            return [json.dumps(_unquoted(line), ensure_ascii=False)]
        if not may_be_plain(line):
            raise _OutOfStyle
        return [json.dumps(line, ensure_ascii=False)]

    def _lines(self, level: int, header: str) -> str:
        indent, lines, begin = "  " * level, [], self._at
        while self._at < len(self._text):
            line = self._line()
            if line and not line.startswith(indent):
                break
            lines.append(line[len(indent) :])
            self._at += len(line) + 1
        if any(line.isspace() for line in self._text[begin : self._at].split("\n")):
            raise _OutOfStyle
        plain = all(_RAW.fullmatch(line.replace("\t", "")) and (line == "" or line.strip(" \t")) for line in lines)
        if not lines or not plain or not lines[0] or lines[0][0] in " \t" or not lines[-1]:
            raise _OutOfStyle
        return "\n".join(lines) + ("\n" if header == "|" else "")


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    if text[0] == "'":
        meant, raw = inner.replace("''", "'"), inner
    else:
        raw = _ESCAPE.sub("", inner)
        meant = _ESCAPE.sub(_escaped, inner)
        if "\\" in raw:
            raise _OutOfStyle
    if _RAW.fullmatch(raw) is None or any("\ud800" <= character <= "\udfff" for character in meant):
        raise _OutOfStyle
    return meant


def _escaped(match: re.Match[str]) -> str:
    short, byte, unit = match.groups()
    if short is not None:
        return _MEANT[short]
    point = int(byte or unit, 16)
    if _RAW.fullmatch(chr(point)) or point in (0x22, 0x5C):  # what stands for itself is not escaped
        raise _OutOfStyle
    return chr(point)


def json_texts(text: str) -> tuple[list[str] | None, bool]:
    """The same value as JSON, members in their order, numbers as they may stand there; None: it is not in the style.

    Also whether a name is in quotes that may be plain: then it is in the style only if no schema lists the name.
    """
    reader = _Reader(text)
    try:
        return reader.whole(), reader.has_quoted_name
    except _OutOfStyle:
        return None, False


def written(value: Any, random: Random, level: int = 0, *, behind_name: bool = False) -> str:
    """A value in one of its spellings."""
    if isinstance(value, dict | list) and value:
        return _block(value, random, level, behind_name=behind_name)
    before = " " if behind_name else ""
    if not isinstance(value, str):
        text = json.dumps(value) if value != [] and value != {} else str(value)
        if isinstance(value, float):
            mantissa, exponent, power = text.partition("e")
            text = f"{mantissa if '.' in mantissa or not exponent else f'{mantissa}.0'}{exponent}{power}"
        return f"{before}{text}\n"
    spellings = [_double(value)]
    if may_be_plain(value):
        spellings += [value] * 2
    if _RAW.fullmatch(value):
        spellings.append("'" + value.replace("'", "''") + "'")
    lines = value.removesuffix("\n").split("\n")
    columns = "  " * (level + 1 if behind_name else max(level, 1))
    if lines[0][:1] not in ("", " ", "\t") and lines[-1] and all(
        _RAW.fullmatch(line.replace("\t", "")) and (not line or line.strip(" \t")) for line in lines
    ):  # fmt: skip
        block = "\n".join(f"{columns}{line}" if line else "" for line in lines)
        spellings.append(_header(value) + block)
    return f"{before}{random.choice(spellings)}\n"


def _header(value: str) -> str:
    return "|\n" if value.endswith("\n") else "|-\n"


def _double(text: str) -> str:
    signs = []
    for character in text:
        if character in '"\\':
            signs.append(f"\\{character}")
        elif _RAW.fullmatch(character):
            signs.append(character)
        else:
            short = next((f"\\{letter}" for letter, meant in _MEANT.items() if meant == character), None)
            signs.append(short or f"\\u{ord(character):04x}")
    return f'"{"".join(signs)}"'


def _block(value: Any, random: Random, level: int, *, behind_name: bool) -> str:
    own = level
    if behind_name:
        own = level + (1 if isinstance(value, dict) else random.randrange(2))
    indent, first = "  " * own, "" if not behind_name else "\n" + "  " * own
    if isinstance(value, list):
        items = [f"- {written(item, random, own + 1)}" for item in value]
        return first + indent.join(items)
    members = []
    for name, part in value.items():
        shown = name if may_be_plain(name) else _double(name)
        members.append(f"{shown}:{written(part, random, own, behind_name=True)}")
    return first + indent.join(members)
