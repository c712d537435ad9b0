"""The options at the head of a text: what is read, where it stands, and what is no option."""

from __future__ import annotations

import pytest

from pdacon.errors import GrammarSyntaxError
from pdacon.grammar.head_options import read_head


@pytest.mark.quick
def test_what_is_said_and_where() -> None:
    text = (
        "// A list.\n\n  //pdacon: --start items --start=item  --use-bytes\n"
        "// pdacon: --script Latin --script 'Greek' --import-path \"my words\"\nitems: item+\n// pdacon: --start no\n"
    )
    head = read_head(text, "folder/items.lark")
    assert head.options == {"start": ["items", "item"], "use_bytes": True, "import_paths": ["folder/my words"]}
    assert head.filters == {"scripts": ["Latin", "Greek"]}
    places = {value: str(span) for _, value, span in head.places}
    lines = text.split("\n")
    assert places["items"] == f"folder/items.lark:3:{lines[2].index('items') + 1}"
    assert places["item"] == f"folder/items.lark:3:{lines[2].index('--start=item') + 1}"
    assert places["Greek"] == f"folder/items.lark:4:{lines[3].index(chr(39)) + 1}"
    assert head.place("start", "item") == head.places[1][2]
    assert head.place("lexer") is None


@pytest.mark.quick
@pytest.mark.parametrize(
    "text", ["", "start: a", "// a comment\n", "// pdacon\n", "//\n//pdacon:\n", "# pdacon: --x\n"]
)
def test_no_options(text: str) -> None:
    assert read_head(text, None).places == ()


@pytest.mark.quick
@pytest.mark.parametrize("begin", ["// PDACON: ", "//pdacon ", "// Pdacon:"])
def test_a_line_that_is_nearly_one_of_options(begin: str) -> None:
    with pytest.raises(GrammarSyntaxError, match="begin with '// pdacon:'") as raised:
        read_head(f"// A list.\n {begin}--start a\n", "a.lark")
    assert str(raised.value.span) == "a.lark:2:2"


@pytest.mark.quick
@pytest.mark.parametrize("written", [r"C:\grammars", r"'C:\my grammars'"])
def test_a_backslash_in_a_path_stays(written: str) -> None:
    assert read_head(f"// pdacon: --import-path {written}\n", None).options == {"import_paths": [written.strip("'")]}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "column", "says"),
    [
        ("--lexer basic --lexer contextual", 15, "--lexer is given twice"),
        ("--use-bytes=yes", 1, "--use-bytes takes no value"),
        ("--conflicts", 1, "--conflicts needs a value: --conflicts error|shift"),
        ("--conflicts --use-bytes", 1, "--conflicts needs a value"),
        ("--lookahead=always", 1, "'always' is not one of 'reject', 'commit'"),
        ("--postlex pyton", 11, "'pyton' is not one of 'python', 'python4'"),
        ("--strat x", 1, "did you mean --start"),
        ("--start items, --lexer basic extra", 30, "unexpected extra argument 'extra'"),
        ("--characters 'abc", 14, "a quotation mark without another one"),
        ('--characters ""', 14, "--characters needs a value that is not empty"),
        ("--script=", 1, "--script needs a value that is not empty"),
        ("start=a", 1, "did you mean --start=a?"),
        ("--start a // why", 11, "has no comment behind them"),
    ],
)
def test_what_is_wrong(line: str, column: int, says: str) -> None:
    with pytest.raises(GrammarSyntaxError) as raised:
        read_head(f"\n// pdacon: {line}\r\nstart: a\n", "a.lark")
    assert says in raised.value.message
    assert raised.value.span is not None
    assert str(raised.value.span) == f"a.lark:2:{len('// pdacon: ') + column}"
