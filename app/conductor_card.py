"""What the conductor wrote and how it was read: evidence apart from its own account of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app.answer import draw_text
from app.figures import share
from app.markdown import literal
from conductor_client.catalogue import text
from conductor_client.events import PlanRejected
from conductor_client.figures import seconds, tokens, usd
from conductor_client.plan import Diagnostic, Plan
from conductor_client.run_state import RunState
from conductor_client.workflow import Workflow

MOST_CHOICES = 5
"""Workers of a distribution that are shown, likeliest first."""


def draw_run(run: RunState) -> None:
    """The plans of a run: of each round, the latest last, those that kept an answer or failed included."""
    if len(run.rounds) < 2:
        draw(run.plan, run.rejected)
        return
    for each in run.rounds:
        st.markdown(f"##### {text('graph.round', n=each.round)}")
        if each.error is not None:
            st.warning(literal(each.error.message), icon=":material/error:")
        elif each.decision == "keep":
            st.caption(text("graph.round_kept"))
        rejected = [attempt for attempt in run.rejected if attempt.round == each.round]
        if each.plan is not None or rejected:
            draw(each.plan, rejected, key=f"plan.{each.round}")


def draw(plan: Plan | None, rejected: Sequence[PlanRejected] = (), *, key: str = "plan") -> None:
    """The card of one plan; a workflow that no conductor wrote says so."""
    if plan is None and not rejected:
        st.caption(text("studio.no_plan"))
        return
    if plan is not None:
        _summary(plan)
        if plan.workflow is not None:
            _choices(plan.choices, plan.workflow)
        _diagnostics(plan.diagnostics)
        if plan.raw_text:
            st.caption(text("studio.raw_plan"))
            draw_text(plan.raw_text, key=f"{key}.raw")
        if plan.reasoning:
            with st.expander(text("studio.self_report"), icon=":material/psychology:"):
                st.caption(text("studio.self_report_help"))
                draw_text(plan.reasoning, key=f"{key}.reasoning")
    for place, attempt in enumerate(rejected):
        with st.expander(text("studio.rejected_plan", n=attempt.attempt), icon=":material/block:"):
            _diagnostics(attempt.diagnostics)
            draw_text(attempt.raw_text, key=f"{key}.rejected.{place}")


def _summary(plan: Plan) -> None:
    usage = plan.usage
    total = None if usage is None else usage.total_tokens
    parts = [
        plan.conductor,
        plan.model or "",
        seconds(plan.latency_s),
        text("common.n_tokens", n=tokens(total)),
    ]
    parts.append(usd(plan.cost_usd))
    st.markdown(f"**{text('studio.written_by')}** {literal(' · '.join(part for part in parts if part))}")
    if plan.fallback is not None:
        said = text("studio.fallback", worker=plan.fallback.worker, reason=plan.fallback.reason)
        st.warning(literal(said), icon=":material/alt_route:")
    st.caption(literal(text("studio.pool_order", workers=", ".join(plan.pool))))


def _choices(choices: Mapping[str, Mapping[str, float] | None], workflow: Workflow) -> None:
    lines = [
        f"- {text('common.step_n', n=step.position + 1)}: {distribution(chances)}"
        for step in workflow.steps
        if (chances := choices.get(step.step_id))
    ]
    if lines:
        st.caption(text("studio.choices_help"))
        st.markdown("\n".join(lines))


def distribution(chances: Mapping[str, float]) -> str:
    """Workers and their probability, likeliest first, as Markdown."""
    ordered = sorted(chances.items(), key=lambda item: -item[1])[:MOST_CHOICES]
    return " · ".join(f"{literal(worker)} **{share(chance)}**" for worker, chance in ordered)


def _diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    for each in diagnostics:
        icon = ":material/block:" if each.rejects else ":material/build:"
        st.caption(f"{icon} `{each.code}` {literal(each.where)}: {literal(each.said)}")
