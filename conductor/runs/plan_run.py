"""Planning as part of a run: the conductor's text as frames, its turns as events, its calls under limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from conductor.plans.planning import PlanningRequest, plan_events
from conductor.prices import price_of
from conductor.providers.base import Call, Completion, Delta, Notice, WorkerError
from conductor.runs.calls import IDLE_TIMEOUT_S, make_call
from conductor.runs.drafts import Draft
from conductor.runs.endings import PlanningFailed
from conductor.runs.limits import Budget, LimitReached, estimate_tokens
from conductor.runs.work import Means, Work
from conductor_client.errors import StepError
from conductor_client.events import PlanCreated, PlanFailed, PlanRejected, PlanStarted
from conductor_client.plan import Plan, PlanAttempt
from conductor_client.workflow import Workflow

PLAN = "plan"
RequestFor = Callable[[Work], PlanningRequest]
"""What to ask of whom for a run. Raises ``WorkerError`` when there is no such conductor or worker."""


class PlanCalls:
    """A conductor's calls to its model: reserved, queued, watched and tried again like any other.

    The text goes straight into a draft, a new one for each try, so that what somebody reads is never two
    tries in one; only the end of the call is handed to the conductor.
    """

    def __init__(self, means: Means, budget: Budget, new_draft: Callable[[int], Draft]) -> None:
        self._means, self._budget, self._new_draft = means, budget, new_draft
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
                yield await self._try(call)
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
        price = price_of(worker)
        reservation = await self._budget.reserve(
            worker=worker.name,
            input_tokens=sum(estimate_tokens(message.content) for message in call.messages),
            output_tokens=call.max_output_tokens,
            price=price,
        )
        usage, cost = None, None
        try:
            if reason := lane.why_waiting():
                self.draft.say(f"{worker.name}: {reason}")
            async with lane.slot():
                self.draft.say("")
                answer = await make_call(
                    self._means.provider_for(worker),
                    call,
                    self.draft,
                    idle_timeout_s=worker.idle_timeout_s or IDLE_TIMEOUT_S,
                    timeout_s=worker.timeout_s,
                )
            usage = answer.completion.usage
            cost = self._means.charge_for(
                worker, price, usage, answer.completion.served_model, answer.completion.reported_cost_usd
            ).cost_usd
            return answer.completion
        except WorkerError as error:
            usage = error.usage
            cost = self._means.charge_for(worker, price, usage, error.served_model, None).cost_usd
            raise
        finally:
            self._budget.settle(reservation, usage, cost, self.draft.text())

    def _next_draft(self) -> Draft:
        self._tries += 1
        return self._new_draft(self._tries)


async def make_plan(request: PlanningRequest, calls: PlanCalls) -> AsyncIterator[PlanAttempt | Plan]:
    """Yields what was rejected and, at last, the plan. Text and notices go into the draft of ``calls``."""
    async for item in plan_events(request, calls.call_model):
        if isinstance(item, Delta):
            calls.draft.add(item.channel, item.text)
        elif isinstance(item, Notice):
            calls.draft.say(item.text)
        else:
            yield item


class PlanRun:
    """Plans runs: what a ``Runner`` is given."""

    def __init__(self, means: Means, request_for: RequestFor) -> None:
        self._means, self._request_for = means, request_for

    async def __call__(self, work: Work) -> Workflow:
        """Returns the workflow to run. Raises ``PlanningFailed`` after ``plan_failed`` was handed in."""
        run_id, journal = work.run_id, work.journal
        calls = PlanCalls(self._means, work.budget, lambda number: self._draft(work, number))
        journal.post(PlanStarted(run_id=run_id, conductor=work.created.conductor))
        try:
            plan = await self._plan(work, calls)
        except WorkerError as error:
            raise self._failed(work, error.as_data(), error.partial_text) from error
        except LimitReached as limit:
            raise self._failed(work, limit.error, calls.draft.text()) from limit
        await self._means.store.save_plan(plan)
        # Known before it is stored: a stop in between skips the plan's steps and fails no planning.
        work.planning, work.workflow = None, plan.workflow
        await journal.write(PlanCreated(run_id=run_id, plan=plan))
        if plan.workflow is None:
            said = "The conductor wrote no workflow."
            raise PlanningFailed(StepError(kind="plan_failed", message=said, hint="Plan again."))
        return plan.workflow

    async def _plan(self, work: Work, calls: PlanCalls) -> Plan:
        rejected = 0
        async for item in make_plan(self._request_for(work), calls):
            if isinstance(item, Plan):
                return item
            rejected += 1
            work.journal.post(
                PlanRejected(
                    run_id=work.run_id,
                    attempt=rejected,
                    raw_text=item.raw_text,
                    diagnostics=item.diagnostics,
                    usage=item.usage,
                    cost_usd=item.cost_usd,
                    latency_s=item.latency_s,
                )
            )
        raise WorkerError("internal", "Planning ended without a plan.", hint="This is a mistake of ours.")

    def _draft(self, work: Work, number: int) -> Draft:
        work.planning = self._means.hub.draft(work.run_id, PLAN, number)
        return work.planning

    def _failed(self, work: Work, error: StepError, text: str) -> PlanningFailed:
        work.planning = None
        work.journal.post(PlanFailed(run_id=work.run_id, error=error, partial_text=text))
        return PlanningFailed(error)
