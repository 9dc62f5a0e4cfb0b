"""Earlier answers that may stand for a call: the lineage's for a fork, the whole store's when asked for.

What the parent run itself was answered comes first, so that a fork of an old run keeps that run's inputs even
when a newer relative asked again and got something else.
"""

from __future__ import annotations

from collections.abc import Iterable

from conductor.store import Store, StoredResult
from conductor_client.pool import WorkerInfo
from conductor_client.run_state import RunState, StepState
from conductor_client.workflow import Message, Step


class Earlier:
    """Finds answers. ``parent`` is the run that was forked, as it stands; ``None`` = the whole store."""

    def __init__(self, store: Store, parent: RunState | None, pool: Iterable[WorkerInfo]) -> None:
        self._store, self._parent = store, parent
        self._pool = {info.name: info for info in pool}

    async def find(self, key: str, step: Step, messages: tuple[Message, ...]) -> StoredResult | None:
        """The answer for this key, or ``None``."""
        lineage_of = self._parent.run_id if self._parent is not None else None
        found = (await self._store.get_results([key], lineage_of=lineage_of)).get(key)
        if self._parent is None:
            # A stranger's fallback is no answer of this worker; in a fork it is what the parent showed.
            return found if found is not None and found.worker == step.worker else None
        if found is None:
            return None
        return self._of_parent(self._parent, step, messages) or found

    def _of_parent(self, parent: RunState, step: Step, messages: tuple[Message, ...]) -> StoredResult | None:
        theirs = parent.steps.get(step.step_id)
        is_theirs = theirs is not None and theirs.status in {"succeeded", "reused"}
        if theirs is None or not is_theirs or theirs.messages != messages:
            return None
        before = next((info for info in parent.pool_snapshot if info.name == step.worker), None)
        if not _is_same(before, self._pool.get(step.worker)) or not _was_asked(parent, step):
            return None
        return _as_result(parent.run_id, step.step_id, theirs)


def _was_asked(parent: RunState, step: Step) -> bool:
    workflows = [each.workflow for each in parent.rounds] or [parent.workflow]
    asked = {each.step_id: each.worker for workflow in workflows if workflow for each in workflow.steps}
    return asked.get(step.step_id) == step.worker


def _is_same(one: WorkerInfo | None, other: WorkerInfo | None) -> bool:
    if one is None or other is None:
        return False
    decisive = {"provider", "model", "host", "settings", "max_output_tokens"}
    return one.model_dump(include=decisive) == other.model_dump(include=decisive)


def _as_result(run_id: str, step_id: str, theirs: StepState) -> StoredResult:
    origin = theirs.reused_from
    last = theirs.attempts[-1] if theirs.attempts else None
    return StoredResult(
        run_id=origin.run_id if origin else run_id,
        step_id=origin.step_id if origin else step_id,
        attempt=last.attempt if last else 1,
        worker=theirs.worker or "",
        output=theirs.output or "",
        reasoning=theirs.reasoning,
        usage=origin.usage if origin else theirs.usage,
        cost_usd=origin.cost_usd if origin else theirs.cost_usd,
        served_model=theirs.served_model,
        duration_s=theirs.duration_s,
    )
