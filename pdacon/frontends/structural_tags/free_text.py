"""Text that may be anything, up to the first of some strings.

Source of the meaning: the shortest beginning of a text that ends with one of the strings is where it stops, as a
machine of Aho and Corasick finds it (1975, "Efficient string matching: an aid to bibliographic search").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from pdacon.base.quoting import quoted
from pdacon.regular import RegularSet

UP_TO = "text up to "
SUCH_AS = "text such as "
"""What the names of such sets, and of texts of several formats, begin with."""

_ANY = RegularSet.from_regex("(?s).*")
_SOME = RegularSet.from_regex("(?s).+")


@dataclass(frozen=True)
class FreeText:
    """Any text in which none of ``stops`` occurs, of at most ``most`` characters."""

    stops: tuple[str, ...]
    most: int | None = None

    @property
    def texts(self) -> RegularSet:
        texts = _without(self.stops) if self.stops else _ANY
        return texts & self._short if self.most is not None else texts

    def up_to(self, stop: str) -> RegularSet:
        """Free text and the first of the stops after it, where that is ``stop`` and no other one."""
        texts = self._first_stop & (_ANY + RegularSet.from_choices([stop]))
        others = [other for other in self.stops if other != stop]
        if others:
            texts = texts - (_ANY + RegularSet.from_choices(others))
        return texts.named(f"{UP_TO}{quoted(stop)}")

    @cached_property
    def _stops(self) -> RegularSet:
        return RegularSet.from_choices(self.stops)

    @property
    def _short(self) -> RegularSet:
        assert self.most is not None
        return RegularSet.from_regex(f"(?s).{{0,{self.most}}}")

    @cached_property
    def _first_stop(self) -> RegularSet:
        """Texts in which a stop may occur at the end, and nowhere else."""
        return ~(_ANY + self._stops + _SOME)


@lru_cache(maxsize=64)
def _without(stops: tuple[str, ...]) -> RegularSet:
    return ~(_ANY + RegularSet.from_choices(stops) + _ANY)
