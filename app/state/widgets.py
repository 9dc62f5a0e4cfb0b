"""What the widgets hold. A widget's value lives under its key, so that a callback can read it."""

from __future__ import annotations

from typing import Any

import streamlit as st

GRAPH = "workflow_graph"
PROMPT = "studio.prompt"
CONDUCTOR = "studio.conductor"
POOL = "_chosen_pool"
WORKERS = "studio.workers"
PLAN_FIRST = "studio.plan_first"
MAX_STEPS = "studio.max_steps"
MAX_TOKENS = "studio.max_tokens"
MAX_USD = "studio.max_usd"
MAX_WALL_S = "studio.max_wall_s"
MAX_ROUNDS = "studio.max_rounds"
MAX_OUTPUT_TOKENS = "studio.max_output_tokens"
FRESH = "edit.fresh"
SEARCH = "history.search"
STATUS = "history.status"
ADD_KIND = "workers.add_kind"
FIND_WORKER = "workers.find"
WORKER_PAGE = "workers.page"


def value(key: str, otherwise: Any = None) -> Any:
    """What the widget of that key holds; ``otherwise`` when it was not drawn yet."""
    held = st.session_state.get(key)
    return otherwise if held is None else held


def put(key: str, held: Any) -> None:
    """Sets a widget before it is drawn, or from a callback."""
    st.session_state[key] = held
