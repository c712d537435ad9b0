"""A file in Lark's language has the options at its head at every door, and what the caller says goes before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdacon import Constraint, Grammar, GrammarSyntaxError, RegularSet, UnsupportedGrammarError, Vocabulary
from pdacon import compile as compile_grammar
from pdacon.cli import main

SUMS = '// pdacon: --start sum --conflicts shift\nsum: sum "+" sum | NUMBER\nNUMBER: /[0-9]+/\nother: "x"\n'

pytestmark = pytest.mark.quick


def written(folder: Path, text: str, name: str = "own.lark") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_has_the_options_of_its_head(tmp_path: Path) -> None:
    path = written(tmp_path, SUMS)
    options = Grammar.from_file(path).data.options
    assert (options.start, options.conflicts) == (("sum",), "shift")
    constraint: Constraint = compile_grammar(path, Vocabulary.bytes())
    assert constraint.accepts("1+2+3")


def test_arguments_go_before(tmp_path: Path) -> None:
    options = Grammar.from_file(written(tmp_path, SUMS), start="other", conflicts="error").data.options
    assert (options.start, options.conflicts) == (("other",), "error")


def test_a_text_has_its_options_from_the_caller_alone() -> None:
    """What comes from elsewhere must not decide which files are read."""
    with pytest.raises(GrammarSyntaxError, match="start rule 'start' is not defined"):
        Grammar.from_lark(SUMS)
    with pytest.raises(GrammarSyntaxError, match="start rule 'start' is not defined"):
        compile_grammar(SUMS, Vocabulary.bytes())


def test_a_grammar_whose_start_is_missing_has_rules_all_the_same() -> None:
    """Lark drops all of them then."""
    with pytest.raises(GrammarSyntaxError, match=r"start rule 'nowhere' is not defined; .* rules: start"):
        Grammar.from_lark('start: "a"', start="nowhere")
    with pytest.raises(GrammarSyntaxError, match="the grammar has no rules; write one, such as start"):
        Grammar.from_lark("A: /a/")


def test_folders_and_filters(tmp_path: Path) -> None:
    written(tmp_path, "WORD: /\\w+/\n", "lib/words.lark")
    path = written(tmp_path, "// pdacon: --import-path lib --script Latin\n%import words.WORD\nstart: WORD\n")
    grammar = Grammar.from_file(path)
    assert grammar.accepts("word")
    assert not grammar.accepts("слово")


def test_an_indenter(tmp_path: Path) -> None:
    text = '// pdacon: --postlex python\nstart: _NEWLINE _INDENT "a" _DEDENT\n_NEWLINE: /(\\r?\\n[ ]*)+/\n'
    path = written(tmp_path, text + "%declare _INDENT _DEDENT\n")
    assert Grammar.from_file(path).accepts("\n  a")


def test_a_template(tmp_path: Path) -> None:
    path = written(tmp_path, '// pdacon: --start answer --characters "ab!"\nanswer: word "!"\n')
    grammar = Grammar.compose(path, word=RegularSet.from_regex("[a-z]+"))
    assert grammar.data.options.start == ("answer",)
    assert grammar.accepts("abba!")
    assert not grammar.accepts("abbc!")


@pytest.mark.parametrize(
    ("head", "column", "says"),
    [
        ("--conflict shift", 12, "No such option: --conflict; did you mean --conflicts?"),
        ("--start sum --start nowhere", 32, "start rule 'nowhere' is not defined"),
        ("--script Lattin", 21, "Lattin"),
    ],
)
def test_what_is_wrong_has_its_place(tmp_path: Path, head: str, column: int, says: str) -> None:
    text = SUMS.replace("--start sum --conflicts shift", head)
    if "--start" not in head:
        text = text.replace("sum:", "start: sum\nsum:")
    path = written(tmp_path, text)
    with pytest.raises(GrammarSyntaxError, match=says) as raised:
        Grammar.from_file(path)
    assert str(raised.value.span) == f"{path}:1:{column}"
    assert f"  1 | // pdacon: {head}" in raised.value.excerpt


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    path = written(tmp_path, '// pdacon: --use-bytes --postlex python\nstart: "a"\n')
    with pytest.raises(UnsupportedGrammarError, match="use_bytes") as raised:
        Grammar.from_file(path)
    assert str(raised.value.span) == f"{path}:1:34"


def test_llguidance_has_what_goes_with_it(tmp_path: Path) -> None:
    text = '// pdacon: --conflicts shift\n%llguidance {}\nstart: start "+" start | "1"\n'
    assert Grammar.from_file(written(tmp_path, text)).data.options.conflicts == "shift"
    path = written(tmp_path, '// pdacon: --start a\n%llguidance {}\nstart: "a"\n')
    with pytest.raises(GrammarSyntaxError, match="does not go with a grammar for llguidance") as raised:
        Grammar.from_file(path)
    assert raised.value.span is not None
    assert raised.value.span.line == 1


def test_commands_read_what_files_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the file is called."""
    path = written(tmp_path, SUMS, "sums.txt")
    assert main(["parse", str(path), "1+2"]) == 0
    assert capsys.readouterr().out.startswith("sum\n")
