"""Keeps the keyboard's place over drawings of the page, and leads it into popovers: see ``focus.js``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_SCRIPT = Path(__file__).with_name("focus.js")


@cache
def _keeper() -> Any:
    return st.components.v2.component("focus_keeper", js=_SCRIPT.read_text(encoding="utf-8"))


def keep_focus() -> None:
    """Draws nothing; works for the whole tab from then on."""
    _keeper()(key="focus_keeper", height=0)
