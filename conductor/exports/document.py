"""Our own JSON: one versioned document that holds a whole run and can be read back without loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from conductor_client.events import RunEvent
from conductor_client.plan import Plan
from conductor_client.run_state import RunState
from conductor_client.workflow import Workflow

FORMAT: Final = "conductor-studio/run"
VERSION: Final = 1


class RunDocument(BaseModel):
    """A run as a file. ``workflow`` and ``plan`` repeat what ``state`` holds, so that a reader that only
    wants the workflow need not know the rest. ``events`` may be empty; they are the truth when present."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["conductor-studio/run"] = FORMAT
    version: Literal[1] = VERSION
    workflow: Workflow | None
    plan: Plan | None
    state: RunState
    events: tuple[Annotated[RunEvent, Field(discriminator="kind")], ...] = ()


def run_document(state: RunState, events: Sequence[RunEvent]) -> RunDocument:
    """Puts a run and its events into one document."""
    return RunDocument(workflow=state.workflow, plan=state.plan, state=state, events=tuple(events))


def run_json(state: RunState, events: Sequence[RunEvent]) -> str:
    """The document as indented JSON, ASCII control characters escaped, everything else as it is."""
    return run_document(state, events).model_dump_json(indent=2) + "\n"
