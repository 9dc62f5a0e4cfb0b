"""What a person sees when the page itself has a bug: a sentence. The log has the rest."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from conductor_client.catalogue import text

logger = logging.getLogger(__name__)


@contextmanager
def told() -> Iterator[None]:
    """Ends a bug in what is drawn inside. Streamlit's own signals, rerun and stop, pass."""
    try:
        yield
    except Exception:
        logger.exception("the page could not be drawn")
        st.error(f"**{text('common.bug')}**  \n{text('common.bug_hint')}", icon=":material/bug_report:")
