"""The history: its page, and the run deleted last."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

import streamlit as st

_DELETED = "_deleted_run"
_CURSORS = "_history_cursors"


@dataclass(frozen=True)
class Deleted:
    """A run deleted a moment ago, until when (monotonic seconds) it can be brought back."""

    run_id: str
    prompt: str
    until: float = field(default_factory=lambda: monotonic() + 10)


def seconds_left(gone: Deleted) -> float:
    """For how long a deletion can still be undone."""
    return gone.until - monotonic()


def deleted() -> Deleted | None:
    """The run deleted last, while it can still be brought back."""
    held = st.session_state.get(_DELETED)
    return held if isinstance(held, Deleted) and held.until > monotonic() else None


def note_deleted(gone: Deleted | None) -> None:
    """Remembers a deletion, or forgets it."""
    st.session_state[_DELETED] = gone


def cursor() -> str | None:
    """Where the page of the history begins; ``None`` = with the newest."""
    held: tuple[str, ...] = st.session_state.get(_CURSORS, ())
    return held[-1] if held else None


def next_page(following: str) -> None:
    """One page older."""
    st.session_state[_CURSORS] = (*st.session_state.get(_CURSORS, ()), following)


def previous_page() -> None:
    """One page newer."""
    st.session_state[_CURSORS] = st.session_state.get(_CURSORS, ())[:-1]


def first_page() -> None:
    """Back to the newest: the search has changed."""
    st.session_state[_CURSORS] = ()
