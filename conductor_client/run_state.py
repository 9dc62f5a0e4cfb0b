"""RunState: what a run looks like after some of its events. One pure fold, used by page, report and test.

Any prefix of a run's events gives a valid state; an event already applied (by ``seq``) changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from . import topology
from ._base import Moment, Value
from .edits import Edit
from .errors import StepError
from .events import (
    Limits,
    Origin,
    PlanCreated,
    PlanFailed,
    PlanRejected,
    PlanStarted,
    ReusedFrom,
    RoundStarted,
    RunCancelled,
    RunCreated,
    RunEvent,
    RunFailed,
    RunFinished,
    RunResumed,
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
from .plan import Plan
from .pool import WorkerInfo
from .usage import Complete, Price, Usage, sum_cost, sum_usage
from .workflow import Message, Workflow

StepStatus = Literal["waiting", "running", "succeeded", "failed", "skipped", "reused", "cancelled"]
RunStatus = Literal["queued", "planning", "running", "succeeded", "failed", "cancelled"]
ENDED: frozenset[str] = frozenset({"succeeded", "failed", "cancelled"})
"""Run statuses after which nothing more happens."""


class Attempt(Value):
    """One try of a step. Times are moments; ``waited_s`` is the time in the worker's queue."""

    attempt: int
    worker: str
    queued_at: Moment | None = None
    started_at: Moment | None = None
    first_token_at: Moment | None = None
    finished_at: Moment | None = None
    waited_s: float | None = None
    wait_s: float | None = None
    """Seconds until the next attempt, when this one failed and another follows."""
    error: StepError | None = None
    partial_text: str = ""
    usage: Usage | None = None
    cost_usd: Decimal | None = None


class StepState(Value):
    """Where one step stands. ``output`` is ``None`` until it succeeded or was reused."""

    status: StepStatus = "waiting"
    worker: str | None = None
    attempts: tuple[Attempt, ...] = ()
    messages: tuple[Message, ...] = ()
    visible: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    output: str | None = None
    reasoning: str = ""
    partial_text: str = ""
    """Text of a step that did not end well: kept, and marked partial."""
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    price: Price | None = None
    served_model: str | None = None
    finish: str | None = None
    notes: tuple[str, ...] = ()
    queued_at: Moment | None = None
    started_at: Moment | None = None
    finished_at: Moment | None = None
    reused_from: ReusedFrom | None = None
    error: StepError | None = None
    cause: str | None = None
    """Step id that kept a skipped step from running."""
    said: str = ""
    round: int = 1

    @property
    def duration_s(self) -> float | None:
        """Seconds from the start of the first attempt to the end; the original ones when reused."""
        if self.reused_from is not None:
            return self.reused_from.duration_s
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


class Round(Value):
    """One round of planning and running (paper: recursion)."""

    round: int
    plan: Plan | None = None
    workflow: Workflow | None = None
    decision: Literal["new", "keep", "rejected"] | None = None
    final_output: str | None = None


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
    steps: Mapping[str, StepState] = Field(default_factory=dict)
    final_output: str | None = None
    usage: Usage = Usage()
    """Of the workers' calls made in this run; reused steps add nothing."""
    orchestration_usage: Usage = Usage()
    cost_usd: Decimal = Decimal(0)
    orchestration_cost_usd: Decimal = Decimal(0)
    complete: Complete = Complete()
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


def fold(events: Iterable[RunEvent], state: RunState | None = None) -> RunState:
    """Applies events in order to a state (or to nothing) and returns the new one.

    Raises:
        ValueError: the first event of a run is not ``run_created``.
    """
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
        if event.kind.startswith(("plan_", "step_", "run_", "round_")):
            state = state.model_copy(update=_totals(state))
    if state is None:
        raise ValueError("no events: a run begins with run_created")
    return state


def _changes(state: RunState, event: RunEvent) -> dict[str, Any]:
    match event:
        case RunCreated():
            return _created(event)
        case RunStarted():
            return {"started_at": event.at, "status": "running" if state.workflow else "planning"}
        case PlanStarted():
            return {"status": "planning", "plan_started_at": state.plan_started_at or event.at}
        case PlanRejected():
            return {"rejected": (*state.rejected, event)}
        case PlanCreated():
            return _planned(state, event)
        case PlanFailed():
            return {"error": event.error}
        case RoundStarted():
            return _round(state, event)
        case RunResumed():
            return {"resumed": state.resumed + 1}
        case RunFinished():
            return _ended(state, event, "succeeded", event.final_output) | {"error": None}
        case RunFailed():
            return _ended(state, event, "failed", event.final_output) | {"error": event.error, "partial": event.partial}
        case RunCancelled():
            return _ended(state, event, "cancelled", event.final_output) | {"partial": event.partial}
        case _:
            step = state.steps.get(event.step_id, StepState(round=len(state.rounds) or 1))
            changed = step.model_copy(update=_step_changes(step, event))
            return {"steps": {**state.steps, event.step_id: changed}}


def _created(event: RunCreated) -> dict[str, Any]:
    same = ("prompt", "messages", "conductor", "pool", "pool_snapshot", "limits", "parent_run", "edits", "fresh")
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
    changes: dict[str, Any] = {"plan": plan, "rounds": (*others, this), "planned_at": event.at, "status": "running"}
    if plan.workflow is not None:
        fresh = {step.step_id: StepState(worker=step.worker, round=event.round) for step in plan.workflow.steps}
        changes |= {"workflow": plan.workflow, "steps": {**state.steps, **fresh}}
    return changes


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
    return {"rounds": rounds, "workflow": event.workflow, "steps": {**state.steps, **fresh}, "status": "running"}


def _ended(state: RunState, event: RunEvent, status: RunStatus, final_output: str | None) -> dict[str, Any]:
    changes: dict[str, Any] = {"status": status, "final_output": final_output, "finished_at": event.at}
    if state.created_at is not None:
        changes["wall_s"] = (event.at - (state.started_at or state.created_at)).total_seconds()
    if state.rounds:
        last = state.rounds[-1].model_copy(update={"final_output": final_output})
        changes["rounds"] = (*state.rounds[:-1], last)
    return changes


def _step_changes(step: StepState, event: RunEvent) -> dict[str, Any]:
    match event:
        case StepQueued():
            attempt = Attempt(attempt=event.attempt, worker=event.worker, queued_at=event.at)
            return {
                "status": "running",
                "worker": event.worker,
                "attempts": (*_without(step.attempts, event.attempt), attempt),
                "messages": event.messages,
                "visible": event.visible,
                "withheld": event.withheld,
                "queued_at": step.queued_at or event.at,
                "error": None,
            }
        case StepStarted():
            tried = _attempt(step, event.attempt, event.worker).model_copy(
                update={"started_at": event.at, "waited_s": event.waited_s, "worker": event.worker}
            )
            return {
                "status": "running",
                "attempts": (*_without(step.attempts, event.attempt), tried),
                "started_at": step.started_at or event.at,
            }
        case StepRetried():
            return {"status": "running", "attempts": _closed(step, event, error=event.error, wait_s=event.wait_s)}
        case StepFinished():
            same = ("output", "reasoning", "finish", "price", "served_model", "notes", "worker")
            changes = {name: getattr(event, name) for name in same}
            attempts = _closed(step, event, first_token_at=event.first_token_at)
            return changes | {"status": "succeeded", "attempts": attempts, "finished_at": event.at} | _spent(attempts)
        case StepFailed():
            attempts = _closed(step, event, error=event.error)
            return {
                "status": "failed",
                "worker": event.worker,
                "error": event.error,
                "partial_text": event.partial_text,
                "reasoning": event.reasoning,
                "served_model": event.served_model,
                "attempts": attempts,
                "finished_at": event.at,
            } | _spent(attempts)
        case StepCancelled():
            attempts = _closed(step, event)
            return {
                "status": "cancelled",
                "partial_text": event.partial_text,
                "reasoning": event.reasoning,
                "attempts": attempts,
                "finished_at": event.at,
            } | _spent(attempts)
        case StepSkipped():
            return {"status": "skipped", "cause": event.cause, "said": event.said}
        case StepReused():
            same = ("output", "reasoning", "served_model", "messages", "visible", "withheld", "reused_from", "worker")
            changes = {name: getattr(event, name) for name in same}
            return changes | {"status": "reused", "usage": Usage(), "cost_usd": Decimal(0), "finished_at": event.at}
        case _:
            raise AssertionError(f"{event.kind} is not about a step")


def _without(attempts: tuple[Attempt, ...], number: int) -> tuple[Attempt, ...]:
    return tuple(each for each in attempts if each.attempt != number)


def _attempt(step: StepState, number: int, worker: str) -> Attempt:
    for each in step.attempts:
        if each.attempt == number:
            return each
    return Attempt(attempt=number, worker=worker)


def _closed(
    step: StepState, event: StepRetried | StepFinished | StepFailed | StepCancelled, **changes: Any
) -> tuple[Attempt, ...]:
    worker = getattr(event, "worker", step.worker or "")
    update = {"finished_at": event.at, "partial_text": getattr(event, "partial_text", ""), **changes}
    update |= {"usage": getattr(event, "usage", None), "cost_usd": getattr(event, "cost_usd", None)}
    tried = _attempt(step, event.attempt, worker).model_copy(update=update)
    return (*_without(step.attempts, event.attempt), tried)


def _spent(attempts: tuple[Attempt, ...]) -> dict[str, Any]:
    """A step's usage and cost over all attempts; unknown as soon as one that was sent is unknown."""
    sent = [each for each in attempts if each.started_at is not None or each.usage is not None]
    usage, usage_known = sum_usage(each.usage for each in sent)
    cost, cost_known = sum_cost(each.cost_usd for each in sent)
    return {"usage": usage if usage_known else _unknown_total(usage), "cost_usd": cost if cost_known and sent else None}


def _unknown_total(usage: Usage) -> Usage | None:
    return usage if usage != Usage() else None


def _totals(state: RunState) -> dict[str, Any]:
    called = [step for step in state.steps.values() if step.status not in {"reused", "skipped", "waiting"}]
    ended = [step for step in called if step.finished_at is not None and step.attempts]
    usage, usage_known = sum_usage(attempt.usage for step in ended for attempt in _sent(step))
    cost, cost_known = sum_cost(attempt.cost_usd for step in ended for attempt in _sent(step))
    planned = [each.plan for each in state.rounds if each.plan is not None]
    covered = {each.round for each in state.rounds if each.plan is not None}
    planned += [each for each in state.rejected if each.round not in covered]
    plan_usage, plan_usage_known = sum_usage(part.usage for part in planned)
    plan_cost, plan_cost_known = sum_cost(part.cost_usd for part in planned)
    changes: dict[str, Any] = {
        "usage": usage,
        "cost_usd": cost,
        "orchestration_usage": plan_usage,
        "orchestration_cost_usd": plan_cost,
        "complete": Complete(usage=usage_known and plan_usage_known, cost=cost_known and plan_cost_known),
    }
    if state.workflow is not None:
        seconds = {
            step_id: step.duration_s
            for step_id, step in state.steps.items()
            if step.duration_s is not None and step.reused_from is None
        }
        changes["chained_s"] = sum(seconds.values()) if seconds else None
        changes["critical_path_s"] = topology.critical_path(state.workflow, seconds)[1] if seconds else None
    return changes


def _sent(step: StepState) -> list[Attempt]:
    return [each for each in step.attempts if each.started_at is not None or each.usage is not None]
