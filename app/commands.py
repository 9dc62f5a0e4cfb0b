"""What flows back from the page: plan, start, fork, stop, save. Each is a callback of a button.

A callback runs once per click, before anything is drawn; it asks the backend, remembers the outcome in
``state`` and leaves drawing to the page. Starting carries an idempotency key, so nothing starts twice.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import streamlit as st

from app import readiness, resources, state
from app.draft import Draft, request_of
from conductor_client.api import (
    ForkRequest,
    PlanRequest,
    RunRequest,
    RunStartedReply,
)
from conductor_client.catalogue import text
from conductor_client.events import Limits
from conductor_client.plan import PlanOptions
from conductor_client.run_state import RunState
from conductor_client.workflow import Message


def show(run_id: str | None) -> None:
    """Opens a run, or the empty Studio, and draws the whole page anew: the prompt box belongs to it."""
    _open(run_id)
    st.rerun()


def _open(run_id: str | None) -> None:
    """The same for a button outside of every fragment: the page is drawn anew after its callback anyway."""
    if run_id is None:
        state.close_run()
    else:
        state.open_run(run_id)
    state.forget_opened()


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
    """The chosen conductor's options, its step limit cut to the run's, its rounds as the form says."""
    most, rounds = state.value(state.MAX_STEPS), state.value(state.MAX_ROUNDS)
    if most is None and rounds is None:
        return None
    chosen = readiness.chosen_conductor(
        resources.conductors(state.value(state.POOL)), state.value(state.CONDUCTOR)
    )
    if chosen is None:
        return None
    changes = {} if most is None else {"max_steps": min(most, chosen.options.max_steps)}
    if rounds is not None and chosen.can_revise:
        changes["max_rounds"] = rounds
    return chosen.options.model_copy(update=changes) if changes else None


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
        _run(lambda: request(prompt), prompt)


def _run_sketch(sketch: state.Sketch, prompt: str) -> None:
    drafted = state.draft("sketch")
    if sketch.plan is not None and drafted is None:
        changes: dict[str, object] = {"plan_id": sketch.plan.plan_id}
    else:
        changes = {"workflow": request_of(drafted.workflow if drafted else sketch.workflow)}
    _run(lambda: request(prompt).model_copy(update=changes), prompt)


def _run(make: Callable[[], RunRequest], prompt: str) -> None:
    opened = _start(make, prompt)
    if opened is not None:
        _open(opened)


def _start(make: Callable[[], RunRequest], prompt: str | None = None) -> str | None:
    """Starts the run that ``make`` describes and returns its id; what stands in the way is told."""
    opened: str | None = None
    with resources.errors_kept():
        wanted = make()
        key = state.start_key(wanted.model_dump_json())
        opened = resources.client().start_run(wanted.model_copy(update={"idempotency_key": key})).run_id
        state.started(opened, prompt)
        state.keep_sketch(None)
    return opened


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
    opened = _start(lambda: request(prompt, messages=turns))
    if opened is not None:
        show(opened)


def stop(run_id: str) -> None:
    """Cancels a run; its text so far is kept."""
    with resources.errors_kept():
        state.know_run(resources.client().cancel(run_id))


def fork_request(run: RunState | None, drafted: Draft, **more: Any) -> ForkRequest:
    """What to ask the backend for, so that the draft runs: the edits, and of which round they are."""
    number = None if run is None else run.round_of(drafted.base)
    return ForkRequest(edits=drafted.edits, fresh=drafted.fresh, round=number, limits=limits(), **more)


def fork(run_id: str, drafted: Draft) -> None:
    """Runs a draft as a new run of the same lineage. Its key follows from it: two clicks, one run."""
    opened: str | None = None
    with resources.errors_kept():
        wanted = fork_request(state.known_run(run_id), drafted)
        key = f"fork-{state.start_key(run_id, wanted.model_dump_json())}"
        wanted = wanted.model_copy(update={"idempotency_key": key})
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
