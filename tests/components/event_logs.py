"""Random event logs: every kind of event, unknown usage and prices, several attempts, rounds, odd text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from conductor_client import events as ev
from conductor_client.errors import StepError
from conductor_client.plan import Fallback, Plan
from conductor_client.usage import Usage
from conductor_client.workflow import Workflow, workflow_of

TEXTS = [
    "",
    "42",
    "a line\nanother",
    "😀" * 700,
    "é̂漢字 " * 120,
    "x" * 1500,
    "<img src=x onerror=alert(1)>",
    "𝒳" * 401,
]
COSTS = [None, Decimal("0"), Decimal("0.000125"), Decimal("1E-7"), Decimal("0.50"), Decimal("3.1")]


class LogWriter:
    """Writes one run's events; the same seed gives the same log."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.now = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
        self.seq = 0
        self.step_count = 0

    def stamp(self) -> dict[str, Any]:
        self.seq += 1
        is_put_back = self.chance.random() < 0.01
        self.now += (
            timedelta(hours=-1) if is_put_back else timedelta(milliseconds=self.chance.randrange(4000))
        )
        return {"run_id": "run_t", "seq": self.seq, "at": self.now}

    def usage(self) -> Usage | None:
        if self.chance.random() < 0.2:
            return None
        known = self.chance.random() < 0.85
        return Usage(
            input_tokens=self.chance.randrange(900) if known else None,
            output_tokens=self.chance.randrange(500),
        )

    def spent(self) -> dict[str, Any]:
        return {"usage": self.usage(), "cost_usd": self.chance.choice(COSTS)}

    def error(self) -> StepError:
        return StepError(
            kind="overloaded", message="HTTP 503 from the worker", hint="Try again later.", retryable=True
        )

    def workflow(self) -> Workflow:
        count = self.chance.randrange(1, 6)
        rows = [
            (
                f"worker-{self.chance.randrange(3)}",
                "Do it.",
                [at for at in range(place) if self.chance.random() < 0.5],
            )
            for place in range(count)
        ]
        made = workflow_of("What is 6 × 7?", rows, first_id=self.step_count + 1)
        self.step_count += count
        return made.model_copy(update={"workflow_id": f"wf_{self.step_count}"})

    def plan(self, decision: str = "new") -> Plan:
        fallback = (
            Fallback(worker="worker-0", reason="no plan could be read")
            if self.chance.random() < 0.2
            else None
        )
        return Plan(
            plan_id="plan_1",
            workflow=None if decision == "keep" else self.workflow(),
            decision=decision,
            conductor="local",
            pool=("worker-0", "worker-1", "worker-2"),
            raw_text="A: do it",
            fallback=fallback,
            **self.spent(),
        )

    def write(self) -> Iterator[ev.RunEvent]:
        is_planned = self.chance.random() < 0.6
        given = None if is_planned else self.workflow()
        yield ev.RunCreated(prompt="What is 6 × 7?", conductor="local", workflow=given, **self.stamp())
        yield ev.RunStarted(**self.stamp())
        workflow = given
        for number in range(1, self.chance.choice([2, 2, 2, 3])):
            if is_planned or number > 1:
                yield ev.PlanStarted(conductor="local", round=number, **self.stamp())
                if self.chance.random() < 0.3:
                    said = self.chance.choice(TEXTS)
                    yield ev.PlanRejected(
                        attempt=1, raw_text=said, round=number, **self.spent(), **self.stamp()
                    )
                if self.chance.random() < 0.05:
                    yield ev.RunResumed(**self.stamp())
                    yield ev.PlanStarted(conductor="local", round=number, **self.stamp())
                if self.chance.random() < 0.1:
                    said = self.chance.choice(TEXTS)
                    spent = {"partial_text": said, "round": number, **self.spent()}
                    yield ev.PlanFailed(error=self.error(), **spent, **self.stamp())
                    break
                plan = self.plan("keep" if number > 1 and self.chance.random() < 0.4 else "new")
                yield ev.PlanCreated(plan=plan, round=number, **self.stamp())
                if plan.workflow is None:
                    break
                workflow = plan.workflow
            if self.chance.random() < 0.5 and workflow is not None:
                yield ev.RoundStarted(round=number, workflow=workflow, **self.stamp())
            if workflow is not None:
                yield from self.steps(workflow)
        yield self.end()

    def end(self) -> ev.RunEvent:
        match self.chance.randrange(3):
            case 0:
                return ev.RunFinished(final_output="42", **self.stamp())
            case 1:
                return ev.RunFailed(error=self.error(), final_output="4", partial=True, **self.stamp())
            case _:
                return ev.RunCancelled(partial=self.chance.random() < 0.5, **self.stamp())

    def steps(self, workflow: Workflow) -> Iterator[ev.RunEvent]:
        running = [self.step(workflow, step.step_id, step.worker) for step in workflow.steps]
        while running:
            one = self.chance.choice(running)
            if (event := next(one, None)) is None:
                running.remove(one)
            else:
                yield event
                if self.chance.random() < 0.02:
                    yield ev.RunResumed(**self.stamp())

    def step(self, workflow: Workflow, step_id: str, worker: str) -> Iterator[ev.RunEvent]:
        fate = self.chance.randrange(12)
        same: dict[str, Any] = {"messages": (), "visible": (), "withheld": ()}
        if fate == 0:
            yield ev.StepSkipped(
                step_id=step_id, cause=workflow.steps[0].step_id, said="it failed", **self.stamp()
            )
            return
        if fate == 1:
            origin = ev.ReusedFrom(run_id="run_old", step_id=step_id, duration_s=1.25, usage=self.usage())
            text = self.chance.choice(TEXTS)
            yield ev.StepReused(
                step_id=step_id, worker=worker, output=text, reused_from=origin, **same, **self.stamp()
            )
            return
        attempts = self.chance.choice([1, 1, 1, 2, 3])
        for attempt in range(1, attempts + 1):
            at: dict[str, Any] = {"step_id": step_id, "attempt": attempt}
            yield ev.StepQueued(worker=worker, **at, **same, **self.stamp())
            if fate == 2:
                yield ev.StepCancelled(**at, **self.stamp())
                return
            yield ev.StepStarted(worker=worker, waited_s=0.5 * attempt, **at, **self.stamp())
            text = self.chance.choice(TEXTS)
            if attempt < attempts:
                yield ev.StepRetried(
                    worker=worker,
                    error=self.error(),
                    wait_s=1.5,
                    next_worker=worker,
                    partial_text=text,
                    **at,
                    **self.spent(),
                    **self.stamp(),
                )
        if fate == 3:
            yield ev.StepFailed(
                worker=worker, error=self.error(), partial_text=text, **at, **self.spent(), **self.stamp()
            )
        elif fate == 4:
            yield ev.StepCancelled(partial_text=text, **at, **self.stamp())
        elif fate != 5:
            yield ev.StepFinished(
                worker=worker,
                output=text,
                finish="stop",
                served_model="m-1",
                first_token_at=self.now,
                notes=("no temperature",),
                prompt_cut=fate == 6,
                **at,
                **self.spent(),
                **self.stamp(),
            )


def random_log(seed: int) -> list[ev.RunEvent]:
    """One run's events, perhaps cut off in the middle."""
    events = list(LogWriter(seed).write())
    return events if seed % 3 else events[: 1 + seed % len(events)]
