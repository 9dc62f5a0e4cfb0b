"""The tries of one step: reserve, queue, call; after a failure wait and try again, or let a fallback try."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

from conductor.providers.base import Call, Worker, WorkerError
from conductor.runs.calls import IDLE_TIMEOUT_S, Answer, make_call
from conductor.runs.context import Context
from conductor.runs.drafts import Draft
from conductor.runs.limits import LimitReached, estimate_tokens
from conductor.runs.retry import Next
from conductor.runs.work import Charge, Means, UnderWay, Work
from conductor_client.errors import StepError
from conductor_client.events import StepRetried, StepStarted
from conductor_client.usage import Usage
from conductor_client.workflow import Step


@dataclass(frozen=True)
class Done:
    """A try that went well."""

    attempt: int
    worker: Worker
    answer: Answer
    charge: Charge
    started_at: datetime


class Failed(Exception):
    """The last try failed too. ``cause`` is ``None`` when a limit forbade the call."""

    def __init__(
        self, attempt: int, worker: str, error: StepError, *, cause: WorkerError | None = None, charge: Charge
    ) -> None:
        super().__init__(error.message)
        self.attempt, self.worker, self.error, self.cause, self.charge = attempt, worker, error, cause, charge


class Attempts:
    """Tries one step until it is done or nobody may try any more. ``first``: number of the first try.

    ``is_final``: whether the step's output is the answer.
    """

    def __init__(
        self, work: Work, means: Means, step: Step, sent: Context, first: int, *, is_final: bool
    ) -> None:
        self._work, self._means, self._step, self._sent = work, means, step, sent
        self._terms, self._attempt, self._is_final = work.terms, first, is_final

    async def until_done(self, worker: Worker) -> Done:
        """Raises ``Failed``. Every further try is a ``step_retried`` event."""
        tries, tried = 1, frozenset({worker.name})
        now = asyncio.get_running_loop().time
        began = now()
        while True:
            try:
                return await self._try(worker)
            except LimitReached as limit:
                raise Failed(self._attempt, worker.name, limit.error, charge=Charge()) from limit
            except WorkerError as error:
                charge = self._charge(worker, error.usage, error.served_model)
                following = self._means.retry.next(
                    error, worker, tries, self._terms.workers, tried, spent_s=now() - began
                )
                if following is None:
                    failed = Failed(self._attempt, worker.name, error.as_data(), cause=error, charge=charge)
                    raise failed from error
                await self._wait(worker, error, charge, following)
                tries = 1 if following.first_try else tries + 1
                worker = following.worker
                tried |= {worker.name}

    async def _try(self, worker: Worker) -> Done:
        work, lane = self._work, self._means.lanes.of(worker)
        draft = self._draft(worker)
        cap = self._terms.output_cap(worker, is_final=self._is_final)
        reservation = await work.budget.reserve(
            worker=worker.name,
            input_tokens=sum(estimate_tokens(message.content) for message in self._sent.messages),
            output_tokens=cap,
            price=self._terms.price(worker.name),
        )
        usage, charge = None, Charge()
        try:
            if reason := lane.why_waiting():
                draft.say(f"{worker.name}: {reason}")
            async with lane.slot() as waited_s:
                draft.say("")
                started = self._started(worker, waited_s)
                reservation.is_sent = True
                answer = await self._call(worker, cap, draft)
            usage = answer.completion.usage
            charge = self._charge(
                worker, usage, answer.completion.served_model, answer.completion.reported_cost_usd
            )
            return Done(self._attempt, worker, answer, charge, started.at)
        except WorkerError as error:
            reservation.is_sent = not error.was_turned_away
            usage, charge = error.usage, self._charge(worker, error.usage, error.served_model)
            raise
        finally:
            work.budget.settle(reservation, usage, charge.cost_usd, draft.everything())

    def _draft(self, worker: Worker) -> Draft:
        draft = self._means.hub.draft(self._work.run_id, self._step.step_id, self._attempt)
        self._work.under_way[self._step.step_id] = UnderWay(self._attempt, worker.name, draft)
        return draft

    def _started(self, worker: Worker, waited_s: float) -> StepStarted:
        started = StepStarted(
            run_id=self._work.run_id,
            step_id=self._step.step_id,
            attempt=self._attempt,
            worker=worker.name,
            waited_s=round(waited_s, 3),
        )
        self._work.journal.post(started)
        return started

    async def _call(self, worker: Worker, cap: int | None, draft: Draft) -> Answer:
        work, sent = self._work, self._sent
        call = Call(
            worker=worker,
            messages=sent.messages,
            max_output_tokens=cap,
            seed=work.created.seed,
            settings=self._terms.settings(worker, is_final=self._is_final),
            question=sent.parts.question,
            instruction=sent.parts.instruction,
            visible=sent.parts.visible,
        )
        idle_s = work.created.limits.idle_timeout_s or worker.idle_timeout_s or IDLE_TIMEOUT_S
        provider = self._means.provider_for(worker)
        return await make_call(provider, call, draft, idle_timeout_s=idle_s, timeout_s=worker.timeout_s)

    def _charge(
        self, worker: Worker, usage: Usage | None, served_model: str | None, reported: str | None = None
    ) -> Charge:
        return self._means.charge_for(worker, self._terms.price(worker.name), usage, served_model, reported)

    async def _wait(self, worker: Worker, error: WorkerError, charge: Charge, following: Next) -> None:
        self._work.journal.post(
            StepRetried(
                run_id=self._work.run_id,
                step_id=self._step.step_id,
                attempt=self._attempt,
                worker=worker.name,
                error=error.as_data(),
                wait_s=round(following.wait_s, 3),
                next_worker=following.worker.name,
                partial_text=error.partial_text,
                usage=error.usage,
                cost_usd=charge.cost_usd,
            )
        )
        if error.kind == "rate_limited" or error.retry_after_s is not None:
            self._means.lanes.of(worker).pause(following.wait_s)
        self._attempt += 1
        draft = self._draft(following.worker)
        if following.wait_s:
            draft.say(f"{error.message} Trying again in {following.wait_s:.0f} s.")
            await asyncio.sleep(following.wait_s)
