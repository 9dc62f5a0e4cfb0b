"""Hypothesis strategies: any workflow, any run log that a real runner could have written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import strategies as st

from conductor_client.errors import StepError
from conductor_client.events import (
    ReusedFrom,
    RunCancelled,
    RunCreated,
    RunEvent,
    RunFailed,
    RunFinished,
    RunStarted,
    StepCancelled,
    StepFailed,
    StepFinished,
    StepQueued,
    StepRetried,
    StepReused,
    StepSkipped,
    StepStarted,
)
from conductor_client.usage import Usage
from conductor_client.workflow import Message, Workflow, workflow_of

WORKERS = ("alpha", "beta", "gamma")
START = datetime(2026, 1, 1, tzinfo=UTC)

texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40).filter(
    lambda text: text.strip()
)
counts = st.one_of(st.none(), st.integers(0, 5_000))
usages = st.one_of(st.none(), st.builds(Usage, input_tokens=counts, output_tokens=counts))
costs = st.one_of(st.none(), st.integers(0, 9_999).map(lambda n: Decimal(n) / 10_000))


@st.composite
def workflows(draw: st.DrawFn, max_steps: int = 7) -> Workflow:
    """A workflow of any shape: each step sees any subset of the earlier ones."""
    rows = []
    for place in range(draw(st.integers(1, max_steps))):
        access = [seen for seen in range(place) if draw(st.booleans())]
        rows.append((draw(st.sampled_from(WORKERS)), draw(texts), access))
    return workflow_of(draw(texts), rows)


@st.composite
def run_logs(draw: st.DrawFn) -> list[RunEvent]:
    """The whole log of one run: steps in order, some reused, retried, failed or cancelled."""
    workflow = draw(workflows())
    clock = [0]

    def at() -> datetime:
        clock[0] += draw(st.integers(0, 3_000))
        return START + timedelta(milliseconds=clock[0])

    log: list[RunEvent] = [
        RunCreated(run_id="run_1", at=at(), prompt=workflow.prompt, conductor="local", workflow=workflow),
        RunStarted(run_id="run_1", at=at()),
    ]
    good: set[str] = set()
    cancelled = False
    for step in workflow.steps:
        ids = {"run_id": "run_1", "step_id": step.step_id}
        blocked = [seen for seen in step.access if seen not in good]
        if blocked or cancelled:
            cause = blocked[0] if blocked else None
            log.append(StepSkipped(**ids, at=at(), cause=cause, said="not reached"))
            continue
        said = (Message(role="user", content=step.instruction),)
        withheld = tuple(
            each.step_id for each in workflow.steps[: step.position] if each.step_id not in step.access
        )
        seen = {"messages": said, "visible": step.access, "withheld": withheld}
        if draw(st.integers(0, 4)) == 0:
            origin = ReusedFrom(run_id="run_0", step_id=step.step_id, duration_s=1.5)
            log.append(
                StepReused(**ids, at=at(), worker=step.worker, output=draw(texts), reused_from=origin, **seen)
            )
            good.add(step.step_id)
            continue
        attempt = 1
        log.append(StepQueued(**ids, at=at(), attempt=attempt, worker=step.worker, **seen))
        log.append(StepStarted(**ids, at=at(), attempt=attempt, worker=step.worker))
        trouble = StepError(kind="overloaded", message="busy", retryable=True)
        while attempt < 3 and draw(st.integers(0, 3)) == 0:
            retry = {
                "wait_s": 0.5,
                "next_worker": step.worker,
                "usage": draw(usages),
                "cost_usd": draw(costs),
            }
            log.append(
                StepRetried(**ids, at=at(), attempt=attempt, worker=step.worker, error=trouble, **retry)
            )
            attempt += 1
            log.append(StepQueued(**ids, at=at(), attempt=attempt, worker=step.worker, **seen))
            log.append(StepStarted(**ids, at=at(), attempt=attempt, worker=step.worker))
        spent = {"usage": draw(usages), "cost_usd": draw(costs)}
        end = draw(st.integers(0, 5))
        if end == 0:
            log.append(
                StepFailed(
                    **ids,
                    at=at(),
                    attempt=attempt,
                    worker=step.worker,
                    error=trouble,
                    partial_text="so f",
                    **spent,
                )
            )
        elif end == 1:
            cancelled = True
            log.append(
                StepCancelled(**ids, at=at(), attempt=attempt, partial_text="half", cost_usd=draw(costs))
            )
        else:
            log.append(
                StepFinished(**ids, at=at(), attempt=attempt, worker=step.worker, output=draw(texts), **spent)
            )
            good.add(step.step_id)
    if cancelled:
        log.append(RunCancelled(run_id="run_1", at=at()))
    elif len(good) == len(workflow.steps):
        log.append(RunFinished(run_id="run_1", at=at(), final_output="done"))
    else:
        log.append(
            RunFailed(run_id="run_1", at=at(), error=StepError(kind="step_failed", message="a step failed"))
        )
    return [event.model_copy(update={"seq": seq}) for seq, event in enumerate(log, start=1)]
