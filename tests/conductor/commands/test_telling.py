"""A run told in lines."""

from __future__ import annotations

import io
from decimal import Decimal

from conductor.commands.telling import Telling, summary
from conductor_client.errors import StepError
from conductor_client.events import (
    Frame,
    PlanCreated,
    PlanStarted,
    RunCreated,
    RunEvent,
    RunFailed,
    RunStarted,
    StepFailed,
    StepFinished,
    StepQueued,
    StepRetried,
    StepSkipped,
    StepStarted,
)
from conductor_client.plan import Plan
from conductor_client.run_state import fold
from conductor_client.usage import Usage
from conductor_client.workflow import workflow_of

RUN = "run_1"
WORKFLOW = workflow_of("p", [("small", "Think\nhard.", ()), ("big", "Answer.", (0,))])
PLAN = Plan(
    plan_id="plan_1",
    workflow=WORKFLOW,
    decision="new",
    conductor="local",
    pool=("small", "big"),
    usage=Usage(input_tokens=10, output_tokens=5),
    cost_usd=Decimal(0),
)
BUSY = StepError(kind="overloaded", message="It is busy.", retryable=True)


def events() -> list[RunEvent]:
    said: list[RunEvent] = [
        RunCreated(run_id=RUN, prompt="p", conductor="local"),
        RunStarted(run_id=RUN),
        PlanStarted(run_id=RUN, conductor="local"),
        PlanCreated(run_id=RUN, plan=PLAN),
        StepQueued(run_id=RUN, step_id="s1", attempt=1, worker="small", messages=(), visible=(), withheld=()),
        StepStarted(run_id=RUN, step_id="s1", attempt=1, worker="small"),
        StepRetried(
            run_id=RUN, step_id="s1", attempt=1, worker="small", error=BUSY, wait_s=0.5, next_worker="small"
        ),
        StepStarted(run_id=RUN, step_id="s1", attempt=2, worker="small"),
        StepFailed(run_id=RUN, step_id="s1", attempt=2, worker="small", error=BUSY),
        StepSkipped(run_id=RUN, step_id="s2", cause="s1", said="Step 1 failed."),
        RunFailed(run_id=RUN, error=StepError(kind="step_failed", message="Step 1 failed.")),
    ]
    return [event.model_copy(update={"seq": seq}) for seq, event in enumerate(said, 1)]


def test_plan_steps_and_failures_are_told() -> None:
    out = io.StringIO()
    telling = Telling(out)
    for event in events():
        telling.hear(event)
    assert out.getvalue().splitlines() == [
        "Planning with local …",
        "1. small: Think hard.",
        "2. big (sees 1): Answer.",
        "▶ step 1 small",
        "↻ step 1 small: It is busy. Again in 0.5 s.",
        "▶ step 1 small",
        "✗ step 1 small: It is busy.",
        "- step 2 big: Step 1 failed.",
    ]
    assert telling.last_seq == 11


def test_notice_of_a_silent_step_is_told_and_its_text_is_not() -> None:
    out = io.StringIO()
    telling = Telling(out)
    for channel in ("notice", "output"):
        telling.hear(
            Frame.model_validate(
                {"run_id": RUN, "step_id": "s1", "attempt": 1, "channel": channel, "offset": 0}
                | {"text": f"{channel} text"}
            )
        )
    assert out.getvalue() == "  … notice text\n"


def test_unknown_usage_and_cost_are_at_least_and_not_zero() -> None:
    finished = StepFinished(run_id=RUN, step_id="s1", attempt=1, worker="small", output="x", usage=None)
    state = fold([*events()[:6], finished.model_copy(update={"seq": 7})])
    assert "≥ 15 tokens" in summary(state)
    assert "$0" not in summary(state).replace("≥ $0", "")
