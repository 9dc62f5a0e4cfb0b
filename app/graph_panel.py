"""Puts the graph on the page: what it is given, and what its clicks and edits do here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from pydantic import TypeAdapter, ValidationError

from app import drafting, state
from app.draft import Draft
from components.workflow_graph import workflow_graph
from components.workflow_graph.payload import Json, Mark, Replay, Reply, graph_payload
from conductor_client.catalogue import text, under
from conductor_client.edits import Edit
from conductor_client.events import RunEvent
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import RunState
from conductor_client.workflow import Workflow

PRESENT = "present_graph"
_edits: TypeAdapter[tuple[Edit, ...]] = TypeAdapter(tuple[Edit, ...])


def draw_run(
    run: RunState, *, drafted: Draft | None, marks: Mapping[str, Mark], workers: Sequence[WorkerInfo]
) -> None:
    """The graph of a run, live while it goes on; with a draft, the drafted workflow and what it would do."""
    is_edited = drafted is not None and bool(drafted.batches)
    payload = graph_payload(
        labels=under("graph"),
        state=run,
        draft=drafted.workflow if drafted is not None and is_edited else None,
        marks=marks,
        mode="edit",
        workers=workers,
        rev=state.revision(),
        selected=state.selected_step(),
        reply=_reply(),
        can_undo=is_edited,
    )
    _mount(payload, source=run.run_id, base=run.workflow)


def draw_sketch(sketch: Workflow, *, drafted: Draft | None, workers: Sequence[WorkerInfo]) -> None:
    """The graph of a workflow that has not run."""
    payload = graph_payload(
        labels=under("graph"),
        draft=drafted.workflow if drafted is not None else sketch,
        mode="edit",
        workers=workers,
        rev=state.revision(),
        selected=state.selected_step(),
        reply=_reply(),
        can_undo=drafted is not None,
    )
    _mount(payload, source="sketch", base=sketch)


def draw_replay(run: RunState, events: Sequence[RunEvent]) -> None:
    """Plays stored events, large; its own bar chooses the speed. The end is noted in ``state``."""
    payload = graph_payload(labels=under("graph"), state=run, replay=Replay(events=events, present=True))
    workflow_graph(payload, key=PRESENT, on_finished=partial(state.note_played, run.run_id))


def _mount(payload: Json, *, source: str, base: Workflow | None) -> None:
    workflow_graph(
        payload,
        key=state.GRAPH,
        on_selected=_selected,
        on_edit=partial(_edited, source, base),
        on_undo=partial(drafting.undo, source),
        on_finished=_finished,
        on_lost=st.rerun,
        on_connection=partial(_line_changed, source),
    )


def _reply() -> Reply | None:
    held = state.graph_reply()
    return None if held is None else Reply(*held)


def _selected() -> None:
    chosen = state.from_graph("selected")
    state.select_step(chosen if isinstance(chosen, str) else None)


def _edited(source: str, base: Workflow | None) -> None:
    """Takes an edit drawn in the graph, once, and answers it."""
    sent = state.from_graph("edit")
    if base is None or not isinstance(sent, Mapping) or not state.is_new_edit(str(sent.get("op_id"))):
        return
    op_id = str(sent.get("op_id"))
    drafted = state.draft(source)
    present = drafted.workflow if drafted else base
    try:
        edits = _edits.validate_python(sent.get("edits"))
    except ValidationError:
        state.answer_graph(op_id, False, text("edit.not_understood"), "")
        return
    if sent.get("base") != present.workflow_id:
        state.answer_graph(op_id, False, text("edit.stale"), "")
        return
    problem = drafting.apply_edits(source, base, edits, is_told=False)
    said = ("", "") if problem is None else (problem.message, problem.hint)
    state.answer_graph(op_id, problem is None, *said)


def _finished() -> None:
    """Nothing to do: the fragment is drawn anew, and that is what was asked for."""


def _line_changed(run_id: str) -> None:
    """While the live connection cannot be made the page asks every two seconds; the fragment starts anew."""
    sent = state.from_graph("connection")
    if isinstance(sent, Mapping) and sent.get("run_id") == run_id:
        state.note_line(run_id, is_up=bool(sent.get("is_up")))
        st.rerun()
