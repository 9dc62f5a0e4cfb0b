"""The prompt box and what stands around it: examples, conductor, workers, limits, the workflow's source."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import commands, library, pool_choice, readiness, resources, state
from app.figures import shortened
from app.markdown import literal
from app.readiness import Obstacle
from conductor_client.catalogue import counted, text
from conductor_client.pool import ConductorInfo, PoolView, WorkerInfo

MOST_ROUNDS = 8
HERO_PX, BOX_PX = 120, 68
"""Height of the prompt box alone on the page, and above a graph; it can be pulled larger."""


def draw(*, is_hero: bool) -> None:
    """The whole form. ``is_hero``: nothing else is on the page, so examples are offered."""
    with st.container(border=True, key="composer"):
        box, controls = st.container(), st.container()
        found: Obstacle | None = Obstacle(text("studio.no_backend"))
        with controls, resources.errors_shown():
            chosen = state.value(state.POOL)
            found = _controls(resources.pool(chosen), resources.conductors(chosen))
        with box:
            _box(found, height=HERO_PX if is_hero else BOX_PX)
    if is_hero and not str(state.value(state.PROMPT, "")).strip():
        _examples()


def _is_sketched() -> bool:
    return state.sketch() is not None and state.run_id() is None


def _box(found: Obstacle | None, *, height: int) -> None:
    """The text and its button: a form, so that Ctrl+Enter belongs to this text and to no other field."""
    plan_first = bool(state.value(state.PLAN_FIRST, False)) and not _is_sketched()
    label = "studio.run_sketch" if _is_sketched() else "studio.plan" if plan_first else "studio.run"
    with st.form("prompt_form", border=False):
        left, right = st.columns([6, 1], vertical_alignment="bottom", gap="small")
        left.text_area(
            text("studio.prompt"),
            key=state.PROMPT,
            height=height,
            placeholder=text("studio.prompt_placeholder"),
            label_visibility="collapsed",
            persist_state="session",
        )
        right.form_submit_button(
            text(label),
            key="studio.go",
            type="primary",
            width="stretch",
            icon=":material/account_tree:" if plan_first else ":material/play_arrow:",
            disabled=found is not None,
            on_click=commands.press_run,
            help=None if found is None else literal(found.message),
        )


def _controls(pool: PoolView, conductors: Sequence[ConductorInfo]) -> Obstacle | None:
    """The choices below the box; returns what stands in the way of running, after telling it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not _is_sketched():
            _conductor(conductors)
        _workers(pool)
        _limits(conductors)
        library.draw_source()
        if not _is_sketched():
            st.toggle(
                text("studio.plan_first"),
                key=state.PLAN_FIRST,
                help=text("studio.plan_first_help"),
                persist_state="session",
            )
    found = readiness.obstacle(
        pool,
        readiness.chosen_conductor(conductors, state.value(state.CONDUCTOR)),
        chosen=state.value(state.WORKERS, ()),
        is_planned=_is_sketched(),
    )
    if found is not None:
        _obstacle(found)
    for gap in readiness.gaps(pool, only_keys=True) if found is None else ():
        said = text("studio.key_missing", missing=gap.missing, workers=readiness.few(gap.workers))
        st.caption(f":orange[:material/key_off:] {literal(said)} {literal(gap.how_to_get)}")
    return found


def _obstacle(found: Obstacle) -> None:
    said = f"**{literal(found.message)}**"
    if found.hint:
        said += f"  \n{literal(found.hint)}"
    st.warning(said, icon=":material/block:")
    st.page_link("views/workers.py", label=text("studio.to_workers"), icon=":material/group_work:")


def _conductor(conductors: Sequence[ConductorInfo]) -> None:
    by_id = {conductor.conductor_id: conductor for conductor in conductors}
    if not by_id:
        return
    held = state.value(state.CONDUCTOR)
    if held not in by_id:
        first = readiness.chosen_conductor(conductors, None)
        state.put(state.CONDUCTOR, first.conductor_id if first else None)

    def title(conductor_id: str) -> str:
        conductor = by_id[conductor_id]
        return conductor.title if conductor.ready else text("studio.not_ready", name=conductor.title)

    st.selectbox(
        text("studio.conductor"),
        list(by_id),
        key=state.CONDUCTOR,
        format_func=title,
        width=240,
        icon=":material/schema:",
        label_visibility="collapsed",
        persist_state="session",
    )


def _workers(pool: PoolView) -> None:
    chosen = list(state.value(state.WORKERS, ()))
    n = len(readiness.usable(pool, chosen))
    label = text("studio.workers_chosen", n=n) if chosen else counted("studio.workers_all", n)
    with st.popover(label, icon=":material/group_work:"):
        pool_choice.draw(pool, key="studio.pool_choice", width=320)
        st.multiselect(
            text("studio.workers"),
            [worker.name for worker in pool.workers],
            key=state.WORKERS,
            placeholder=text("studio.workers_placeholder"),
            persist_state="session",
            width=320,
            help=text("studio.workers_help"),
        )
        for worker in pool.workers:
            _worker_line(worker)


def _worker_line(worker: WorkerInfo) -> None:
    name = f"**{literal(worker.name)}**"
    if worker.ready:
        said = literal(shortened(worker.description or worker.model, 80))
        st.caption(f":green[:material/check_circle:] {name} · {said}")
    else:
        said = literal(" ".join(part for part in (worker.missing, worker.how_to_get) if part))
        st.caption(f":orange[:material/pending:] {name} · {said}")


def _limits(conductors: Sequence[ConductorInfo]) -> None:
    conductor = readiness.chosen_conductor(conductors, state.value(state.CONDUCTOR))
    with st.popover(_limits_said(conductor), icon=":material/speed:"):
        st.caption(text("studio.limits_help"), width=320)
        _limit(state.MAX_STEPS, "studio.max_steps", least=1, step=1)
        _limit(state.MAX_TOKENS, "studio.max_tokens", least=1, step=500)
        _limit(state.MAX_OUTPUT_TOKENS, "studio.max_output_tokens", least=1, step=100)
        _limit(state.MAX_USD, "studio.max_usd", least=0.0, step=0.01)
        _limit(state.MAX_WALL_S, "studio.max_wall_s", least=1.0, step=10.0)
        if not _is_sketched():
            _rounds(conductor)


def _limits_said(conductor: ConductorInfo | None) -> str:
    n = len(commands.limits().model_dump(exclude_defaults=True))
    said = [text("studio.limits_set", n=n)] if n else []
    rounds = state.value(state.MAX_ROUNDS)
    if rounds is not None and conductor is not None and conductor.can_revise and not _is_sketched():
        said.append(counted("studio.rounds_set", rounds))
    return " · ".join(said) or text("studio.limits")


def _rounds(conductor: ConductorInfo | None) -> None:
    """How often the conductor may look at the answer and plan again, where it can."""
    can_revise = conductor is not None and conductor.can_revise
    st.number_input(
        text("studio.max_rounds"),
        min_value=1,
        max_value=MOST_ROUNDS,
        value=None,
        step=1,
        key=state.MAX_ROUNDS,
        placeholder=str(conductor.options.max_rounds if conductor is not None and can_revise else 1),
        persist_state="session",
        width=320,
        disabled=not can_revise,
        help=text("studio.max_rounds_help" if can_revise else "studio.one_round_only"),
    )


def _limit(key: str, label: str, *, least: float, step: float) -> None:
    st.number_input(
        text(label),
        min_value=least,
        value=None,
        step=step,
        key=key,
        placeholder=text("studio.no_limit"),
        persist_state="session",
        width=320,
    )


def _examples() -> None:
    with resources.errors_shown():
        examples = resources.examples()
        if not examples:
            return
        st.caption(text("studio.examples"))
        with st.container(horizontal=True, gap="small", key="examples"):
            for place, example in enumerate(examples):
                st.button(
                    literal(example.title),
                    key=f"example.{place}",
                    on_click=commands.use_example,
                    args=(example.prompt,),
                    help=literal(shortened(example.prompt, 200)),
                )
