"""Writes the page as a file that works without a server, with the answers to what is asked of its examples.

In: vocabularies. Out: one HTML file. It has every beginning of each example's text, reasons for tokens that are refused
there, findings and the grammars that their repairs make, pictures and samples. Its questions are those of the page, so
that no second page has to be kept; what was not asked beforehand is answered by "run `pdacon playground`".
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from threading import Event
from typing import Any

from pdacon import Vocabulary
from pdacon.playground.answers import Answers
from pdacon.playground.examples import EXAMPLES, Example
from pdacon.playground.files import content
from pdacon.playground.sources import Source

_SCRIPTS = ("editor", "state", "panels", "page")  # each after those that it imports
_TERMINALS = 12  # of a grammar, whose automata are drawn
_REASONS = 8  # for a text: of the tokens that are refused after it
_CHIPS = 40


def export_page(
    vocabularies: Mapping[str, Vocabulary],
    examples: Sequence[Example] = EXAMPLES,
    tell: Callable[[str], None] | None = None,
) -> str:
    """The page as one HTML file, with its examples answered beforehand for the first of the vocabularies.

    The examples that come with pdacon take 40 s of CPU and 0.8 MB. The file sends no request, so it also works when it
    is opened from a disk.

    Parameters
    ----------
    vocabularies : mapping of str to Vocabulary
        At least one.
    examples : sequence of Example
        What the page can begin with.
    tell : callable, optional
        Called with what is at work, such as ``"JSON, 4 of 10"``, whenever that changes.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        There is no vocabulary.
    """
    if not vocabularies:
        raise ValueError("export_page: give at least one vocabulary")
    name, vocabulary = next(iter(vocabularies.items()))
    prepared = _Preparation(name, vocabulary).all(examples, tell)
    packed = base64.urlsafe_b64encode(_deflated(json.dumps(prepared))).decode("ascii").rstrip("=")
    page = content("page.html").decode("utf-8")
    icon = base64.b64encode(content("icon.svg")).decode("ascii")
    page = page.replace("icon.svg", f"data:image/svg+xml;base64,{icon}")
    style = f"<style>\n{content('style.css').decode('utf-8')}</style>"
    page = page.replace('<link rel="stylesheet" href="style.css">', style)
    script = f'<script id="prepared" type="text/plain">{packed}</script>\n<script>\n{_script()}</script>'
    page = page.replace('<script type="module" src="page.js"></script>\n', "")
    return page.replace("</body>", f"{script}\n</body>")


class _Preparation:
    """Asks what a reader of the page may ask about each example, and keeps the answers by their questions."""

    def __init__(self, tokenizer: str, vocabulary: Vocabulary) -> None:
        self._answers = Answers({tokenizer: vocabulary})
        self._tokenizer = tokenizer
        self._sources: list[dict[str, Any]] = []
        self._answered: dict[str, Any] = {}

    def all(self, examples: Sequence[Example], tell: Callable[[str], None] | None) -> dict[str, Any]:
        """What the page's script reads: what it starts with, the sources, and answers by their questions."""
        start = self._answers.start()
        start["examples"] = [asdict(example) for example in examples]
        used = {example.builtin for example in examples}
        start["builtins"] = [builtin for builtin in start["builtins"] if builtin["name"] in used]
        texts = {builtin["name"]: builtin["text"] for builtin in start["builtins"]}
        for number, example in enumerate(examples, 1):
            if tell is not None:
                tell(f"{example.name}, {number} of {len(examples)}")
            self._prepare(_source_of(example, texts), example.text)
        return {"start": start, "sources": self._sources, "answers": self._answered}

    def _prepare(self, source: dict[str, Any], text: str) -> None:
        report = self._ask("check", source).get("report", {"findings": []})
        self._views(source, text, report)
        for beginning in _beginnings(text):
            self._read(source, beginning)
        for change in (offer["change"] for finding in report["findings"] for offer in finding["offers"]):
            repaired = {**source, **change}
            if repaired not in self._sources:
                self._prepare(repaired, text)

    def _read(self, source: dict[str, Any], text: str) -> None:
        read = self._ask("look", source, text=text, wanted="", most=0).get("text")
        if read is None:
            return
        tokens = read["tokens"]
        for kind in ("chips", "refused"):
            tokens[kind] = tokens[kind][:_CHIPS]
        for chip in tokens["refused"][:_REASONS]:
            self._ask("explain", source, text=text, token=chip["id"], typed="")

    def _views(self, source: dict[str, Any], text: str, report: dict[str, Any]) -> None:
        self._ask("samples", source, seed=1)
        self._ask("picture", source, kind="rules", name="")
        self._ask("picture", source, kind="parser", name="", text=text)
        for finding in report["findings"]:
            if finding["picture"]:
                self._ask("picture", source, kind="conflict", name=str(finding["picture"]))
        names = self._ask("names", source)
        if "terminals" in names:
            names["terminals"] = names["terminals"][:_TERMINALS]
            for name in names["terminals"]:
                self._ask("picture", source, kind="automaton", name=name)

    def _ask(self, topic: str, source: dict[str, Any], **given: Any) -> dict[str, Any]:
        """The answer, kept under what the page's script makes of the question."""
        if source not in self._sources:
            self._sources.append(source)
        parts = [topic, self._sources.index(source), *(list(pair) for pair in sorted(given.items()))]
        question = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
        asked = {"tokenizer": self._tokenizer, **given}
        answered = self._answers.answer(topic, asked, Source.of(source), Event())
        return self._answered.setdefault(question, answered)  # type: ignore[no-any-return]


def _source_of(example: Example, texts: Mapping[str, str]) -> dict[str, Any]:
    """The source that the page's script makes of an example: options are those of Lark only."""
    source = asdict(Source(texts.get(example.builtin, example.grammar), example.notation, builtin=example.builtin))
    return source if example.notation == "lark" else {"text": source["text"], "notation": source["notation"]}


def _beginnings(text: str) -> Iterator[str]:
    """Every prefix of the text, the longest first: a reader may delete it key by key, or type it again."""
    return (text[:length] for length in range(len(text), -1, -1))


def _deflated(text: str) -> bytes:
    squeezing = zlib.compressobj(9, wbits=-15)
    return squeezing.compress(text.encode("utf-8")) + squeezing.flush()


def _script() -> str:
    """The page's modules as one script, each in a function: a file from a disk can import none."""
    return "".join(_as_function(name, content(f"{name}.js").decode("utf-8")) for name in _SCRIPTS)


def _as_function(name: str, text: str) -> str:
    text = re.sub(r'^import (\{.*\}) from "\./(\w+)\.js";$', r"const \1 = \2Module;", text, flags=re.MULTILINE)
    exported = re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", text, re.MULTILINE)
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    return f"const {name}Module = (() => {{\n{text}return {{ {', '.join(exported)} }};\n}})();\n"
