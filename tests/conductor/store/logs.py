"""Short logs of runs, as a runner writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from conductor_client.edits import Edit
from conductor_client.errors import StepError
from conductor_client.events import (
    ReusedFrom,
    RunCreated,
    RunEvent,
    RunFailed,
    RunFinished,
    RunStarted,
    StepFinished,
    StepQueued,
    StepReused,
    StepStarted,
)
from conductor_client.usage import Usage
from conductor_client.workflow import Message, Workflow, workflow_of

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
USED = Usage(input_tokens=10, output_tokens=5)


@dataclass
class Clock:
    """A clock that tests move."""

    moment: datetime = START

    def __call__(self) -> datetime:
        return self.moment

    def forward(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


def chain(prompt: str = "How far is the moon?", workers: Sequence[str] = ("alpha", "beta")) -> Workflow:
    """Each step sees the one before it."""
    rows = [
        (worker, f"do part {place + 1}", [place - 1] if place else []) for place, worker in enumerate(workers)
    ]
    return workflow_of(prompt, rows)


def created(
    run_id: str,
    workflow: Workflow | None = None,
    *,
    prompt: str = "How far is the moon?",
    minutes: float = 0,
    parent_run: str | None = None,
    edits: tuple[Edit, ...] = (),
    conductor: str = "local",
) -> RunCreated:
    """The first event of a run, ``minutes`` after ``START``."""
    return RunCreated(
        run_id=run_id,
        at=START + timedelta(minutes=minutes),
        prompt=workflow.prompt if workflow else prompt,
        conductor=conductor,
        workflow=workflow,
        parent_run=parent_run,
        edits=edits,
    )


def called(
    run_id: str,
    workflow: Workflow,
    step_id: str,
    output: str,
    *,
    at: datetime = START,
    cost_usd: Decimal | None = Decimal("0.001"),
    usage: Usage | None = USED,
    seconds: float = 2.0,
) -> list[RunEvent]:
    """A step that was called once and answered after ``seconds``."""
    worker = workflow.step(step_id).worker
    ids = {"run_id": run_id, "step_id": step_id, "attempt": 1, "worker": worker}
    said = (Message(role="user", content=workflow.step(step_id).instruction),)
    end = at + timedelta(seconds=seconds)
    return [
        StepQueued(**ids, at=at, messages=said, visible=workflow.step(step_id).access, withheld=()),
        StepStarted(**ids, at=at),
        StepFinished(**ids, at=end, output=output, usage=usage, cost_usd=cost_usd),
    ]


def reused(run_id: str, workflow: Workflow, step_id: str, output: str, maker: str) -> StepReused:
    """A step whose output an earlier run had made."""
    return StepReused(
        run_id=run_id,
        step_id=step_id,
        worker=workflow.step(step_id).worker,
        output=output,
        messages=(),
        visible=(),
        withheld=(),
        reused_from=ReusedFrom(run_id=maker, step_id=step_id, duration_s=2.0),
    )


def whole_run(
    run_id: str,
    workflow: Workflow | None = None,
    *,
    outputs: Sequence[str] = ("384,000 km", "It is 384,000 km away."),
    minutes: float = 0,
    parent_run: str | None = None,
    edits: tuple[Edit, ...] = (),
    conductor: str = "local",
    cost_usd: Decimal | None = Decimal("0.001"),
    seconds: float = 2.0,
) -> list[RunEvent]:
    """Every event of a run that went well, one step after the other."""
    workflow = workflow or chain()
    at = START + timedelta(minutes=minutes)
    log: list[RunEvent] = [
        created(run_id, workflow, minutes=minutes, parent_run=parent_run, edits=edits, conductor=conductor),
        RunStarted(run_id=run_id, at=at),
    ]
    for step, output in zip(workflow.steps, outputs, strict=True):
        log += called(run_id, workflow, step.step_id, output, at=at, cost_usd=cost_usd, seconds=seconds)
        at += timedelta(seconds=seconds)
    return [*log, RunFinished(run_id=run_id, at=at, final_output=outputs[-1])]


def failed_run(run_id: str, *, minutes: float = 0) -> list[RunEvent]:
    """A run whose plan could not be carried out."""
    at = START + timedelta(minutes=minutes)
    return [
        created(run_id, minutes=minutes),
        RunStarted(run_id=run_id, at=at),
        RunFailed(run_id=run_id, at=at, error=StepError(kind="plan_failed", message="no plan")),
    ]
