"""The paper's three lists for a workflow, under the pool's order: ordinals mean nothing without it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from conductor.plans.reader import write_lists
from conductor_client.plan import PlannedStep
from conductor_client.run_state import RunState
from conductor_client.workflow import Workflow

POOL_COMMENT = "# workers, counted from 0: "


def workflow_lists(workflow: Workflow, pool: Sequence[str], *, note: str = "") -> str:
    """``model_id``, ``subtasks`` and ``access_list``, under a comment that names the workers in order.

    Workers that ``pool`` lacks are counted after its last one. ``note`` is a comment of one line.
    """
    order = list(dict.fromkeys([*pool, *(step.worker for step in workflow.steps)]))
    place = {step.step_id: step.position for step in workflow.steps}
    steps = [
        PlannedStep(
            worker=order.index(step.worker),
            instruction=step.instruction,
            access=tuple(place[seen] for seen in step.access),
        )
        for step in workflow.steps
    ]
    return (f"# {note}\n" if note else "") + f"{POOL_COMMENT}{_plain(order)}\n{write_lists(steps)}\n"


def pool_order(state: RunState) -> tuple[str, ...]:
    """The order the conductor was given, else the run's pool."""
    if state.plan is not None and state.plan.pool:
        return state.plan.pool
    return tuple(worker.name for worker in state.pool_snapshot)


def _plain(order: Sequence[str]) -> str:
    """JSON in which no name can look like a tag or a list to a reader of the lists below."""
    return json.dumps(order, ensure_ascii=True).replace("<", "\\u003c").replace("=", "\\u003d")
