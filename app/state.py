"""What one browser tab holds: which run is open, what is selected, drafted and typed.

The only module that touches Streamlit's session and the page's address. What identifies stands in the
address, facts stand in the backend; here are drafts, choices, and copies that save a question.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import streamlit as st

from app.draft import Draft
from conductor_client.api import ForkPreview, ImportReply, PlanRequest
from conductor_client.plan import Plan
from conductor_client.run_state import RunState
from conductor_client.workflow import Workflow

# Keys of widgets. A widget's value lives under its key, so a callback can read it.
GRAPH = "workflow_graph"
PROMPT = "studio.prompt"
CONDUCTOR = "studio.conductor"
POOL = "_chosen_pool"
WORKERS = "studio.workers"
PLAN_FIRST = "studio.plan_first"
MAX_STEPS = "studio.max_steps"
MAX_TOKENS = "studio.max_tokens"
MAX_USD = "studio.max_usd"
MAX_WALL_S = "studio.max_wall_s"
MAX_ROUNDS = "studio.max_rounds"
MAX_OUTPUT_TOKENS = "studio.max_output_tokens"
FRESH = "edit.fresh"
SEARCH = "history.search"
STATUS = "history.status"
ADD_KIND = "workers.add_kind"
FIND_WORKER = "workers.find"
WORKER_PAGE = "workers.page"

_SELECTED = "_selected_step"
_DRAFTS = "_drafts"
_SKETCH = "_sketch"
_RUN = "_known_run"
_NOTICES = "_notices"
_START = "_start_of_run"
_PREVIEW = "_preview"
_SEEN_EDITS = "_seen_edits"
_PLAN_WANTED = "_plan_wanted"
_OPENED = "_opened_run"
_DELETED = "_deleted_run"
_LINE_DOWN = "_line_down"
_REPLY = "_graph_reply"
_REVISION = "_revision"
_PLAYED = "_played"
_CURSORS = "_history_cursors"
_OUTAGE_SAID = "_outage_said"
MOST_DRAFTS = 20


@dataclass(frozen=True)
class Notice:
    """Something to tell the person on the next drawing. ``kind``: ``error``, ``note``, ``done``.

    ``place`` is where it is told, empty = at the top of the page.
    """

    kind: str
    message: str
    hint: str = ""
    place: str = ""


@dataclass(frozen=True)
class Sketch:
    """A workflow that has not run: a plan, a saved or an imported one, or one taken from a run.

    ``plan`` is set when a conductor wrote it for the prompt that stands in the workflow; ``title`` says in
    words where it is from; ``imported`` keeps what the reader said of an imported text.
    """

    workflow: Workflow
    title: str
    plan: Plan | None = None
    imported: ImportReply | None = None


@dataclass(frozen=True)
class Deleted:
    """A run deleted a moment ago, until when (monotonic seconds) it can be brought back."""

    run_id: str
    prompt: str
    until: float = field(default_factory=lambda: monotonic() + 10)


# The address


def run_id() -> str | None:
    """The run named in the address, or ``None``."""
    return st.query_params.get("run") or None


def open_run(opened: str) -> None:
    """Puts a run into the address; its live connection is taken to work until it says otherwise."""
    st.query_params["run"] = opened
    st.session_state.pop(_LINE_DOWN, None)


def plan_id() -> str | None:
    """The plan named in the address that is not on the page yet, or ``None``; a run counts before it."""
    named = st.query_params.get("plan") or None
    drawn = sketch()
    is_here = drawn is not None and drawn.plan is not None and drawn.plan.plan_id == named
    return None if is_here or run_id() is not None else named


def close_run() -> None:
    """Takes the run out of the address."""
    st.query_params.pop("run", None)


def is_newly_opened(opened: str) -> bool:
    """Whether this run is drawn for the first time since it was opened here; true once."""
    is_new = st.session_state.get(_OPENED) != opened
    st.session_state[_OPENED] = opened
    return is_new


def forget_opened() -> None:
    """The next run drawn counts as newly opened."""
    st.session_state.pop(_OPENED, None)


# Widgets


def value(key: str, otherwise: Any = None) -> Any:
    """What the widget of that key holds; ``otherwise`` when it was not drawn yet."""
    held = st.session_state.get(key)
    return otherwise if held is None else held


def put(key: str, held: Any) -> None:
    """Sets a widget before it is drawn, or from a callback."""
    st.session_state[key] = held


def has(key: str) -> bool:
    """Whether anything is held under that key."""
    return key in st.session_state


# The graph


def selected_step() -> str | None:
    """The step whose inspector is open."""
    chosen = st.session_state.get(_SELECTED)
    return chosen if isinstance(chosen, str) else None


def select_step(step_id: str | None) -> None:
    """Opens the inspector of a step."""
    st.session_state[_SELECTED] = step_id


def from_graph(name: str, *, key: str = GRAPH) -> Any:
    """A state or trigger value the graph sent, in its callback; ``None`` when it sent none."""
    sent = st.session_state.get(key)
    return sent.get(name) if isinstance(sent, Mapping) else None


def is_new_edit(op_id: str) -> bool:
    """Whether this operation of the graph was not seen before: it may be delivered twice."""
    seen: tuple[str, ...] = st.session_state.get(_SEEN_EDITS, ())
    st.session_state[_SEEN_EDITS] = (*seen[-50:], op_id)
    return op_id not in seen


def graph_reply() -> tuple[str, bool, str, str] | None:
    """What became of the graph's last edit: its operation, whether it was taken, else why not and a hint."""
    return st.session_state.get(_REPLY)


def answer_graph(op_id: str, ok: bool, message: str = "", hint: str = "") -> None:
    """Answers an edit of the graph on the next drawing."""
    st.session_state[_REPLY] = (op_id, ok, message, hint)


def revision() -> int:
    """Rises with every change of a draft."""
    return int(st.session_state.get(_REVISION, 0))


def was_played(run: str) -> bool:
    """Whether the replay of this run has come to its end in this tab."""
    return st.session_state.get(_PLAYED) == run


def note_played(run: str | None) -> None:
    """Remembers that a replay has ended, or that it begins anew."""
    st.session_state[_PLAYED] = run


def is_line_down(run: str) -> bool:
    """Whether the live connection of this run cannot be made, so that it has to be asked for."""
    return st.session_state.get(_LINE_DOWN) == run


def note_line(run: str, *, is_up: bool) -> None:
    """Remembers how the live connection of a run stands."""
    st.session_state[_LINE_DOWN] = None if is_up else run


# Drafts


def draft(source: str) -> Draft | None:
    """The draft on a run (its id) or on the sketch (``sketch``)."""
    return st.session_state.get(_DRAFTS, {}).get(source)


def keep_draft(source: str, drafted: Draft) -> None:
    """Keeps a draft; one without changes is dropped. The twenty latest are held."""
    drafts = {name: held for name, held in st.session_state.get(_DRAFTS, {}).items() if name != source}
    if drafted.is_changed:
        drafts[source] = drafted
    st.session_state[_DRAFTS] = dict(list(drafts.items())[-MOST_DRAFTS:])
    st.session_state[_REVISION] = revision() + 1


def drop_draft(source: str) -> None:
    """Forgets a draft."""
    held = dict(st.session_state.get(_DRAFTS, {}))
    if held.pop(source, None) is not None:
        st.session_state[_DRAFTS] = held
        st.session_state[_REVISION] = revision() + 1


def sketch() -> Sketch | None:
    """The workflow that is shown but has not run."""
    return st.session_state.get(_SKETCH)


def keep_sketch(drawn: Sketch | None) -> None:
    """Shows a workflow that has not run, or none; the draft on the earlier one goes.

    A plan stands in the address: a reload and a second tab find it there.
    """
    st.session_state[_SKETCH] = drawn
    if drawn is not None and drawn.plan is not None:
        st.query_params["plan"] = drawn.plan.plan_id
    else:
        st.query_params.pop("plan", None)
    drop_draft("sketch")


def preview(fingerprint: str) -> ForkPreview | None:
    """What the backend said a fork with this fingerprint would do."""
    known = st.session_state.get(_PREVIEW)
    return known[1] if known and known[0] == fingerprint else None


def keep_preview(fingerprint: str, said: ForkPreview) -> None:
    """Keeps the answer until the draft changes."""
    st.session_state[_PREVIEW] = (fingerprint, said)


# Copies of facts


def known_run(wanted: str) -> RunState | None:
    """The run as last folded in this tab; only newer events need asking for."""
    held = st.session_state.get(_RUN)
    return held if isinstance(held, RunState) and held.run_id == wanted else None


def know_run(state: RunState | None) -> None:
    """Keeps the run as it stands."""
    st.session_state[_RUN] = state


# Starting


def plan_wanted() -> PlanRequest | None:
    """The plan a person asked for and that is not made yet."""
    return st.session_state.get(_PLAN_WANTED)


def want_plan(request: PlanRequest | None) -> None:
    """Asks for a plan on the next drawing, or no more."""
    st.session_state[_PLAN_WANTED] = request


def start_key(*parts: Any) -> str:
    """The idempotency key of starting exactly this: the same until the run it started has ended.

    So a rerun, or a retry after an answer that got lost, finds the run of the first try.
    """
    salt = _start()[0]
    return f"page-{hashlib.sha256(repr((salt, parts)).encode()).hexdigest()[:40]}"


def started(run: str, prompt: str | None = None) -> None:
    """Remembers which run the present key started, and from which text in the prompt box."""
    st.session_state[_START] = (_start()[0], run, prompt)


def is_running_already(prompt: str) -> bool:
    """Whether the run on the page was started from this very text and has not ended: a second click."""
    _, run, said = _start()
    return run is not None and run == run_id() and said == prompt


def forget_start(run: str) -> None:
    """The run has ended: from now on the same prompt starts a new one."""
    if _start()[1] == run:
        st.session_state.pop(_START)


def _start() -> tuple[str, str | None, str | None]:
    held: tuple[str, str | None, str | None] = st.session_state.setdefault(
        _START, (secrets.token_hex(8), None, None)
    )
    return held


# Telling


def tell(kind: str, message: str, hint: str = "", *, place: str = "") -> None:
    """Says something on the next drawing, at the top of the page or at a place of its own."""
    held: Sequence[Notice] = st.session_state.get(_NOTICES, ())
    st.session_state[_NOTICES] = (*held, Notice(kind, message, hint, place))


def take_notices(place: str = "") -> tuple[Notice, ...]:
    """What is to be said now at that place; said once."""
    held: Sequence[Notice] = st.session_state.get(_NOTICES, ())
    st.session_state[_NOTICES] = tuple(notice for notice in held if notice.place != place)
    return tuple(notice for notice in held if notice.place == place)


def begin_drawing() -> None:
    """A page, or a part that is drawn anew by itself, begins: an outage may be said again."""
    st.session_state.pop(_OUTAGE_SAID, None)


def is_first_word_of_outage() -> bool:
    """Whether nobody on this page has said yet that the backend does not answer; true once a drawing."""
    is_first = not st.session_state.get(_OUTAGE_SAID, False)
    st.session_state[_OUTAGE_SAID] = True
    return is_first


# History


def seconds_left(gone: Deleted) -> float:
    """For how long a deletion can still be undone."""
    return gone.until - monotonic()


def deleted() -> Deleted | None:
    """The run deleted last, while it can still be brought back."""
    held = st.session_state.get(_DELETED)
    return held if isinstance(held, Deleted) and held.until > monotonic() else None


def note_deleted(gone: Deleted | None) -> None:
    """Remembers a deletion, or forgets it."""
    st.session_state[_DELETED] = gone


def cursor() -> str | None:
    """Where the page of the history begins; ``None`` = with the newest."""
    held: tuple[str, ...] = st.session_state.get(_CURSORS, ())
    return held[-1] if held else None


def next_page(following: str) -> None:
    """One page older."""
    st.session_state[_CURSORS] = (*st.session_state.get(_CURSORS, ()), following)


def previous_page() -> None:
    """One page newer."""
    st.session_state[_CURSORS] = st.session_state.get(_CURSORS, ())[:-1]


def first_page() -> None:
    """Back to the newest: the search has changed."""
    st.session_state[_CURSORS] = ()
