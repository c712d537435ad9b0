"""Lets a page's next request stop the work for its earlier ones, which nobody waits for any more.

In: what page asks, and about what. Out: an event for `pdacon.time_limit`, set when a later request comes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from threading import Event, Lock

_PAGES = 64


@dataclass(slots=True)
class _Turn:
    subject: Hashable
    event: Event = field(default_factory=Event)


class Turns:
    """The latest request of each page, by topic; safe to use from several threads. Of pages the last 64 are kept."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pages: OrderedDict[str, dict[str, _Turn]] = OrderedDict()

    def take(self, page: str, topic: str, subject: Hashable) -> Event:
        """A new turn; it ends the page's earlier one on this topic, and all that are about another subject."""
        turn = _Turn(subject)
        with self._lock:
            topics = self._pages.setdefault(page, {})
            self._pages.move_to_end(page)
            for other, earlier in topics.items():
                if other == topic or earlier.subject != subject:
                    earlier.event.set()
            topics[topic] = turn
            while len(self._pages) > _PAGES:
                _, forgotten = self._pages.popitem(last=False)
                for earlier in forgotten.values():
                    earlier.event.set()
        return turn.event

    def end_all(self) -> None:
        """Stop all work, as when the server stops."""
        with self._lock:
            for topics in self._pages.values():
                for turn in topics.values():
                    turn.event.set()
