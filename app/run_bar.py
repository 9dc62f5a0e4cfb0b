"""The line above the graph: how the run stands, what it took, and what can be done with it as a whole."""

from __future__ import annotations

import streamlit as st

from app import commands, drafting, library, resources, workflow_shelf
from app.answer import draw_copy
from app.figures import ago, conductor_name
from app.markdown import literal
from conductor_client.catalogue import counted, text
from conductor_client.figures import run_cost, seconds, total_tokens
from conductor_client.run_state import RunState

STATUS_LOOKS = {
    "queued": (":material/hourglass_empty:", "gray"),
    "planning": (":material/schema:", "blue"),
    "running": (":material/progress_activity:", "blue"),
    "succeeded": (":material/check_circle:", "green"),
    "failed": (":material/error:", "red"),
    "cancelled": (":material/stop_circle:", "orange"),
}
"""Icon and colour of each status: never the colour alone."""
FORMATS = ("html", "json", "svg", "lists", "python", "mermaid", "dot")
HOLDS_ROUNDS = ("html", "json", "svg")
"""The formats that hold every round of a run; the others hold the workflow it ended with."""


def draw_badge(status: str) -> None:
    """A run's status as a badge."""
    icon, colour = STATUS_LOOKS[status]
    st.badge(text(f"common.status_{status}"), icon=icon, color=colour)  # type: ignore[arg-type]  # from the table


def draw(run: RunState, *, has_draft: bool) -> None:
    """Status and actions of the run in one line."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run_bar"):
        draw_badge(run.status if run.has_ended else "running")
        st.caption(_caption(run), width="content")
        st.space("stretch")
        if not run.has_ended:
            st.button(
                text("studio.stop"),
                key="run.stop",
                icon=":material/stop:",
                on_click=commands.stop,
                args=(run.run_id,),
            )
        if run.has_ended and run.workflow is not None and not has_draft:
            st.button(
                text("studio.run_again"),
                key="run.again",
                icon=":material/replay:",
                on_click=drafting.ask_all_again,
                args=(run.run_id, run.workflow),
                help=text("studio.run_again_help"),
            )
        _share(run)
        _export(run)
        _more(run)
        st.button(
            text("studio.new_prompt"), key="run.new", icon=":material/add:", on_click=commands.new_prompt
        )


def _caption(run: RunState) -> str:
    parts = [literal(conductor_name(run.conductor))] if run.conductor else []
    if run.created_at is not None:
        parts.append(ago(run.created_at))
    if run.resumed:
        parts.append(counted("studio.resumed", run.resumed))
    if run.parent_run is not None:
        parts.append(text("studio.is_fork"))
    if run.workflow is not None:
        parts.append(counted("common.steps", max(len(run.steps), len(run.workflow.steps))))
    if len(run.rounds) > 1:
        parts.append(counted("common.rounds", len(run.rounds)))
    return " · ".join(parts)


def draw_totals(run: RunState, *, has_draft: bool) -> None:
    """What the run took. Sums with a gap say "≥"; the conductor's own tokens stand apart."""
    if not run.has_ended:
        return
    if has_draft:
        st.caption(text("studio.totals_before_draft"))
    calls = sum(len([each for each in step.attempts if each.started_at]) for step in run.steps.values())
    figures = [
        ("studio.total_calls", f"{calls:,}", None),
        (
            "studio.total_tokens",
            total_tokens(run.usage, is_complete=run.worker_complete.usage),
            "studio.total_tokens_help",
        ),
        (
            "studio.total_conductor",
            total_tokens(run.orchestration_usage, is_complete=run.orchestration_complete.usage),
            "studio.total_conductor_help",
        ),
        (
            "studio.total_cost",
            run_cost(run),
            "studio.total_cost_help",
        ),
        ("studio.total_wall", seconds(run.wall_s), "studio.total_wall_help"),
        ("studio.total_critical", seconds(run.critical_path_s), "studio.total_critical_help"),
        ("studio.total_chained", seconds(run.chained_s), "studio.total_chained_help"),
    ]
    with st.grid(4, min_column_width=118, gap="small", key="totals"):
        for label, figure, explained in figures:
            st.metric(text(label), literal(figure), help=None if explained is None else text(explained))


def _share(run: RunState) -> None:
    with st.popover(
        text("studio.share"), icon=":material/share:", key="run.share", on_change="rerun"
    ) as shown:
        if not shown.open:
            return
        st.caption(text("studio.share_help"), width=340)
        draw_copy(f"/?run={run.run_id}", key="share.run", label=text("studio.copy_run_address"), is_path=True)
        with resources.errors_shown():
            path = resources.client().share(run.run_id).path
            draw_copy(path, key="share.read", label=text("studio.copy_share_address"), is_path=True)
            st.link_button(text("studio.open_share"), path, icon=":material/open_in_new:")
        st.page_link(
            "views/present.py",
            label=text("studio.present"),
            icon=":material/slideshow:",
            query_params={"run": run.run_id},
        )


def _export(run: RunState) -> None:
    with st.popover(text("studio.export"), icon=":material/download:", key="run.export"):
        st.caption(text("studio.export_help"), width=300)
        for form in FORMATS:
            name = text(f"studio.export_{form}")
            if len(run.rounds) > 1 and form not in HOLDS_ROUNDS:
                name = text("studio.export_round", name=name, n=run.round_of(run.workflow))
            st.link_button(
                name,
                f"/api/runs/{run.run_id}/export?format={form}",
                type="tertiary",
                icon=":material/download:",
            )


def _more(run: RunState) -> None:
    if run.workflow is None:
        return
    with st.popover(text("studio.more"), icon=":material/more_horiz:", key="run.more"):
        st.button(
            text("studio.use_elsewhere"),
            key="run.use",
            icon=":material/move_up:",
            on_click=workflow_shelf.use_on_another_prompt,
            args=(run.workflow,),
        )
        library.draw_save(run.workflow, run_id=run.run_id)
