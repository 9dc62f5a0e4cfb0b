"""Scenes of the graph for the harness and the browser tests: runs in every state, made from real events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from components.workflow_graph.payload import Json, Replay, graph_payload
from conductor_client import catalogue
from conductor_client import events as ev
from conductor_client.edits import SetInstruction, apply_edits
from conductor_client.errors import StepError
from conductor_client.plan import Plan
from conductor_client.run_state import fold
from conductor_client.usage import Usage
from conductor_client.workflow import Workflow, workflow_of

from .statuses import statuses_story
from .story import OUTPUTS, PROMPT, WORKERS, Story, demo_workflow


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
    error = StepError(kind="interrupted", message="The run was stopped.")
    story = Story(run_id="run_noplan_stopped").begin()
    story.add(ev.PlanFailed, 0.8, error=error, partial_text="Two views are worth having here, since a first")
    return story.add(ev.RunCancelled, partial=False)


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
        "statuses": offline(payload_of(statuses_story())),
        "statuses_ended": payload_of(statuses_story(has_ended=True)),
        "rounds": payload_of(rounds_story(), mode="edit"),
        "rounds_planning": offline(payload_of(rounds_story(ends=False))),
        "replay": payload_of(done, replay=Replay(done.events, speed=2)),
        "present": payload_of(done, replay=Replay(done.events, present=True)),
        "resumed_present": payload_of(resumed, replay=Replay(resumed.events, present=True)),
    }
