"""The difference between an edited table and a workflow, as edits that can be applied in order. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conductor_client.catalogue import text
from conductor_client.edits import AddStep, Edit, MoveStep, RemoveStep, SetAccess, SetInstruction, SetWorker
from conductor_client.errors import InvalidEdit
from conductor_client.workflow import Workflow


@dataclass(frozen=True)
class Row:
    """One row as it stands in the table.

    ``number`` is the step's place before the edit, from 1, ``None`` for a new row; ``order`` is the place
    wanted; ``sees`` are numbers of other rows.
    """

    number: int | None
    order: float | None
    worker: str
    instruction: str
    sees: tuple[int, ...] = ()


def rows_of(workflow: Workflow) -> tuple[Row, ...]:
    """The rows of a workflow as it is."""
    places = {step.step_id: step.position + 1 for step in workflow.steps}
    return tuple(
        Row(
            number=step.position + 1,
            order=step.position + 1,
            worker=step.worker,
            instruction=step.instruction,
            sees=tuple(places[seen] for seen in step.access),
        )
        for step in workflow.steps
    )


def typed(cells: Sequence[Mapping[str, Any]], change: Any) -> list[Mapping[str, Any]]:
    """The cells with what Streamlit keeps of a person's changes: cells by row, rows added and gone."""
    if not isinstance(change, Mapping):
        return list(cells)
    changed = {int(place): row for place, row in (change.get("edited_rows") or {}).items()}
    gone = {int(place) for place in change.get("deleted_rows") or ()}
    kept = [{**row, **changed.get(place, {})} for place, row in enumerate(cells) if place not in gone]
    return [*kept, *(change.get("added_rows") or ())]


def edits_between(workflow: Workflow, rows: Sequence[Row]) -> tuple[Edit, ...]:
    """The edits that turn the workflow into these rows; empty when nothing changed.

    Edges that go away are taken first, then steps, then the rest is put in order and new steps and edges
    come last: so no step stands in the way of another's move.

    Raises:
        InvalidEdit: a row lacks its worker or instruction, or sees a number that is no step.
    """
    ids = {step.position + 1: step.step_id for step in workflow.steps}
    wanted = sorted(
        rows, key=lambda row: (float("inf") if row.order is None else row.order, row.number is None)
    )
    for place, row in enumerate(wanted, start=1):
        _check(row, place, ids)
    kept = [row for row in wanted if row.number is not None]
    return (
        *_edges_gone(workflow, kept, ids),
        *_removed(workflow, kept, ids),
        *_moved(workflow, kept, ids),
        *_added(wanted, ids),
        *_changed(workflow, kept, ids),
    )


def _check(row: Row, place: int, ids: dict[int, str]) -> None:
    if not row.worker:
        raise InvalidEdit(text("edit.row_without_worker", n=place), hint=text("edit.row_without_worker_hint"))
    if not row.instruction.strip():
        raise InvalidEdit(text("edit.row_without_text", n=place), hint=text("edit.row_without_text_hint"))
    unknown = [number for number in row.sees if number not in ids]
    if unknown:
        raise InvalidEdit(text("edit.row_sees_unknown", n=place, seen=unknown[0]))


def _access(row: Row, ids: dict[int, str], alive: set[str]) -> tuple[str, ...]:
    return tuple(ids[number] for number in row.sees if ids[number] in alive)


def _edges_gone(workflow: Workflow, kept: Sequence[Row], ids: dict[int, str]) -> list[Edit]:
    alive = {ids[row.number] for row in kept if row.number is not None}
    edits: list[Edit] = []
    for row in kept:
        step = workflow.steps[(row.number or 1) - 1]
        still = tuple(seen for seen in step.access if seen in _access(row, ids, alive))
        if set(still) != set(step.access) & alive:
            edits.append(SetAccess(step_id=step.step_id, access=still))
    return edits


def _removed(workflow: Workflow, kept: Sequence[Row], ids: dict[int, str]) -> list[Edit]:
    alive = {ids[row.number] for row in kept if row.number is not None}
    return [RemoveStep(step_id=step.step_id) for step in workflow.steps if step.step_id not in alive]


def _moved(workflow: Workflow, kept: Sequence[Row], ids: dict[int, str]) -> list[Edit]:
    target = [ids[row.number] for row in kept if row.number is not None]
    order = [step.step_id for step in workflow.steps if step.step_id in target]
    edits: list[Edit] = []
    for place, step_id in enumerate(target):
        if order[place] != step_id:
            order.remove(step_id)
            order.insert(place, step_id)
            edits.append(MoveStep(step_id=step_id, position=place))
    return edits


def _added(wanted: Sequence[Row], ids: dict[int, str]) -> list[Edit]:
    alive = {ids[row.number] for row in wanted if row.number is not None}
    return [
        AddStep(
            instruction=row.instruction, worker=row.worker, access=_access(row, ids, alive), position=place
        )
        for place, row in enumerate(wanted)
        if row.number is None
    ]


def _changed(workflow: Workflow, kept: Sequence[Row], ids: dict[int, str]) -> list[Edit]:
    alive = {ids[row.number] for row in kept if row.number is not None}
    edits: list[Edit] = []
    for row in kept:
        step = workflow.steps[(row.number or 1) - 1]
        if row.worker != step.worker:
            edits.append(SetWorker(step_id=step.step_id, worker=row.worker))
        if row.instruction != step.instruction:
            edits.append(SetInstruction(step_id=step.step_id, instruction=row.instruction))
        access = _access(row, ids, alive)
        if not set(access) <= set(step.access):
            edits.append(SetAccess(step_id=step.step_id, access=access))
    return edits
