"""The workers of a pool as rows, a few at a time, kept up to date while any of them is being tested."""

from __future__ import annotations

import streamlit as st

from app import readiness, resources, state
from app.markdown import literal, option
from app.worker_card import draw_row
from conductor_client.catalogue import text
from conductor_client.pool import PoolView, WorkerInfo

AT_ONCE = 20


def draw(pool: PoolView) -> None:
    """The rows, with words to find a worker by where there are many."""
    if len(pool.workers) > AT_ONCE:
        st.text_input(
            text("workers.find"),
            key=state.FIND_WORKER,
            placeholder=text("workers.find_placeholder"),
            icon=":material/search:",
            label_visibility="collapsed",
            live="400ms",
        )
    found = readiness.found(pool.workers, str(state.value(state.FIND_WORKER, "")))
    if not found:
        st.caption(text("workers.none_found"))
        return
    page = _page(len(found))
    shown = found[page * AT_ONCE : (page + 1) * AT_ONCE]
    is_testing = any(reply.running for reply in resources.client().worker_tests(pool=pool.name))
    st.fragment(_rows, run_every=1.0 if is_testing else None)(shown, pool.name, is_testing)


def _page(n: int) -> int:
    pages = -(-n // AT_ONCE)
    if pages < 2:
        return 0
    titles = [f"{start + 1}–{min(n, start + AT_ONCE)}" for start in range(0, n, AT_ONCE)]
    if state.value(state.WORKER_PAGE) not in titles:
        state.put(state.WORKER_PAGE, titles[0])
    chosen = st.segmented_control(
        text("workers.page"),
        titles,
        key=state.WORKER_PAGE,
        required=True,
        format_func=option,
        label_visibility="collapsed",
    )
    return titles.index(chosen) if chosen in titles else 0


def _rows(workers: tuple[WorkerInfo, ...], pool: str, was_testing: bool) -> None:
    if was_testing:
        state.begin_drawing()
    with resources.errors_shown():
        tests = {reply.worker: reply for reply in resources.client().worker_tests(pool=pool)}
        for worker in workers:
            draw_row(worker, pool=pool, tested=tests.get(worker.name))
        if was_testing != any(reply.running for reply in tests.values()):
            resources.forget_readiness()
            st.rerun()


def draw_gaps(pool: PoolView) -> None:
    """What several workers lack together, once, before the rows."""
    gaps = readiness.gaps(pool)
    if not gaps:
        return
    lines = [f"**{text('workers.gaps')}**", ""]
    for gap in gaps:
        said = " ".join(part for part in (gap.missing, gap.how_to_get) if part)
        lines.append(f"- {literal(said)} ({literal(readiness.few(gap.workers))})")
    st.warning("\n".join(lines), icon=":material/key_off:")
