"""What was asked to start: a plan that is wanted, and the key that keeps a second click from a second run."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import streamlit as st

from conductor_client.api import PlanRequest

from .address import run_id

_START = "_start_of_run"
_PLAN_WANTED = "_plan_wanted"


def plan_wanted() -> PlanRequest | None:
    """The plan a person asked for and that is not made yet."""
    return st.session_state.get(_PLAN_WANTED)


def want_plan(request: PlanRequest | None) -> None:
    """Asks for a plan on the next drawing, or no more."""
    st.session_state[_PLAN_WANTED] = request


def start_key(*parts: Any) -> str:
    """The idempotency key of starting exactly this: the same until the run it started has ended.

    So a rerun, or a retry after an answer that got lost, finds the run of the first try.
    """
    salt = _start()[0]
    return f"page-{hashlib.sha256(repr((salt, parts)).encode()).hexdigest()[:40]}"


def started(run: str, prompt: str | None = None) -> None:
    """Remembers which run the present key started, and from which text in the prompt box."""
    st.session_state[_START] = (_start()[0], run, prompt)


def is_running_already(prompt: str) -> bool:
    """Whether the run on the page was started from this very text and has not ended: a second click."""
    _, run, said = _start()
    return run is not None and run == run_id() and said == prompt


def forget_start(run: str) -> None:
    """The run has ended: from now on the same prompt starts a new one."""
    if _start()[1] == run:
        st.session_state.pop(_START)


def _start() -> tuple[str, str | None, str | None]:
    held: tuple[str, str | None, str | None] = st.session_state.setdefault(
        _START, (secrets.token_hex(8), None, None)
    )
    return held
