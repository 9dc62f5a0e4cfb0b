"""What the graph is given: plain JSON, small whatever the run's size, derived from a RunState and a draft.

``view_of`` is what the cards show of a run. The browser folds later events into the very same shape
(``assets/fold.js``), so page and live stream agree. Nothing here knows Streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

from conductor_client.errors import StepError
from conductor_client.events import PlanFailed, PlanRejected, RunEvent
from conductor_client.plan import Plan
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import Round, RunState
from conductor_client.step_state import Attempt, StepState, sent_attempts
from conductor_client.usage import Usage, sum_usage
from conductor_client.workflow import Workflow

KEPT = 400
"""Characters of an output kept at each end; a card shows a few lines of them."""

LONGEST_REPLAYED = 20_000
"""Characters of an output that a replay writes out; a longer one is shown by its ends."""

Mode = Literal["edit", "read", "replay"]
Mark = Literal["will_run", "reused"]
Json = dict[str, Any]


class Reply(NamedTuple):
    """What became of the last edit: shown in the graph when it was refused."""

    op_id: str
    ok: bool
    message: str = ""
    hint: str = ""


class Replay(NamedTuple):
    """Stored events to play instead of a live stream. ``present`` leaves the controls away."""

    events: Sequence[RunEvent]
    speed: float = 1.0
    present: bool = False


def graph_payload(
    *,
    labels: Mapping[str, str],
    state: RunState | None = None,
    draft: Workflow | None = None,
    marks: Mapping[str, Mark] | None = None,
    mode: Mode = "read",
    workers: Sequence[WorkerInfo] = (),
    rev: int = 0,
    selected: str | None = None,
    reply: Reply | None = None,
    can_undo: bool = False,
    replay: Replay | None = None,
    share: str | None = None,
    direction: Literal["auto", "right", "down", "stack"] = "auto",
) -> Json:
    """Everything the component's ``data`` holds.

    Args:
        labels: the catalogue's ``graph`` strings, keys without the area.
        state: the run to show; a stream is opened while it has not ended (never with ``replay``).
        draft: an edited workflow that is not run yet; drawn instead of the run's.
        marks: what a re-run of the draft would do with each step.
        mode: ``edit`` lets a person change the workflow; every change comes back as an ``edit`` trigger.
        rev: rises with each accepted edit.
        share: key of a read-only address, passed on to the stream.
    """
    return {
        "run_id": None if state is None else state.run_id,
        "api": None if replay or state is None or state.has_ended else _stream(state, share),
        "mode": "replay" if replay else mode,
        "rev": rev,
        "labels": dict(labels),
        "workers": [_worker(each) for each in workers],
        "workflow": None if draft is None else workflow_json(draft),
        "draft": draft is not None,
        "marks": dict(marks or {}),
        "state": None if state is None else view_of(state),
        "selected": selected,
        "reply": None if reply is None else reply._asdict(),
        "can_undo": can_undo,
        "direction": direction,
        "replay": None if replay is None else replay_json(replay),
    }


def _stream(state: RunState, share: str | None) -> Json:
    address = f"/api/runs/{state.run_id}/ws"
    return {"ws": f"{address}?{urlencode({'share': share})}" if share else address, "after": state.last_seq}


def _worker(worker: WorkerInfo) -> Json:
    return {
        "name": worker.name,
        "is_tool": worker.is_tool,
        "tags": list(worker.tags),
        "ready": worker.ready,
        "model": worker.model,
    }


def replay_json(replay: Replay) -> Json:
    """The stored events as the player wants them: without messages, which no card shows, long texts cut."""
    heavy = {"messages", "pool_snapshot", "reasoning", "request_options"}
    events = [each.model_dump(mode="json", exclude=heavy) for each in replay.events]
    for event in events:
        for name in ("output", "partial_text", "final_output"):
            if len(event.get(name) or "") > LONGEST_REPLAYED:
                event[name] = cut(event[name])
    return {"events": events, "speed": replay.speed, "present": replay.present}


def workflow_json(workflow: Workflow) -> Json:
    """A workflow as the graph reads it."""
    return workflow.model_dump(mode="json")


def view_of(state: RunState) -> Json:
    """What the graph shows of a run, and what it needs to fold later events."""
    return {
        "run_id": state.run_id,
        "seq": state.last_seq,
        "status": state.status,
        "workflow": None if state.workflow is None else workflow_json(state.workflow),
        "steps": {step_id: _step(step) for step_id, step in state.steps.items()},
        "error": _error(state.error),
        "plan": _plan(state.plan),
        "conductor": state.conductor,
        "created_at": _at(state.created_at),
        "started_at": _at(state.started_at),
        "finished_at": _at(state.finished_at),
        "plan_started_at": _at(state.plan_started_at),
        "planned_at": _at(state.planned_at),
        "round": state.rounds[-1].round if state.rounds else 1,
        "resumed": state.resumed,
        "rounds": [_round(each) for each in state.rounds],
        "rejected": [{"round": each.round, **(_spent_on(each) or {})} for each in state.rejected],
        "failed_plans": [_spent_on(each) for each in state.failed_plans],
        "plan_text": cut(state.plan_text) if state.plan_text else None,
        "planning_round": state.planning_round,
        "lost_plans": state.lost_plans,
        "partial": state.partial,
        "wall_s": state.wall_s,
        "totals": _totals(state),
    }


def _round(each: Round) -> Json:
    return {
        "round": each.round,
        "plan": _spent_on(each.plan),
        "workflow": None if each.workflow is None else workflow_json(each.workflow),
        "decision": each.decision,
        "error": _error(each.error),
    }


def _step(step: StepState) -> Json:
    reused = step.reused_from
    return {
        "status": step.status,
        "worker": step.worker,
        "served_model": step.served_model,
        "output": None if step.output is None else cut(step.output),
        "partial": cut(step.partial_text) if step.partial_text else None,
        "tokens": _step_tokens(step),
        "cost_usd": _money(step.cost_usd),
        "priced": step.price is not None,
        "seconds": step.duration_s,
        "error": _error(step.error),
        "cause": step.cause,
        "said": step.said,
        "reused": None
        if reused is None
        else {
            "run_id": reused.run_id,
            "step_id": reused.step_id,
            "seconds": reused.duration_s,
            "tokens": _tokens(reused.usage),
        },
        "notes": list(step.notes),
        "prompt_cut": step.prompt_cut,
        "finish": step.finish,
        "attempts": [_attempt(each) for each in step.attempts],
        "queued_at": _at(step.queued_at),
        "started_at": _at(step.started_at),
        "finished_at": _at(step.finished_at),
        "round": step.round,
    }


def _attempt(attempt: Attempt) -> Json:
    return {
        "attempt": attempt.attempt,
        "worker": attempt.worker,
        "queued_at": _at(attempt.queued_at),
        "started_at": _at(attempt.started_at),
        "first_token_at": _at(attempt.first_token_at),
        "finished_at": _at(attempt.finished_at),
        "waited_s": attempt.waited_s,
        "wait_s": attempt.wait_s,
        "error": _error(attempt.error),
        "usage": _usage(attempt.usage),
        "cost_usd": _money(attempt.cost_usd),
    }


def _step_tokens(step: StepState) -> Json | None:
    """A step's own tokens over all attempts; ``at_least`` when one of them is unknown."""
    tokens = _tokens(step.usage)
    if tokens is None:
        return None
    return {**tokens, "at_least": not sum_usage(each.usage for each in sent_attempts(step))[1]}


def _totals(state: RunState) -> Json:
    return {
        "tokens": _usage(state.usage),
        "plan_tokens": _usage(state.orchestration_usage),
        "cost_usd": _money(state.cost_usd),
        "plan_cost_usd": _money(state.orchestration_cost_usd),
        "complete": {"usage": state.complete.usage, "cost": state.complete.cost},
        "critical_path_s": None if state.critical_path_s is None else round(state.critical_path_s, 3),
        "chained_s": None if state.chained_s is None else round(state.chained_s, 3),
    }


def cut(text: str) -> Json:
    """A text of any length as its beginning, end and number of characters."""
    return {"head": text[:KEPT], "tail": text[-KEPT:], "chars": len(text)}


def _error(error: StepError | None) -> Json | None:
    return None if error is None else {"kind": error.kind, "message": error.message, "hint": error.hint}


def _plan(plan: Plan | None) -> Json | None:
    if plan is None:
        return None
    fallback = None if plan.fallback is None else plan.fallback.model_dump(mode="json")
    return {"conductor": plan.conductor, "fallback": fallback, "decision": plan.decision}


def _spent_on(part: Plan | PlanRejected | PlanFailed | None) -> Json | None:
    return None if part is None else {"usage": _usage(part.usage), "cost_usd": _money(part.cost_usd)}


def _usage(usage: Usage | None) -> Json | None:
    return None if usage is None else {"in": usage.input_tokens, "out": usage.output_tokens}


def _tokens(usage: Usage | None) -> Json | None:
    found = _usage(usage)
    return None if found is None or found == {"in": None, "out": None} else found


def _money(cost: Decimal | None) -> str | None:
    return None if cost is None else format(cost.normalize(), "f")


def _at(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
