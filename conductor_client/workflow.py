"""The workflow: an immutable tuple of steps, each with a worker, an instruction and an access list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from ._base import Value, new_id
from .errors import quoted

MAX_STEPS = 32
"""What the engine takes. A conductor's own limit (5 in the paper, §3) is an option of the conductor."""


class Message(Value):
    """One chat message, exactly as sent."""

    role: Literal["system", "user", "assistant"]
    content: str


class Step(Value):
    """One unit of work. ``step_id`` survives edits and moves; ``position`` is its place, from 0."""

    step_id: str = Field(min_length=1, max_length=64)
    position: int = Field(ge=0)
    instruction: str
    worker: str = Field(min_length=1)
    access: tuple[str, ...] = ()
    """Step ids of the earlier steps this one sees, in order of position."""

    @field_validator("instruction")
    @classmethod
    def _says_something(cls, instruction: str) -> str:
        if not instruction.strip():
            raise ValueError("the instruction is empty; say what the worker should do")
        return instruction


class Workflow(Value):
    """An ordered tuple of steps for one prompt. An edit makes a new one whose ``parent`` is this.

    Raises:
        ValueError: no step, more than 32, two steps with one id, or an access list that names an
            unknown, later or the same step.
    """

    workflow_id: str
    parent: str | None = None
    prompt: str
    steps: tuple[Step, ...] = Field(min_length=1, max_length=MAX_STEPS)

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        seen: list[str] = []
        for place, step in enumerate(self.steps):
            if step.position != place:
                raise ValueError(
                    f"step {quoted(step.step_id)} says position {step.position} but stands at {place}"
                )
            if step.step_id in seen:
                raise ValueError(f"two steps are called {quoted(step.step_id)}; step ids must differ")
            for seen_id in step.access:
                if seen_id not in seen:
                    raise ValueError(
                        f"step {place + 1} ({quoted(step.step_id)}) cannot see {quoted(seen_id)}: "
                        "a step sees earlier steps of its own workflow only"
                    )
            if len(set(step.access)) != len(step.access):
                raise ValueError(
                    f"step {place + 1} ({quoted(step.step_id)}) lists the same step twice in its access"
                )
            if list(step.access) != sorted(step.access, key=seen.index):
                raise ValueError(f"the access list of step {place + 1} is not in order of position")
            seen.append(step.step_id)
        return self

    def step(self, step_id: str) -> Step:
        """The step of that id. Raises ``KeyError`` when there is none."""
        for step in self.steps:
            if step.step_id == step_id:
                return step
        raise KeyError(step_id)

    @property
    def final_step(self) -> Step:
        """The step whose output is the answer: the last one (paper §3)."""
        return self.steps[-1]


def workflow_of(
    prompt: str,
    steps: Sequence[tuple[str, str, Sequence[int]]],
    *,
    parent: str | None = None,
    first_id: int = 1,
) -> Workflow:
    """Builds a workflow from ``(worker, instruction, access positions)`` rows.

    Ids are ``s1``, ``s2`` …, counted from ``first_id`` so that ids stay unique over recursion rounds.
    """
    ids = [f"s{first_id + place}" for place in range(len(steps))]
    rows = []
    for place, (worker, instruction, access) in enumerate(steps):
        outside = [number for number in access if not 0 <= number < place]
        if outside:
            raise ValueError(
                f"step {place + 1} cannot see position {outside[0]}: only 0 to {place - 1} come before it"
            )
        rows.append(
            Step(
                step_id=ids[place],
                position=place,
                instruction=instruction,
                worker=worker,
                access=tuple(ids[number] for number in sorted(set(access))),
            )
        )
    return Workflow(workflow_id=new_id("wf"), parent=parent, prompt=prompt, steps=tuple(rows))
