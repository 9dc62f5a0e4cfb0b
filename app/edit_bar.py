"""What a draft would do before anybody clicks: which steps run, which are reused, what it will take."""

from __future__ import annotations

import streamlit as st

from app import commands, drafting, resources, state
from app.draft import Draft
from app.edit_words import numbered, step_names, summary
from app.markdown import literal
from conductor_client.api import ForkPreview
from conductor_client.catalogue import counted, text
from conductor_client.figures import seconds, tokens, usd
from conductor_client.plan import Estimate
from conductor_client.run_state import RunState


def preview(run: RunState, drafted: Draft | None) -> ForkPreview | None:
    """What the backend says the draft would do; asked once per draft, ``None`` without one.

    Raises:
        ConductorError: the backend refuses the draft or does not answer.
    """
    if drafted is None:
        return None
    seen = run.last_seq if not run.has_ended else 0
    fingerprint = repr((run.run_id, seen, drafted.base.workflow_id, drafted.edits, drafted.fresh))
    known = state.preview(fingerprint)
    if known is None:
        said = resources.client().fork(run.run_id, commands.fork_request(run, drafted, dry_run=True))
        if not isinstance(said, ForkPreview):
            return None
        known = said
        state.keep_preview(fingerprint, known)
    return known


def draw(run: RunState, drafted: Draft | None, said: ForkPreview | None) -> None:
    """The draft's summary and its buttons; without a draft, the button that runs everything again."""
    if drafted is None:
        return
    with st.container(border=True, key="edit_bar"):
        st.markdown(f":material/edit_note: {literal(_summary(drafted))}")
        if drafted.dropped:
            st.caption(_dropped(drafted))
        if said is not None:
            st.markdown(_plan_line(said))
            draw_estimate(said.estimate)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                counted("edit.rerun_steps", len(said.will_run))
                if said and said.will_run
                else text("edit.rerun"),
                key="edit.rerun",
                type="primary",
                icon=":material/play_arrow:",
                disabled=said is None,
                on_click=commands.fork,
                args=(run.run_id, drafted),
            )
            _undo_and_discard(run.run_id, drafted)
            st.space("stretch")
            draw_fresh(run, drafted)


def draw_sketch_bar(drafted: Draft) -> None:
    """The same for a workflow that has not run: there is nothing to reuse."""
    with st.container(border=True, key="edit_bar"):
        st.markdown(f":material/edit_note: {literal(_summary(drafted))}")
        if drafted.dropped:
            st.caption(_dropped(drafted))
        with st.container(horizontal=True, gap="small"):
            _undo_and_discard("sketch", drafted)


def _undo_and_discard(source: str, drafted: Draft) -> None:
    st.button(
        text("edit.undo"),
        key="edit.undo",
        icon=":material/undo:",
        disabled=not drafted.batches,
        on_click=drafting.undo,
        args=(source,),
    )
    st.button(
        text("edit.discard"),
        key="edit.discard",
        icon=":material/close:",
        type="tertiary",
        on_click=drafting.discard,
        args=(source,),
    )


def draw_fresh(run: RunState, drafted: Draft | None) -> None:
    """The switch that asks every step again, whatever is known."""
    if run.workflow is None:
        return
    state.put(state.FRESH, drafted is not None and drafted.fresh is True)
    st.toggle(
        text("edit.fresh_all"),
        key=state.FRESH,
        help=text("edit.fresh_help"),
        on_change=drafting.set_fresh,
        args=(run.run_id, run.workflow),
    )


def _summary(drafted: Draft) -> str:
    return summary(drafted.edits, numbered(drafted.base, drafted.workflow))


def _dropped(drafted: Draft) -> str:
    names = numbered(drafted.base, drafted.workflow)
    pairs = "; ".join(
        text("edit.dropped_edge", seen=names.get(seen, seen), by=names.get(by, by))
        for seen, by in drafted.dropped
    )
    return f":material/link_off: {literal(text('edit.dropped', edges=pairs))}"


def _plan_line(said: ForkPreview) -> str:
    if not said.will_run:
        return f"**{literal(text('edit.nothing_will_run'))}**"
    will_run = counted("edit.will_run", len(said.will_run), steps=step_names(said.workflow, said.will_run))
    if not said.reused:
        return f"**{literal(will_run)}**"
    reused = counted("edit.reused", len(said.reused), steps=step_names(said.workflow, said.reused))
    return f"**{literal(will_run)}** · {literal(reused)}"


def draw_estimate(estimate: Estimate) -> None:
    """An estimate in one line; what it rests on is in its help."""
    total = None
    if estimate.input_tokens is not None and estimate.output_tokens is not None:
        total = estimate.input_tokens + estimate.output_tokens
    parts = [counted("common.calls", estimate.calls), text("edit.estimate_tokens", n=tokens(total))]
    parts += [text("edit.estimate_cost", usd=usd(estimate.usd))]
    parts += [text("edit.estimate_time", seconds=seconds(estimate.seconds))]
    line = literal(text("edit.estimate", figures=" · ".join(parts)))
    st.caption(line, help=literal(estimate.basis), width="content")
