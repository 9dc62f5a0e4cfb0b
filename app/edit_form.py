"""One step as a form: instruction, worker, what it sees; and buttons that move, remove or add a step.

Its fields are keyed by the drafted workflow, so they follow every change made elsewhere, and keep what was
typed when an edit is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import drafting, resources, state
from app.draft import Draft, is_fresh
from conductor_client.catalogue import text
from conductor_client.edits import AddStep, Edit, MoveStep, RemoveStep, SetAccess, SetInstruction, SetWorker
from conductor_client.pool import WorkerInfo
from conductor_client.workflow import Step, Workflow

PLACE = "edit_form"
"""Where what is to be said of the form is drawn."""


def draw(
    step: Step,
    *,
    source: str,
    base: Workflow,
    workflow: Workflow,
    drafted: Draft | None,
    workers: Sequence[WorkerInfo],
) -> None:
    """The form of one step. ``source`` and ``base`` say whose draft the edits belong to."""
    key = f"edit.{workflow.workflow_id}.{step.step_id}"
    with st.form(key, border=False, enter_to_submit=True):
        _fields(step, key=key, workflow=workflow, workers=workers)
        st.form_submit_button(
            text("edit.apply"),
            key=f"{key}.apply",
            icon=":material/edit:",
            type="primary",
            on_click=_apply,
            args=(step, source, base, key),
        )
    resources.draw_notices(PLACE)
    _moves(step, key=key, source=source, base=base, workflow=workflow)
    if source != "sketch":
        st.toggle(
            text("edit.fresh_step"),
            value=is_fresh(drafted, step.step_id),
            key=f"{key}.fresh.{is_fresh(drafted, step.step_id)}",
            help=text("edit.fresh_help"),
            disabled=drafted is not None and drafted.fresh is True,
            on_change=drafting.toggle_fresh,
            args=(source, base, step.step_id),
        )


def _fields(step: Step, *, key: str, workflow: Workflow, workers: Sequence[WorkerInfo]) -> None:
    st.text_area(text("edit.instruction"), step.instruction, height=150, key=f"{key}.instruction")
    names = [worker.name for worker in workers]
    if step.worker not in names:
        names.append(step.worker)
    ready = {worker.name for worker in workers if worker.ready}
    st.selectbox(
        text("edit.worker"),
        names,
        index=names.index(step.worker),
        key=f"{key}.worker",
        format_func=lambda name: name if name in ready else text("studio.not_ready", name=name),
    )
    earlier = {each.step_id: each for each in workflow.steps[: step.position]}
    st.multiselect(
        text("edit.sees"),
        list(earlier),
        default=list(step.access),
        key=f"{key}.sees",
        placeholder=text("edit.sees_nothing"),
        format_func=lambda step_id: text("common.step_n", n=earlier[step_id].position + 1),
        help=text("edit.sees_help"),
    )


def _apply(step: Step, source: str, base: Workflow, key: str) -> None:
    edits: list[Edit] = []
    instruction = str(state.value(f"{key}.instruction", ""))
    worker = state.value(f"{key}.worker", step.worker)
    sees = tuple(state.value(f"{key}.sees", ()))
    if not instruction.strip():
        named = text("common.step_n", n=step.position + 1)
        said, hint = text("edit.step_without_text", step=named), text("edit.step_without_text_hint")
        state.tell("error", said, hint, place=PLACE)
        return
    if instruction != step.instruction:
        edits.append(SetInstruction(step_id=step.step_id, instruction=instruction))
    if worker != step.worker:
        edits.append(SetWorker(step_id=step.step_id, worker=worker))
    if set(sees) != set(step.access):
        edits.append(SetAccess(step_id=step.step_id, access=sees))
    drafting.apply_edits(source, base, tuple(edits), place=PLACE)


def _moves(step: Step, *, key: str, source: str, base: Workflow, workflow: Workflow) -> None:
    last = len(workflow.steps) - 1
    after = AddStep(
        instruction=text("edit.new_instruction"),
        worker=step.worker,
        access=(step.step_id,),
        position=step.position + 1,
    )
    buttons: list[tuple[str, str, Edit, bool]] = [
        (
            "earlier",
            ":material/arrow_upward:",
            MoveStep(step_id=step.step_id, position=max(0, step.position - 1)),
            step.position == 0,
        ),
        (
            "later",
            ":material/arrow_downward:",
            MoveStep(step_id=step.step_id, position=step.position + 1),
            step.position == last,
        ),
        ("add", ":material/add:", after, False),
        ("remove", ":material/delete:", RemoveStep(step_id=step.step_id), last == 0),
    ]
    with st.container(horizontal=True, gap="small"):
        for name, icon, edit, is_off in buttons:
            st.button(
                text(f"edit.{name}"),
                key=f"{key}.{name}",
                icon=icon,
                type="tertiary",
                disabled=is_off,
                on_click=_apply_one,
                args=(source, base, edit),
            )


def _apply_one(source: str, base: Workflow, edit: Edit) -> None:
    drafting.apply_edits(source, base, (edit,), place=PLACE)
