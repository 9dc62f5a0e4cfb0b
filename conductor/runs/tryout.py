"""One tiny real call to a worker, timed: does it answer, and how fast."""

from __future__ import annotations

import asyncio
from datetime import datetime

from conductor.providers.base import Call, Worker, WorkerError
from conductor.runs.calls import make_call
from conductor.runs.drafts import Draft
from conductor.runs.limits import Budget, DayBudget, LimitReached, estimate_tokens
from conductor.runs.work import Means
from conductor_client._base import utc_now
from conductor_client.api import WorkerTestReply
from conductor_client.events import Limits
from conductor_client.usage import Price
from conductor_client.workflow import Message

TIMEOUT_S = 60.0
"""Loading a local model for the first time takes its time."""
MAX_OUTPUT_TOKENS = 512
"""Enough for a model that reasons before it says one word."""
_QUESTION = "Reply with the single word: ready"
_FOR_A_TOOL = "```python\nprint(2 + 2)\n```"


async def try_worker(worker: Worker, price: Price | None, means: Means, day: DayBudget) -> WorkerTestReply:
    """Makes the call. Whatever goes wrong is in the reply; never holds a key."""
    said = _FOR_A_TOOL if worker.provider == "tool" else _QUESTION
    budget = Budget(Limits(allow_unpriced=True), day=day)
    loop = asyncio.get_running_loop()
    began, began_at = loop.time(), utc_now()
    try:
        held = await budget.reserve(
            worker=worker.name,
            input_tokens=estimate_tokens(said),
            output_tokens=MAX_OUTPUT_TOKENS,
            price=price,
        )
    except LimitReached as limit:
        return _failed(worker, limit.error.message, limit.error.hint)
    usage, cost, held.is_sent = None, None, True
    draft = Draft("", "", 1, lambda _: None)
    try:
        answer = await make_call(
            means.provider_for(worker), _call(worker, said), draft, idle_timeout_s=None, timeout_s=TIMEOUT_S
        )
        done = answer.completion
        usage = done.usage
        cost = means.charge_for(worker, price, usage, done.served_model, done.reported_cost_usd).cost_usd
    except WorkerError as error:
        usage, held.is_sent = error.usage, not error.was_turned_away
        if error.retry_after_s is not None:
            means.lanes.of(worker).pause(min(error.retry_after_s, means.retry.retry_after_cap_s))
        failed = _failed(worker, error.message, error.hint, loop.time() - began)
        return failed.model_copy(update={"retry_after_s": error.retry_after_s})
    finally:
        budget.settle(held, usage, cost, draft.everything())
    return WorkerTestReply(
        worker=worker.name,
        ok=True,
        latency_s=round(loop.time() - began, 3),
        first_token_s=_since(began_at, answer.first_token_at),
        served_model=done.served_model,
        usage=usage,
        cost_usd=cost,
        notes=done.notes,
        output=done.output.strip()[:200],
    )


def _call(worker: Worker, said: str) -> Call:
    return Call(
        worker=worker,
        messages=(Message(role="user", content=said),),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        settings=worker.settings,
        question=said,
        instruction="Answer.",
    )


def _since(began_at: datetime, moment: datetime | None) -> float | None:
    return None if moment is None else round(max(0.0, (moment - began_at).total_seconds()), 3)


def _failed(worker: Worker, message: str, hint: str, latency_s: float | None = None) -> WorkerTestReply:
    latency = None if latency_s is None else round(latency_s, 3)
    return WorkerTestReply(worker=worker.name, ok=False, latency_s=latency, message=message, hint=hint)
