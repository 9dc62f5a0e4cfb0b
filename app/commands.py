"""What flows back from the page: plan, start, fork, stop, save. Each is a callback of a button.

A callback runs once per click, before anything is drawn; it asks the backend, remembers the outcome in
``state`` and leaves drawing to the page. Starting carries an idempotency key, so nothing starts twice.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import streamlit as st

from app import readiness, resources, state
from app.draft import Draft, draft_of, edited, request_of, toggled_fresh, undone, with_fresh
from conductor_client.api import (
    ForkRequest,
    ImportRequest,
    PlanRequest,
    RunRequest,
    RunStartedReply,
    SaveWorkflowRequest,
)
from conductor_client.catalogue import text
from conductor_client.edits import Edit
from conductor_client.errors import InvalidEdit
from conductor_client.events import Limits
from conductor_client.plan import PlanOptions
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import RunState
from conductor_client.workflow import Message, Workflow


def show(run_id: str | None) -> None:
    """Opens a run, or the empty Studio, and draws the whole page anew: the prompt box belongs to it."""
    if run_id is None:
        state.close_run()
    else:
        state.open_run(run_id)
    state.forget_opened()
    st.rerun()


# What the form says


def limits() -> Limits:
    """The limits as they stand in the form; an empty field is no limit."""
    usd = state.value(state.MAX_USD)
    return Limits(
        max_steps=state.value(state.MAX_STEPS),
        max_tokens=state.value(state.MAX_TOKENS),
        max_usd=None if usd is None else Decimal(str(usd)),
        max_wall_s=state.value(state.MAX_WALL_S),
        max_output_tokens=state.value(state.MAX_OUTPUT_TOKENS),
    )


def _options() -> PlanOptions | None:
    """The chosen conductor's options, its step limit cut to the run's."""
    chosen = readiness.chosen_conductor(resources.conductors(), state.value(state.CONDUCTOR))
    most = state.value(state.MAX_STEPS)
    if chosen is None or most is None:
        return None
    return chosen.options.model_copy(update={"max_steps": min(most, chosen.options.max_steps)})


def request(prompt: str, *, messages: tuple[Message, ...] = ()) -> RunRequest:
    """A run of this prompt with everything else as the form says."""
    return RunRequest(
        prompt=prompt,
        messages=messages,
        conductor=state.value(state.CONDUCTOR),
        pool=state.value(state.POOL),
        workers=tuple(state.value(state.WORKERS, ())) or None,
        options=_options(),
        limits=limits(),
    )


# Planning and starting


def press_run() -> None:
    """The main button: plan, run the sketch on the table, or plan and run, as the form stands."""
    prompt = str(state.value(state.PROMPT, ""))
    if not prompt.strip():
        state.tell("error", text("studio.empty_prompt"), text("studio.empty_prompt_hint"))
        return
    if state.is_running_already(prompt):
        return
    sketch = state.sketch()
    if sketch is not None and sketch.plan is not None and sketch.workflow.prompt != prompt:
        state.keep_sketch(None)
        sketch = None
    if sketch is not None and state.run_id() is None:
        _run_sketch(sketch, prompt)
    elif state.value(state.PLAN_FIRST, False):
        with resources.errors_kept():
            state.want_plan(PlanRequest(**request(prompt).model_dump(include=set(PlanRequest.model_fields))))
            state.keep_sketch(None)
        state.close_run()
    else:
        _start(lambda: request(prompt), prompt)


def _run_sketch(sketch: state.Sketch, prompt: str) -> None:
    drafted = state.draft("sketch")
    if sketch.plan is not None and drafted is None:
        changes: dict[str, object] = {"plan_id": sketch.plan.plan_id}
    else:
        changes = {"workflow": request_of(drafted.workflow if drafted else sketch.workflow)}
    _start(lambda: request(prompt).model_copy(update=changes), prompt)


def _start(make: Callable[[], RunRequest], prompt: str | None = None) -> None:
    """Starts the run that ``make`` describes and opens it; what stands in the way is told."""
    opened: str | None = None
    with resources.errors_kept():
        wanted = make()
        key = state.start_key(wanted.model_dump_json())
        opened = resources.client().start_run(wanted.model_copy(update={"idempotency_key": key})).run_id
        state.started(opened, prompt)
        state.keep_sketch(None)
    if opened is not None:
        show(opened)


def ask_follow_up(run: RunState, key: str) -> None:
    """A new run that carries the conversation: earlier turns, this prompt, its answer."""
    prompt = str(state.value(key, "") or "")
    if not prompt.strip() or run.final_output is None:
        return
    turns = (
        *run.messages,
        Message(role="user", content=run.prompt),
        Message(role="assistant", content=run.final_output),
    )
    _start(lambda: request(prompt, messages=turns))


def stop(run_id: str) -> None:
    """Cancels a run; its text so far is kept."""
    with resources.errors_kept():
        state.know_run(resources.client().cancel(run_id))


def fork(run_id: str, drafted: Draft) -> None:
    """Runs a draft as a new run of the same lineage. The key is bound to the draft: two clicks, one run."""
    opened: str | None = None
    with resources.errors_kept():
        key = f"fork-{state.start_key(run_id, drafted.edits, drafted.fresh)}"
        wanted = ForkRequest(edits=drafted.edits, fresh=drafted.fresh, limits=limits(), idempotency_key=key)
        reply = resources.client().fork(run_id, wanted)
        if isinstance(reply, RunStartedReply):
            state.drop_draft(run_id)
            state.started(reply.run_id)
            opened = reply.run_id
    if opened is not None:
        show(opened)


def new_prompt() -> None:
    """An empty Studio: no run, no sketch, no text."""
    state.put(state.PROMPT, "")
    state.keep_sketch(None)
    show(None)


def use_example(prompt: str) -> None:
    """Puts an example into the prompt box."""
    state.put(state.PROMPT, prompt)


# Drafts


def apply_edits(
    source: str, base: Workflow, edits: tuple[Edit, ...], *, is_told: bool = True
) -> InvalidEdit | None:
    """Adds edits to the draft on a run (its id) or on the ``sketch``.

    An edit that does not fit changes nothing; it is returned and, with ``is_told``, said on the page.
    """
    drafted = state.draft(source) or draft_of(base)
    try:
        changed = edited(drafted, edits, known_workers=[worker.name for worker in _pool_workers()])
    except InvalidEdit as problem:
        if is_told:
            state.tell("error", problem.message, problem.hint)
        return problem
    state.keep_draft(source, changed)
    return None


def _pool_workers() -> tuple[WorkerInfo, ...]:
    with resources.errors_kept():
        return resources.pool(state.value(state.POOL)).workers
    return ()


def undo(source: str) -> None:
    """Takes back the last thing done to a draft."""
    if drafted := state.draft(source):
        state.keep_draft(source, undone(drafted))


def discard(source: str) -> None:
    """Forgets a draft."""
    state.drop_draft(source)


def set_fresh(source: str, base: Workflow) -> None:
    """The switch that asks every step again."""
    drafted = state.draft(source) or draft_of(base)
    state.keep_draft(source, with_fresh(drafted, bool(state.value(state.FRESH))))


def ask_all_again(source: str, base: Workflow) -> None:
    """A draft that changes nothing and asks every step again."""
    state.keep_draft(source, with_fresh(state.draft(source) or draft_of(base), True))


def toggle_fresh(source: str, base: Workflow, step_id: str) -> None:
    """The switch that asks one step again."""
    state.keep_draft(source, toggled_fresh(state.draft(source) or draft_of(base), step_id))


# Workflows without a run


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


def import_text(said: str) -> None:
    """Reads a pasted or uploaded workflow and puts it on the table, or says what could not be read."""
    if not said.strip():
        state.tell("error", text("studio.import_empty"))
        return
    with resources.errors_kept():
        wanted = ImportRequest(
            text=said, pool=state.value(state.POOL), prompt=str(state.value(state.PROMPT, ""))
        )
        reply = resources.client().import_workflow(wanted)
        if reply.workflow is None:
            lines = "; ".join(diagnostic.said for diagnostic in reply.diagnostics)
            state.tell("error", text("studio.import_failed"), lines)
            return
        state.keep_sketch(state.Sketch(reply.workflow, text("studio.from_import"), imported=reply))
