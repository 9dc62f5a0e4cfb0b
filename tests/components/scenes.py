"""Scenes of the graph for the harness and the browser tests: runs in every state, made from real events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from components.workflow_graph.payload import Json, Replay, graph_payload
from conductor_client import catalogue
from conductor_client import events as ev
from conductor_client.edits import SetInstruction, apply_edits
from conductor_client.errors import StepError
from conductor_client.plan import Plan
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import fold
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


def finished_story(workflow: Workflow | None = None, run_id: str = "run_demo") -> Story:
    story = Story(workflow, run_id).begin().planned()
    story.start("s1").start("s4").finish("s4", 1.1).finish("s1", 1.4).start("s2").finish("s2", 1.7)
    story.start("s3").finish("s3", 0.1, usage=Usage(input_tokens=0, output_tokens=0)).start("s5").finish(
        "s5", 2.6
    )
    return story.add(ev.RunFinished, 0.01, final_output=OUTPUTS[-1])


def running_story(start: datetime | None = None) -> Story:
    story = Story(run_id="run_live", start=start).begin().planned()
    return story.start("s1").start("s4").finish("s1", 1.4).start("s2", 0.1)


def failed_story() -> Story:
    broken = StepError(
        kind="overloaded",
        message="HTTP 503: the server is overloaded",
        hint="Try again later.",
        retryable=True,
    )
    story = (
        Story(run_id="run_failed").begin().planned().start("s1").start("s4").finish("s4").finish("s1", 0.6)
    )
    story.start("s2").add(
        ev.StepRetried,
        1.0,
        step_id="s2",
        attempt=1,
        worker="qwen-0.5b",
        error=broken,
        wait_s=1.0,
        next_worker="qwen-0.5b",
    )
    story.start("s2", 1.0, attempt=2).add(
        ev.StepFailed, 1.5, step_id="s2", attempt=2, worker="qwen-0.5b", error=broken, partial_text="212 - 67"
    )
    story.add(ev.StepSkipped, step_id="s3", cause="s2", said="step 2 failed")
    story.add(ev.StepSkipped, step_id="s5", cause="s3", said="step 3 was skipped")
    return story.add(
        ev.RunFailed, error=StepError(kind="step_failed", message="Step 2 failed"), final_output=None
    )


def reused_story() -> Story:
    story = Story(run_id="run_fork").begin(is_planned=False)
    for step_id, seconds in (("s1", 2.5), ("s2", 1.7), ("s3", 0.1), ("s4", 1.1)):
        step = story.workflow.step(step_id)
        origin = ev.ReusedFrom(
            run_id="run_demo",
            step_id=step_id,
            duration_s=seconds,
            usage=Usage(input_tokens=150, output_tokens=40),
        )
        story.add(
            ev.StepReused,
            0.01,
            step_id=step_id,
            worker=step.worker,
            output=OUTPUTS[step.position],
            messages=(),
            visible=step.access,
            withheld=(),
            reused_from=origin,
        )
    return (
        story.start("s5")
        .finish("s5", 2.2, cost_usd=None, usage=None)
        .add(ev.RunFinished, final_output=OUTPUTS[-1])
    )


def cancelled_story() -> Story:
    story = running_story()
    story.run_id = "run_stopped"
    story.events = [each.model_copy(update={"run_id": "run_stopped"}) for each in story.events]
    story.add(ev.StepCancelled, 0.5, step_id="s2", attempt=1, partial_text="212 -").add(
        ev.StepCancelled, step_id="s4", attempt=1
    )
    return story.add(ev.RunCancelled, partial=True)


def stopped_planning_story() -> Story:
    return Story(run_id="run_noplan_stopped").begin().add(ev.RunCancelled, 0.8, partial=False)


def resumed_story() -> Story:
    """A run that went on after a crash; one tool took 41 ms, and a worker failed with much to say."""
    hint = (
        "Choose a smaller model for this step on the Workers page, or raise the limit there and run it again."
    )
    refused = StepError(
        kind="bad_request",
        message="HTTP 400: the prompt has more tokens than the context of this model can hold",
        hint=hint,
        retryable=False,
    )
    story = Story(run_id="run_resumed").begin().planned().add(ev.RunResumed, 3.0)
    story.start("s1").finish("s1").start("s2").finish("s2").start("s3").finish("s3", 0.041)
    story.start("s4").add(ev.StepFailed, 0.3, step_id="s4", attempt=1, worker="smollm2-135m", error=refused)
    return story.start("s5").finish("s5").add(ev.RunFinished, 0.01, final_output=OUTPUTS[-1])


def rounds_story(*, ends: bool = True) -> Story:
    """Two rounds and a third in which the answer is kept, or is still being looked at."""
    story = (
        Story(workflow_of(PROMPT, [("qwen-0.5b", "Solve it in one go.", ())]), "run_rounds").begin().planned()
    )
    story.start("s1").finish("s1", 1.4, output="The tank holds 140 litres after 67 minutes.")
    story.add(ev.PlanStarted, 0.02, conductor="local", round=2)
    rows = [("qwen-1.5b", "Write the amount as one expression.", ()), ("calculator", "Calculate it.", (0,))]
    story.workflow = workflow_of(PROMPT, rows, first_id=2)
    story.planned()
    story.events[-1] = story.events[-1].model_copy(update={"round": 2})
    story.add(ev.RoundStarted, round=2, workflow=story.workflow)
    story.start("s2").finish("s2", 1.1).start("s3").finish("s3", 0.1, output="145")
    story.add(ev.PlanStarted, 0.02, conductor="local", round=3)
    if not ends:
        return story
    kept = Plan(plan_id="plan_kept", workflow=None, decision="keep", conductor="local", pool=())
    story.add(ev.PlanCreated, 0.6, plan=kept, round=3)
    return story.add(ev.RunFinished, 0.01, final_output="145")


def payload_of(story: Story, **more: Any) -> Json:
    return graph_payload(labels=catalogue.under("graph"), state=fold(story.events), workers=WORKERS, **more)


def offline(payload: Json) -> Json:
    return {**payload, "api": None}


def scenes() -> dict[str, Json]:
    """Every scene by name; none of them needs a server."""
    done, resumed = finished_story(), resumed_story()
    edit = apply_edits(
        demo_workflow(), [SetInstruction(step_id="s3", instruction="Evaluate the expression exactly.")]
    )
    planning = Story(run_id="run_plan", start=datetime.now(UTC)).begin()
    no_plan = (
        Story(run_id="run_noplan")
        .begin()
        .add(
            ev.RunFailed,
            error=StepError(
                kind="plan_failed",
                message="No worker of the pool is ready.",
                hint="Fetch a model on the Workers page, or set a key.",
            ),
        )
    )
    return {
        "empty": graph_payload(labels=catalogue.under("graph")),
        "planning": offline(payload_of(planning)),
        "noplan": payload_of(no_plan),
        "stopped_planning": payload_of(stopped_planning_story()),
        "resumed": payload_of(resumed),
        "running": offline(payload_of(running_story(datetime.now(UTC) - timedelta(seconds=4)))),
        "done": payload_of(done),
        "selected": payload_of(done, selected="s5"),
        "failed": payload_of(failed_story()),
        "reused": payload_of(reused_story()),
        "cancelled": payload_of(cancelled_story()),
        "edit": payload_of(
            done,
            mode="edit",
            draft=edit.workflow,
            can_undo=True,
            rev=1,
            marks={"s1": "reused", "s2": "reused", "s3": "will_run", "s4": "reused", "s5": "will_run"},
        ),
        "plan_only": graph_payload(
            labels=catalogue.under("graph"), draft=demo_workflow(), mode="edit", workers=WORKERS
        ),
        "rounds": payload_of(rounds_story(), mode="edit"),
        "rounds_planning": offline(payload_of(rounds_story(ends=False))),
        "replay": payload_of(done, replay=Replay(done.events, speed=2)),
        "present": payload_of(done, replay=Replay(done.events, present=True)),
        "resumed_present": payload_of(resumed, replay=Replay(resumed.events, present=True)),
    }
