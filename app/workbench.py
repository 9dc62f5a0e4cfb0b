"""Everything about one workflow on the Studio page: its graph, its answer, the inspector, the draft.

One fragment: a click on a card or the end of a run draws this anew and nothing else. Its places are laid out
first and filled in the order in which a person should see them, the graph first; so the graph's place never
moves and it is never built twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import (
    answer,
    bugs,
    conductor_card,
    edit_bar,
    editor_table,
    graph_panel,
    inspector,
    library,
    lineage_tree,
    resources,
    run_bar,
    state,
    waterfall,
)
from app.draft import Draft, marks
from app.figures import shortened
from app.inspector import Subject
from app.markdown import literal, option
from conductor_client.api import ForkPreview
from conductor_client.catalogue import text
from conductor_client.errors import NotFound
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import RunState

POLL_S = 2.0
"""How often a run is asked for when its live connection cannot be made."""


PLAN_POLL_S = 1.0
"""How often it is looked whether the plan is there, so that it can be edited while it runs already."""


@dataclass(frozen=True)
class Places:
    """The fixed containers of the page, in their order from above."""

    bar: DeltaGenerator
    notices: DeltaGenerator
    answer: DeltaGenerator
    graph: DeltaGenerator
    edit_bar: DeltaGenerator
    totals: DeltaGenerator
    inspector: DeltaGenerator
    below: DeltaGenerator


def _places() -> Places:
    bar, notices, top = st.container(), st.container(), st.container()
    left, right = st.columns([1.7, 1], gap="medium")
    with left:
        graph, totals = st.container(), st.container()
    with right:
        bar_of_draft, inspector_of_step = st.container(), st.container()
    return Places(bar, notices, top, graph, bar_of_draft, totals, inspector_of_step, st.container())


def draw() -> None:
    """The workbench of what is on the table: the run in the address, else the sketch."""
    run_id = state.run_id()
    polls = run_id is not None and state.is_line_down(run_id)
    st.fragment(_draw, run_every=POLL_S if polls else None, key="workbench")()


def _draw() -> None:
    with bugs.told():
        _draw_parts()


def _draw_parts() -> None:
    state.begin_drawing()
    with st.container(key="bench"):
        places = _places()
    with places.notices:
        resources.draw_notices()
    run_id, sketch = state.run_id(), state.sketch()
    if run_id is not None:
        _draw_run(run_id, places)
    elif sketch is not None:
        _draw_sketch(sketch, places)


def _draw_run(run_id: str, places: Places) -> None:
    run: RunState | None = None
    workers: Sequence[WorkerInfo] = ()
    said: ForkPreview | None = None
    drafted = state.draft(run_id)
    with places.notices, resources.errors_shown():
        try:
            run = resources.run(run_id)
        except NotFound:
            _gone(run_id)
            return
        workers = resources.workers(run)
        said = edit_bar.preview(run, drafted)
    if run is None:
        return
    with places.graph:
        graph_panel.draw_run(run, drafted=drafted, marks=marks(said), workers=workers)
    with places.bar:
        run_bar.draw(run, has_draft=drafted is not None)
    with places.answer, resources.errors_shown():
        answer.draw(run)
    with places.totals:
        run_bar.draw_totals(run, has_draft=drafted is not None)
    _draw_around(run, drafted, said, workers, places)


def _draw_around(
    run: RunState,
    drafted: Draft | None,
    said: ForkPreview | None,
    workers: Sequence[WorkerInfo],
    places: Places,
) -> None:
    with places.edit_bar:
        edit_bar.draw(run, drafted, said)
    if run.workflow is None:
        if not run.has_ended:
            with places.inspector:
                st.fragment(_await_plan, run_every=PLAN_POLL_S)(run.run_id, count())
        return
    workflow = drafted.workflow if drafted else run.workflow
    base = drafted.base if drafted else run.workflow
    subject = Subject(run.run_id, base, workflow, run, drafted, workers)
    with places.inspector:
        inspector.draw(subject)
    with places.below, resources.errors_shown():
        match _panel("run", ("table", "conductor", "time", "lineage")):
            case "table":
                editor_table.draw(source=run.run_id, base=base, workflow=workflow, workers=workers)
            case "conductor":
                conductor_card.draw_run(run)
            case "time":
                waterfall.draw(run)
            case _:
                lineage_tree.draw(run.run_id, workflow)


def _await_plan(run_id: str, looks: Iterator[int]) -> None:
    """Draws the page anew as soon as there is a workflow; the graph itself needs no telling.

    The first look is the page's own, for which the run was just asked: a plan that came in between would have
    everything drawn twice before the first card is on the screen.
    """
    state.begin_drawing()
    st.caption(text("studio.planning"))
    if next(looks) == 0:
        return
    with resources.errors_shown():
        run = resources.run(run_id)
        if run.workflow is not None or run.has_ended:
            st.rerun()


def _draw_sketch(sketch: state.Sketch, places: Places) -> None:
    drafted = state.draft("sketch")
    workflow = drafted.workflow if drafted else sketch.workflow
    workers: Sequence[WorkerInfo] = ()
    with places.notices, resources.errors_shown():
        workers = resources.workers(None)
        library.draw_import_notes(sketch)
    with places.graph:
        graph_panel.draw_sketch(sketch.workflow, drafted=drafted, workers=workers)
    with places.bar, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f":material/draft: {literal(sketch.title)}", width="content")
        if sketch.plan is not None and sketch.plan.estimate is not None and drafted is None:
            edit_bar.draw_estimate(sketch.plan.estimate)
    with places.edit_bar:
        if drafted is not None:
            edit_bar.draw_sketch_bar(drafted)
    with places.inspector:
        inspector.draw(Subject("sketch", sketch.workflow, workflow, None, drafted, workers))
    with places.below:
        if _panel("sketch", ("table", "conductor")) == "table":
            editor_table.draw(source="sketch", base=sketch.workflow, workflow=workflow, workers=workers)
        else:
            conductor_card.draw(sketch.plan)


def _panel(source: str, panels: tuple[str, ...]) -> str:
    """Which of the panels below the graph is open; the others cost nothing."""
    chosen = st.segmented_control(
        text("studio.panels"),
        panels,
        default=panels[0],
        required=True,
        format_func=lambda panel: option(text(f"studio.panel_{panel}")),
        key=f"workbench.panel.{source}",
        label_visibility="collapsed",
    )
    return str(chosen)


def _gone(run_id: str) -> None:
    st.warning(text("studio.run_gone", run=literal(shortened(run_id, 60))), icon=":material/search_off:")
    st.page_link("views/history.py", label=text("studio.to_history"), icon=":material/history:")
