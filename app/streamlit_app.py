"""The router: page settings, the list of pages, and nothing else."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app import bugs, state
from components.focus_keeper import keep_focus
from conductor_client.catalogue import text

VIEWS = Path(__file__).with_name("views")
LOGO = Path(__file__).with_name("logo.svg")
ICON = Path(__file__).with_name("icon.svg")
"""A file, since Streamlit fetches a tab's icon that is only named from a server elsewhere."""

PULSE_S = 60.0
"""Seconds between two pulses; the length does not matter."""


def main() -> None:
    """Draws the page that the address names."""
    state.begin_drawing()
    st.set_page_config(page_title=text("common.product"), page_icon=ICON, layout="wide")
    page = st.navigation(
        [
            st.Page(
                VIEWS / "studio.py",
                title=text("studio.title"),
                icon=":material/account_tree:",
                help=text("studio.page_help"),
                default=True,
            ),
            st.Page(
                VIEWS / "history.py",
                title=text("history.title"),
                icon=":material/history:",
                help=text("history.page_help"),
            ),
            st.Page(
                VIEWS / "workers.py",
                title=text("workers.title"),
                icon=":material/group_work:",
                help=text("workers.page_help"),
            ),
            st.Page(
                VIEWS / "present.py",
                title=text("present.title"),
                icon=":material/slideshow:",
                help=text("present.page_help"),
                visibility="hidden",
            ),
        ],
        position="top",
    )
    st.logo(LOGO, size="medium")
    st.fragment(_pulse, run_every=PULSE_S)()
    with bugs.told():
        page.run()
    keep_focus()


def _pulse() -> None:
    """Draws nothing. A page with a clock in it is drawn anew when its connection comes back.

    Without one it would stay as it was after a restart of the server, and none of its buttons would work.
    """


main()
