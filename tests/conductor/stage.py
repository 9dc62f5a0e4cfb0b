"""A stage for runs: the real store, hub, runner and engine, with workers that play scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from conductor.engine.claims import Claims
from conductor.engine.local import LocalEngine
from conductor.engine.recorded import RecordedEngine
from conductor.providers.base import Worker
from conductor.providers.registry import Providers
from conductor.providers.scripted import ScriptedProvider
from conductor.runs.endings import PlanningFailed
from conductor.runs.limits import DayBudget, highest_cost
from conductor.runs.live import Hub
from conductor.runs.retry import RetryPolicy
from conductor.runs.runner import Runner
from conductor.runs.work import Charge, Means, Work
from conductor.store import Store
from conductor_client._base import new_id
from conductor_client.errors import StepError
from conductor_client.events import Limits, RunCreated, RunEvent
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import RunState
from conductor_client.usage import Price, Usage
from conductor_client.workflow import Workflow, workflow_of

Rows = Sequence[tuple[str, str, Sequence[int]]]
CENT_A_TOKEN = Price(input_usd_per_mtok=Decimal(10_000), output_usd_per_mtok=Decimal(10_000))


def scripted(name: str, *script: Mapping[str, Any], model: str = "demo", **fields: Any) -> Worker:
    """A worker that plays these lines, or a fake model of that name."""
    return Worker(name=name, provider="scripted", model=model, profile={"script": list(script)}, **fields)


class Stage:
    """One backend's worth of machinery on one database file. ``price``: of every worker.

    ``recorded`` takes the engine that writes runs down with DBOS; without it starting is quicker.
    ``providers`` are the real ones, for workers with a server; without them every worker plays its script.
    """

    def __init__(
        self,
        folder: Path,
        *workers: Worker,
        price: Price | None = None,
        retry: RetryPolicy | None = None,
        day: DayBudget | None = None,
        recorded: bool = False,
        providers: Providers | None = None,
    ) -> None:
        self.workers = {worker.name: worker for worker in workers}
        self.price, self._providers = price, providers
        self.store = Store.open(folder / "conductor.sqlite")
        self.provider = ScriptedProvider()
        self.hub = Hub(self.store.events)
        means = Means(
            store=self.store,
            hub=self.hub,
            provider_for=providers.provider_for if providers else lambda worker: self.provider,
            charge_for=_charge,
            retry=retry or RetryPolicy(draw=lambda: 0.0),
        )
        self.runner = Runner(means, _no_plan, lambda created: self.workers, day or DayBudget(None))
        claims = Claims(folder / "claims")
        self.engine: LocalEngine | RecordedEngine = (
            RecordedEngine(
                self.runner, self.store.unfinished_runs, claims, folder / "engine.sqlite", open_after_s=0
            )
            if recorded
            else LocalEngine(self.runner, self.store.unfinished_runs, claims)
        )

    async def __aenter__(self) -> Stage:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.engine.stop()
        await self.runner.close()
        if self._providers is not None:
            await self._providers.close()
        await self.store.close()

    @property
    def calls(self) -> dict[str, int]:
        """How often each worker was really called."""
        return dict(self.provider.calls)

    async def start(self, rows: Rows | Workflow, **fields: Any) -> str:
        """Stores a run of these steps and starts it."""
        workflow = rows if isinstance(rows, Workflow) else workflow_of("What is it?", rows)
        infos = tuple(_info(worker, self.price) for worker in self.workers.values())
        created = RunCreated(
            run_id=new_id("run"),
            prompt=workflow.prompt,
            conductor="given",
            workflow=workflow,
            pool_snapshot=infos,
            **fields,
        )
        self.engine.claim(created.run_id)
        await self.store.create_run(created)
        self.engine.start(created.run_id)
        return created.run_id

    async def ended(self, run_id: str) -> RunState:
        """The run's state after its last event."""
        async with asyncio.timeout(20):
            async for _ in self.hub.subscribe(run_id):
                pass
        return await self.store.state(run_id)

    async def run(self, rows: Rows | Workflow, **fields: Any) -> RunState:
        """Runs these steps to the end."""
        return await self.ended(await self.start(rows, **fields))

    async def fork(self, parent: RunState, workflow: Workflow | None = None, **fields: Any) -> RunState:
        """Runs a workflow as a fork of an earlier run; ``None`` = the same workflow again."""
        chosen = workflow or parent.workflow
        assert chosen is not None
        return await self.run(chosen, parent_run=parent.run_id, **fields)

    async def until(self, run_id: str, kind: str, step_id: str | None = None) -> RunEvent:
        """Waits for an event of a kind (of a step)."""
        async with asyncio.timeout(20):
            async for item in self.hub.subscribe(run_id):
                if getattr(item, "kind", None) == kind and step_id in (None, getattr(item, "step_id", None)):
                    return item  # type: ignore[return-value]  # frames have no kind
        raise AssertionError(f"the run ended without {kind}")

    async def until_text(self, run_id: str, text: str) -> None:
        """Waits until this text is on the screen of somebody who watches."""
        async with asyncio.timeout(20):
            async for item in self.hub.subscribe(run_id):
                if text in getattr(item, "text", ""):
                    return
        raise AssertionError(f"the run ended without showing {text!r}")


def limits(**given: Any) -> Limits:
    """Limits of a run."""
    return Limits(**given)


def _info(worker: Worker, price: Price | None) -> WorkerInfo:
    return WorkerInfo(
        name=worker.name,
        provider=worker.provider,
        model=worker.model,
        settings=worker.settings,
        max_output_tokens=worker.max_output_tokens,
        price=price,
        fallback=worker.fallback,
    )


def _charge(
    worker: Worker, price: Price | None, usage: Usage | None, served: str | None, reported: str | None
) -> Charge:
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return Charge(price=price)
    return Charge(highest_cost(price, usage.input_tokens, usage.output_tokens), price)


async def _no_plan(work: Work, request: object = None) -> Workflow:
    raise PlanningFailed(StepError(kind="plan_failed", message="Nobody plans here."))
