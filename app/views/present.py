"""Present: a stored run played back, large, with no call made and nothing to press but its speed."""

from __future__ import annotations

import streamlit as st

from app import graph_panel, resources, state
from app.answer import MOST_SHOWN
from app.markdown import literal, sanitised
from conductor_client.catalogue import text
from conductor_client.errors import NotFound

SPEEDS = (1, 2, 5)


def draw() -> None:
    """The prompt as a title, the graph playing, the answer once it has come to its end."""
    title, graph, answer, foot = st.container(), st.container(), st.container(), st.container()
    run_id = state.run_id()
    if run_id is None:
        with title:
            st.info(text("present.no_run"), icon=":material/slideshow:")
            st.page_link("views/history.py", label=text("studio.to_history"), icon=":material/history:")
        return
    with foot:
        speed = _speed()
    with title, resources.errors_shown():
        try:
            run = resources.run(run_id)
        except NotFound:
            st.warning(text("studio.run_gone", run=literal(run_id)), icon=":material/search_off:")
            return
        events = resources.events(run_id, run.last_seq)
        st.title(literal(run.prompt[:300]), anchor=False)
        with graph:
            graph_panel.draw_replay(run, events, speed=float(speed))
        if run.final_output and state.was_played(run_id):
            with answer.container(border=True):
                st.markdown(sanitised(run.final_output[:MOST_SHOWN]), anchors=False)


def _speed() -> int:
    chosen = st.segmented_control(
        text("present.speed"),
        SPEEDS,
        default=1,
        required=True,
        format_func=lambda times: f"{times}×",
        key="present.speed",
        label_visibility="collapsed",
    )
    return int(chosen or 1)


draw()
