"""Values as Python writes them, read in pieces: Python itself says what they are."""

from __future__ import annotations

import ast
import json
import warnings

import pytest

import pdacon
from pdacon.frontends.tool_formats.python_scanner import PythonScanner, UnexpectedTextError

ESCAPES = (
    *(f"\\{character}" for character in "abfnrtv\\'\"\n"),
    r"\x41", r"\u2022", r"\ud83d\ude00", r"\U0001F600", r"\N{BULLET}", r"\0", r"\41", r"\101", r"\1018",
    r"\777", r"\d", r"\8", r"\é",
)  # fmt: skip


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("quote", ["'", '"'])
def test_escapes_are_those_of_python(escape: str, quote: str) -> None:
    text = f"{quote}a{escape}b{quote}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of what it has as it stands
        value = ast.literal_eval(text)
    for cut in range(len(text) + 1):
        scanner = PythonScanner()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a model's text is no reason for a warning
            at, said = scanner.scan(text[:cut], 0)
            rest, more = scanner.scan(text[at:] + ",", 0)
        assert scanner.done
        assert at + rest == len(text)
        read = json.loads(said + more)
        assert read == value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@pytest.mark.parametrize("escape", [r"\N{no such name}", r"\N{KEYCAP DIGIT ONE}", r"\U00110000", r"\UFFFFFFFF"])
def test_what_is_no_character_is_refused_with_its_place(escape: str) -> None:
    def send(text: str) -> None:
        """Send a text."""

    words = pdacon.Vocabulary.bytes()
    constraint = pdacon.compile(pdacon.Grammar.from_tools([send], format="llama4"), words)
    reader = constraint.reader()
    with pytest.raises(ValueError, match=r"at character 13 ") as refusal:
        reader.feed(f"[send(text='a{escape}')]")
    assert "llama4" in str(refusal.value)


@pytest.mark.parametrize("escape", [r"\x4z", r"\xg", r"\u12", r"\U0000", r"\N{BULLET!", r"\Nx", r"\x"])
def test_what_is_no_escape_is_refused_and_not_held_back(escape: str) -> None:
    """As soon as no more characters make one of it, wherever the text is cut."""
    text = f"'a{escape}' "
    for cut in range(len(text)):
        scanner, at = PythonScanner(), 0
        try:
            at, _ = scanner.scan(text[:cut], 0)
        except UnexpectedTextError as refusal:
            assert refusal.args[0] == 2  # noqa: PT017
            continue
        with pytest.raises(UnexpectedTextError) as refused:
            scanner.scan(text[at:], 0)
        assert refused.value.args[0] == 2 - at
