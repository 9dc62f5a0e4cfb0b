"""The graph inside a real Streamlit page, for the browser test: edits are applied, selection is shown."""

from __future__ import annotations

import streamlit as st
from pydantic import TypeAdapter

from components.workflow_graph import Reply, workflow_graph
from conductor_client.edits import Edit, apply_edits
from conductor_client.errors import InvalidEdit
from tests.components.scenes import finished_story, payload_of
from tests.components.story import WORKERS

KEY = "live_graph"
EDITS: TypeAdapter[list[Edit]] = TypeAdapter(list[Edit])
story = finished_story()
state = st.session_state
state.setdefault("drafts", [story.workflow])
state.setdefault("reply", None)
state.setdefault("runs", 0)
state["runs"] += 1


def take_edit() -> None:
    asked = state[KEY].edit
    draft = state["drafts"][-1]
    try:
        edited = apply_edits(
            draft, EDITS.validate_python(asked["edits"]), known_workers=[each.name for each in WORKERS]
        )
    except InvalidEdit as problem:
        state["reply"] = Reply(asked["op_id"], ok=False, message=problem.message, hint=problem.hint)
    else:
        state["drafts"].append(edited.workflow)
        state["reply"] = Reply(asked["op_id"], ok=True)


def take_undo() -> None:
    if len(state["drafts"]) > 1:
        state["drafts"].pop()


graph_slot, note_slot = st.container(), st.container()
with graph_slot:
    drafts = state["drafts"]
    is_edited = len(drafts) > 1
    result = workflow_graph(
        payload_of(
            story,
            mode="edit",
            draft=drafts[-1] if is_edited else None,
            rev=state["runs"],
            reply=state["reply"],
            can_undo=is_edited,
            selected=state.get(KEY, {}).get("selected"),
        ),
        key=KEY,
        on_edit=take_edit,
        on_undo=take_undo,
    )
with note_slot:
    shown = drafts[-1].steps
    edges = sum(len(step.access) for step in shown)
    st.write(f"selected {result.selected}, edges {edges}, steps {len(shown)}")
    st.button("Run the script again")
