"""From a request to a run that can be stored: everything that can be refused is refused here, before a cent.

Refusals are ``StatusError``: what was asked, why it cannot be, what to try.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from conductor.conductors import Conductor, default_conductor, resolve
from conductor.plans.planning import PlanningRequest, usable_workers
from conductor.pool import Pool, PoolShelf, default_worker, worker_info
from conductor.providers.base import Worker, WorkerError
from conductor.store import Once, Store
from conductor_client._base import new_id
from conductor_client.api import (
    MAX_PROMPT_BYTES,
    ForkRequest,
    PlanRequest,
    RunRequest,
    StepRequest,
    WorkflowRequest,
)
from conductor_client.errors import InvalidRequest, NotFound, StatusError, quoted
from conductor_client.events import Limits, RunCreated
from conductor_client.plan import Plan, PlanOptions
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import GIVEN
from conductor_client.workflow import MAX_STEPS, Step, Workflow

_STATUS = {"bad_input": 422, "unavailable": 503}


class Asking:
    """Turns requests into runs and plans to make. ``models_dir``: where local models lie."""

    def __init__(self, shelf: PoolShelf, store: Store, models_dir: Path) -> None:
        self._shelf, self._store, self._models_dir = shelf, store, models_dir

    def pool(self, name: str | None) -> Pool:
        """The pool of that name, ``None`` the default one."""
        try:
            return self._shelf.get(name)
        except KeyError:
            hint = f"There are {', '.join(self._shelf.names())}."
            raise invalid(f"There is no pool {quoted(name)}.", hint) from None

    def pool_names(self) -> tuple[str, ...]:
        """Every pool there is."""
        return self._shelf.names()

    def infos(self, pool: Pool) -> tuple[WorkerInfo, ...]:
        """The workers of a pool as shown and frozen."""
        return tuple(worker_info(worker, self._models_dir) for worker in pool.workers)

    async def run(self, request: RunRequest) -> RunCreated:
        """The first event of the run that is asked for. Nothing is stored yet."""
        check_prompt(request)
        if request.plan_id is not None and request.workflow is not None:
            raise invalid("A run takes either plan_id or workflow, not both.", "Leave one of them out.")
        pool = self.pool(request.pool)
        infos = self.infos(pool)
        plan = await self._plan(request) if request.plan_id is not None else None
        workflow = plan.workflow if plan is not None else None
        if request.workflow is not None:
            workflow = workflow_of_request(request.workflow, request.prompt)
        if workflow is not None:
            check_workers(workflow.steps, infos)
        else:
            infos = self._planners(request, pool, infos)
        if request.parent_run is not None:
            await self._check_parent(request.parent_run)
        return RunCreated(
            run_id=new_id("run"),
            prompt=request.prompt,
            messages=request.messages,
            conductor=self._conductor_id(request, pool, workflow, plan),
            pool=pool.name,
            pool_snapshot=infos,
            limits=request.limits or Limits(),
            workflow=workflow if plan is None else None,
            plan=plan,
            parent_run=request.parent_run,
            fresh=request.fresh,
            reuse=request.reuse,
            origin=request.origin,
            seed=request.seed,
            request_options=request.request_options,
            plan_options=_options(request.options),
        )

    def plan(self, request: PlanRequest) -> PlanningRequest:
        """What to ask of which conductor, for a plan that is not run."""
        check_prompt(request)
        pool = self.pool(request.pool)
        infos = self.infos(pool)
        try:
            conductor_id = request.conductor or default_conductor(pool, self._models_dir)
            conductor = self._resolve(conductor_id, pool)
            return PlanningRequest(
                prompt=request.prompt,
                conductor=conductor,
                workers=usable_workers(pool.workers, infos, request.workers),
                default_worker=default_worker(pool, infos),
                messages=request.messages,
                options=_merged(conductor, _options(request.options)),
                seed=request.seed,
            )
        except WorkerError as error:
            raise refusal(error) from error

    def planning_of(self, created: RunCreated, workers: Sequence[Worker]) -> PlanningRequest:
        """The same for a run that was stored: its workers as frozen with it. Raises ``WorkerError``."""
        pool = self._shelf.get(created.pool if created.pool in self._shelf.names() else None)
        conductor = self._resolve(created.conductor, pool)
        ready = {info.name for info in created.pool_snapshot if info.ready}
        options = _merged(conductor, created.plan_options)
        if (most := created.limits.max_steps) is not None:
            options = options.model_copy(update={"max_steps": min(most, options.max_steps)})
        return PlanningRequest(
            prompt=created.prompt,
            conductor=conductor,
            workers=tuple(worker for worker in workers if worker.name in ready),
            default_worker=default_worker(pool, created.pool_snapshot),
            messages=created.messages,
            options=options,
            seed=created.seed,
        )

    def _resolve(self, conductor_id: str, pool: Pool) -> Conductor:
        return resolve(conductor_id, pool, self._models_dir)

    async def _plan(self, request: RunRequest) -> Plan:
        assert request.plan_id is not None
        try:
            plan = await self._store.get_plan(request.plan_id)
        except KeyError:
            raise not_found(f"There is no plan {quoted(request.plan_id)}.", "Plan again.") from None
        if plan.workflow is None:
            raise invalid("This plan has no workflow, so it cannot be run.", "Plan again.")
        if plan.workflow.prompt != request.prompt:
            hint = "Plan again for this prompt, or send the plan's steps as `workflow`."
            raise invalid("This plan was made for another prompt.", hint)
        return plan

    def _planners(
        self, request: RunRequest, pool: Pool, infos: tuple[WorkerInfo, ...]
    ) -> tuple[WorkerInfo, ...]:
        """Checks that a plan can be made; with ``workers`` named, only they are the run's pool."""
        try:
            usable_workers(pool.workers, infos, request.workers)
            self._resolve(request.conductor or default_conductor(pool, self._models_dir), pool)
        except WorkerError as error:
            raise refusal(error) from error
        if request.workers is None:
            return infos
        by_name = {info.name: info for info in infos}
        return tuple(by_name[name] for name in dict.fromkeys(request.workers))

    async def _check_parent(self, run_id: str) -> None:
        try:
            await self._store.events(run_id, 2**53)
        except KeyError:
            raise not_found(
                f"There is no run {quoted(run_id)} to continue.", "Leave parent_run out."
            ) from None

    def _conductor_id(
        self, request: RunRequest, pool: Pool, workflow: Workflow | None, plan: Plan | None
    ) -> str:
        if plan is not None:
            return plan.conductor
        if workflow is not None:
            return request.conductor or GIVEN
        return request.conductor or default_conductor(pool, self._models_dir)


def check_prompt(request: PlanRequest) -> None:
    """Refuses an empty prompt (422) and one that is too long (413)."""
    if not request.prompt.strip():
        raise invalid("The prompt is empty.", "Write what you want to know or to have done.")
    n_bytes = sum(
        len(text.encode("utf-8", "replace"))
        for text in (request.prompt, *(each.content for each in request.messages))
    )
    if n_bytes > MAX_PROMPT_BYTES:
        said = f"Prompt and conversation have {n_bytes:,} bytes; at most {MAX_PROMPT_BYTES:,} are taken."
        hint = "Shorten the prompt, or start a new conversation."
        raise InvalidRequest(said, status_code=413, kind="too_large", hint=hint)


def check_workers(steps: Sequence[Step], infos: Sequence[WorkerInfo]) -> None:
    """Refuses steps whose worker is unknown or not ready."""
    known = {info.name: info for info in infos}
    for step in steps:
        info = known.get(step.worker)
        if info is None:
            said = f"Step {step.position + 1} names the worker {quoted(step.worker)}; the pool has none such."
            raise invalid(said, f"Choose one of {', '.join(known) or 'an empty pool'}.")
        if not info.ready:
            said = (
                f"Step {step.position + 1} needs the worker {step.worker}, which is not ready: {info.missing}"
            )
            raise StatusError(said, status_code=503, kind="unavailable", hint=info.how_to_get or "")


def workflow_of_request(request: WorkflowRequest, prompt: str) -> Workflow:
    """A whole workflow from the steps of a request: ids and positions are filled in.

    Raises:
        InvalidRequest: no steps, too many, an empty instruction, or an access list that mixes positions
            with ids or names a step that does not come before.
    """
    if not 1 <= len(request.steps) <= MAX_STEPS:
        said = f"A workflow has 1 to {MAX_STEPS} steps; this one has {len(request.steps)}."
        raise invalid(said, "Add a step." if not request.steps else "Remove some.")
    ids = [step.step_id or f"s{place}" for place, step in enumerate(request.steps, 1)]
    try:
        steps = tuple(
            Step(
                step_id=ids[place],
                position=place,
                instruction=step.instruction,
                worker=step.worker,
                access=_access(step, place, ids),
            )
            for place, step in enumerate(request.steps)
        )
        return Workflow(workflow_id=new_id("wf"), prompt=prompt, steps=steps)
    except ValidationError as problem:
        said = str(problem.errors()[0]["msg"]).removeprefix("Value error, ")
        raise invalid(f"The workflow cannot be run: {said}.", "Correct the steps.") from problem


def _access(step: StepRequest, place: int, ids: Sequence[str]) -> tuple[str, ...]:
    numbers = [each for each in step.access if isinstance(each, int)]
    names = [each for each in step.access if isinstance(each, str)]
    if numbers and names:
        said = f"Step {place + 1} mixes positions and step ids in its access list."
        raise invalid(said, "Use 0-based positions or step ids, not both.")
    outside: list[int | str] = [number for number in numbers if not 0 <= number < place]
    outside += [ids.index(name) if name in ids else name for name in names if name not in ids[:place]]
    if outside:
        said = f"Step {place + 1} cannot see {quoted(outside[0])}: a step sees earlier steps only."
        raise invalid(said, "Positions count from 0.")
    places = {ids.index(name) for name in names} | set(numbers)
    return tuple(ids[number] for number in sorted(places))


def _options(options: PlanOptions | None) -> dict[str, object]:
    return {} if options is None else options.model_dump(mode="json", exclude_unset=True)


def _merged(conductor: Conductor, given: Mapping[str, object]) -> PlanOptions:
    """The conductor's own options where the request says nothing."""
    return PlanOptions.model_validate({**conductor.options.model_dump(), **given})


def once(request: RunRequest | ForkRequest, parent: str = "") -> Once | None:
    """The request as one that starts one run however often it comes; ``None`` without an idempotency key."""
    if request.idempotency_key is None:
        return None
    asked = request.model_dump(mode="json", exclude={"idempotency_key"}, exclude_none=True)
    written = json.dumps([parent, asked], sort_keys=True)
    return Once(request.idempotency_key, hashlib.sha256(written.encode()).hexdigest())


def invalid(message: str, hint: str = "") -> InvalidRequest:
    """422: a value is missing or wrong."""
    return InvalidRequest(message, status_code=422, kind="invalid_request", hint=hint)


def not_found(message: str, hint: str = "") -> NotFound:
    """404: there is no such thing."""
    return NotFound(message, status_code=404, kind="not_found", hint=hint)


def refusal(error: WorkerError) -> StatusError:
    """What a client is told when a plan cannot be made."""
    status = _STATUS.get(error.kind, 502)
    kind = "invalid_request" if status == 422 else str(error.kind)
    return StatusError(error.message, status_code=status, kind=kind, hint=error.hint)
