"""What the page does to drafts: add edits, take them back, ask steps again. All of it as callbacks.

A draft belongs to a run (its id is the ``source``) or to the workflow on the table (``sketch``).
"""

from __future__ import annotations

from app import resources, state
from app.draft import draft_of, edited, toggled_fresh, undone, with_fresh
from app.edit_words import without_ids
from conductor_client.edits import Edit
from conductor_client.errors import InvalidEdit
from conductor_client.pool import WorkerInfo
from conductor_client.workflow import Workflow


def apply_edits(
    source: str, base: Workflow, edits: tuple[Edit, ...], *, is_told: bool = True, place: str = ""
) -> InvalidEdit | None:
    """Adds edits to the draft on a run (its id) or on the ``sketch``.

    An edit that does not fit changes nothing; it is returned and, with ``is_told``, said on the page at
    ``place``.
    """
    drafted = state.draft(source) or draft_of(base)
    try:
        changed = edited(drafted, edits, known_workers=[worker.name for worker in _workers(source)])
    except InvalidEdit as problem:
        told = InvalidEdit(without_ids(problem.message), hint=problem.hint, details=problem.details)
        if is_told:
            state.tell("error", told.message, told.hint, place=place)
        return told
    state.keep_draft(source, changed)
    return None


def _workers(source: str) -> tuple[WorkerInfo, ...]:
    with resources.errors_kept():
        return resources.workers(state.known_run(source))
    return ()


def undo(source: str) -> None:
    """Takes back the last thing done to a draft."""
    if drafted := state.draft(source):
        state.keep_draft(source, undone(drafted))


def discard(source: str) -> None:
    """Forgets a draft."""
    state.drop_draft(source)


def set_fresh(source: str, base: Workflow) -> None:
    """The switch that asks every step again."""
    drafted = state.draft(source) or draft_of(base)
    state.keep_draft(source, with_fresh(drafted, bool(state.value(state.FRESH))))


def ask_all_again(source: str, base: Workflow) -> None:
    """A draft that changes nothing and asks every step again."""
    state.keep_draft(source, with_fresh(state.draft(source) or draft_of(base), True))


def toggle_fresh(source: str, base: Workflow, step_id: str) -> None:
    """The switch that asks one step again."""
    state.keep_draft(source, toggled_fresh(state.draft(source) or draft_of(base), step_id))
