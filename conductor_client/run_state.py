"""RunState: what a run looks like after some of its events. One pure fold, used by page, report and test.

Any prefix of a run's events gives a valid state; an event already applied (by ``seq``) changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from . import topology
from ._base import Moment, Value, seconds_between
from .edits import Edit
from .errors import StepError
from .events import (
    Limits,
    Origin,
    PlanCreated,
    PlanFailed,
    PlanRejected,
    PlanStarted,
    RoundStarted,
    RunCancelled,
    RunCreated,
    RunEvent,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
)
from .plan import Plan
from .pool import WorkerInfo
from .step_state import StepState, apply_step, sent_attempts
from .usage import Complete, Usage, sum_cost, sum_usage
from .workflow import Message, Workflow

GIVEN = "given"
"""Stands for a conductor where a person or a program wrote the workflow."""
RunStatus = Literal["queued", "planning", "running", "succeeded", "failed", "cancelled"]
ENDED: frozenset[str] = frozenset({"succeeded", "failed", "cancelled"})
"""Run statuses after which nothing more happens."""


class Round(Value):
    """One round of planning and running (paper: recursion)."""

    round: int
    plan: Plan | None = None
    workflow: Workflow | None = None
    decision: Literal["new", "keep", "rejected"] | None = None
    final_output: str | None = None
    error: StepError | None = None
    """Why there is no plan; the answer of the round before stands."""


class RunState(Value):
    """A run as its events tell it. See design §8 for the meaning of the fields."""

    run_id: str
    status: RunStatus = "queued"
    prompt: str = ""
    messages: tuple[Message, ...] = ()
    conductor: str = ""
    pool: str | None = None
    workflow: Workflow | None = None
    plan: Plan | None = None
    rejected: tuple[PlanRejected, ...] = ()
    failed_plans: tuple[PlanFailed, ...] = ()
    plan_text: str = ""
    """What the conductor had written when its planning was stopped, failed or rejected."""
    plan_reasoning: str = ""
    """What it had thought by then, when it tells that apart."""
    planning_round: int | None = None
    """The round that is being planned; ``None`` while nothing is."""
    lost_plans: int = 0
    """Plannings that a process left unfinished: nobody told what they used."""
    steps: Mapping[str, StepState] = Field(default_factory=dict)
    final_output: str | None = None
    usage: Usage = Usage()
    """Of the workers' calls made in this run; reused steps add nothing."""
    orchestration_usage: Usage = Usage()
    cost_usd: Decimal = Decimal(0)
    orchestration_cost_usd: Decimal = Decimal(0)
    complete: Complete = Complete()
    """Whether the sums of workers and conductor together cover everything."""
    worker_complete: Complete = Complete()
    """The same of the workers' sums alone: ``usage`` and ``cost_usd``."""
    orchestration_complete: Complete = Complete()
    """The same of the conductor's: ``orchestration_usage`` and ``orchestration_cost_usd``."""
    partial: bool = False
    error: StepError | None = None
    rounds: tuple[Round, ...] = ()
    pool_snapshot: tuple[WorkerInfo, ...] = ()
    limits: Limits = Limits()
    wall_s: float | None = None
    critical_path_s: float | None = None
    chained_s: float | None = None
    """What the same steps would have taken one after another, in seconds."""
    resumed: int = 0
    created_at: Moment | None = None
    started_at: Moment | None = None
    finished_at: Moment | None = None
    plan_started_at: Moment | None = None
    planned_at: Moment | None = None
    parent_run: str | None = None
    edits: tuple[Edit, ...] = ()
    fresh: bool | tuple[str, ...] = False
    origin: Origin = "page"
    seed: int | None = None
    request_options: Mapping[str, Any] = Field(default_factory=dict)
    tags: tuple[str, ...] = ()
    note: str | None = None
    rating: int | None = None
    grade: Literal["right", "wrong"] | None = None
    gold: str | None = None
    last_seq: int = 0

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in ENDED

    def round_of(self, workflow: Workflow | None) -> int | None:
        """The number of the round that ran this workflow; ``None`` when no round did."""
        return next((each.round for each in self.rounds if workflow and each.workflow == workflow), None)


def fold(events: Iterable[RunEvent], state: RunState | None = None) -> RunState:
    """Applies events in order to a state (or to nothing) and returns the new one.

    Raises:
        ValueError: the first event of a run is not ``run_created``.
    """
    is_changed = False
    for event in events:
        if state is None:
            if not isinstance(event, RunCreated):
                raise ValueError(f"a run begins with run_created, not {event.kind}")
            state = RunState(run_id=event.run_id)
        if event.seq and event.seq <= state.last_seq:
            continue
        changes = _changes(state, event)
        changes["last_seq"] = max(state.last_seq, event.seq)
        state = state.model_copy(update=changes)
        is_changed = True
    if state is None:
        raise ValueError("no events: a run begins with run_created")
    # Totals follow from the state alone: once at the end, or a long run would cost the square of its events.
    return state.model_copy(update=_totals(state)) if is_changed else state


def _changes(state: RunState, event: RunEvent) -> dict[str, Any]:
    match event:
        case RunCreated():
            return _created(event)
        case RunStarted():
            return {"started_at": event.at, "status": "running" if state.workflow else "planning"}
        case PlanStarted():
            return {
                "status": "planning",
                "plan_started_at": state.plan_started_at or event.at,
                "plan_text": "",
                "plan_reasoning": "",
                "lost_plans": state.lost_plans + (state.planning_round is not None),
                "planning_round": event.round,
                "rounds": _answered(state),
            }
        case PlanRejected():
            return {"rejected": (*state.rejected, event), "plan_text": event.raw_text}
        case PlanCreated():
            return _planned(state, event)
        case PlanFailed():
            return {
                "error": event.error,
                "failed_plans": (*state.failed_plans, event),
                "plan_text": event.partial_text or state.plan_text,
                "plan_reasoning": event.reasoning,
                "planning_round": None,
                "rounds": _with_failed(state, event),
            }
        case RoundStarted():
            return _round(state, event)
        case RunResumed():
            return {"resumed": state.resumed + 1}
        case RunFinished():
            return _ended(state, event, "succeeded", event.final_output) | {"error": None}
        case RunFailed():
            return _ended(state, event, "failed", event.final_output) | {
                "error": event.error,
                "partial": event.partial,
            }
        case RunCancelled():
            # A stop is no error, not even of the planning that it cut short.
            return _ended(state, event, "cancelled", event.final_output) | {
                "error": None,
                "partial": event.partial,
            }
        case _:
            step = state.steps.get(event.step_id, StepState(round=len(state.rounds) or 1))
            return {"steps": {**state.steps, event.step_id: apply_step(step, event)}}


def _created(event: RunCreated) -> dict[str, Any]:
    same = (
        "prompt",
        "messages",
        "conductor",
        "pool",
        "pool_snapshot",
        "limits",
        "parent_run",
        "edits",
        "fresh",
    )
    changes: dict[str, Any] = {name: getattr(event, name) for name in same}
    changes |= {"origin": event.origin, "seed": event.seed, "request_options": event.request_options}
    changes |= {"created_at": event.at, "plan": event.plan}
    workflow = event.workflow or (event.plan.workflow if event.plan else None)
    if workflow is not None:
        changes["workflow"] = workflow
        changes["steps"] = {step.step_id: StepState(worker=step.worker) for step in workflow.steps}
        changes["rounds"] = (Round(round=1, plan=event.plan, workflow=workflow, decision="new"),)
    return changes


def _planned(state: RunState, event: PlanCreated) -> dict[str, Any]:
    plan = event.plan
    others = tuple(each for each in state.rounds if each.round != event.round)
    this = Round(round=event.round, plan=plan, workflow=plan.workflow, decision=plan.decision)
    changes: dict[str, Any] = {
        "plan": plan if plan.workflow is not None or state.plan is None else state.plan,
        "rounds": (*others, this),
        "planned_at": event.at,
        "status": "running",
        "plan_text": "",
        "plan_reasoning": "",
        "planning_round": None,
    }
    if plan.workflow is not None:
        fresh = {
            step.step_id: StepState(worker=step.worker, round=event.round) for step in plan.workflow.steps
        }
        changes |= {"workflow": plan.workflow, "steps": {**state.steps, **fresh}}
    return changes


def _answered(state: RunState) -> tuple[Round, ...]:
    """The rounds, when another begins to be planned: the last one has given its answer."""
    if not state.rounds or state.rounds[-1].workflow is None:
        return state.rounds
    last = state.rounds[-1]
    assert last.workflow is not None
    step = state.steps.get(last.workflow.final_step.step_id)
    answer = step.output if step is not None else None
    return (*state.rounds[:-1], last.model_copy(update={"final_output": answer}))


def _with_failed(state: RunState, event: PlanFailed) -> tuple[Round, ...]:
    """A round of which no plan came. A first one is none: the run has failed."""
    if event.round == 1:
        return state.rounds
    others = tuple(each for each in state.rounds if each.round != event.round)
    return (*others, Round(round=event.round, error=event.error))


def _round(state: RunState, event: RoundStarted) -> dict[str, Any]:
    known = {each.round: each for each in state.rounds}
    known[event.round] = known.get(event.round, Round(round=event.round, decision="new")).model_copy(
        update={"workflow": event.workflow}
    )
    fresh = {
        step.step_id: state.steps.get(step.step_id, StepState(worker=step.worker, round=event.round))
        for step in event.workflow.steps
    }
    rounds = tuple(known[number] for number in sorted(known))
    return {
        "rounds": rounds,
        "workflow": event.workflow,
        "steps": {**state.steps, **fresh},
        "status": "running",
    }


def _ended(state: RunState, event: RunEvent, status: RunStatus, final_output: str | None) -> dict[str, Any]:
    changes: dict[str, Any] = {"status": status, "final_output": final_output, "finished_at": event.at}
    if state.created_at is not None:
        changes["wall_s"] = seconds_between(state.started_at or state.created_at, event.at)
    if state.rounds:
        last = state.rounds[-1].model_copy(update={"final_output": final_output})
        changes["rounds"] = (*state.rounds[:-1], last)
    return changes


def _totals(state: RunState) -> dict[str, Any]:
    called = [step for step in state.steps.values() if step.status not in {"reused", "skipped", "waiting"}]
    ended = [step for step in called if step.finished_at is not None and step.attempts]
    usage, usage_known = sum_usage(attempt.usage for step in ended for attempt in sent_attempts(step))
    cost, cost_known = sum_cost(attempt.cost_usd for step in ended for attempt in sent_attempts(step))
    planned: list[Plan | PlanRejected | PlanFailed] = [each.plan for each in state.rounds if each.plan]
    covered = {each.round for each in state.rounds if each.plan is not None}
    planned += [each for each in state.rejected if each.round not in covered]
    planned += state.failed_plans
    plan_usage, plan_usage_known = sum_usage(part.usage for part in planned)
    plan_cost, plan_cost_known = sum_cost(part.cost_usd for part in planned)
    if state.lost_plans or (state.has_ended and state.planning_round is not None):
        plan_usage_known = plan_cost_known = False
    changes: dict[str, Any] = {
        "usage": usage,
        "cost_usd": cost,
        "orchestration_usage": plan_usage,
        "orchestration_cost_usd": plan_cost,
        "worker_complete": Complete(usage=usage_known, cost=cost_known),
        "orchestration_complete": Complete(usage=plan_usage_known, cost=plan_cost_known),
        "complete": Complete(usage=usage_known and plan_usage_known, cost=cost_known and plan_cost_known),
    }
    if state.workflow is not None:
        seconds = {
            step_id: step.duration_s
            for step_id, step in state.steps.items()
            if step.duration_s is not None and step.reused_from is None
        }
        changes["chained_s"] = sum(seconds.values()) if seconds else None
        changes["critical_path_s"] = _critical_path_s(state, seconds) if seconds else None
    return changes


def _critical_path_s(state: RunState, seconds: Mapping[str, float]) -> float:
    """Of all rounds: one begins when the one before has ended."""
    workflows = [each.workflow for each in state.rounds] or [state.workflow]
    return sum(topology.critical_path(each, seconds)[1] for each in workflows if each is not None)
