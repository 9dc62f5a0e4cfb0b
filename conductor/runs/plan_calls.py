"""A conductor's calls to its model: reserved, queued, watched and tried again like any other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from decimal import Decimal
from typing import Any

from conductor.plans.planning import PlanningRequest, plan_events
from conductor.prices import price_of
from conductor.providers.base import Call, Completion, Delta, Notice, WorkerError
from conductor.runs.calls import IDLE_TIMEOUT_S, Answer, make_call
from conductor.runs.drafts import Draft
from conductor.runs.limits import Budget, estimate_tokens
from conductor.runs.scheduler import CLEANUP_S
from conductor.runs.work import Means, Planning
from conductor_client.plan import Plan, PlanAttempt
from conductor_client.usage import Price, Usage, sum_usage


class PlanCalls:
    """The calls of one planning.

    The text goes straight into a draft, a new one for each try, so that what somebody reads is never two
    tries in one; only the end of the call is handed to the conductor.
    """

    def __init__(
        self,
        means: Means,
        budget: Budget,
        new_draft: Callable[[int], Draft],
        planning: Planning | None = None,
    ) -> None:
        self._means, self._budget, self._new_draft = means, budget, new_draft
        self.planning = planning or Planning()
        self._tries = 0
        self.draft = self._next_draft()

    async def call_model(self, call: Call) -> AsyncIterator[Delta | Notice | Completion]:
        """Yields the ``Completion``. Raises ``WorkerError`` or ``LimitReached``."""
        worker, tries = call.worker, 0
        while True:
            tries += 1
            if self.draft.text() or self.draft.text("reasoning"):
                self.draft = self._next_draft()
            try:
                answer = await self._try(call)
                yield replace(answer, usage=self._usage_so_far(answer.usage))
                return
            except WorkerError as error:
                following = self._means.retry.next(error, worker, tries, {}, frozenset({worker.name}))
                if following is None:
                    raise
                if error.kind == "rate_limited":
                    self._means.lanes.of(worker).pause(following.wait_s)
                self.draft = self._next_draft()
                self.draft.say(f"{error.message} Trying again in {following.wait_s:.0f} s.")
                await asyncio.sleep(following.wait_s)

    async def _try(self, call: Call) -> Completion:
        worker, lane = call.worker, self._means.lanes.of(call.worker)
        limits, price = self._budget.limits, price_of(worker)
        reservation = await self._budget.reserve(
            worker=worker.name,
            input_tokens=sum(estimate_tokens(message.content) for message in call.messages),
            output_tokens=call.max_output_tokens,
            price=price,
        )
        usage: Usage | None = Usage(input_tokens=0, output_tokens=0)
        cost: Decimal | None = Decimal(0)
        try:
            if reason := lane.why_waiting():
                self.draft.say(f"{worker.name}: {reason}")
            async with lane.slot():
                self.draft.say("")
                usage, cost, reservation.is_sent = None, _unfinished(price), True
                made = make_call(
                    self._means.provider_for(worker),
                    call,
                    self.draft,
                    idle_timeout_s=limits.idle_timeout_s or worker.idle_timeout_s or IDLE_TIMEOUT_S,
                    timeout_s=worker.timeout_s,
                )
                answer = await _until_done_or_stopped(made)
            usage = answer.completion.usage
            cost = self._means.charge_for(
                worker, price, usage, answer.completion.served_model, answer.completion.reported_cost_usd
            ).cost_usd
            return answer.completion
        except WorkerError as error:
            usage, reservation.is_sent = error.usage, not error.was_turned_away
            charged = self._means.charge_for(worker, price, usage, error.served_model, None).cost_usd
            cost = charged if charged is not None else cost
            raise
        finally:
            self.planning.untold.append((usage, cost))
            self._budget.settle(reservation, usage, cost, self.draft.everything())

    def _usage_so_far(self, usage: Usage | None) -> Usage | None:
        """Of the tries that failed before, too: the plan tells them. Those that used nothing say nothing."""
        earlier = [each for each, _ in self.planning.untold[:-1] if each is not None]
        total, is_known = sum_usage([*earlier, usage])
        return total if is_known else None

    def _next_draft(self) -> Draft:
        self._tries += 1
        self.planning.draft = self._new_draft(self._tries)
        return self.planning.draft


async def make_plan(request: PlanningRequest, calls: PlanCalls) -> AsyncIterator[PlanAttempt | Plan]:
    """Yields what was rejected and, at last, the plan. Text and notices go into the draft of ``calls``."""
    async for item in plan_events(request, calls.call_model):
        if isinstance(item, Delta):
            calls.draft.add(item.channel, item.text)
        elif isinstance(item, Notice):
            calls.draft.say(item.text)
        else:
            calls.planning.untold.clear()
            yield item


async def _until_done_or_stopped(made: Coroutine[Any, Any, Answer]) -> Answer:
    """Awaits a call; cancelled, it waits for a model that does not let go no longer than Stop may take."""
    call = asyncio.create_task(made, name="call of a conductor")
    try:
        await asyncio.wait([call])
    except asyncio.CancelledError:
        call.cancel()
        await asyncio.wait([call], timeout=CLEANUP_S)
        raise
    return await call


def _unfinished(price: Price | None) -> Decimal | None:
    """What a call that was cut off cost: 0 when its worker costs nothing, else unknown."""
    is_free = price is not None and price.input_usd_per_mtok == price.output_usd_per_mtok == 0
    return Decimal(0) if is_free else None
