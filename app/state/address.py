"""Which run or plan is open: it stands in the address; and what this tab knows of it."""

from __future__ import annotations

import streamlit as st

from conductor_client.run_state import RunState

from .drafts import sketch

_RUN = "_known_run"
_OPENED = "_opened_run"
_LINE_DOWN = "_line_down"


def run_id() -> str | None:
    """The run named in the address, or ``None``."""
    return st.query_params.get("run") or None


def open_run(opened: str) -> None:
    """Puts a run into the address; its live connection is taken to work until it says otherwise."""
    st.query_params["run"] = opened
    st.session_state.pop(_LINE_DOWN, None)


def plan_id() -> str | None:
    """The plan named in the address that is not on the page yet, or ``None``; a run counts before it."""
    named = st.query_params.get("plan") or None
    drawn = sketch()
    is_here = drawn is not None and drawn.plan is not None and drawn.plan.plan_id == named
    return None if is_here or run_id() is not None else named


def close_run() -> None:
    """Takes the run out of the address."""
    st.query_params.pop("run", None)


def is_newly_opened(opened: str) -> bool:
    """Whether this run is drawn for the first time since it was opened here; true once."""
    is_new = st.session_state.get(_OPENED) != opened
    st.session_state[_OPENED] = opened
    return is_new


def forget_opened() -> None:
    """The next run drawn counts as newly opened."""
    st.session_state.pop(_OPENED, None)


def known_run(wanted: str) -> RunState | None:
    """The run as last folded in this tab; only newer events need asking for."""
    held = st.session_state.get(_RUN)
    return held if isinstance(held, RunState) and held.run_id == wanted else None


def know_run(state: RunState | None) -> None:
    """Keeps the run as it stands."""
    st.session_state[_RUN] = state


def is_line_down(run: str) -> bool:
    """Whether the live connection of this run cannot be made, so that it has to be asked for."""
    return st.session_state.get(_LINE_DOWN) == run


def note_line(run: str, *, is_up: bool) -> None:
    """Remembers how the live connection of a run stands."""
    st.session_state[_LINE_DOWN] = None if is_up else run
