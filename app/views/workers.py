"""Workers: the pool, what is ready, what is missing and how to get it."""

from __future__ import annotations

import streamlit as st

from app import model_files, pool_choice, readiness, resources, state
from app.markdown import literal
from app.worker_card import draw_card
from conductor_client.catalogue import text
from conductor_client.pool import PoolProblem, PoolView


def draw() -> None:
    """Problems of the pool file first, then the workers, then the files of the local models."""
    st.title(text("workers.title"), anchor=False)
    resources.draw_notices()
    with resources.errors_shown():
        pool = _pool()
        for problem in pool.problems:
            _problem(problem)
        _workers(pool)
    with resources.errors_shown():
        if resources.models():
            st.subheader(text("workers.models"), anchor=False)
            st.caption(text("workers.models_help"))
            model_files.draw()


def _pool() -> PoolView:
    pool = resources.pool(state.value(state.POOL))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        pool_choice.draw(pool, key="workers.pool_choice", width=240)
        st.markdown(f"**{literal(pool.name)}** · {readiness.workers_line(pool)}", width="content")
        if pool.default_worker:
            st.caption(text("workers.default", worker=literal(pool.default_worker)), width="content")
    return pool


def _problem(problem: PoolProblem) -> None:
    where = (
        problem.file if problem.line is None else text("workers.line", file=problem.file, line=problem.line)
    )
    key = f" · {problem.key}" if problem.key else ""
    st.error(f"**{literal(where + key)}**  \n{literal(problem.said)}", icon=":material/rule:")


def _workers(pool: PoolView) -> None:
    if not pool.workers:
        st.info(text("workers.none"), icon=":material/info:")
        st.caption(text("studio.empty_pool_hint"))
        return
    with st.grid("auto", min_column_width=300, gap="medium", key="workers"):
        for worker in pool.workers:
            draw_card(worker, pool=pool.name)


draw()
