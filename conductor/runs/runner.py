"""Executes a run from wherever its events say it stands to its end, once: plan, steps, last event.

A run ends by finishing, failing, being cancelled or reaching a limit. When only this process ends, nothing is
written: the next one goes on from the stored events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from conductor.providers.base import Worker
from conductor.runs import endings, rounds
from conductor.runs.earlier import Earlier
from conductor.runs.journal import Journal, JournalBroken
from conductor.runs.limits import Budget, DayBudget, estimate_tokens
from conductor.runs.plan_run import Ask
from conductor.runs.scheduler import GOOD, Outcome, run_steps
from conductor.runs.steps import Steps
from conductor.runs.terms import Terms
from conductor.runs.work import Means, UnderWay, Work
from conductor.store import StoredResult, StoreError
from conductor_client.events import RunCreated, RunResumed, RunStarted
from conductor_client.run_state import RunState, fold
from conductor_client.workflow import Workflow

SAVE_S = 1.0
"""How often the text so far of running steps is saved."""
log = logging.getLogger("conductor.runs.runner")


class PlanRun(Protocol):
    """Plans a round of a run, writing its events to the journal; raises ``endings.PlanningFailed``."""

    async def __call__(self, work: Work, request: Ask = ...) -> Workflow | None:
        """Returns the workflow, or ``None`` when the answer there is stands."""
        ...


Resolve = Callable[[RunCreated], Mapping[str, Worker]]
"""The workers of a run by name, as frozen with it."""


class Runner:
    """Executes any number of runs of this process at once."""

    def __init__(self, means: Means, plan_run: PlanRun, resolve: Resolve, day: DayBudget) -> None:
        self._means, self._plan_run, self._resolve, self._day = means, plan_run, resolve, day
        self._executions: dict[str, asyncio.Task[None] | None] = {}
        self._stopped: set[str] = set()
        self._saver: asyncio.Task[None] | None = None

    def run(self, run_id: str) -> Coroutine[Any, Any, None]:
        """Executes a run to its end. Cancelled, it leaves the run to be resumed.

        Raises:
            JournalBroken: the store failed; the run has been shown as failed but is not stored as that.
        """
        self._executions[run_id] = None  # from now on it can be stopped
        return self._run(run_id)

    def cancel(self, run_id: str) -> bool:
        """Asks a run under way to end as cancelled; ``False`` when it is not under way."""
        if run_id not in self._executions:
            return False
        self._stopped.add(run_id)
        execution = self._executions[run_id]
        if execution is not None:
            execution.cancel()
        return True

    async def cancel_idle(self, run_id: str) -> None:
        """Ends a run that nobody executes as cancelled; one that has ended stays as it is."""
        work = await self._take_up(run_id)
        if work is not None:
            await endings.cancelled(work, self._steps(work))
            await work.journal.drain()

    async def close(self) -> None:
        """Stops saving texts. To be called after the engine was stopped."""
        if self._saver is not None:
            self._saver.cancel()
            await asyncio.wait([self._saver])

    async def _run(self, run_id: str) -> None:
        hub = self._means.hub
        hub.open(run_id)
        try:
            work = await self._take_up(run_id)
            if work is None:
                return
            execution = asyncio.create_task(self._carry_out(work), name=f"execution of {run_id}")
            self._executions[run_id] = execution
            if run_id in self._stopped:
                execution.cancel()
            self._keep_saving()
            try:
                await asyncio.wait([execution])
            except asyncio.CancelledError:
                await self._leave(work, execution)
                raise
            await self._end(work, execution)
            await _kept(work)
        finally:
            self._executions.pop(run_id, None)
            self._stopped.discard(run_id)
            hub.close(run_id)

    async def _take_up(self, run_id: str) -> Work | None:
        """Reads where the run stands; ``None`` when it has ended."""
        try:
            events = await self._means.store.events(run_id)
        except KeyError:
            return None  # deleted meanwhile
        created, state = events[0], fold(events)
        assert isinstance(created, RunCreated)
        if state.has_ended:
            return None
        journal = Journal(run_id, self._means.store, self._means.hub.publish, lambda _: self._abort(run_id))
        work = Work(
            terms=Terms(created, self._resolve(created)),
            before=state,
            journal=journal,
            budget=_budget(state, self._day),
            workflow=state.workflow,
        )
        rounds.take_up(work)
        if created.parent_run is not None or created.reuse:
            work.find = Earlier(self._means.store, await self._parent(created), created.pool_snapshot).find
        if state.started_at is not None:
            await self._find_half_done(work)
        return work

    async def _find_half_done(self, work: Work) -> None:
        """Notes the calls that an earlier process did not bring to their end."""
        texts = await self._means.store.texts_so_far(work.run_id)
        saved = {(each.step_id, each.attempt): each.text for each in texts if each.channel == "output"}
        for step_id, step in work.before.steps.items():
            last = step.attempts[-1] if step.attempts else None
            if step.status == "running" and last is not None and last.finished_at is None:
                text = saved.get((step_id, last.attempt), "")
                work.under_way[step_id] = UnderWay(last.attempt, last.worker, saved=text)

    async def _parent(self, created: RunCreated) -> RunState | None:
        if created.parent_run is None or created.reuse:
            return None
        try:
            return await self._means.store.state(created.parent_run)
        except KeyError:
            return RunState(run_id=created.run_id)  # deleted meanwhile; the rest of the lineage still counts

    async def _carry_out(self, work: Work) -> None:
        async with asyncio.timeout(_left_s(work.before)):
            if work.before.started_at is None:
                work.journal.post(RunStarted(run_id=work.run_id))
            else:  # nothing may be called before it is certain that the outcome can be stored
                await work.journal.write(RunResumed(run_id=work.run_id))
            workflow = work.workflow or await self._plan_run(work)
            outcomes: Mapping[str, Outcome] = {}
            while workflow is not None:
                outcomes = await self._steps_of(work, workflow)
                workflow = await self._next_round(work, workflow, outcomes)
        await endings.complete(work, outcomes)

    async def _next_round(
        self, work: Work, workflow: Workflow, outcomes: Mapping[str, Outcome]
    ) -> Workflow | None:
        if any(outcome not in GOOD for outcome in outcomes.values()) or not rounds.may_go_on(work):
            return None
        work.answers.append(work.outputs[workflow.final_step.step_id])
        following = await self._plan_run(work, lambda first: rounds.next_request(work, first))
        if following is not None:
            rounds.begin(work)
        return following

    async def _steps_of(self, work: Work, workflow: Workflow) -> Mapping[str, Outcome]:
        rounds.check_steps(work)
        steps = Steps(work, workflow, self._means)
        known = await self._known(work, workflow, steps)
        return await run_steps(workflow, steps.execute, steps.skip, known=known)

    async def _known(self, work: Work, workflow: Workflow, steps: Steps) -> Mapping[str, Outcome]:
        """Outcomes of steps that an earlier process brought to their end; they are not called again."""
        known: dict[str, Outcome] = {}
        for step in workflow.steps:
            state = work.before.steps.get(step.step_id)
            if state is None:
                continue
            status = state.status
            if status == "waiting" or status == "running" or status == "cancelled":
                continue
            known[step.step_id] = status
            work.end(step.step_id, state.output)
            work.partial_texts[step.step_id] = state.partial_text
            if state.error is not None:
                work.errors[step.step_id] = state.error
            if state.status == "succeeded":
                await steps.keep_result(step, _result(work.run_id, step.step_id, state))
        return known

    async def _end(self, work: Work, execution: asyncio.Task[None]) -> None:
        """Writes how an execution ended that did not say so itself."""
        try:
            if execution.cancelled() and work.journal.broken is None:
                await endings.cancelled(work, self._steps(work))
            elif not execution.cancelled() and (error := execution.exception()) is not None:
                await endings.failed(work, self._steps(work), error)
        except JournalBroken:
            log.error("run %s ended, but its last event could not be stored", work.run_id)
        await work.journal.drain()
        if work.journal.broken is not None:
            self._means.hub.publish(work.run_id, [endings.not_stored(work)])
            raise JournalBroken(f"run {work.run_id} could not be stored") from work.journal.broken

    async def _leave(self, work: Work, execution: asyncio.Task[None]) -> None:
        """This process ends: stops calling, keeps the text so far for whoever goes on."""
        unsaved = self._means.hub.unsaved(work.run_id)
        execution.cancel()
        await asyncio.wait([execution])
        if not execution.cancelled():
            execution.exception()
        await work.journal.drain()  # the text of an attempt is kept only once its start is stored
        for each in unsaved:
            await self._means.store.save_text(
                work.run_id, each.step_id, each.attempt, each.channel, each.text
            )

    def _abort(self, run_id: str) -> None:
        execution = self._executions.get(run_id)
        if execution is not None:
            execution.cancel()

    def _steps(self, work: Work) -> Steps | None:
        return Steps(work, work.workflow, self._means) if work.workflow is not None else None

    def _keep_saving(self) -> None:
        if self._saver is None or self._saver.done():
            self._saver = asyncio.create_task(self._save_texts(), name="text so far")

    async def _save_texts(self) -> None:
        store = self._means.store
        while self._executions:
            await asyncio.sleep(SAVE_S)
            try:
                for each in self._means.hub.unsaved():
                    await store.save_text(each.run_id, each.step_id, each.attempt, each.channel, each.text)
            except StoreError as problem:
                log.warning("the text so far of running steps is not saved: %s", problem)


async def _kept(work: Work) -> None:
    for problem in await asyncio.gather(*work.keeping, return_exceptions=True):
        if isinstance(problem, BaseException):
            log.warning("an answer of run %s cannot be reused: %s", work.run_id, problem)


def _left_s(state: RunState) -> float | None:
    """Seconds the run may still take; the time in which no process executed it does not count."""
    if state.limits.max_wall_s is None:
        return None
    if state.started_at is None:
        return state.limits.max_wall_s
    moments = [each.started_at for step in state.steps.values() for each in step.attempts if each.started_at]
    last = max([state.started_at, *moments])
    return max(0.0, state.limits.max_wall_s - (last - state.started_at).total_seconds())


def _budget(state: RunState, day: DayBudget) -> Budget:
    """What was spent before counts; calls whose usage nobody told are estimated."""
    parts = (state.usage, state.orchestration_usage)
    tokens = sum((usage.input_tokens or 0) + (usage.output_tokens or 0) for usage in parts)
    for step in state.steps.values():
        unknown = [each for each in step.attempts if each.started_at is not None and each.usage is None]
        sent = sum(estimate_tokens(message.content) for message in step.messages) if unknown else 0
        tokens += sum(sent + estimate_tokens(each.partial_text) for each in unknown)
    cost = state.cost_usd + state.orchestration_cost_usd
    # A half-done step is called again, and counted then.
    called = sum(bool(step.attempts) and step.status != "running" for step in state.steps.values())
    return Budget(state.limits, day=day, tokens=tokens, usd=cost, steps=called)


def _result(run_id: str, step_id: str, state: Any) -> StoredResult:
    last = state.attempts[-1]
    return StoredResult(
        run_id=run_id,
        step_id=step_id,
        attempt=last.attempt,
        worker=state.worker or last.worker,
        output=state.output or "",
        reasoning=state.reasoning,
        finish=state.finish or "stop",
        usage=last.usage,
        cost_usd=last.cost_usd,
        price=state.price,
        served_model=state.served_model,
        duration_s=state.duration_s,
        notes=state.notes,
    )
