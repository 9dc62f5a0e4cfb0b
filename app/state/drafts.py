"""Workflows that have not run: drafts on a run or on the sketch, and the sketch itself."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from app.draft import Draft
from conductor_client.api import ForkPreview, ImportReply
from conductor_client.plan import Plan
from conductor_client.workflow import Workflow

_DRAFTS = "_drafts"
_SKETCH = "_sketch"
_PREVIEW = "_preview"
_REVISION = "_revision"


MOST_DRAFTS = 20


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


def revision() -> int:
    """Rises with every change of a draft."""
    return int(st.session_state.get(_REVISION, 0))
