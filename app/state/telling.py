"""What a person is told on the next drawing, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

_NOTICES = "_notices"
_OUTAGE_SAID = "_outage_said"


@dataclass(frozen=True)
class Notice:
    """Something to tell the person on the next drawing. ``kind``: ``error``, ``note``, ``done``.

    ``place`` is where it is told, empty = at the top of the page.
    """

    kind: str
    message: str
    hint: str = ""
    place: str = ""


def tell(kind: str, message: str, hint: str = "", *, place: str = "") -> None:
    """Says something on the next drawing, at the top of the page or at a place of its own."""
    held: Sequence[Notice] = st.session_state.get(_NOTICES, ())
    st.session_state[_NOTICES] = (*held, Notice(kind, message, hint, place))


def take_notices(place: str = "") -> tuple[Notice, ...]:
    """What is to be said now at that place; said once."""
    held: Sequence[Notice] = st.session_state.get(_NOTICES, ())
    st.session_state[_NOTICES] = tuple(notice for notice in held if notice.place != place)
    return tuple(notice for notice in held if notice.place == place)


def begin_drawing() -> None:
    """A page, or a part that is drawn anew by itself, begins: an outage may be said again."""
    st.session_state.pop(_OUTAGE_SAID, None)


def is_first_word_of_outage() -> bool:
    """Whether nobody on this page has said yet that the backend does not answer; true once a drawing."""
    is_first = not st.session_state.get(_OUTAGE_SAID, False)
    st.session_state[_OUTAGE_SAID] = True
    return is_first
