"""What the page asks the backend, and what it says when the backend cannot answer.

Everything here is a question to the API. What does not change while a person looks (pool, conductors,
examples) is kept for seconds; a run is folded from its newer events only; nothing unfinished is cached.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app import door, edit_words, state
from app.markdown import literal
from conductor_client.api import ExamplePrompt, Lineage, SavedWorkflow
from conductor_client.catalogue import text
from conductor_client.client import ConductorClient
from conductor_client.errors import ConductorError, ConnectionFailed, NotFound
from conductor_client.events import RunEvent
from conductor_client.pool import ConductorInfo, ModelState, PoolView, WorkerInfo
from conductor_client.run_state import RunState, fold

KEPT_S = 5
"""Seconds for which pool, conductors and models are not asked for again."""


@st.cache_resource
def client() -> ConductorClient:
    """The one client of this process, at the backend that the front door named."""
    backend = door.backend()
    return ConductorClient(backend.url, token=backend.token)


@st.cache_data(ttl=KEPT_S, show_spinner=False, max_entries=20)
def pool(name: str | None = None) -> PoolView:
    """The pool of that name, ``None`` = the configured one."""
    return client().pool(name)


def workers(run: RunState | None) -> tuple[WorkerInfo, ...]:
    """Who can be asked in an edit of this run, or of a workflow without one: the pool as it is now.

    A pool that is gone is the one frozen with the run.
    """
    try:
        return pool(run.pool if run is not None and run.pool else state.value(state.POOL)).workers
    except NotFound:
        return () if run is None else run.pool_snapshot


@st.cache_data(ttl=KEPT_S, show_spinner=False, max_entries=20)
def conductors(pool: str | None = None) -> tuple[ConductorInfo, ...]:
    """Every conductor of a pool (``None`` = the configured one), ready or not."""
    return client().conductors(pool)


@st.cache_data(ttl=KEPT_S, show_spinner=False)
def models() -> tuple[ModelState, ...]:
    """The local model files and how far each is."""
    return client().models()


@st.cache_data(ttl=60, show_spinner=False)
def examples() -> tuple[ExamplePrompt, ...]:
    """Prompts to start from; none when the backend offers none."""
    try:
        return client().examples()
    except NotFound:
        return ()


def workflows() -> tuple[SavedWorkflow, ...]:
    """Workflows kept under a name."""
    return client().workflows()


def lineage(run_id: str) -> Lineage:
    """Every run that shares an ancestor with this one."""
    return client().lineage(run_id)


@st.cache_data(max_entries=200, show_spinner=False)
def changes(run_id: str) -> dict[str, str]:
    """What each run of this run's lineage changed first, by run id: it never changes once there is one."""
    try:
        family = lineage(run_id)
        workflow = client().run(family.root).workflow
    except NotFound:
        return {}
    return {} if workflow is None else edit_words.first_changes(family.runs, workflow)


def run(run_id: str) -> RunState:
    """The run as it stands: the copy of this tab, brought up to date by the events it lacks."""
    known = state.known_run(run_id)
    if known is None:
        known = client().run(run_id)
    else:
        newer = client().events(run_id, after=known.last_seq)
        known = fold(newer, known) if newer else known
    state.know_run(known)
    if known.has_ended:
        state.forget_start(run_id)
    return known


@st.cache_data(max_entries=8, show_spinner=False)
def events(run_id: str, until: int) -> tuple[RunEvent, ...]:
    """The stored events of a run up to ``until`` (a ``seq``), for a replay; they do not change any more."""
    return tuple(event for event in client().events(run_id) if event.seq <= until)


@contextmanager
def errors_shown(retry: str = "") -> Iterator[None]:
    """The one place where an error of the backend ends while the page is drawn. Bugs pass through.

    A backend that does not answer is said once on a page, however many parts of it ask. With ``retry``, a key
    of its own on the page, a button offers to draw the page anew.
    """
    is_told = False
    try:
        yield
    except ConnectionFailed:
        if is_told := state.is_first_word_of_outage():
            draw_error(text("door.backend_down", url=door.backend().url), text("door.backend_down_hint"))
    except ConductorError as problem:
        is_told = True
        draw_error(problem.message, problem.hint)
    if is_told and retry:
        st.button(text("door.retry"), key=retry, icon=":material/refresh:")


@contextmanager
def errors_kept(place: str = "") -> Iterator[None]:
    """The same for callbacks: what went wrong is told on the next drawing, at that place."""
    try:
        yield
    except ConnectionFailed:
        down = text("door.backend_down", url=door.backend().url)
        state.tell("error", down, text("door.backend_down_hint"), place=place)
    except ConductorError as problem:
        state.tell("error", problem.message, problem.hint, place=place)


def draw_error(message: str, hint: str = "") -> None:
    """A problem, and under it what to do."""
    said = literal(message) if not hint else f"{literal(message)}\n\n{literal(hint)}"
    st.error(said, icon=":material/error:")


def draw_notices(place: str = "") -> None:
    """What callbacks left to be told here: problems in the page, good news as a passing note."""
    for notice in state.take_notices(place):
        if notice.kind == "error":
            draw_error(notice.message, notice.hint)
        elif notice.kind == "note":
            st.info(literal(notice.message), icon=":material/info:")
        else:
            st.toast(literal(notice.message), icon=":material/check:")


def forget_readiness() -> None:
    """Asks again what is ready: something has just arrived or was just begun."""
    pool.clear()
    conductors.clear()
    models.clear()
