"""A draft: the changes a person has made to a workflow and not run yet. Pure, and immutable.

It keeps the edits in batches, one for each thing the person did, so that undo takes back what they did last.
The drafted workflow is kept beside them: its id stays the same until the next change, so drawing it again
draws nothing new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from conductor_client.api import ForkPreview, StepRequest, WorkflowRequest
from conductor_client.edits import AddStep, Edit, apply_edits, next_step_id
from conductor_client.workflow import Workflow

Mark = Literal["will_run", "reused"]


@dataclass(frozen=True)
class Draft:
    """Edits on a base workflow. ``fresh``: ``True`` or the step ids that must be asked again."""

    base: Workflow
    workflow: Workflow
    batches: tuple[tuple[Edit, ...], ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    """Access edges ``(seen, by)`` that the last change took with a removed step."""
    fresh: bool | tuple[str, ...] = False

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits in order, as a fork takes them."""
        return tuple(edit for batch in self.batches for edit in batch)

    @property
    def is_changed(self) -> bool:
        """Whether running it would differ from running the base."""
        return bool(self.batches) or bool(self.fresh)


def draft_of(base: Workflow) -> Draft:
    """A draft without changes."""
    return Draft(base=base, workflow=base)


def edited(draft: Draft, edits: Sequence[Edit], *, known_workers: Iterable[str] | None = None) -> Draft:
    """The draft with one more batch of edits; added steps get ids of their own, which later edits can name.

    Raises:
        InvalidEdit: an edit does not fit; the given draft is untouched.
    """
    if not edits:
        return draft
    named = _named(draft, edits)
    result = apply_edits(draft.workflow, named, known_workers=known_workers)
    return replace(draft, workflow=result.workflow, batches=(*draft.batches, named), dropped=result.dropped)


def undone(draft: Draft) -> Draft:
    """The draft without its last batch; without batches, without the wish to ask again."""
    if not draft.batches:
        return draft_of(draft.base)
    batches = draft.batches[:-1]
    kept = tuple(edit for batch in batches for edit in batch)
    workflow = apply_edits(draft.base, kept).workflow if kept else draft.base
    return replace(draft, workflow=workflow, batches=batches, dropped=())


def with_fresh(draft: Draft, fresh: bool | tuple[str, ...]) -> Draft:
    """The draft that asks every step again (``True``), these steps, or none (``False``)."""
    return replace(draft, fresh=fresh or False)


def toggled_fresh(draft: Draft, step_id: str) -> Draft:
    """The draft with one step's wish to be asked again turned round."""
    chosen = [] if isinstance(draft.fresh, bool) else list(draft.fresh)
    if step_id in chosen:
        chosen.remove(step_id)
    else:
        chosen.append(step_id)
    return with_fresh(draft, tuple(chosen))


def is_fresh(draft: Draft | None, step_id: str) -> bool:
    """Whether this step is to be asked again whatever is known of it."""
    if draft is None:
        return False
    return draft.fresh is True or (isinstance(draft.fresh, tuple) and step_id in draft.fresh)


def marks(preview: ForkPreview | None) -> Mapping[str, Mark]:
    """What the graph writes on a card before the click: ``will_run`` or ``reused``."""
    if preview is None:
        return {}
    found: dict[str, Mark] = dict.fromkeys(preview.will_run, "will_run")
    return found | dict.fromkeys(preview.reused, "reused")


def request_of(workflow: Workflow) -> WorkflowRequest:
    """A workflow as a run request carries it, step ids kept."""
    return WorkflowRequest(
        steps=tuple(
            StepRequest(
                instruction=step.instruction, worker=step.worker, access=step.access, step_id=step.step_id
            )
            for step in workflow.steps
        )
    )


def _named(draft: Draft, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits with every added step given an id, above all ids the draft has ever used."""
    taken = {step.step_id for step in (*draft.base.steps, *draft.workflow.steps)}
    taken |= {edit.step_id for edit in draft.edits if isinstance(edit, AddStep) and edit.step_id}
    named: list[Edit] = []
    for edit in edits:
        if isinstance(edit, AddStep) and edit.step_id is None:
            edit = edit.model_copy(update={"step_id": next_step_id(taken)})
        if isinstance(edit, AddStep) and edit.step_id:
            taken.add(edit.step_id)
        named.append(edit)
    return tuple(named)
