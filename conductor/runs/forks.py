"""Forks: an edited workflow in the same lineage, and what it would run before anybody clicks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conductor.plans.estimate import estimate
from conductor.runs.asking import Asking, check_workers, invalid
from conductor.runs.earlier import Earlier
from conductor.runs.reuse import split
from conductor.runs.terms import Terms, frozen_workers
from conductor.store import Store
from conductor_client._base import new_id
from conductor_client.api import ForkPreview, ForkRequest
from conductor_client.edits import Edited, apply_edits
from conductor_client.errors import Conflict, quoted
from conductor_client.events import RunCreated
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import RunState
from conductor_client.workflow import Workflow


@dataclass(frozen=True)
class Fork:
    """A fork that can be stored, and what it will do."""

    created: RunCreated
    preview: ForkPreview


class Forks:
    """Makes forks of stored runs, running ones included."""

    def __init__(self, asking: Asking, store: Store) -> None:
        self._asking, self._store = asking, store

    async def make(self, parent: RunState, request: ForkRequest) -> Fork:
        """Applies the edits. Nothing is stored or called.

        Raises:
            InvalidEdit: an edit does not fit the workflow.
            StatusError: the parent has no workflow yet or not that round, ``fresh`` names an unknown step, or
                a step that would run has a worker that is unknown or not ready.
        """
        if parent.workflow is None:
            said = "This run has no workflow yet, so there is nothing to edit."
            raise Conflict(said, status_code=409, kind="conflict", hint="Wait for its plan.")
        pool_name = parent.pool
        if pool_name is not None and pool_name not in self._asking.pool_names():
            pool_name = None  # the file has gone; what is there now is what can be called
        pool = self._asking.pool(pool_name)
        base = _round_meant(parent, request) or parent.workflow
        infos = _with_departed(self._asking.infos(pool), parent, base)
        edited = apply_edits(base, request.edits, known_workers=[each.name for each in infos])
        _check_fresh(request, edited.workflow)
        created = _created(parent, request, edited.workflow, infos, pool.name)
        terms = Terms(created, frozen_workers(infos, pool.workers))
        preview = await self._preview(terms, parent, edited)
        check_workers([edited.workflow.step(step_id) for step_id in preview.will_run], infos)
        return Fork(created, preview)

    async def _preview(self, terms: Terms, parent: RunState, edited: Edited) -> ForkPreview:
        """Looks up what the run itself will look up; it stops where something would be called."""
        created, workflow = terms.created, edited.workflow
        earlier = Earlier(self._store, parent, created.pool_snapshot)
        outputs: dict[str, str] = {}
        for step in workflow.steps:
            if not terms.may_reuse(step.step_id) or any(seen not in outputs for seen in step.access):
                continue
            sent = terms.context(workflow, step, outputs)
            key = terms.key(workflow, step, sent.messages)
            found = await earlier.find(key, step, sent.messages) if key is not None else None
            if found is not None:
                outputs[step.step_id] = found.output
        will_run, reused = split(workflow, outputs)
        guess = estimate(workflow, terms.workers, messages=created.messages, only=will_run, outputs=outputs)
        return ForkPreview(
            workflow=workflow, will_run=will_run, reused=reused, dropped=edited.dropped, estimate=guess
        )


def _created(
    parent: RunState, request: ForkRequest, workflow: Workflow, infos: Sequence[WorkerInfo], pool: str
) -> RunCreated:
    return RunCreated(
        run_id=new_id("run"),
        prompt=parent.prompt,
        messages=parent.messages,
        conductor=parent.conductor,
        pool=pool,
        pool_snapshot=tuple(infos),
        limits=request.limits or parent.limits,
        workflow=workflow,
        parent_run=parent.run_id,
        edits=request.edits,
        fresh=request.fresh,
        origin=request.origin,
        seed=parent.seed,
        request_options=parent.request_options,
    )


def _round_meant(parent: RunState, request: ForkRequest) -> Workflow | None:
    """The workflow of the round that is asked for, or whose steps the edits name: a fork runs one round, and
    plans no other."""
    if request.round is not None:
        workflows = {each.round: each.workflow for each in parent.rounds if each.workflow is not None}
        if request.round not in workflows:
            said = f"Round {request.round} of this run has no workflow."
            raise invalid(said, f"The rounds with one are {', '.join(map(str, workflows))}.")
        return workflows[request.round]
    named = {edit.step_id for edit in request.edits if edit.op != "add_step"}
    named |= set(request.fresh) if isinstance(request.fresh, tuple) else set()
    for each in reversed(parent.rounds):
        if each.workflow is not None and named & {step.step_id for step in each.workflow.steps}:
            return each.workflow
    return None


def _with_departed(
    infos: Sequence[WorkerInfo], parent: RunState, workflow: Workflow
) -> tuple[WorkerInfo, ...]:
    """The pool as it is now, and workers of the parent's steps that have left it since, as not ready."""
    names = {info.name for info in infos}
    used = {step.worker for step in workflow.steps}
    departed = [
        info.model_copy(
            update={
                "ready": False,
                "missing": "It is no longer in the pool.",
                "how_to_get": "Choose another worker.",
            }
        )
        for info in parent.pool_snapshot
        if info.name in used and info.name not in names
    ]
    return (*infos, *departed)


def _check_fresh(request: ForkRequest, workflow: Workflow) -> None:
    if isinstance(request.fresh, bool):
        return
    known = {step.step_id for step in workflow.steps}
    unknown = [step_id for step_id in request.fresh if step_id not in known]
    if unknown:
        said = f"There is no step {quoted(unknown[0])} to run afresh."
        raise invalid(said, f"The steps are {', '.join(known)}.")
