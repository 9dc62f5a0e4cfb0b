"""The backend as one object: what the HTTP API, the command line and tests are given."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any, Self

from conductor.conductors import list_conductors
from conductor.conductors.local import LocalConductor
from conductor.engine import Engine, open_engine
from conductor.folders import without_folders
from conductor.imports import import_reply
from conductor.model_fetches import ModelFetches
from conductor.plans.planning import PlanningRequest
from conductor.pool import PoolShelf
from conductor.prices import cost_of, price_of
from conductor.providers.base import Worker, WorkerError
from conductor.providers.registry import Providers
from conductor.runs import forks as forking
from conductor.runs.asking import Asking, invalid, not_found, once, refusal, workflow_of_request
from conductor.runs.drafts import Draft
from conductor.runs.limits import Budget, DayBudget, LimitReached
from conductor.runs.live import Hub, Item
from conductor.runs.plan_calls import PlanCalls, make_plan
from conductor.runs.plan_run import PlanRun
from conductor.runs.runner import Runner
from conductor.runs.terms import frozen_workers
from conductor.runs.tryout import try_worker
from conductor.runs.work import Charge, Means, Work
from conductor.settings import Settings
from conductor.store import UNDO_S, NameTaken, Once, Store
from conductor.tryouts import Tryouts
from conductor.version import own_version
from conductor_client.api import (
    ForkPreview,
    ForkRequest,
    Health,
    ImportReply,
    ImportRequest,
    Lineage,
    PlanRequest,
    RunFacets,
    RunPage,
    RunPatch,
    RunRequest,
    SavedWorkflow,
    SaveWorkflowRequest,
    WorkerTestReply,
)
from conductor_client.errors import Conflict, StatusError, quoted
from conductor_client.events import Limits, RunCreated, RunEvent
from conductor_client.plan import Plan
from conductor_client.pool import ConductorInfo, ModelState, PoolView
from conductor_client.run_state import RunState
from conductor_client.usage import Price, Usage

log = logging.getLogger("conductor.service")


class Studio:
    """Plans, runs, forks and remembers. Use it on the event loop it was opened on.

    Unknown runs, plans, workers and workflows raise ``KeyError``; what is refused raises ``StatusError`` or
    ``InvalidEdit``; a database that cannot be used raises ``StoreError``.
    """

    def __init__(self, settings: Settings, store: Store, providers: Providers, day: DayBudget) -> None:
        self._settings, self._store, self._providers, self._day = settings, store, providers, day
        self._shelf = PoolShelf(settings)
        self._asking = Asking(self._shelf, store, settings.models_dir)
        self._forks = forking.Forks(self._asking, store)
        self._fetches = ModelFetches(settings.models_dir)
        self._tryouts = Tryouts()
        self.hub = Hub(store.events)
        self._means = Means(
            store=store, hub=self.hub, provider_for=providers.provider_for, charge_for=_charge
        )
        plan_run = PlanRun(self._means, self._planning_of)
        self._runner = Runner(self._means, plan_run, self._workers_of, day)
        self.engine: Engine = open_engine(settings, self._runner, store.unfinished_runs)
        self._purging: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, settings: Settings) -> Self:
        """Opens the database and takes up every run that an earlier process left unfinished.

        Raises:
            StoreError: the database cannot be used.
        """
        store = await asyncio.to_thread(Store.open, settings.db)
        try:
            today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
            spent = await store.spent_usd_since(today)
            day = DayBudget(settings.daily_usd, spent=spent)
            studio = cls(settings, store, Providers(settings.models_dir), day)
        except BaseException:
            await store.close()
            raise
        try:
            # Weights that nobody has checked yet take seconds each; from here on the answer is remembered.
            await asyncio.to_thread(studio._fetches.states)
            await studio.engine.resume_unfinished()
        except BaseException:
            await studio.close()
            raise
        studio._purge_after(0.0)
        return studio

    def key_variables(self) -> tuple[str, ...]:
        """Names of the environment variables with keys of any pool's workers; logs must not show them."""
        pools = [self._shelf.get(name) for name in self._shelf.names()]
        return tuple(dict.fromkeys(name for pool in pools for name in pool.key_variables))

    async def warm_up(self) -> None:
        """Lets a local default conductor read the fixed part of its prompt, so that the first plan is quick.

        Does nothing with any other conductor, and says nothing when it fails: the first plan will say it.
        """
        with contextlib.suppress(StatusError, WorkerError):
            asked = self._asking.plan(PlanRequest(prompt="?"))
            if isinstance(asked.conductor, LocalConductor):
                await asked.conductor.warm_up(
                    asked.workers, lambda call: self._providers.provider_for(call.worker).stream(call)
                )

    async def close(self) -> None:
        """Stops what runs, to be resumed by the next process, and lets go of files and sockets."""
        await self.engine.stop()
        for task in self._purging:
            task.cancel()
        await self._tryouts.close()
        await self._runner.close()
        await self._providers.close()
        await self._store.close()

    # Plans and runs

    async def plan(self, request: PlanRequest) -> Plan:
        """Makes and stores a plan; nothing is executed."""
        asked = self._asking.plan(request)
        budget = Budget(Limits(), day=self._day)
        calls = PlanCalls(self._means, budget, lambda number: Draft("", "plan", number, lambda _: None))
        try:
            async for item in make_plan(asked, calls):
                if isinstance(item, Plan):
                    await self._store.save_plan(item)
                    return item
        except WorkerError as error:
            raise refusal(error) from error
        except LimitReached as limit:
            said = limit.error
            raise StatusError(said.message, status_code=402, kind=said.kind, hint=said.hint) from limit
        raise AssertionError("planning ends with a plan or an error")

    async def get_plan(self, plan_id: str) -> Plan:
        """A stored plan."""
        return await self._store.get_plan(plan_id)

    async def start_run(self, request: RunRequest) -> tuple[str, bool]:
        """Stores and starts a run. With an earlier request's ``idempotency_key``: that run and ``False``.

        Raises ``KeyTaken`` when that key came with another request.
        """
        created = await self._asking.run(request)
        return await self._begin(created, once(request), request.tags)

    async def fork(self, run_id: str, request: ForkRequest) -> ForkPreview | tuple[str, bool]:
        """Runs an edited workflow, reusing what the edits do not touch; with ``dry_run`` only says what."""
        fork = await self._forks.make(await self._store.state(run_id), request)
        if request.dry_run:
            return fork.preview
        return await self._begin(fork.created, once(request, run_id))

    async def cancel(self, run_id: str) -> None:
        """Ends a run within a second, its text kept. Harmless when it has ended."""
        if not (await self._store.state(run_id)).has_ended:
            await self.engine.cancel(run_id)

    async def state(self, run_id: str) -> RunState:
        """A run as it stands, by its stored events."""
        return await self._store.state(run_id)

    async def events(self, run_id: str, after: int = 0) -> list[RunEvent]:
        """Stored events with a ``seq`` above ``after``."""
        return await self._store.events(run_id, after)

    def subscribe(self, run_id: str, after: int = 0) -> AsyncIterator[Item]:
        """Stored events after ``after``, whole texts of running steps, then what happens; see ``Hub``."""
        return self.hub.subscribe(run_id, after)

    async def list_runs(self, *, sort: str | None = None, **wanted: Any) -> RunPage:
        """One page of the history; see ``Store.list_runs``."""
        try:
            return await self._store.list_runs(sort=sort or "newest", **wanted)  # type: ignore[arg-type]  # it checks
        except ValueError as problem:
            raise invalid(f"The list cannot be given: {problem}.") from problem

    async def patch_run(self, run_id: str, patch: RunPatch) -> RunState:
        """Changes what people say about a run."""
        return await self._store.patch_run(run_id, patch)

    async def delete_run(self, run_id: str) -> None:
        """Stops and hides a run; it is gone for good a little later."""
        await self.cancel(run_id)
        await self._store.delete_run(run_id)
        self._purge_after(UNDO_S + 1.0)

    async def facets(self) -> RunFacets:
        """What the history can be filtered by."""
        return await self._store.facets()

    async def delete_branch(self, run_id: str) -> list[str]:
        """The same for a run and everything forked from it; returns their ids, the run's first."""
        stopped: set[str] = set()
        while running := [each for each in await self._store.branch(run_id) if each not in stopped]:
            for each in running:  # again until none is new: a fork may have begun meanwhile
                await self.cancel(each)
            stopped.update(running)
        hidden = await self._store.delete_branch(run_id)
        self._purge_after(UNDO_S + 1.0)
        return hidden

    async def restore_branch(self, run_id: str) -> list[str]:
        """Undoes the deletion of a branch, in time."""
        return await self._store.restore_branch(run_id)

    async def restore_run(self, run_id: str) -> None:
        """Undoes a deletion, in time."""
        await self._store.restore_run(run_id)

    async def lineage(self, run_id: str) -> Lineage:
        """The run's family."""
        return await self._store.lineage(run_id)

    # Saved workflows

    async def save_workflow(self, request: SaveWorkflowRequest) -> SavedWorkflow:
        """Keeps the workflow of a run, or a given one, under a name."""
        if request.workflow is not None:
            workflow = workflow_of_request(request.workflow, "")
        elif request.run_id is not None:
            found = (await self._run_or_404(request.run_id)).workflow
            if found is None:
                raise invalid("This run has no workflow to save.", "Wait for its plan.")
            workflow = found
        else:
            raise invalid("There is nothing to save.", "Give run_id or workflow.")
        try:
            return await self._store.save_workflow(request.name, workflow, replace=request.replace)
        except NameTaken as taken:
            raise Conflict(taken.message, status_code=409, kind="conflict", hint=taken.hint) from taken

    async def list_workflows(self) -> Sequence[SavedWorkflow]:
        """Every saved workflow."""
        return await self._store.list_workflows()

    async def delete_workflow(self, name: str) -> None:
        """Lets go of a saved workflow."""
        await self._store.delete_workflow(name)

    async def import_workflow(self, request: ImportRequest) -> ImportReply:
        """Reads a workflow from text."""
        view = self._shelf.view(self._asking.pool(request.pool).name)
        return import_reply(request, [worker.name for worker in view.workers], view.default_worker)

    # What there is

    async def pool_view(self, name: str | None = None) -> PoolView:
        """A pool with what each of its workers lacks."""
        view = self._shelf.view(name)
        pool = self._shelf.get(view.name)
        told = (
            info.model_copy(update={"learnt": self._providers.learnt(pool.worker(info.name))})
            for info in view.workers
        )
        return view.model_copy(update={"workers": tuple(told)})

    async def conductors(self, pool: str | None = None) -> tuple[ConductorInfo, ...]:
        """Every conductor that can be chosen for a pool."""
        return list_conductors(self._asking.pool(pool), self._settings.models_dir)

    async def test_worker(self, name: str, pool: str | None = None) -> WorkerTestReply:
        """One tiny real call."""
        return await asyncio.shield(self._test(name, pool))

    async def begin_worker_test(self, name: str, pool: str | None = None) -> WorkerTestReply:
        """Starts one, or joins the one under way, and answers at once."""
        self._test(name, pool)
        replies = await self.worker_tests(pool)
        return next(reply for reply in replies if reply.worker == name)

    async def stop_worker_test(self, name: str, pool: str | None = None) -> WorkerTestReply | None:
        """Ends the one under way; gives what the last one said, ``None`` when there was none."""
        chosen = self._asking.pool(pool)
        return await self._tryouts.stop((chosen.name, chosen.worker(name).name))

    async def worker_tests(self, pool: str | None = None) -> list[WorkerTestReply]:
        """Tests under way, and what the last one of each worker said."""
        return self._tryouts.replies(self._asking.pool(pool).name)

    def _test(self, name: str, pool: str | None) -> asyncio.Task[WorkerTestReply]:
        chosen = self._asking.pool(pool)
        worker = chosen.worker(name)
        return self._tryouts.start(
            (chosen.name, name), lambda: try_worker(worker, price_of(worker), self._means, self._day)
        )

    async def models(self) -> list[ModelState]:
        """Where each local model stands."""
        return await asyncio.to_thread(self._fetches.states)

    async def fetch_model(self, name: str) -> ModelState:
        """Starts fetching a local model, or joins the fetch under way."""
        return await asyncio.to_thread(self._fetches.start, name)

    async def health(self) -> Health:
        """How the backend is."""
        view = self._shelf.view()
        writable = await self._store.is_writable()
        problems = [*self.engine.problems, *(each.told for each in view.problems)]
        if not writable:
            problems.append(f"The database {self._settings.db} cannot be written.")
        # Whoever looks after the machine asks this without being its owner.
        return Health(
            version=own_version(),
            engine=self.engine.name,
            pool_size=len(view.workers),
            store_writable=writable,
            problems=tuple(map(without_folders, problems)),
        )

    async def secret(self, name: str) -> str:
        """A random secret that the database keeps."""
        return await self._store.secret(name)

    async def _begin(
        self, created: RunCreated, asked_once: Once | None, tags: Sequence[str] = ()
    ) -> tuple[str, bool]:
        # Claimed before it is stored, so that no other process takes it for one whose process has died.
        self.engine.claim(created.run_id)
        try:
            run_id, is_new = await self._store.create_run(created, once=asked_once, tags=tags)
        except BaseException:
            self.engine.give_back(created.run_id)
            raise
        if is_new:
            self.engine.start(run_id)
        else:
            self.engine.give_back(created.run_id)
        return run_id, is_new

    def _workers_of(self, created: RunCreated) -> dict[str, Worker]:
        known = created.pool in self._shelf.names()
        pool = self._shelf.get(created.pool if known else None)
        return frozen_workers(created.pool_snapshot, pool.workers)

    def _planning_of(self, work: Work) -> PlanningRequest:
        return self._asking.planning_of(work.created, tuple(work.terms.workers.values()))

    async def _run_or_404(self, run_id: str) -> RunState:
        try:
            return await self._store.state(run_id)
        except KeyError:
            raise not_found(f"There is no run {quoted(run_id)}.", "It may have been deleted.") from None

    def _purge_after(self, seconds: float) -> None:
        async def purge() -> None:
            await asyncio.sleep(seconds)
            with contextlib.suppress(Exception):  # tried again after the next deletion and at the next start
                await self._store.purge()

        task = asyncio.create_task(purge(), name="purge")
        self._purging.add(task)
        task.add_done_callback(self._purging.discard)


def _charge(
    worker: Worker, frozen: Price | None, usage: Usage | None, served: str | None, reported: str | None
) -> Charge:
    return Charge(*cost_of(worker, usage, frozen=frozen, served_model=served, reported=reported))
