"""A run written by hand, event by event, on a clock that stands still unless told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from conductor_client import events as ev
from conductor_client.plan import Plan
from conductor_client.pool import WorkerInfo
from conductor_client.usage import Usage
from conductor_client.workflow import Workflow, workflow_of

PROMPT = (
    "A train leaves Utrecht at 14:10 with 212 people; 67 get off in Arnhem and 43 get on. "
    "How many arrive in Cologne?"
)
STEPS: list[tuple[str, str, list[int]]] = [
    ("qwen-1.5b", "Read the question and write down what is given and what is asked, one fact per line.", []),
    (
        "qwen-0.5b",
        "Write one Python expression that computes how many people are on the train in the end.",
        [0],
    ),
    ("calculator", "Evaluate the expression.", [1]),
    ("smollm2-135m", "Say in one sentence what a train needs to be on time.", []),
    ("qwen-1.5b", "Answer the question in one sentence. Use the computed number and name the city.", [0, 2]),
]
OUTPUTS = [
    "Given:\n- 212 people leave Utrecht\n- 67 get off in Arnhem\n- 43 get on in Arnhem\n"
    "Asked: how many people arrive in Cologne.",
    "212 - 67 + 43",
    "188",
    "A train needs a free track, a driver and doors that close.",
    "188 people arrive in Cologne: of the 212 who left Utrecht, 67 got off in Arnhem and 43 got on.",
]
WORKERS = tuple(
    WorkerInfo(name=name, provider="tool" if name in {"calculator", "python"} else "local", model=name)
    for name in ("qwen-1.5b", "qwen-0.5b", "smollm2-135m", "calculator", "python")
)


def demo_workflow() -> Workflow:
    return workflow_of(PROMPT, STEPS).model_copy(update={"workflow_id": "wf_demo"})


class Story:
    """Writes a run's events with a clock that stands still unless told."""

    def __init__(
        self, workflow: Workflow | None = None, run_id: str = "run_demo", start: datetime | None = None
    ) -> None:
        self.workflow, self.run_id = workflow or demo_workflow(), run_id
        self.now = start or datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
        self.events: list[ev.RunEvent] = []

    def add(self, kind: type[Any], after_s: float = 0.0, **fields: Any) -> Story:
        self.now += timedelta(seconds=after_s)
        self.events.append(kind(run_id=self.run_id, seq=len(self.events) + 1, at=self.now, **fields))
        return self

    def begin(self, *, is_planned: bool = True) -> Story:
        given = None if is_planned else self.workflow
        self.add(ev.RunCreated, prompt=self.workflow.prompt, conductor="local", workflow=given).add(
            ev.RunStarted, 0.01
        )
        if is_planned:
            self.add(ev.PlanStarted, 0.01, conductor="local")
        return self

    def planned(self) -> Story:
        lines = [f"{chr(65 + at)}: {step.instruction}" for at, step in enumerate(self.workflow.steps)]
        plan = Plan(
            plan_id="plan_demo",
            workflow=self.workflow,
            decision="new",
            conductor="local",
            pool=tuple(each.name for each in WORKERS),
            raw_text="\n".join(lines),
            usage=Usage(input_tokens=310, output_tokens=96),
            cost_usd=Decimal(0),
        )
        return self.add(ev.PlanCreated, 1.2, plan=plan)

    def start(self, step_id: str, after_s: float = 0.02, attempt: int = 1) -> Story:
        step = self.workflow.step(step_id)
        same: dict[str, Any] = {"step_id": step_id, "attempt": attempt, "worker": step.worker}
        self.add(ev.StepQueued, after_s, messages=(), visible=step.access, withheld=(), **same)
        return self.add(ev.StepStarted, 0.02, waited_s=0.02, **same)

    def finish(self, step_id: str, after_s: float = 2.0, output: str | None = None, **fields: Any) -> Story:
        step = self.workflow.step(step_id)
        text = OUTPUTS[step.position % len(OUTPUTS)] if output is None else output
        spent: dict[str, Any] = {
            "usage": Usage(input_tokens=120 + 30 * step.position, output_tokens=40 + len(text) // 4),
            "cost_usd": Decimal(0),
            "first_token_at": self.now + timedelta(seconds=0.3),
        }
        return self.add(
            ev.StepFinished,
            after_s,
            step_id=step_id,
            attempt=1,
            worker=step.worker,
            output=text,
            **{**spent, **fields},
        )
