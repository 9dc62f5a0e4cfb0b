"""One step from close: what it was told, what it saw and what was withheld, what it wrote, what it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app import edit_form, state
from app.answer import MOST_SHOWN, choose_form, draw_step_error, draw_text
from app.draft import Draft
from app.edit_words import step_names
from app.figures import clock
from app.markdown import literal, option, sanitised
from components.workflow_graph import live_text
from conductor_client.catalogue import text
from conductor_client.figures import seconds, step_cost, tokens
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import RunState
from conductor_client.step_state import Attempt, StepState
from conductor_client.workflow import Step, Workflow

SECTIONS = ("edit", "saw", "output", "usage", "attempts")
MOST_NAMED = 8
"""Steps above which the picker holds bare numbers, so that it stays two lines high."""
STEP_LOOKS = {
    "waiting": (":material/schedule:", "gray"),
    "running": (":material/progress_activity:", "blue"),
    "succeeded": (":material/check_circle:", "green"),
    "failed": (":material/error:", "red"),
    "skipped": (":material/block:", "gray"),
    "reused": (":material/history:", "violet"),
    "cancelled": (":material/stop_circle:", "orange"),
}


@dataclass(frozen=True)
class Subject:
    """What is inspected: the workflow drawn (a run's, or its draft) and where edits go (``source``)."""

    source: str
    base: Workflow
    workflow: Workflow
    run: RunState | None
    draft: Draft | None
    workers: Sequence[WorkerInfo]


def draw(subject: Subject) -> None:
    """The inspector of the selected step; without one, how to select one."""
    shown = _round_shown(subject)
    step = _chosen(shown)
    with st.container(border=True, key="inspector"):
        _picker(subject.workflow, step)
        if shown is not subject.workflow and step is not None and subject.run is not None:
            number = subject.run.steps[step.step_id].round
            st.caption(text("studio.earlier_round", round=number, n=step.position + 1))
        if step is None:
            st.caption(text("studio.inspector_empty"))
            return
        known = subject.run.steps.get(step.step_id) if subject.run else None
        _head(step, known)
        is_past = shown is not subject.workflow
        sections = [name for name in SECTIONS if known is not None or name == "edit"]
        if state.value("inspector.section") not in sections:
            is_new = not is_past and (known is None or known.status == "waiting")
            state.put("inspector.section", "edit" if is_new else "output")
        section = st.segmented_control(
            text("studio.inspector_sections"),
            sections,
            required=True,
            format_func=lambda name: option(text(f"studio.section_{name}")),
            key="inspector.section",
            label_visibility="collapsed",
            wrap=True,
        )
        _section(section or "edit", subject, step, known, shown)


def _round_shown(subject: Subject) -> Workflow:
    """The workflow of the selected step: the one drawn, or or an earlier round's, to be edited as its own."""
    wanted = state.selected_step()
    drawn = {step.step_id for step in subject.workflow.steps}
    if wanted is not None and wanted not in drawn and subject.draft is None and subject.run is not None:
        for each in subject.run.rounds:
            if each.workflow is not None and any(step.step_id == wanted for step in each.workflow.steps):
                return each.workflow
    return subject.workflow


def _section(section: str, subject: Subject, step: Step, known: StepState | None, shown: Workflow) -> None:
    if section == "edit" or known is None:
        edit_form.draw(
            step,
            source=subject.source,
            base=subject.base if shown is subject.workflow else shown,
            workflow=shown,
            drafted=subject.draft,
            workers=subject.workers,
        )
        return
    workflow = subject.base if shown is subject.workflow else shown
    match section:
        case "saw":
            _saw(known, workflow)
        case "output":
            _output(known, workflow, run_id=subject.source, step_id=step.step_id)
        case "usage":
            _usage(known)
        case _:
            _attempts(known.attempts)


def _chosen(workflow: Workflow) -> Step | None:
    wanted = state.selected_step()
    return next((step for step in workflow.steps if step.step_id == wanted), None)


def _picker(workflow: Workflow, chosen: Step | None) -> None:
    """The way to a step without the graph: the keyboard's and the narrow screen's."""
    is_short = len(workflow.steps) > MOST_NAMED
    names = {
        step.step_id: str(step.position + 1) if is_short else text("common.step_n", n=step.position + 1)
        for step in workflow.steps
    }
    state.put("inspector.step", chosen.step_id if chosen else None)
    st.pills(
        text("studio.inspector_step"),
        list(names),
        key="inspector.step",
        format_func=lambda step_id: option(names.get(step_id, str(step_id))),
        on_change=_pick,
        label_visibility="collapsed",
    )


def _pick() -> None:
    state.select_step(state.value("inspector.step"))


def _head(step: Step, known: StepState | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        worker = known.worker if known and known.worker else step.worker
        st.markdown(f"**{literal(worker)}**", width="content")
        if known is not None:
            icon, colour = STEP_LOOKS[known.status]
            st.badge(text(f"common.step_{known.status}"), icon=icon, color=colour)  # type: ignore[arg-type]
            if known.duration_s is not None:
                st.caption(seconds(known.duration_s), width="content")


def _saw(known: StepState, workflow: Workflow) -> None:
    """The messages byte for byte, and the steps that were kept from this one."""
    if not known.messages:
        st.caption(text("studio.saw_nothing_yet"))
        return
    st.markdown(text("studio.saw_visible", steps=step_names(workflow, known.visible)))
    st.markdown(text("studio.saw_withheld", steps=step_names(workflow, known.withheld)))
    st.caption(text("studio.saw_help"))
    for place, message in enumerate(known.messages):
        st.caption(text(f"studio.role_{message.role}"))
        draw_text(message.content, key=f"inspector.message.{place}")


def _output(known: StepState, workflow: Workflow, *, run_id: str, step_id: str) -> None:
    if known.error is not None:
        draw_step_error(known.error)
    if known.status == "skipped":
        cause = step_names(workflow, [known.cause] if known.cause else [])
        st.info(text("studio.skipped_because", cause=cause), icon=":material/block:")
    if known.reused_from is not None:
        then = seconds(known.reused_from.duration_s)
        st.caption(f":material/history: {text('studio.reused_from', seconds=then)}")
        st.page_link(
            "views/studio.py",
            label=text("studio.open_original"),
            icon=":material/open_in_new:",
            query_params={"run": known.reused_from.run_id},
            help=text("history.open"),
        )
    if known.status in {"waiting", "running"}:
        live_text(run_id, step_id, empty=text("studio.output_running"), key="inspector.live")
        return
    if known.output is None and known.partial_text:
        st.badge(text("studio.partial"), icon=":material/incomplete_circle:", color="orange")
    said = known.output if known.output is not None else known.partial_text
    if said:
        _text_of_step(said)
    else:
        st.caption(text("studio.output_none"))
    for note in known.notes:
        if known.prompt_cut and note == known.notes[-1]:
            st.warning(literal(note), icon=":material/content_cut:")
        else:
            st.caption(f":material/info: {literal(note)}")
    if known.reasoning:
        with st.expander(text("studio.reasoning"), icon=":material/psychology:"):
            st.caption(text("studio.reasoning_help"))
            draw_text(known.reasoning, key="inspector.reasoning")


def _text_of_step(said: str) -> None:
    if choose_form(key="inspector.form", first="raw") == "drawn":
        st.markdown(sanitised(said[:MOST_SHOWN]), anchors=False)
    else:
        draw_text(said, key="inspector.output")


def _usage(known: StepState) -> None:
    usage = known.usage
    rows = [
        (text("studio.usage_input"), tokens(usage.input_tokens if usage else None)),
        (text("studio.usage_cached"), tokens(usage.cached_input_tokens if usage else None)),
        (text("studio.usage_output"), tokens(usage.output_tokens if usage else None)),
        (text("studio.usage_reasoning"), tokens(usage.reasoning_tokens if usage else None)),
        (text("studio.usage_cost"), step_cost(known)),
        (text("studio.usage_served"), known.served_model or text("common.unknown")),
    ]
    if known.price is not None:
        price = text(
            "studio.usage_price_value",
            input=f"${known.price.input_usd_per_mtok.normalize():f}",
            output=f"${known.price.output_usd_per_mtok.normalize():f}",
            source=known.price.source,
        )
        rows.append((text("studio.usage_price"), price))
    st.table({literal(name): literal(figure) for name, figure in rows}, border="horizontal")


def _attempts(attempts: Sequence[Attempt]) -> None:
    if not attempts:
        st.caption(text("studio.attempts_none"))
    for attempt in attempts:
        parts = [
            text("studio.attempt_started", at=clock(attempt.started_at)),
            text("studio.attempt_ended", at=clock(attempt.finished_at)),
        ]
        if attempt.waited_s:
            parts.append(text("studio.attempt_waited", seconds=seconds(attempt.waited_s)))
        if attempt.wait_s is not None:
            following = next((each for each in attempts if each.attempt == attempt.attempt + 1), None)
            parts.append(_what_followed(attempt.wait_s, attempt.worker, following))
        st.markdown(f"**{text('studio.attempt', n=attempt.attempt)}** · {literal(attempt.worker)}")
        st.caption(literal(" · ".join(parts)))
        if attempt.error is not None:
            draw_step_error(attempt.error)
        if attempt.partial_text:
            draw_text(attempt.partial_text, key=f"inspector.attempt.{attempt.attempt}")


def _what_followed(wait_s: float, worker: str, following: Attempt | None) -> str:
    if following is None or following.worker == worker:
        return text("studio.attempt_next", seconds=seconds(wait_s))
    return text("studio.attempt_handed_over", worker=following.worker)
