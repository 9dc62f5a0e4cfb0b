"""History: every stored run, newest first; search, open, delete, and ten seconds to think again."""

from __future__ import annotations

import streamlit as st

from app import resources, run_lines, state
from app.markdown import option
from conductor_client.api import RunPage
from conductor_client.catalogue import counted, text

PAGE = 20  # runs on one page


def draw() -> None:
    """Search above, runs below."""
    st.title(text("history.title"), anchor=False)
    resources.draw_notices()
    with st.container(key="history"):
        _undo_bar()
        _search()
        with resources.errors_shown(retry="history.retry"):
            _runs()


def _search() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            text("history.search"),
            key=state.SEARCH,
            placeholder=text("history.search_placeholder"),
            icon=":material/search:",
            label_visibility="collapsed",
            live="400ms",
            on_change=state.first_page,
        )
        st.pills(
            text("history.status"),
            ["succeeded", "failed", "cancelled", "running"],
            key=state.STATUS,
            format_func=lambda status: option(text(f"common.status_{status}")),
            label_visibility="collapsed",
            on_change=state.first_page,
        )


def _runs() -> None:
    words = str(state.value(state.SEARCH, "")).strip()
    page = resources.client().list_runs(
        words or None, status=state.value(state.STATUS), cursor=state.cursor(), limit=PAGE
    )
    if not page.runs:
        _nothing(is_search=bool(words or state.value(state.STATUS)))
        return
    if page.total is not None:
        st.caption(counted("history.found", page.total))
    changes = run_lines.changes_of(page.runs)
    for run in page.runs:
        run_lines.draw_line(run, changes.get(run.run_id, ""))
    _pages(page)


def _nothing(*, is_search: bool) -> None:
    with st.container(border=True, horizontal_alignment="center"):
        st.space("small")
        title = text("history.nothing_found" if is_search else "history.empty")
        st.markdown(f"##### {title}", text_alignment="center", anchors=False)
        explained = text("history.nothing_found_help" if is_search else "history.empty_help")
        st.caption(explained, text_alignment="center")
        if not is_search:
            st.page_link("views/studio.py", label=text("history.to_studio"), icon=":material/edit_note:")
        st.space("small")


def _pages(page: RunPage) -> None:
    if state.cursor() is None and page.next_cursor is None:
        return
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.button(
            text("history.newer"),
            key="history.newer",
            icon=":material/arrow_back:",
            disabled=state.cursor() is None,
            on_click=state.previous_page,
        )
        st.button(
            text("history.older"),
            key="history.older",
            icon=":material/arrow_forward:",
            icon_position="right",
            disabled=page.next_cursor is None,
            on_click=state.next_page,
            args=(page.next_cursor,),
        )


def _undo_bar() -> None:
    """The way back after a deletion; counts the seconds down and then goes."""
    if state.deleted() is not None:
        st.fragment(run_lines.draw_undo, run_every=1.0)()


draw()
