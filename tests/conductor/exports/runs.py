"""Runs to export: one that has everything a report can show, and one with every hostile label."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from conductor_client.edits import SetAccess, SetInstruction, SetWorker
from conductor_client.errors import StepError
from conductor_client.events import (
    Limits,
    PlanCreated,
    PlanRejected,
    PlanStarted,
    ReusedFrom,
    RunCreated,
    RunEvent,
    RunFailed,
    RunFinished,
    RunStarted,
    StepFailed,
    StepFinished,
    StepQueued,
    StepRetried,
    StepReused,
    StepSkipped,
    StepStarted,
)
from conductor_client.plan import Diagnostic, Estimate, Plan
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import RunState, fold
from conductor_client.usage import Price, Usage
from conductor_client.workflow import Message, Step, Workflow, workflow_of

CASES = Path(__file__).resolve().parents[2] / "cases"
START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
PRICE = Price(input_usd_per_mtok=Decimal("1.25"), output_usd_per_mtok=Decimal(10))
HOSTILE: tuple[str, ...] = tuple(
    case["label"] for case in json.loads((CASES / "labels.json").read_text(encoding="utf-8"))
)
"""Labels that broke some drawing or page somewhere; the file says how."""


def hostile_workflow() -> Workflow:
    """Every hostile label as an instruction and, where it can be one, as a worker's name."""
    rows = [
        (f"{label}"[:60] or "w", label, [place - 1] if place else []) for place, label in enumerate(HOSTILE)
    ]
    return workflow_of(HOSTILE[7], rows)


def odd_ids(workflow: Workflow) -> Workflow:
    """The same with step ids that are hostile too."""
    names = {
        step.step_id: f"{HOSTILE[place % len(HOSTILE)]}{place}"[:64]
        for place, step in enumerate(workflow.steps)
    }
    steps = [
        step.model_copy(
            update={"step_id": names[step.step_id], "access": tuple(names[seen] for seen in step.access)}
        )
        for step in workflow.steps
    ]
    return Workflow(
        workflow_id="wf_odd",
        prompt=workflow.prompt,
        steps=tuple(Step.model_validate(s.model_dump()) for s in steps),
    )


def finished(workflow: Workflow, *, output: str | None = None) -> list[RunEvent]:
    """A run of any workflow in which every step wrote ``output``, or its own instruction."""
    log: list[RunEvent] = [
        RunCreated(run_id="run_h", at=START, prompt=workflow.prompt, conductor="local", workflow=workflow)
    ]
    for place, step in enumerate(workflow.steps):
        at = START + timedelta(seconds=place)
        ids = {"run_id": "run_h", "step_id": step.step_id, "attempt": 1, "worker": step.worker}
        said = (Message(role="user", content=f"{workflow.prompt}\n{step.instruction}"),)
        withheld = tuple(each.step_id for each in workflow.steps[:place] if each.step_id not in step.access)
        log.append(StepQueued(**ids, at=at, messages=said, visible=step.access, withheld=withheld))
        log.append(StepStarted(**ids, at=at))
        usage = Usage(input_tokens=12, output_tokens=5)
        log.append(
            StepFinished(
                **ids,
                at=at + timedelta(seconds=0.5),
                output=output or step.instruction,
                reasoning=step.instruction,
                usage=usage,
            )
        )
    final = output or workflow.final_step.instruction
    log.append(RunFinished(run_id="run_h", at=START + timedelta(seconds=60), final_output=final))
    return numbered(log)


def numbered(log: list[RunEvent]) -> list[RunEvent]:
    """The log as the store would number it."""
    return [event.model_copy(update={"seq": seq}) for seq, event in enumerate(log, start=1)]


def rich_events(*, failed: bool = False) -> list[RunEvent]:
    """A forked run with a refused plan, choices, a retry, a reused and an unused step, unknown prices."""
    workflow = workflow_of(
        "A train leaves at 14:20 and arrives at 17:05, stopping 12 minutes.\nHow long does it really travel?",
        [
            (
                "qwen-0.5b",
                "Write the whole duration as one Python expression in minutes, from the times you see.",
                [],
            ),
            ("calculator", "Evaluate the expression.", [0]),
            (
                "smollm2-135m",
                "Guess the answer independently, without any calculation, in one short sentence.",
                [],
            ),
            (
                "qwen-1.5b",
                "Explain the result to a passenger: hours and minutes, one sentence, then the arithmetic.",
                [0, 1],
            ),
        ],
    )
    plan = Plan(
        plan_id="plan_1",
        workflow=workflow,
        decision="new",
        conductor="local",
        model="smollm2-135m-conductor",
        pool=("qwen-0.5b", "qwen-1.5b", "smollm2-135m", "calculator", "python"),
        seed=7,
        raw_text="A: Read the times …\nD 1: Evaluate the expression.\nC: Guess …\nB 1 2: Explain …",
        reasoning="Arithmetic is safer with the calculator.",
        choices={
            "s1": {"qwen-0.5b": 0.71, "qwen-1.5b": 0.22, "python": 0.04},
            "s2": {"calculator": 0.97, "python": 0.02},
            "s3": None,
            "s4": {"qwen-1.5b": 0.58, "qwen-0.5b": 0.4, "smollm2-135m": 0.004},
        },
        diagnostics=(
            Diagnostic(code="repaired_quotes", where="step 3", said="Quotation marks were mended."),
        ),
        usage=Usage(input_tokens=410, output_tokens=96),
        cost_usd=Decimal(0),
        latency_s=1.2,
        estimate=Estimate(
            calls=4,
            input_tokens=900,
            output_tokens=400,
            usd=None,
            seconds=9.0,
            basis="earlier runs of these workers",
        ),
    )

    def at(seconds: float) -> datetime:
        return START + timedelta(seconds=seconds)

    def ids(step: int, worker: str, attempt: int = 1) -> dict[str, object]:
        return {"run_id": "run_rich", "step_id": f"s{step}", "attempt": attempt, "worker": worker}

    def sent(step: int) -> dict[str, object]:
        row = workflow.steps[step - 1]
        told = (
            Message(role="system", content="You are one of several workers."),
            Message(role="user", content=f"Question:\n{workflow.prompt}\n\nYour task:\n{row.instruction}"),
        )
        kept = tuple(each.step_id for each in workflow.steps[: step - 1] if each.step_id not in row.access)
        return {"messages": told, "visible": row.access, "withheld": kept}

    pool = tuple(
        WorkerInfo(
            name=name,
            provider="tool" if name in ("calculator", "python") else "local",
            model=name,
            api_key_env="MARKER_KEY",
        )
        for name in plan.pool
    )
    busy = StepError(
        kind="overloaded", message="The server is busy (503).", hint="It is tried again.", retryable=True
    )
    log: list[RunEvent] = [
        RunCreated(
            run_id="run_rich",
            at=at(0),
            prompt=workflow.prompt,
            messages=(Message(role="user", content="Hello"), Message(role="assistant", content="Ask me.")),
            conductor="local",
            pool="local",
            pool_snapshot=pool,
            limits=Limits(max_usd=Decimal("0.5"), max_wall_s=120),
            parent_run="run_parent",
            edits=(
                SetInstruction(step_id="s4", instruction="Explain the result to a passenger."),
                SetWorker(step_id="s2", worker="calculator"),
                SetAccess(step_id="s4", access=("s1", "s2")),
            ),
            seed=7,
        ),
        PlanStarted(run_id="run_rich", at=at(0.1), conductor="local"),
        PlanRejected(
            run_id="run_rich",
            at=at(0.5),
            attempt=1,
            raw_text="I would ask everyone.",
            diagnostics=(Diagnostic(code="unparsable", where="lists", said="No list was found."),),
        ),
        PlanCreated(run_id="run_rich", at=at(1.3), plan=plan),
        RunStarted(run_id="run_rich", at=at(1.3)),
        StepReused(
            run_id="run_rich",
            step_id="s1",
            at=at(1.4),
            worker="qwen-0.5b",
            output="(17*60+5) - (14*60+20) - 12",
            reused_from=ReusedFrom(
                run_id="run_parent",
                step_id="s1",
                duration_s=2.2,
                usage=Usage(input_tokens=80, output_tokens=22),
            ),
            **sent(1),
        ),
        StepQueued(**ids(2, "calculator"), at=at(1.4), **sent(2)),
        StepQueued(**ids(3, "smollm2-135m"), at=at(1.4), **sent(3)),
        StepStarted(**ids(2, "calculator"), at=at(1.5), waited_s=0.1),
        StepStarted(**ids(3, "smollm2-135m"), at=at(1.5)),
        StepFinished(
            **ids(2, "calculator"),
            at=at(1.6),
            output="153",
            usage=Usage(input_tokens=0, output_tokens=0),
            cost_usd=Decimal(0),
        ),
        StepFinished(
            **ids(3, "smollm2-135m"),
            at=at(3.0),
            output="The train is about three hours long.",
            finish="length",
            notes=("The output ended at the limit of 16 tokens.",),
            usage=Usage(input_tokens=60),
        ),
        StepQueued(**ids(4, "qwen-1.5b"), at=at(1.7), **sent(4)),
        StepStarted(**ids(4, "qwen-1.5b"), at=at(1.8)),
        StepRetried(
            **ids(4, "qwen-1.5b"),
            at=at(2.5),
            error=busy,
            wait_s=0.5,
            next_worker="qwen-1.5b",
            partial_text="The tr",
        ),
        StepQueued(**ids(4, "qwen-1.5b", 2), at=at(3.0), **sent(4)),
        StepStarted(**ids(4, "qwen-1.5b", 2), at=at(3.1)),
    ]
    if failed:
        wrong = StepError(kind="refused", message="The worker refused.", hint="Try another worker.")
        log += [
            StepFailed(**ids(4, "qwen-1.5b", 2), at=at(6.0), error=wrong, partial_text="I cannot"),
            RunFailed(
                run_id="run_rich", at=at(6.1), error=StepError(kind="step_failed", message="Step 4 failed.")
            ),
        ]
        return numbered(log)
    answer = (
        "The train really travels **2 hours and 33 minutes**.\n\n| | minutes |\n|---|---|\n"
        "| on the way | 165 |\n| stop | −12 |\n"
        "\n```python\n(17*60+5) - (14*60+20) - 12  # 153\n```\n\nSee [the timetable](https://example.org/t?a=1&b=2)."
    )
    log += [
        StepFinished(
            **ids(4, "qwen-1.5b", 2),
            at=at(6.4),
            output=answer,
            reasoning="165 minus 12 is 153, which is 2 h 33 min.",
            usage=Usage(input_tokens=240, cached_input_tokens=60, output_tokens=88, reasoning_tokens=20),
            cost_usd=Decimal("0.00118"),
            price=PRICE,
            served_model="qwen2.5-coder-1.5b-instruct-q4_k_m",
            first_token_at=at(3.6),
        ),
        RunFinished(run_id="run_rich", at=at(6.5), final_output=answer),
    ]
    return numbered(log)


def skipped_events() -> list[RunEvent]:
    """The first step fails, the second is skipped."""
    workflow = workflow_of("p", [("a", "one", []), ("b", "two", [0])])
    ids = {"run_id": "run_s", "at": START}
    wrong = StepError(kind="timeout", message="It said nothing for 60 s.", hint="Raise the limit.")
    said = (Message(role="user", content="p"),)
    return numbered(
        [
            RunCreated(**ids, prompt="p", conductor="local", workflow=workflow),
            StepQueued(**ids, step_id="s1", attempt=1, worker="a", messages=said, visible=(), withheld=()),
            StepStarted(**ids, step_id="s1", attempt=1, worker="a"),
            StepFailed(**ids, step_id="s1", attempt=1, worker="a", error=wrong),
            StepSkipped(**ids, step_id="s2", cause="s1", said="The step before it failed."),
            RunFailed(**ids, error=StepError(kind="step_failed", message="Step 1 failed.")),
        ]
    )


def state_of(events: list[RunEvent]) -> RunState:
    """The folded run."""
    return fold(events)


RUNS = {
    "rich": rich_events(),
    "failed": rich_events(failed=True),
    "skipped": skipped_events(),
    "hostile": finished(hostile_workflow()),
    "odd ids": finished(odd_ids(hostile_workflow())),
}
"""Runs by what is special about them."""
