"""What the graph and the page tell each other: selection, edits and their answers, replays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from .widgets import GRAPH

_SELECTED = "_selected_step"
_SEEN_EDITS = "_seen_edits"
_REPLY = "_graph_reply"
_PLAYED = "_played"


def selected_step() -> str | None:
    """The step whose inspector is open."""
    chosen = st.session_state.get(_SELECTED)
    return chosen if isinstance(chosen, str) else None


def select_step(step_id: str | None) -> None:
    """Opens the inspector of a step."""
    st.session_state[_SELECTED] = step_id


def from_graph(name: str, *, key: str = GRAPH) -> Any:
    """A state or trigger value the graph sent, in its callback; ``None`` when it sent none."""
    sent = st.session_state.get(key)
    return sent.get(name) if isinstance(sent, Mapping) else None


def is_new_edit(op_id: str) -> bool:
    """Whether this operation of the graph was not seen before: it may be delivered twice."""
    seen: tuple[str, ...] = st.session_state.get(_SEEN_EDITS, ())
    st.session_state[_SEEN_EDITS] = (*seen[-50:], op_id)
    return op_id not in seen


def graph_reply() -> tuple[str, bool, str, str] | None:
    """What became of the graph's last edit: its operation, whether it was taken, else why not and a hint."""
    return st.session_state.get(_REPLY)


def answer_graph(op_id: str, ok: bool, message: str = "", hint: str = "") -> None:
    """Answers an edit of the graph on the next drawing."""
    st.session_state[_REPLY] = (op_id, ok, message, hint)


def was_played(run: str) -> bool:
    """Whether the replay of this run has come to its end in this tab."""
    return st.session_state.get(_PLAYED) == run


def note_played(run: str | None) -> None:
    """Remembers that a replay has ended, or that it begins anew."""
    st.session_state[_PLAYED] = run
