"""Workflows that come from elsewhere than a conductor, as callbacks: taken, loaded, saved, read from text."""

from __future__ import annotations

from app import resources, state
from app.commands import show
from app.draft import request_of
from conductor_client.api import ImportRequest, SaveWorkflowRequest
from conductor_client.catalogue import text
from conductor_client.workflow import Workflow


def use_on_another_prompt(workflow: Workflow) -> None:
    """Puts a run's workflow on the table, with an empty prompt box."""
    state.keep_sketch(state.Sketch(workflow, text("studio.from_run")))
    state.put(state.PROMPT, "")
    show(None)


def load(workflow: Workflow, name: str) -> None:
    """Puts a saved workflow on the table."""
    state.keep_sketch(state.Sketch(workflow, text("studio.from_saved", name=name)))
    show(None)


def drop_sketch() -> None:
    """Back to a conductor writing the workflow."""
    state.keep_sketch(None)


def save(workflow: Workflow, key: str, *, run_id: str | None = None) -> None:
    """Keeps a workflow under the name in the field of that key."""
    name = str(state.value(key, "") or "").strip()
    if not name:
        state.tell("error", text("studio.save_without_name"), text("studio.save_without_name_hint"))
        return
    with resources.errors_kept():
        wanted = SaveWorkflowRequest(
            name=name, run_id=run_id, workflow=None if run_id else request_of(workflow)
        )
        resources.client().save_workflow(wanted)
        state.tell("done", text("studio.saved", name=name))


def forget_saved(name: str) -> None:
    """Deletes a saved workflow."""
    with resources.errors_kept():
        resources.client().delete_workflow(name)


IMPORT = "import"
"""Where what is to be said of an import is drawn."""


def import_text(said: str) -> None:
    """Reads a pasted or uploaded workflow and puts it on the table, or says what could not be read."""
    if not said.strip():
        state.tell("error", text("studio.import_empty"), place=IMPORT)
        return
    with resources.errors_kept(IMPORT):
        wanted = ImportRequest(
            text=said, pool=state.value(state.POOL), prompt=str(state.value(state.PROMPT, ""))
        )
        reply = resources.client().import_workflow(wanted)
        if reply.workflow is None:
            lines = "; ".join(diagnostic.said for diagnostic in reply.diagnostics)
            state.tell("error", text("studio.import_failed"), lines, place=IMPORT)
            return
        state.keep_sketch(state.Sketch(reply.workflow, text("studio.from_import"), imported=reply))
