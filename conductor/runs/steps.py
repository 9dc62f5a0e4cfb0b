"""Brings one step to its end: reuse or tries; every turn of it is an event.

A step ends in exactly one of finished, reused, failed, skipped. One that is interrupted is left in
``Work.under_way``: whether that means cancelled, failed or to be resumed is for the runner to say.
"""

from __future__ import annotations

import asyncio

from conductor.runs.attempts import Attempts, Done, Failed
from conductor.runs.context import Context
from conductor.runs.limits import LimitReached
from conductor.runs.scheduler import Outcome
from conductor.runs.work import Charge, Means, UnderWay, Work
from conductor.store import StoredResult
from conductor_client._base import seconds_between, utc_now
from conductor_client.errors import StepError
from conductor_client.events import (
    ReusedFrom,
    StepFailed,
    StepFinished,
    StepQueued,
    StepRetried,
    StepReused,
    StepSkipped,
)
from conductor_client.workflow import Step, Workflow


class Steps:
    """Executes the steps of one workflow of a run."""

    def __init__(self, work: Work, workflow: Workflow, means: Means) -> None:
        self._work, self._workflow, self._means = work, workflow, means

    async def execute(self, step: Step) -> Outcome:
        """Runs or reuses a step whose access list is there. Raises only when cancelled or out of store."""
        work = self._work
        sent = work.terms.context(self._workflow, step, work.outputs)
        worker = work.terms.workers.get(step.worker)
        key = work.terms.key(self._workflow, step, sent.messages)
        if key is not None and work.find is not None and work.terms.may_reuse(step.step_id):
            found = await work.find(key, step, sent.messages)
            if found is not None:
                return await self._reuse(step, sent, found)
        first = self._begin(step, sent)
        try:
            if worker is None or key is None:
                raise Failed(first, step.worker, _unknown(step.worker), charge=Charge())
            work.budget.count_step()
            done = await self._attempts(step, sent, first).until_done(worker)
        except Failed as failed:
            return await self._fail(step, failed)
        except LimitReached as limit:
            return await self._fail(step, Failed(first, step.worker, limit.error, charge=Charge()))
        return await self._finish(step, key, done)

    def _attempts(self, step: Step, sent: Context, first: int) -> Attempts:
        is_final = step is self._workflow.final_step
        return Attempts(self._work, self._means, step, sent, first, is_final=is_final)

    async def skip(self, step: Step, cause: str) -> None:
        """Notes that a step cannot run because of ``cause``, a step on its access list."""
        number = self._workflow.step(cause).position + 1
        error = self._work.errors.get(cause)
        why = f"failed: {error.message}" if error else "was skipped."
        self.skip_for(step, cause, f"It needs the output of step {number}, which {why}")

    def skip_for(self, step: Step, cause: str | None, said: str) -> None:
        """Notes that a step does not run; ``cause`` is ``None`` when no step is to blame."""
        self._work.end(step.step_id)
        self._work.journal.post(
            StepSkipped(run_id=self._work.run_id, step_id=step.step_id, cause=cause, said=said)
        )

    async def keep_result(self, step: Step, done: StoredResult) -> None:
        """Makes an answer of an earlier process findable by its key, should it have died before that."""
        terms = self._work.terms
        sent = terms.context(self._workflow, step, self._work.outputs)
        key = terms.key(self._workflow, step, sent.messages)
        if key is not None:
            await self._means.store.put_result(key, done)

    def _begin(self, step: Step, sent: Context) -> int:
        """Queues the step and returns the number of its first attempt here: over 1 after a crash."""
        work, step_id = self._work, step.step_id
        before = work.before.steps.get(step_id)
        attempts = before.attempts if before is not None else ()
        first = max((each.attempt for each in attempts), default=0) + 1
        interrupted = work.under_way.get(step_id)
        work.under_way[step_id] = UnderWay(first, step.worker)
        if not attempts:
            work.journal.post(
                StepQueued(
                    run_id=work.run_id,
                    step_id=step_id,
                    attempt=first,
                    worker=step.worker,
                    messages=sent.messages,
                    visible=sent.visible,
                    withheld=sent.withheld,
                )
            )
        elif interrupted is not None:
            work.journal.post(
                StepRetried(
                    run_id=work.run_id,
                    step_id=step_id,
                    attempt=interrupted.attempt,
                    worker=interrupted.worker,
                    error=_INTERRUPTED,
                    wait_s=0.0,
                    next_worker=step.worker,
                    partial_text=interrupted.text(),
                    cost_usd=work.terms.cost_of_unfinished(interrupted.worker),
                )
            )
        return first

    async def _reuse(self, step: Step, sent: Context, found: StoredResult) -> Outcome:
        self._work.end(step.step_id, found.output)
        same = ("worker", "output", "reasoning", "served_model")
        origin = ("run_id", "step_id", "duration_s", "usage", "cost_usd")
        await self._work.journal.write(
            StepReused(
                run_id=self._work.run_id,
                step_id=step.step_id,
                messages=sent.messages,
                visible=sent.visible,
                withheld=sent.withheld,
                reused_from=ReusedFrom(**{name: getattr(found, name) for name in origin}),
                **{name: getattr(found, name) for name in same},
            )
        )
        return "reused"

    async def _finish(self, step: Step, key: str, done: Done) -> Outcome:
        work, said = self._work, done.answer.completion
        notes = said.notes
        if said.finish == "length":
            notes = (*notes, "The output was cut off at its cap.")
        event = StepFinished(
            run_id=work.run_id,
            step_id=step.step_id,
            attempt=done.attempt,
            worker=done.worker.name,
            output=said.output,
            reasoning=said.reasoning,
            finish=said.finish,
            usage=said.usage,
            cost_usd=done.charge.cost_usd,
            price=done.charge.price,
            served_model=said.served_model,
            first_token_at=done.answer.first_token_at,
            notes=notes,
            prompt_cut=said.prompt_cut,
        )
        result = StoredResult(
            duration_s=seconds_between(done.started_at, utc_now()),
            **event.model_dump(include=set(StoredResult.model_fields)),
        )
        work.end(step.step_id, said.output)
        await work.journal.write(event)
        # The answer is on the disk with its event; that it is found by its key need not hold up what follows.
        work.keeping.append(asyncio.create_task(self._means.store.put_result(key, result)))
        return "succeeded"

    async def _fail(self, step: Step, failed: Failed) -> Outcome:
        work, cause = self._work, failed.cause
        error = self._told_what_fills(step, failed.error)
        work.errors[step.step_id] = error
        work.partial_texts[step.step_id] = cause.partial_text if cause else ""
        work.end(step.step_id)
        await work.journal.write(
            StepFailed(
                run_id=work.run_id,
                step_id=step.step_id,
                attempt=failed.attempt,
                worker=failed.worker,
                error=error,
                partial_text=cause.partial_text if cause else "",
                reasoning=cause.reasoning if cause else "",
                usage=cause.usage if cause else None,
                cost_usd=failed.charge.cost_usd,
                served_model=cause.served_model if cause else None,
            )
        )
        return "failed"

    def _told_what_fills(self, step: Step, error: StepError) -> StepError:
        """For a context that was too small: which of the outputs it sees takes the most room."""
        if error.kind != "context_overflow" or not step.access:
            return error
        longest = max(step.access, key=lambda seen: len(self._work.outputs.get(seen, "")))
        seen, length = self._workflow.step(longest), len(self._work.outputs.get(longest, ""))
        said = (
            f"Step {step.position + 1} sees {len(step.access)} of the outputs before it; that of step "
            f"{seen.position + 1} is the longest ({length:,} characters)."
        )
        return error.model_copy(update={"hint": f"{error.hint} {said}".strip()})


def _unknown(worker: str) -> StepError:
    return StepError(
        kind="unavailable",
        message=f"There is no worker {worker} in the pool.",
        hint="Give the step another worker, or add this one to the pool file.",
    )


_INTERRUPTED = StepError(
    kind="interrupted",
    message="The process that made this call ended before the answer was complete.",
    hint="The call is made again.",
    retryable=True,
)
