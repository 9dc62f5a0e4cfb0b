"""The local models' files: what is there, what is on its way, what can be fetched."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import readiness, resources, state
from app.figures import size
from app.markdown import literal
from conductor_client.catalogue import text
from conductor_client.pool import ModelState

LOOKS = {
    "ready": (":material/check_circle:", "green"),
    "fetching": (":material/downloading:", "blue"),
    "missing": (":material/cloud_download:", "orange"),
    "broken": (":material/broken_image:", "red"),
}


def draw(*, only_unfinished: bool = False) -> None:
    """One line per model, kept up to date while a file is on its way, and silent otherwise."""
    with resources.errors_shown():
        is_moving = readiness.is_fetching(resources.models())
        st.fragment(_lines, run_every=1.0 if is_moving else None)(only_unfinished, is_moving)


def _lines(only_unfinished: bool, was_moving: bool) -> None:
    if was_moving:
        state.begin_drawing()
    with resources.errors_shown():
        models: Sequence[ModelState] = resources.client().models()
        for model in readiness.unfinished(models) if only_unfinished else models:
            _line(model)
        if was_moving and not readiness.is_fetching(models):
            resources.forget_readiness()
            st.rerun()


def _line(model: ModelState) -> None:
    icon, colour = LOOKS[model.state]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{literal(model.name)}**", width="content")
        st.badge(text(f"workers.model_{model.state}"), icon=icon, color=colour)  # type: ignore[arg-type]
        if model.bytes_total:
            st.caption(size(model.bytes_total), width="content")
        st.space("stretch")
        if model.state in {"missing", "broken"}:
            st.button(
                text("workers.fetch"),
                key=f"fetch.{model.name}",
                icon=":material/download:",
                on_click=_fetch,
                args=(model.name,),
            )
    if model.state == "fetching":
        done = text("workers.fetched", done=size(model.bytes_done), total=size(model.bytes_total))
        st.progress(readiness.progress(model), text=literal(done))
    said = " ".join(part for part in (model.note, model.how_to_get) if part)
    if said and model.state != "ready":
        st.caption(literal(said))


def _fetch(name: str) -> None:
    with resources.errors_kept():
        resources.client().fetch_model(name)
    resources.forget_readiness()
    st.rerun()
