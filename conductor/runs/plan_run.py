"""Planning as part of a run: the conductor's text as frames, its turns as events."""

from __future__ import annotations

from collections.abc import Callable

from conductor.plans.planning import PlanningRequest
from conductor.providers.base import WorkerError
from conductor.runs.drafts import Draft
from conductor.runs.endings import PlanningFailed
from conductor.runs.limits import LimitReached
from conductor.runs.plan_calls import PlanCalls, make_plan
from conductor.runs.work import Means, Planning, Work
from conductor_client.errors import StepError
from conductor_client.events import PlanCreated, PlanRejected, PlanStarted
from conductor_client.plan import Plan
from conductor_client.workflow import Workflow

PLAN = "plan"
RequestFor = Callable[[Work], PlanningRequest]
"""What to ask of whom in a run's first round. Raises ``WorkerError`` when there is no such conductor."""

Ask = Callable[[PlanningRequest], PlanningRequest]


class PlanRun:
    """Plans runs: what a ``Runner`` is given."""

    def __init__(self, means: Means, request_for: RequestFor) -> None:
        self._means, self._request_for = means, request_for

    async def __call__(self, work: Work, request: Ask = lambda given: given) -> Workflow | None:
        """Returns the next round's workflow, ``None`` when the earlier answer stands. ``request`` adapts it.

        Raises ``PlanningFailed`` after ``plan_failed`` was handed in: in the first round, and at a limit.
        """
        run_id, journal = work.run_id, work.journal
        number = len(work.plans) + 1
        work.planning = planning = Planning(round=number)
        calls = PlanCalls(self._means, work.budget, lambda number: self._draft(work, number), planning)
        journal.post(PlanStarted(run_id=run_id, conductor=work.created.conductor, round=number))
        try:
            plan = await self._plan(work, request(self._request_for(work)), calls)
        except WorkerError as error:
            failed = self._failed(work, error.as_data(), error.partial_text)
            if number > 1:
                work.is_settled = True
                return None
            raise failed from error
        except LimitReached as limit:
            raise self._failed(work, limit.error) from limit
        await self._means.store.save_plan(plan)
        # Known before it is stored: a stop in between skips the plan's steps and fails no planning.
        work.planning = None
        if plan.workflow is not None:
            work.workflow = plan.workflow
            work.plans.append(plan)
        else:
            work.is_settled = True
        await journal.write(PlanCreated(run_id=run_id, plan=plan, round=number))
        if plan.workflow is None and number == 1:
            said = "The conductor wrote no workflow."
            raise PlanningFailed(StepError(kind="plan_failed", message=said, hint="Plan again."))
        return plan.workflow

    async def _plan(self, work: Work, request: PlanningRequest, calls: PlanCalls) -> Plan:
        rejected = 0
        async for item in make_plan(request, calls):
            if isinstance(item, Plan):
                return item
            rejected += 1
            work.journal.post(
                PlanRejected(
                    run_id=work.run_id,
                    attempt=rejected,
                    round=request.round,
                    raw_text=item.raw_text,
                    diagnostics=item.diagnostics,
                    usage=item.usage,
                    cost_usd=item.cost_usd,
                    latency_s=item.latency_s,
                )
            )
        raise WorkerError("internal", "Planning ended without a plan.", hint="This is a mistake of ours.")

    def _draft(self, work: Work, number: int) -> Draft:
        return self._means.hub.draft(work.run_id, PLAN, number)

    def _failed(self, work: Work, error: StepError, text: str | None = None) -> PlanningFailed:
        planning, work.planning = work.planning, None
        assert planning is not None
        work.journal.post(planning.failed(work.run_id, error, text))
        return PlanningFailed(error)
