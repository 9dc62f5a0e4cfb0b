"""From a prompt to a plan: ask the conductor, once more when its text cannot be used, else fall back.

Knows conductors, not runs: the runner turns what comes out here into events and frames.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import cast

from conductor.conductors.base import (
    CallModel,
    Conductor,
    ConductorRequest,
    EarlierRound,
    Refusal,
    Written,
)
from conductor.plans.estimate import Typical, estimate
from conductor.prices import cost_of
from conductor.providers.base import Delta, Notice, Worker, WorkerError
from conductor_client._base import new_id, utc_now
from conductor_client.errors import quoted
from conductor_client.plan import Diagnostic, Estimate, Fallback, Plan, PlanAttempt, PlanOptions, Reading
from conductor_client.pool import WorkerInfo
from conductor_client.usage import sum_cost, sum_usage
from conductor_client.workflow import Message, Workflow, workflow_of

MAX_ATTEMPTS = 2
"""The first text and one more that answers the complaints about it."""
UNUSABLE = frozenset({"refused", "truncated", "empty_output"})
"""Failures of a conductor's call that are its own doing: a text that cannot be used, not a broken line."""


@dataclass(frozen=True)
class PlanningRequest:
    """One plan to make. ``workers``: those it may use, in the order that gives them their ordinals.

    ``options`` ``None`` = the conductor's own. ``default_worker`` answers alone when no text can be used.
    """

    prompt: str
    conductor: Conductor
    workers: tuple[Worker, ...]
    default_worker: str | None
    messages: tuple[Message, ...] = ()
    options: PlanOptions | None = None
    seed: int | None = None
    round: int = 1
    earlier: tuple[EarlierRound, ...] = ()
    first_step: int = 1
    """Number of the first step's id, so that ids stay unique over rounds."""
    typical: Mapping[str, Typical] = field(default_factory=dict)


def usable_workers(
    workers: Sequence[Worker], infos: Sequence[WorkerInfo], only: Collection[str] | None = None
) -> tuple[Worker, ...]:
    """The workers a plan may use: ready ones in the pool's order, or those named, in the order named.

    Raises:
        WorkerError: none is named or a named one is unknown (``bad_input``), a named one is not ready or
            none is usable (``unavailable``); the message says what is missing.
    """
    if only is not None and not only:
        hint = "Name at least one worker, or leave workers out to use every ready one."
        raise WorkerError("bad_input", "The list of workers is empty.", hint=hint)
    known = {worker.name: worker for worker in workers}
    state = {info.name: info for info in infos}
    for name in only or ():
        if name not in known:
            hint = f"Its workers are {', '.join(known)}."
            raise WorkerError("bad_input", f"There is no worker {quoted(name)} in this pool.", hint=hint)
        if not state[name].ready:
            said = f"Worker {name} cannot be used: {state[name].missing}"
            raise WorkerError("unavailable", said, hint=state[name].how_to_get or "")
    chosen = list(only) if only is not None else [info.name for info in infos if info.ready]
    if not chosen:
        missing = next(
            (f"{each.name}: {each.missing} {each.how_to_get}" for each in infos if each.missing), ""
        )
        raise WorkerError(
            "unavailable",
            "The pool has no usable worker.",
            hint=missing or "Add a worker to the pool file, or choose another pool.",
        )
    return tuple(known[name] for name in dict.fromkeys(chosen))


async def plan_events(
    request: PlanningRequest, call_model: CallModel
) -> AsyncIterator[Delta | Notice | PlanAttempt | Plan]:
    """Makes one plan.

    Yields the conductor's text as it comes; a ``PlanAttempt`` for each text that was rejected, after which
    the text begins anew; at last one ``Plan``.

    Raises:
        WorkerError: the call to the conductor's model failed (auth, connection, …), or there is neither a
            plan nor a default worker.
    """
    options = request.options or request.conductor.options
    notes: tuple[Diagnostic, ...] = ()
    if options.max_rounds > 1 and not request.conductor.can_revise:
        said = f"{request.conductor.conductor_id} plans one round; it cannot judge an answer."
        notes = (Diagnostic(code="repaired_rounds", where="options", said=said),)
        options = options.model_copy(update={"max_rounds": 1})
    asked = ConductorRequest(
        prompt=request.prompt,
        workers=request.workers,
        messages=request.messages,
        options=options,
        seed=request.seed,
        round=request.round,
        earlier=request.earlier,
    )
    tries: list[_Try] = []
    while len(tries) < MAX_ATTEMPTS:
        started = time.monotonic()
        written: Written | None = None
        stream = cast(
            AsyncGenerator[Delta | Notice | Written, None], request.conductor.write(asked, call_model)
        )
        try:
            async with aclosing(stream) as items:
                async for item in items:
                    if isinstance(item, Written):
                        written = item
                    else:
                        yield item
        except WorkerError as error:
            if error.kind not in UNUSABLE:
                raise
            written = _unusable(error)
        if written is None:
            raise WorkerError("internal", f"The conductor {request.conductor.conductor_id} wrote nothing.")
        tries.append(_tried(request.conductor, written, time.monotonic() - started))
        if written.reading.decision != "rejected":
            break
        yield tries[-1].attempt
        asked = replace(asked, refusal=Refusal(written.raw_text, written.reading.diagnostics))
    plan = _plan(request, options, tries)
    yield plan.model_copy(update={"diagnostics": (*plan.diagnostics, *notes)})


@dataclass(frozen=True)
class _Try:
    written: Written
    attempt: PlanAttempt


def _tried(conductor: Conductor, written: Written, latency_s: float) -> _Try:
    if conductor.worker is None:
        cost: Decimal | None = Decimal(0)
    else:
        cost, _ = cost_of(
            conductor.worker,
            written.usage,
            served_model=written.served_model,
            reported=written.reported_cost_usd,
        )
    attempt = PlanAttempt(
        raw_text=written.raw_text,
        diagnostics=written.reading.diagnostics,
        usage=written.usage,
        cost_usd=cost,
        latency_s=round(latency_s, 3),
    )
    return _Try(written, attempt)


def _unusable(error: WorkerError) -> Written:
    said = Diagnostic(code="unparsable", where="text", said=error.message)
    return Written(
        raw_text=error.partial_text,
        reading=Reading(decision="rejected", reasoning=error.reasoning, diagnostics=(said,)),
        usage=error.usage,
        served_model=error.served_model,
    )


def _plan(request: PlanningRequest, options: PlanOptions, tries: Sequence[_Try]) -> Plan:
    last = tries[-1].written
    reading = last.reading
    workflow, fallback = None, None
    if reading.steps:
        names = [worker.name for worker in request.workers]
        rows = [(names[step.worker], step.instruction, step.access) for step in reading.steps]
        workflow = workflow_of(request.prompt, rows, first_id=request.first_step)
    elif reading.decision == "rejected" and request.round == 1:
        workflow, fallback = _fallback(request, reading)
    attempts = tuple(each.attempt for each in tries)
    usage, is_usage_known = sum_usage(each.usage for each in attempts)
    cost, is_cost_known = sum_cost(each.cost_usd for each in attempts)
    worker = request.conductor.worker
    return Plan(
        plan_id=new_id("plan"),
        workflow=workflow,
        decision=reading.decision,
        conductor=request.conductor.conductor_id,
        pool=tuple(each.name for each in request.workers),
        options=options,
        seed=request.seed,
        raw_text=last.raw_text,
        reasoning=reading.reasoning,
        choices={} if workflow is None else _choices(request, workflow, last),
        attempts=attempts,
        diagnostics=reading.diagnostics,
        fallback=fallback,
        usage=usage if is_usage_known else None,
        cost_usd=cost if is_cost_known else None,
        latency_s=round(sum(each.latency_s or 0.0 for each in attempts), 3),
        estimate=_estimate(request, workflow),
        model=last.served_model or (worker.model if worker is not None else None),
        created_at=utc_now(),
    )


def _fallback(request: PlanningRequest, reading: Reading) -> tuple[Workflow, Fallback]:
    """One step of the default worker, or of the first usable model when that one may not be used."""
    names = {worker.name for worker in request.workers}
    name = request.default_worker if request.default_worker in names else None
    name = name or next((each.name for each in request.workers if each.provider != "tool"), None)
    reason = next((each.said for each in reading.diagnostics if each.rejects), "Its text could not be read.")
    if name is None:
        raise WorkerError(
            "plan_failed",
            f"The conductor's plan could not be used, and no model is there to answer instead. {reason}",
            hint="Choose another conductor, or add a worker that is no tool.",
        )
    workflow = workflow_of(request.prompt, [(name, request.prompt, ())], first_id=request.first_step)
    return workflow, Fallback(worker=name, reason=reason)


def _choices(
    request: PlanningRequest, workflow: Workflow, written: Written
) -> dict[str, Mapping[str, float] | None]:
    """Odds by step id and worker name. A plan that is not the conductor's own has none."""
    names = [worker.name for worker in request.workers]
    odds = written.choices if written.reading.steps else ()
    found: dict[str, Mapping[str, float] | None] = {}
    for place, step in enumerate(workflow.steps):
        here = odds[place] if place < len(odds) else None
        found[step.step_id] = (
            None if here is None else {names[n]: share for n, share in here.items() if n < len(names)}
        )
    return found


def _estimate(request: PlanningRequest, workflow: Workflow | None) -> Estimate | None:
    if workflow is None:
        return None
    workers = {worker.name: worker for worker in request.workers}
    return estimate(workflow, workers, messages=request.messages, typical=request.typical)
