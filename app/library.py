"""Workflows that come from elsewhere than a conductor: saved under a name, pasted, uploaded."""

from __future__ import annotations

import streamlit as st

from app import drafting, resources, state, workflow_shelf
from app.figures import ago
from app.markdown import literal, option
from conductor_client.api import SavedWorkflow
from conductor_client.catalogue import counted, text
from conductor_client.edits import SetWorker
from conductor_client.workflow import Workflow

IMPORT_TEXT = "library.text"
IMPORT_FILE = "library.file"
SAVE_NAME = "library.name"


def draw_source() -> None:
    """The choice of where the workflow is from; its content is asked for only while it is open."""
    sketch = state.sketch() if state.run_id() is None else None
    label = text("studio.source_conductor") if sketch is None else sketch.title
    with st.popover(literal(label), icon=":material/schema:", key="library", on_change="rerun") as source:
        if source.open:
            _draw_open(sketch)
    if not source.open:
        resources.draw_notices(workflow_shelf.IMPORT)


def _draw_open(sketch: state.Sketch | None) -> None:
    """What the popover holds while it is open, and under it what went wrong in there."""
    if sketch is not None:
        st.button(
            text("studio.source_reset"),
            on_click=workflow_shelf.drop_sketch,
            icon=":material/undo:",
            width=340,
        )
    chosen = st.segmented_control(
        text("studio.source"),
        ["saved", "import"],
        default="saved",
        required=True,
        format_func=lambda kind: option(text(f"studio.source_{kind}")),
        key="library.kind",
        label_visibility="collapsed",
    )
    with resources.errors_shown():
        if chosen == "saved":
            _saved()
        else:
            _import()
    resources.draw_notices(workflow_shelf.IMPORT)


def _saved() -> None:
    kept = resources.workflows()
    if not kept:
        st.caption(text("studio.saved_none"), width=340)
    for place, saved in enumerate(kept):
        _saved_line(place, saved)


def _saved_line(place: int, saved: SavedWorkflow) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            literal(saved.name),
            key=f"saved.{place}",
            on_click=workflow_shelf.load,
            args=(saved.workflow, saved.name),
            type="tertiary",
        )
        n = len(saved.workflow.steps)
        st.caption(f"{counted('common.steps', n)} · {ago(saved.created_at)}", width="content")
        st.space("stretch")
        st.button(
            text("studio.saved_forget"),
            key=f"saved.forget.{place}",
            on_click=workflow_shelf.forget_saved,
            args=(saved.name,),
            type="tertiary",
            icon=":material/delete:",
        )


def _import() -> None:
    st.caption(text("studio.import_help"), width=420)
    st.text_area(
        text("studio.import_text"),
        key=IMPORT_TEXT,
        height=140,
        placeholder=text("studio.import_placeholder"),
        label_visibility="collapsed",
    )
    uploaded = st.file_uploader(
        text("studio.import_file"), key=IMPORT_FILE, type=["json", "txt", "md", "mmd", "mermaid", "dot", "gv"]
    )
    st.button(
        text("studio.import_do"),
        key="library.import",
        type="primary",
        icon=":material/upload:",
        on_click=_read,
        args=(None if uploaded is None else uploaded.getvalue(),),
    )


def _read(content: bytes | None) -> None:
    pasted = str(state.value(IMPORT_TEXT, ""))
    workflow_shelf.import_text(content.decode("utf-8", errors="replace") if content is not None else pasted)


def draw_import_notes(sketch: state.Sketch) -> None:
    """What the reader said of an imported text, and a choice for each worker the pool does not have."""
    reply = sketch.imported
    if reply is None:
        return
    names = [worker.name for worker in resources.pool(state.value(state.POOL)).workers]
    unknown = sorted({step.worker for step in sketch.workflow.steps} - set(names))
    for diagnostic in reply.diagnostics:
        if diagnostic.code != "unknown_worker":
            st.caption(f":material/info: {literal(diagnostic.where)}: {literal(diagnostic.said)}")
    if not unknown:
        return
    st.warning(text("studio.unknown_workers"), icon=":material/swap_horiz:")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for worker in unknown:
            st.selectbox(
                literal(worker),
                names,
                index=None,
                key=f"map.{worker}",
                placeholder=text("studio.choose_worker"),
                on_change=_map,
                args=(sketch, worker),
                width=220,
            )


def _map(sketch: state.Sketch, worker: str) -> None:
    chosen = state.value(f"map.{worker}")
    if not chosen:
        return
    drafted = state.draft("sketch")
    workflow = drafted.workflow if drafted else sketch.workflow
    swaps = tuple(
        SetWorker(step_id=step.step_id, worker=str(chosen))
        for step in workflow.steps
        if step.worker == worker
    )
    drafting.apply_edits("sketch", sketch.workflow, swaps)


def draw_save(workflow: Workflow, *, run_id: str | None = None) -> None:
    """A small form that keeps a workflow under a name."""
    st.text_input(
        text("studio.save_name"), key=SAVE_NAME, max_chars=120, placeholder=text("studio.save_placeholder")
    )
    st.button(
        text("studio.save_do"),
        key="library.save",
        on_click=workflow_shelf.save,
        args=(workflow, SAVE_NAME),
        kwargs={"run_id": run_id},
        icon=":material/bookmark_add:",
    )
