"""Templates that need ever new instances of each other: Lark would make them until memory is gone.

``_t{x}: x | "(" _t{_u{x}} ")"`` asks for ``_t{a}``, ``_t{_u{a}}``, ``_t{_u{_u{a}}}`` and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lark.grammar import Symbol
from lark.lexer import Token
from lark.tree import Tree

from pdacon.errors import LimitExceededError, Span

MOST_INSTANCES = 10_000
LONGEST_NAME = 10_000


def check_templates(definitions: Sequence[tuple[str, Sequence[Any], Tree[Any]]], spans: Mapping[str, Span]) -> None:
    """Raise `LimitExceededError` if rules need too many instances of templates. Cost: one step for each instance.

    ``definitions`` are names, parameters and bodies as Lark's loader has them; only templates have parameters. An
    instance has the name that Lark gives it: the template's, and those of the arguments.
    """
    templates = {str(name): (list(map(str, parameters)), tree) for name, parameters, tree in definitions if parameters}
    if not any(_usages(tree) for _, tree in templates.values()):
        return
    made: set[str] = set()
    pending: list[tuple[str, list[str]]] = []

    def instance(usage: Any, arguments: Mapping[str, str]) -> str:
        """The name of what stands in a body, when its parameters are these arguments; what is new is noted."""
        while isinstance(usage, Tree) and usage.data == "value":
            (usage,) = usage.children
        if not (isinstance(usage, Tree) and usage.data == "template_usage"):
            return _name(usage, arguments)
        template, *given = usage.children
        values = [instance(argument, arguments) for argument in given]
        own = _name(template, arguments)
        name = f"{own}{{{','.join(values)}}}"
        if name not in made:
            made.add(name)
            pending.append((own, values))
            for what, number, limit in (
                ("instances of templates", len(made), MOST_INSTANCES),
                ("letters in the name of a template's instance", len(name), LONGEST_NAME),
            ):
                if number > limit:
                    place = f" at {spans[own]}" if own in spans else ""
                    detail = (
                        f"template {own}{place} needs ever new instances; let it pass its parameters on as they are"
                    )
                    raise LimitExceededError(what, number, limit, detail, fixed=True)
        return name

    for _, parameters, tree in definitions:
        for usage in () if parameters else _usages(tree):
            instance(usage, {})
    for template, values in pending:  # grows
        if template in templates:
            names, tree = templates[template]
            arguments = dict(zip(names, values, strict=False))
            for usage in _usages(tree):
                instance(usage, arguments)


def _usages(tree: Tree[Any]) -> list[Tree[Any]]:
    """What uses a template in a body; what is an argument of another use comes with that as well."""
    return list(tree.find_data("template_usage"))


def _name(node: Any, arguments: Mapping[str, str]) -> str:
    """A rule, a terminal, a literal or a parameter: a text that tells it from others."""
    text = "".join(_leaves(node))
    return arguments.get(text, text)


def _leaves(node: Any) -> Iterator[str]:
    pending = [node]
    while pending:
        at = pending.pop()
        if isinstance(at, Tree):
            pending += reversed(at.children)
        elif isinstance(at, Symbol):
            yield at.name
        elif isinstance(at, Token):
            yield str(at)
