"""The Studio: a prompt, the workflow a conductor writes for it, and the run of that workflow, live."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from app import model_files, prompt_form, readiness, resources, state, workbench
from app.figures import shortened
from components.workflow_graph import load_ahead
from conductor_client.catalogue import text
from conductor_client.errors import NotFound

HERO_PX = 920  # width of the empty page: a line that is pleasant to read


def draw() -> None:
    """The prompt form above, the workbench below. The workbench is filled first: the graph must not fade."""
    with resources.errors_kept():
        _reopen_plan()
    is_hero = state.run_id() is None and state.sketch() is None and state.plan_wanted() is None
    width: int | Literal["stretch"] = HERO_PX if is_hero else "stretch"
    with st.container(horizontal_alignment="center"), st.container(width=width):
        hero, form, bench = st.container(), st.container(), st.container()
    with bench:
        if not is_hero:
            workbench.draw()
        else:
            resources.draw_notices()
    with resources.errors_shown():
        _follow_opened_run()
    with hero:
        if is_hero:
            _welcome()
    with form:
        prompt_form.draw(is_hero=is_hero)
    with bench:
        _make_plan()
        if is_hero:
            _models_on_their_way()
            load_ahead()


def _welcome() -> None:
    st.title(text("studio.welcome"), anchor=False)
    st.markdown(text("studio.welcome_help"))


def _follow_opened_run() -> None:
    """A run that is opened puts its prompt and conductor into the form, once; what is typed later stays."""
    run_id = state.run_id()
    if run_id is None:
        return
    known = state.known_run(run_id)
    if known is not None and state.is_newly_opened(run_id):
        state.open_run(run_id)  # a link from this page to this page does not change the address by itself
        state.put(state.PROMPT, known.prompt)
        conductors = resources.conductors(state.value(state.POOL))
        if known.conductor in {conductor.conductor_id for conductor in conductors}:
            state.put(state.CONDUCTOR, known.conductor)


def _reopen_plan() -> None:
    """A plan named in the address, after a reload or in a second tab, as it was made."""
    named = state.plan_id()
    if named is None:
        return
    try:
        plan = resources.client().get_plan(named)
    except NotFound:
        plan = None
    if plan is None or plan.workflow is None:
        state.keep_sketch(None)
        state.tell(
            "error", text("studio.plan_gone", plan=shortened(named, 60)), text("studio.plan_gone_hint")
        )
        return
    state.keep_sketch(state.Sketch(plan.workflow, text("studio.from_plan"), plan=plan))
    state.put(state.PROMPT, plan.workflow.prompt)


def _make_plan() -> None:
    """A dry run: asks the conductor while the page says so, and shows what it wrote."""
    wanted = state.plan_wanted()
    if wanted is None:
        return
    with resources.errors_shown(), st.spinner(text("studio.planning"), show_time=True):
        state.want_plan(None)
        plan = resources.client().plan(wanted)
        if plan.workflow is None:
            said = "; ".join(diagnostic.said for diagnostic in plan.diagnostics)
            resources.draw_error(text("studio.plan_rejected"), said)
            return
        state.keep_sketch(state.Sketch(plan.workflow, text("studio.from_plan"), plan=plan))
        st.rerun()


def _models_on_their_way() -> None:
    """On the empty page: what is still missing of the local models, and how far it is."""
    with resources.errors_shown():
        if readiness.unfinished(resources.models()):
            with st.container(border=True):
                st.markdown(f"**{text('studio.models_missing')}**")
                st.caption(text("studio.models_missing_help"))
                model_files.draw(only_unfinished=True)


draw()
