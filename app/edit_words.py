"""What an edit did, in one short line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from app.figures import shortened
from conductor_client.api import LineageNode
from conductor_client.catalogue import text
from conductor_client.edits import (
    AddStep,
    Edit,
    MoveStep,
    RemoveStep,
    SetAccess,
    SetInstruction,
    SetWorker,
    apply_edits,
)
from conductor_client.errors import InvalidEdit
from conductor_client.workflow import Workflow

EXCERPT = 60
"""Characters of an instruction that are shown."""


def words(edit: Edit, names: Mapping[str, str] | None = None) -> str:
    """The edit as a phrase. ``names`` says how steps are called; without one, by ids, which edits keep."""

    def named(step_id: str) -> str:
        return (names or {}).get(step_id, step_id)

    match edit:
        case SetInstruction():
            said = shortened(edit.instruction, EXCERPT)
            return text("edit.did_instruction", step=named(edit.step_id), said=said)
        case SetWorker():
            return text("edit.did_worker", step=named(edit.step_id), worker=edit.worker)
        case SetAccess():
            if not edit.access:
                return text("edit.did_access_none", step=named(edit.step_id))
            seen = ", ".join(
                sorted((named(each) for each in edit.access), key=lambda said: (len(said), said))
            )
            return text("edit.did_access", step=named(edit.step_id), seen=seen)
        case AddStep():
            step = named(edit.step_id) if edit.step_id else _by_place(edit)
            return text("edit.did_add", step=step, worker=edit.worker)
        case RemoveStep():
            return text("edit.did_remove", step=named(edit.step_id))
        case MoveStep():
            return text("edit.did_move", step=named(edit.step_id), position=edit.position + 1)


def summary(edits: Sequence[Edit], names: Mapping[str, str] | None = None) -> str:
    """All edits of a fork in one line; the first three in words."""
    if not edits:
        return text("edit.no_change")
    names = added_names(edits) | dict(names or {})
    said = "; ".join(words(edit, names) for edit in edits[:3])
    return said if len(edits) <= 3 else text("edit.and_more", said=said, n=len(edits) - 3)


def added_names(edits: Iterable[Edit]) -> dict[str, str]:
    """Added steps by the place they were put at, for steps that no workflow at hand has."""
    return {edit.step_id: _by_place(edit) for edit in edits if isinstance(edit, AddStep) and edit.step_id}


def names_in(node: LineageNode, nodes: Sequence[LineageNode]) -> dict[str, str]:
    """Steps that this run or one it descends from added: by where they were put."""
    by_id = {each.run_id: each for each in nodes}
    names: dict[str, str] = {}
    at: LineageNode | None = node
    while at is not None:
        names = added_names(at.edits) | names
        at = by_id.get(at.parent_run or "")
    return names


def first_changes(nodes: Sequence[LineageNode], original: Workflow) -> dict[str, str]:
    """What each fork of a lineage changed first, by run id; ``original`` is the workflow of its root.

    Steps have the numbers they had when they were changed. A fork of which that is not known is left out.
    """
    workflows = {node.run_id: original for node in nodes if node.parent_run is None}
    found: dict[str, str] = {}
    for node in sorted(nodes, key=lambda each: each.created_at):
        before = workflows.get(node.parent_run or "")
        if before is None:
            continue
        try:
            after = apply_edits(before, node.edits).workflow if node.edits else before
        except InvalidEdit:
            continue
        workflows[node.run_id] = after
        if node.edits:
            found[node.run_id] = summary(node.edits[:1], numbered(before, after))
    return found


def _by_place(edit: AddStep) -> str:
    if edit.position is None:
        return text("edit.new_step")
    return text("common.step_n", n=edit.position + 1)


def without_ids(said: str) -> str:
    """A message with steps called by their number alone, as on the page: "step 3 (s3)" as "step 3"."""
    return re.sub(r"\b([Ss]tep \d+) \([\w-]+\)", r"\1", said)


def numbered(*workflows: Workflow) -> dict[str, str]:
    """Steps by their place: in the first of these workflows that has them."""
    names: dict[str, str] = {}
    for workflow in reversed(workflows):
        names |= {step.step_id: text("common.step_n", n=step.position + 1) for step in workflow.steps}
    return names


def step_names(workflow: Workflow, step_ids: Iterable[str]) -> str:
    """Steps as "step 1, step 3": by their place in this workflow."""
    names = numbered(workflow)
    named = [names[step_id] for step_id in step_ids if step_id in names]
    return ", ".join(named) if named else text("common.none")
