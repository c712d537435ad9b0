"""Lark's ``Indenter`` -> names, and names -> symbol ids. What an Indenter does is in the pda room."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import getattr_static, isabstract
from typing import Any

from lark.indenter import Indenter, PythonIndenter

from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar.model import Layout, Terminal

_MACHINERY = ("handle_NL", "process", "_process", "always_accept", "__getattribute__", "__getattr__", "__setattr__")
_STATE = ("paren_level", "indent_level")
_ADVICE = (
    "use lark.indenter.Indenter, or a subclass that sets nothing but NL_type, OPEN_PAREN_types, CLOSE_PAREN_types, "
    "INDENT_type, DEDENT_type and tab_len"
)


@dataclass(frozen=True, slots=True)
class Indentation:
    """What an Indenter is told, in the names of its attributes; all that it does follows from that.

    Attributes
    ----------
    NL_type, INDENT_type, DEDENT_type : str
        Names of terminals.
    OPEN_PAREN_types, CLOSE_PAREN_types : tuple of str
        Names of terminals, ascending. A name that no terminal has is never seen.
    tab_len : int
        How many columns a tab counts for.
    """

    NL_type: str
    OPEN_PAREN_types: tuple[str, ...]
    CLOSE_PAREN_types: tuple[str, ...]
    INDENT_type: str
    DEDENT_type: str
    tab_len: int

    def to_indenter(self) -> Indenter:
        """A new Indenter that is told the same."""
        attributes = {
            "NL_type": self.NL_type,
            "OPEN_PAREN_types": list(self.OPEN_PAREN_types),
            "CLOSE_PAREN_types": list(self.CLOSE_PAREN_types),
            "INDENT_type": self.INDENT_type,
            "DEDENT_type": self.DEDENT_type,
            "tab_len": self.tab_len,
        }
        indenter: Indenter = type("GrammarIndenter", (Indenter,), attributes)()
        return indenter


def read_postlex(postlex: Any) -> Indentation | None:
    """What ``postlex=`` means: None, an Indenter or its class, ``"python"``, or the Indentation of another grammar.

    Raises
    ------
    UnsupportedGrammarError
        If it is another postlexer, or an Indenter that does something else.
    ValueError, TypeError
        If it is no postlexer at all, or an attribute has no meaning.
    """
    if postlex is None or isinstance(postlex, Indentation):
        return postlex
    if isinstance(postlex, str):
        if postlex != "python":
            raise ValueError(f'postlex={postlex!r}: expected "python" (lark.indenter.PythonIndenter) or an Indenter')
        postlex = PythonIndenter
    name = (postlex if isinstance(postlex, type) else type(postlex)).__name__
    if isinstance(postlex, type) and issubclass(postlex, Indenter):
        postlex = _instance(postlex)
    if not isinstance(postlex, Indenter):
        raise _refused(f"postlex={name} is not an Indenter; {_ADVICE}")
    changed = [what for what in _MACHINERY if getattr_static(postlex, what, None) is not _stock(what)]
    changed += [what for what in _STATE if getattr_static(type(postlex), what, None) is not None]
    if changed:
        raise _refused(f"postlex={name} has its own {', '.join(changed)}, so that it means something else; {_ADVICE}")
    return Indentation(
        NL_type=_name(name, postlex, "NL_type"),
        OPEN_PAREN_types=_names(name, postlex, "OPEN_PAREN_types"),
        CLOSE_PAREN_types=_names(name, postlex, "CLOSE_PAREN_types"),
        INDENT_type=_name(name, postlex, "INDENT_type"),
        DEDENT_type=_name(name, postlex, "DEDENT_type"),
        tab_len=_tab_len(name, postlex),
    )


def lower_indentation(indentation: Indentation, ids: Mapping[str, int], terminals: Sequence[Terminal]) -> Layout:
    """Symbol ids for the names.

    Parameters
    ----------
    ids : mapping
        Of the terminals by name; those of INDENT_type and DEDENT_type are among them if they are declared.

    Raises
    ------
    UnsupportedGrammarError
        If the Indenter would never indent, or indentation would come from anything but newlines.
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
    return Layout(newline, indent, dedent, opens, closes, indentation.tab_len)


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


def _stock(what: str) -> Any:
    return getattr_static(Indenter, what, None)


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


def _tab_len(owner: str, indenter: Indenter) -> int:
    value = indenter.tab_len
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"postlex={owner}: tab_len is {value!r}; expected an int")
    if value <= 0:
        raise ValueError(f"postlex={owner}: tab_len is {value}; it has to be greater than 0")
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
