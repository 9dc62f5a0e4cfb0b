"""StepState: where one step of a run stands, and how an event about it changes that."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

from ._base import Moment, Value, seconds_between
from .errors import StepError
from .events import (
    ReusedFrom,
    StepCancelled,
    StepFailed,
    StepFinished,
    StepQueued,
    StepRetried,
    StepReused,
    StepSkipped,
    StepStarted,
)
from .usage import Price, Usage, sum_cost, sum_usage
from .workflow import Message

StepStatus = Literal["waiting", "running", "succeeded", "failed", "skipped", "reused", "cancelled"]
StepEvent = (
    StepQueued
    | StepStarted
    | StepRetried
    | StepFinished
    | StepFailed
    | StepCancelled
    | StepSkipped
    | StepReused
)


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
    prompt_cut: bool = False
    """Whether the worker seems to have read only a part of what it was sent."""
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
        return seconds_between(self.started_at, self.finished_at)


def apply_step(step: StepState, event: StepEvent) -> StepState:
    """The step after one more event."""
    return step.model_copy(update=_step_changes(step, event))


def _step_changes(step: StepState, event: StepEvent) -> dict[str, Any]:
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
            return {
                "status": "running",
                "attempts": _closed(step, event, error=event.error, wait_s=event.wait_s),
            }
        case StepFinished():
            same: tuple[str, ...] = (
                "output",
                "reasoning",
                "finish",
                "price",
                "served_model",
                "notes",
                "prompt_cut",
                "worker",
            )
            changes = {name: getattr(event, name) for name in same}
            attempts = _closed(step, event, first_token_at=event.first_token_at)
            return (
                changes
                | {"status": "succeeded", "attempts": attempts, "finished_at": event.at}
                | _spent(attempts)
            )
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
            same = (
                "output",
                "reasoning",
                "served_model",
                "messages",
                "visible",
                "withheld",
                "reused_from",
                "worker",
            )
            changes = {name: getattr(event, name) for name in same}
            return changes | {
                "status": "reused",
                "usage": Usage(),
                "cost_usd": Decimal(0),
                "finished_at": event.at,
            }


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
    return {
        "usage": usage if usage_known else _unknown_total(usage),
        "cost_usd": cost if cost_known and sent else None,
    }


def _unknown_total(usage: Usage) -> Usage | None:
    return usage if usage != Usage() else None


def sent_attempts(step: StepState) -> list[Attempt]:
    """The attempts that reached a worker: each may have cost something."""
    return [each for each in step.attempts if each.started_at is not None or each.usage is not None]
