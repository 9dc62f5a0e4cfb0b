"""Edits of a workflow: a discriminated union, and one pure function that applies them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from ._base import Value, new_id
from .errors import InvalidEdit, quoted
from .workflow import MAX_STEPS, Step, Workflow


class SetInstruction(Value):
    op: Literal["set_instruction"] = "set_instruction"
    step_id: str
    instruction: str


class SetWorker(Value):
    op: Literal["set_worker"] = "set_worker"
    step_id: str
    worker: str


class SetAccess(Value):
    """Replaces the whole access list of a step by these step ids (any order)."""

    op: Literal["set_access"] = "set_access"
    step_id: str
    access: tuple[str, ...]


class AddStep(Value):
    """Puts a new step at ``position`` (``None`` = last). ``step_id`` may be chosen, else it is made."""

    op: Literal["add_step"] = "add_step"
    instruction: str
    worker: str
    access: tuple[str, ...] = ()
    position: int | None = Field(default=None, ge=0)
    step_id: str | None = None


class RemoveStep(Value):
    op: Literal["remove_step"] = "remove_step"
    step_id: str


class MoveStep(Value):
    op: Literal["move_step"] = "move_step"
    step_id: str
    position: int = Field(ge=0)


Edit = Annotated[
    SetInstruction | SetWorker | SetAccess | AddStep | RemoveStep | MoveStep, Field(discriminator="op")
]


class Edited(Value):
    """The new workflow and the edges ``(seen, by)`` that a removal took with it."""

    workflow: Workflow
    dropped: tuple[tuple[str, str], ...] = ()


def next_step_id(taken: Iterable[str]) -> str:
    """The first ``s<n>`` above every taken one, so that a removed step's id is never given again nearby."""
    numbers = [int(step_id[1:]) for step_id in taken if step_id[:1] == "s" and step_id[1:].isdecimal()]
    return f"s{max(numbers, default=0) + 1}"


def apply_edits(
    workflow: Workflow, edits: Sequence[Edit], *, known_workers: Iterable[str] | None = None
) -> Edited:
    """Applies the edits in order and returns a new workflow whose parent is the given one.

    Raises:
        InvalidEdit: an unknown step or worker, an empty instruction, a step that would see itself or
            a later step, a move past a step it sees or that sees it (the message names the edge), the
            last step removed, or more than 32 steps.
    """
    pool = None if known_workers is None else set(known_workers)
    steps = list(workflow.steps)
    dropped: list[tuple[str, str]] = []
    for edit in edits:
        steps = _apply_one(steps, edit, pool, dropped, every_id={step.step_id for step in workflow.steps})
    try:
        edited = Workflow(
            workflow_id=new_id("wf"), parent=workflow.workflow_id, prompt=workflow.prompt, steps=tuple(steps)
        )
    except ValidationError as problem:
        raise InvalidEdit(problem.errors()[0]["msg"].removeprefix("Value error, ")) from problem
    return Edited(workflow=edited, dropped=tuple(dropped))


def _apply_one(
    steps: list[Step],
    edit: Edit,
    pool: set[str] | None,
    dropped: list[tuple[str, str]],
    *,
    every_id: set[str],
) -> list[Step]:
    match edit:
        case SetInstruction():
            if not edit.instruction.strip():
                raise InvalidEdit(
                    f"The instruction of {_name(steps, edit.step_id)} would be empty.",
                    hint="Write what the worker should do, or remove the step.",
                )
            return _changed(steps, edit.step_id, instruction=edit.instruction)
        case SetWorker():
            _check_worker(edit.worker, pool)
            return _changed(steps, edit.step_id, worker=edit.worker)
        case SetAccess():
            return _changed(steps, edit.step_id, access=_sorted_access(steps, edit.step_id, edit.access))
        case AddStep():
            return _added(steps, edit, pool, every_id)
        case RemoveStep():
            return _removed(steps, edit, dropped)
        case MoveStep():
            return _moved(steps, edit)


def _place(steps: Sequence[Step], step_id: str) -> int:
    for place, step in enumerate(steps):
        if step.step_id == step_id:
            return place
    raise InvalidEdit(
        f"There is no step {quoted(step_id)} in this workflow.",
        hint=f"Its steps are {', '.join(step.step_id for step in steps)}.",
        details={"step_id": step_id},
    )


def _name(steps: Sequence[Step], step_id: str) -> str:
    return f"step {_place(steps, step_id) + 1} ({step_id})"


def _changed(steps: list[Step], step_id: str, **changes: object) -> list[Step]:
    place = _place(steps, step_id)
    return [*steps[:place], steps[place].model_copy(update=changes), *steps[place + 1 :]]


def _renumbered(steps: Sequence[Step]) -> list[Step]:
    """Positions counted anew, and each access list in their order again."""
    order = {step.step_id: place for place, step in enumerate(steps)}
    return [
        step.model_copy(
            update={"position": place, "access": tuple(sorted(step.access, key=order.__getitem__))}
        )
        for place, step in enumerate(steps)
    ]


def _check_worker(worker: str, pool: set[str] | None) -> None:
    if pool is not None and worker not in pool:
        raise InvalidEdit(
            f"There is no worker {quoted(worker)} in the pool.",
            hint=f"Choose one of {', '.join(sorted(pool)) or 'an empty pool'}.",
            details={"worker": worker},
        )


def _sorted_access(
    steps: Sequence[Step], step_id: str, access: Sequence[str], *, before: int | None = None
) -> tuple[str, ...]:
    limit = _place(steps, step_id) if before is None else before
    places = []
    for seen in access:
        place = _place(steps, seen)
        if place >= limit:
            raise InvalidEdit(
                f"Step {limit + 1} ({step_id}) cannot see step {place + 1} ({seen}): "
                "it does not come before it.",
                hint="A step sees earlier steps only. Move one of them first.",
                details={"edge": [seen, step_id]},
            )
        places.append(place)
    return tuple(steps[place].step_id for place in sorted(set(places)))


def _added(steps: list[Step], edit: AddStep, pool: set[str] | None, every_id: set[str]) -> list[Step]:
    _check_worker(edit.worker, pool)
    if len(steps) >= MAX_STEPS:
        raise InvalidEdit(f"A workflow has at most {MAX_STEPS} steps.", hint="Remove one first.")
    if not edit.instruction.strip():
        raise InvalidEdit(
            "The instruction of the new step is empty.", hint="Write what the worker should do."
        )
    taken = every_id | {step.step_id for step in steps}
    step_id = edit.step_id or next_step_id(taken)
    if step_id in {step.step_id for step in steps}:
        raise InvalidEdit(
            f"There is already a step {quoted(step_id)}.", hint="Leave step_id out to have one made."
        )
    place = len(steps) if edit.position is None else min(edit.position, len(steps))
    access = _sorted_access(steps, step_id, edit.access, before=place)
    new = Step(
        step_id=step_id, position=place, instruction=edit.instruction, worker=edit.worker, access=access
    )
    return _renumbered([*steps[:place], new, *steps[place:]])


def _removed(steps: list[Step], edit: RemoveStep, dropped: list[tuple[str, str]]) -> list[Step]:
    place = _place(steps, edit.step_id)
    if len(steps) == 1:
        raise InvalidEdit(
            "The only step cannot be removed.",
            hint="Change its instruction or worker, or add another step first.",
        )
    kept = []
    for step in (*steps[:place], *steps[place + 1 :]):
        if edit.step_id in step.access:
            dropped.append((edit.step_id, step.step_id))
            step = step.model_copy(
                update={"access": tuple(seen for seen in step.access if seen != edit.step_id)}
            )
        kept.append(step)
    return _renumbered(kept)


def _moved(steps: list[Step], edit: MoveStep) -> list[Step]:
    place = _place(steps, edit.step_id)
    target = min(edit.position, len(steps) - 1)
    step = steps[place]
    rest = [*steps[:place], *steps[place + 1 :]]
    moved = [*rest[:target], step, *rest[target:]]
    order = {each.step_id: at for at, each in enumerate(moved)}
    for each in moved:
        for seen in each.access:
            if order[seen] > order[each.step_id]:
                raise InvalidEdit(
                    f"{_name(steps, edit.step_id).capitalize()} cannot move to position {target + 1}: "
                    f"{_name(steps, each.step_id)} sees {_name(steps, seen)}.",
                    hint="Remove that access first, or move the other step.",
                    details={"edge": [seen, each.step_id]},
                )
    return _renumbered(moved)
