"""Workers: the pool, what is ready, what is missing and how to get it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import add_worker, model_files, pool_choice, readiness, resources, state, worker_rows
from app.markdown import literal
from conductor_client.catalogue import text
from conductor_client.pool import PoolProblem, PoolView

MOST_PROBLEMS = 12


def draw() -> None:
    """Problems of the pool file, what is missing, the workers, how to add one, files of the local models."""
    st.title(text("workers.title"), anchor=False)
    resources.draw_notices()
    with resources.errors_shown(retry="workers.retry"):
        pool = _pool()
        _problems(pool.problems)
        worker_rows.draw_gaps(pool)
        if pool.workers:
            worker_rows.draw(pool)
        else:
            st.info(text("workers.none"), icon=":material/info:")
            st.caption(text("studio.empty_pool_hint"))
        add_worker.draw(pool)
    with resources.errors_shown():
        if resources.models():
            st.subheader(text("workers.models"), anchor=False)
            st.caption(text("workers.models_help"))
            model_files.draw()


def _pool() -> PoolView:
    pool = resources.pool(state.value(state.POOL))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        pool_choice.draw(pool, key="workers.pool_choice", width=240)
        with st.container(gap="xxsmall"):
            st.markdown(f"**{literal(pool.name)}** · {readiness.workers_line(pool)}")
            if pool.default_worker:
                st.caption(text("workers.default", worker=literal(pool.default_worker)))
    return pool


def _problems(problems: Sequence[PoolProblem]) -> None:
    if not problems:
        return
    lines = [_problem(problem) for problem in problems[:MOST_PROBLEMS]]
    if (more := len(problems) - MOST_PROBLEMS) > 0:
        lines.append(f"- {text('workers.more_problems', n=more)}")
    st.error("\n".join([f"**{text('workers.problems')}**", "", *lines]), icon=":material/rule:")


def _problem(problem: PoolProblem) -> str:
    where = (
        problem.file if problem.line is None else text("workers.line", file=problem.file, line=problem.line)
    )
    key = f" · {problem.key}" if problem.key else ""
    return f"- **{literal(where + key)}**: {literal(problem.said)}"


draw()
