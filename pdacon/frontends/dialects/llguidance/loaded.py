"""A grammar that has been built, with the sets that its terminals are and what its author calls them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from pdacon.base.cancelling import every
from pdacon.errors import UnsupportedGrammarError
from pdacon.frontends.dialects.llguidance.building import Built
from pdacon.grammar import GrammarData
from pdacon.lalr import build_tables
from pdacon.lexer.contexts import make_contexts
from pdacon.regular import RegularSet


@dataclass(frozen=True)
class Loaded:
    """The grammar of what was built; ``sets`` are what its terminals match, perhaps changed since, by their names."""

    built: Built
    grammar: GrammarData
    sets: Mapping[str, RegularSet]

    @cached_property
    def names(self) -> dict[int, str]:
        """The terminals that are sets."""
        return {k: terminal.name for k, terminal in enumerate(self.grammar.terminals) if terminal.name in self.sets}

    @cached_property
    def texts(self) -> dict[int, RegularSet]:
        """What each terminal matches, but labels, and what comes from a JSON Schema."""
        words = {
            k: RegularSet.from_choices([terminal.pattern.value])
            for k, terminal in enumerate(self.grammar.terminals)
            if terminal.pattern is not None and terminal.pattern.kind == "str"
        }
        return {k: self.sets[self.names[k]] if k in self.names else words[k] for k in sorted({*words, *self.names})}

    @cached_property
    def places(self) -> list[frozenset[int]]:
        """The terminals that are looked for together, for each place where a lexeme begins."""
        contexts, _of_state, _after = make_contexts(self.grammar, build_tables(self.grammar))
        return list({frozenset(context.alternation): None for context in every(contexts)})

    def pairs(self, some: AbstractSet[int], others: AbstractSet[int]) -> set[tuple[int, int]]:
        """Two terminals each, of some and of others, that are looked for together; the lower number first."""
        pairs: set[tuple[int, int]] = set()
        for place in every(self.places, 1):
            beside = place & others
            for terminal in every(sorted(place & some)):
                pairs.update((min(terminal, other), max(terminal, other)) for other in beside if other != terminal)
        return pairs

    def called(self, terminal: int) -> str:
        """What a message calls a terminal."""
        definition = self.grammar.terminals[terminal]
        return self.built.shown.get(self.names.get(terminal, ""), definition.literal or definition.name)

    def refused(self, terminal: int, message: str, feature: str) -> UnsupportedGrammarError:
        """That a grammar cannot be had because of a terminal."""
        definition = self.grammar.terminals[terminal]
        return UnsupportedGrammarError(message, self.built.spans.get(definition.name, definition.span), feature)
