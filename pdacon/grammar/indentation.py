"""Lark's ``Indenter`` -> names, and names -> symbol ids. What an Indenter does is in the pda room.

In: a ``postlex=`` of the caller's, and the terminals of a grammar. Out: `Indentation` and `Layout`, or an error where
the Indenter does more than its attributes say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from inspect import getattr_static, isabstract
from typing import Any

from lark.exceptions import LarkError
from lark.indenter import Indenter, PythonIndenter
from lark.lexer import Token

from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.model import Indentation, Layout, Terminal

_MACHINERY = ("handle_NL", "process", "_process", "always_accept", "__getattribute__", "__getattr__", "__setattr__")
_STATE = ("paren_level", "indent_level")
_ADVICE = (
    "use lark.indenter.Indenter, or a subclass that sets nothing but NL_type, OPEN_PAREN_types, CLOSE_PAREN_types, "
    "INDENT_type, DEDENT_type and tab_len (and indent_len, of pdacon.FixedWidthIndenter)"
)
_MOST_COLUMNS = 1000


class IndentError(LarkError):
    """A block that a FixedWidthIndenter does not take, because it is not as far in as each has to be."""


class FixedWidthIndenter(Indenter):
    """An Indenter whose blocks are all equally far in. Stock Lark runs it as pdacon does.

    A line opens a block only if it begins ``indent_len`` columns further in than the block around it, so that every
    block begins at a multiple of that. All else is Lark's: lines in parentheses are free, and so is what the newline's
    pattern takes for blank lines and comments.

    Subclasses set what they set for ``lark.indenter.Indenter``; ``class Four(FixedWidthIndenter, PythonIndenter)``
    needs to set nothing.

    Attributes
    ----------
    indent_len : int
        Columns of a block, from 1 to 1,000; 4 unless it is set.

    Raises
    ------
    IndentError
        A LarkError, where a line is further in by another width, as Lark's DedentError where it is further out.
    """

    indent_len: int = 4

    def handle_NL(self, token: Token) -> Iterator[Token]:  # noqa: N802 (Lark's name)
        """What Lark makes of a newline; its first INDENT is the only one there is."""
        for made in super().handle_NL(token):
            if made.type == self.INDENT_type:
                around, column = self.indent_level[-2:]
                if column - around != self.indent_len:
                    raise IndentError(
                        f"Unexpected indent to column {column}. Expected indent to {around + self.indent_len}"
                    )
            yield made


class _FourColumnPythonIndenter(FixedWidthIndenter, PythonIndenter):
    pass


SHORT_NAMES: dict[str, type[Indenter]] = {"python": PythonIndenter, "python4": _FourColumnPythonIndenter}


def to_indenter(indentation: Indentation) -> Indenter:
    """A new Indenter that is told what ``indentation`` says."""
    attributes = {
        "NL_type": indentation.NL_type,
        "OPEN_PAREN_types": list(indentation.OPEN_PAREN_types),
        "CLOSE_PAREN_types": list(indentation.CLOSE_PAREN_types),
        "INDENT_type": indentation.INDENT_type,
        "DEDENT_type": indentation.DEDENT_type,
        "tab_len": indentation.tab_len,
    }
    base = Indenter
    if indentation.indent_len is not None:
        base, attributes["indent_len"] = FixedWidthIndenter, indentation.indent_len
    indenter: Indenter = type("GrammarIndenter", (base,), attributes)()
    return indenter


def read_postlex(postlex: Any) -> Indentation | None:
    """What ``postlex=`` means: None, an Indenter or its class, a short name, or the Indentation of another grammar.

    Raises UnsupportedGrammarError: if it is another postlexer, or an Indenter that does something else. ValueError,
    TypeError: if it is no postlexer at all, or an attribute has no meaning.
    """
    if postlex is None or isinstance(postlex, Indentation):
        return postlex
    if isinstance(postlex, str):
        if postlex not in SHORT_NAMES:
            raise ValueError(
                f'postlex={postlex!r}: expected "python" (lark.indenter.PythonIndenter), "python4" (the same with '
                "blocks of four columns) or an Indenter"
            )
        postlex = SHORT_NAMES[postlex]
    name = (postlex if isinstance(postlex, type) else type(postlex)).__name__
    if isinstance(postlex, type) and issubclass(postlex, Indenter):
        postlex = _instance(postlex)
    if not isinstance(postlex, Indenter):
        raise _refused(f"postlex={name} is not an Indenter; {_ADVICE}")
    stock = FixedWidthIndenter if isinstance(postlex, FixedWidthIndenter) else Indenter
    changed = [
        what for what in _MACHINERY if getattr_static(postlex, what, None) is not getattr_static(stock, what, None)
    ]
    changed += [what for what in _STATE if getattr_static(type(postlex), what, None) is not None]
    if changed:
        raise _refused(f"postlex={name} has its own {', '.join(changed)}, so that it means something else; {_ADVICE}")
    return Indentation(
        NL_type=_name(name, postlex, "NL_type"),
        OPEN_PAREN_types=_names(name, postlex, "OPEN_PAREN_types"),
        CLOSE_PAREN_types=_names(name, postlex, "CLOSE_PAREN_types"),
        INDENT_type=_name(name, postlex, "INDENT_type"),
        DEDENT_type=_name(name, postlex, "DEDENT_type"),
        tab_len=_columns(name, "tab_len", postlex.tab_len),
        indent_len=_indent_len(name, postlex) if isinstance(postlex, FixedWidthIndenter) else None,
    )


def lower_indentation(indentation: Indentation, ids: Mapping[str, int], terminals: Sequence[Terminal]) -> Layout:
    """Symbol ids for the names.

    ``ids``: of the terminals by name; those of INDENT_type and DEDENT_type are among them if they are declared.
    Raises UnsupportedGrammarError: if the Indenter would never indent, or indentation would come from anything but
    newlines.
    """
    newline, indent, dedent = (
        _terminal(ids, what, getattr(indentation, what)) for what in ("NL_type", "INDENT_type", "DEDENT_type")
    )
    if terminals[newline].pattern is None:
        raise _refused(
            f"NL_type: nothing matches {terminals[newline].name}, which is only declared; give it a pattern such as "
            r"/(\r?\n[\t ]*)+/",
            terminals[newline],
        )
    for what, terminal in (("INDENT_type", terminals[indent]), ("DEDENT_type", terminals[dedent])):
        if terminal.pattern is not None:
            raise _refused(
                f"{what}: {terminal.name} has a pattern, so that a text can spell it without being indented; write "
                f"%declare {terminal.name} instead",
                terminal,
            )
    if indent == dedent:
        raise _refused(f"INDENT_type and DEDENT_type are both {terminals[indent].name}; declare two", terminals[indent])
    # Of a terminal that is in both lists an Indenter looks at the first only. What it makes itself it never counts.
    opens = frozenset(ids[name] for name in indentation.OPEN_PAREN_types if name in ids) - {indent, dedent}
    closes = frozenset(ids[name] for name in indentation.CLOSE_PAREN_types if name in ids) - {indent, dedent} - opens
    if newline in opens | closes:
        raise _refused(
            f"{terminals[newline].name} is the NL_type and a parenthesis at once; leave it out of the parentheses",
            terminals[newline],
        )
    return Layout(newline, indent, dedent, opens, closes, indentation.tab_len, indentation.indent_len)


def _instance(indenter: type[Indenter]) -> Indenter:
    if isabstract(indenter):
        missing = ", ".join(sorted(indenter.__abstractmethods__))
        raise TypeError(f"postlex={indenter.__name__} does not set {missing}; set them in a subclass")
    try:
        return indenter()
    except TypeError as error:
        raise TypeError(
            f"postlex={indenter.__name__} cannot be made without arguments ({error}); pass an instance"
        ) from error
    except AssertionError:
        raise ValueError(f"postlex={indenter.__name__}: tab_len has to be greater than 0") from None


def _name(owner: str, indenter: Indenter, what: str) -> str:
    value = getattr(indenter, what)
    if not isinstance(value, str):
        raise TypeError(f"postlex={owner}: {what} is {value!r}; expected the name of a terminal")
    return str(value)


def _names(owner: str, indenter: Indenter, what: str) -> tuple[str, ...]:
    values: Collection[Any] = getattr(indenter, what)
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"postlex={owner}: {what} is {values!r}; expected a list of terminals' names")
    return tuple(sorted(set(map(str, values))))


def _columns(owner: str, what: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"postlex={owner}: {what} is {value!r}; expected an int")
    if value <= 0:
        raise ValueError(f"postlex={owner}: {what} is {value}; it has to be greater than 0")
    return value


def _indent_len(owner: str, indenter: FixedWidthIndenter) -> int:
    value = _columns(owner, "indent_len", indenter.indent_len)
    if value > _MOST_COLUMNS:
        raise ValueError(f"postlex={owner}: indent_len is {value}; it may be {_MOST_COLUMNS:,} at most")
    return value


def _terminal(ids: Mapping[str, int], what: str, name: str) -> int:
    if name not in ids:
        advice = "define it" if what == "NL_type" else f"write %declare {name}"
        raise _refused(
            f"{what}: {name} is not a terminal of this grammar, so that nothing would ever be indented; {advice}"
        )
    return ids[name]


def _refused(message: str, terminal: Terminal | None = None) -> UnsupportedGrammarError:
    return UnsupportedGrammarError(message, None if terminal is None else terminal.span, feature="postlex")


def lark_options(grammar: GrammarData) -> dict[str, Any]:
    """The keyword arguments with which stock Lark loads a grammar's text; see `Grammar.lark_options`."""
    options = grammar.options
    return {
        "parser": "lalr",
        "start": list(options.start),
        "lexer": options.lexer,
        "postlex": options.postlex and to_indenter(options.postlex),
        "g_regex_flags": options.g_regex_flags,
        "use_bytes": options.use_bytes,
        "priority": options.priority,
        "maybe_placeholders": options.maybe_placeholders,
        "source_path": options.import_base,
        "import_paths": list(options.import_paths),
    }
