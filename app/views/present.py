"""Present: a stored run played back, large. No call is made, and nothing can be started or changed."""

from __future__ import annotations

import streamlit as st

from app import graph_panel, resources, state
from app.answer import MOST_SHOWN
from app.figures import shortened
from app.markdown import literal, sanitised
from conductor_client.catalogue import text
from conductor_client.errors import NotFound


def draw() -> None:
    """The graph with its player, and under it the answer once the play has come to its end."""
    graph, answer = st.container(), st.container()
    run_id = state.run_id()
    if run_id is None:
        st.info(text("present.no_run"), icon=":material/slideshow:")
        st.page_link("views/history.py", label=text("studio.to_history"), icon=":material/history:")
        return
    with resources.errors_shown():
        try:
            run = resources.run(run_id)
        except NotFound:
            said = text("studio.run_gone", run=literal(shortened(run_id, 60)))
            st.warning(said, icon=":material/search_off:")
            return
        with graph:
            graph_panel.draw_replay(run, resources.events(run_id, run.last_seq))
        if run.final_output and state.was_played(run_id):
            with answer.container(border=True):
                st.markdown(sanitised(run.final_output[:MOST_SHOWN]), anchors=False)


draw()
