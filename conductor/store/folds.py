"""Folded states of runs, kept while they are of use: an append then folds only what is new.

A state that was folded from the first n events of a run stays right for ever, since events are never
changed. So the cache needs no invalidation: whoever uses an entry folds what came after it, even when
another process wrote it.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from conductor_client.events import RunEvent, event_from_json
from conductor_client.run_state import RunState, fold

MAX_CHARACTERS = 24_000_000
"""About how much event text the cached states may stand for, together."""
MAX_RUNS = 300


@dataclass(frozen=True)
class Folded:
    """A run's state and how many characters of events it was folded from."""

    state: RunState
    characters: int


class Folds:
    """A bounded cache of states, least recently used out first. Safe to use from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Folded] = OrderedDict()
        self._characters = 0
        self._lock = Lock()

    def get(self, run_id: str) -> Folded | None:
        """The state kept for a run, perhaps not its newest; ``None`` when there is none."""
        with self._lock:
            if run_id in self._kept:
                self._kept.move_to_end(run_id)
            return self._kept.get(run_id)

    def keep(self, run_id: str, folded: Folded) -> None:
        """Keeps a state of stored events, unless a newer one is kept already."""
        with self._lock:
            known = self._kept.get(run_id)
            if known is not None and known.state.last_seq >= folded.state.last_seq:
                return
            self._drop(run_id)
            self._kept[run_id] = folded
            self._characters += folded.characters
            while len(self._kept) > 1 and (self._characters > MAX_CHARACTERS or len(self._kept) > MAX_RUNS):
                self._drop(next(iter(self._kept)))

    def drop(self, run_id: str) -> None:
        """Forgets a run."""
        with self._lock:
            self._drop(run_id)

    def _drop(self, run_id: str) -> None:
        gone = self._kept.pop(run_id, None)
        if gone is not None:
            self._characters -= gone.characters


def stored_events(conn: sqlite3.Connection, run_id: str, after: int = 0) -> list[str]:
    """The events of a run after ``after``, as stored JSON, in order."""
    rows = conn.execute("SELECT data FROM events WHERE run_id = ? AND seq > ? ORDER BY seq", (run_id, after))
    return [data for (data,) in rows]


def events_of(conn: sqlite3.Connection, run_id: str, after: int = 0) -> list[RunEvent]:
    """The same, decoded."""
    return [event_from_json(data) for data in stored_events(conn, run_id, after)]


def current(conn: sqlite3.Connection, run_id: str, known: Folded | None) -> Folded:
    """The state after every stored event of a run, starting from what is known.

    Raises:
        KeyError: nothing is stored of that run.
    """
    texts = stored_events(conn, run_id, known.state.last_seq if known else 0)
    if not texts:
        if known is None:
            raise KeyError(run_id)
        return known
    state = fold((event_from_json(text) for text in texts), known.state if known else None)
    return Folded(state, (known.characters if known else 0) + sum(map(len, texts)))
