"""What an edit did, in one short line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.figures import shortened
from conductor_client.catalogue import text
from conductor_client.edits import AddStep, Edit, MoveStep, RemoveStep, SetAccess, SetInstruction, SetWorker
from conductor_client.workflow import Workflow

EXCERPT = 60
"""Characters of an instruction that are shown."""


def words(edit: Edit) -> str:
    """The edit as a phrase; steps are named by their ids, which edits do not change."""
    match edit:
        case SetInstruction():
            said = shortened(edit.instruction, EXCERPT)
            return text("edit.did_instruction", step=edit.step_id, said=said)
        case SetWorker():
            return text("edit.did_worker", step=edit.step_id, worker=edit.worker)
        case SetAccess():
            if not edit.access:
                return text("edit.did_access_none", step=edit.step_id)
            return text("edit.did_access", step=edit.step_id, seen=", ".join(edit.access))
        case AddStep():
            return text("edit.did_add", step=edit.step_id or text("edit.new_step"), worker=edit.worker)
        case RemoveStep():
            return text("edit.did_remove", step=edit.step_id)
        case MoveStep():
            return text("edit.did_move", step=edit.step_id, position=edit.position + 1)


def summary(edits: Sequence[Edit]) -> str:
    """All edits of a fork in one line; the first three in words."""
    if not edits:
        return text("edit.no_change")
    said = "; ".join(words(edit) for edit in edits[:3])
    return said if len(edits) <= 3 else text("edit.and_more", said=said, n=len(edits) - 3)


def step_names(workflow: Workflow, step_ids: Iterable[str]) -> str:
    """Steps as "step 1, step 3": by their place in this workflow."""
    places = {step.step_id: step.position + 1 for step in workflow.steps}
    named = [text("common.step_n", n=places[step_id]) for step_id in step_ids if step_id in places]
    return ", ".join(named) if named else text("common.none")
