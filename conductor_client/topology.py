"""What follows from access lists alone: layers, edges, class, who depends on whom. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from .workflow import Workflow

TopologyClass = Literal["single", "chain", "tree", "other"]


def edges(workflow: Workflow) -> tuple[tuple[str, str], ...]:
    """All ``(seen, by)`` pairs, in order of the reader and then of what it sees."""
    return tuple((seen, step.step_id) for step in workflow.steps for seen in step.access)


def layers(workflow: Workflow) -> tuple[tuple[str, ...], ...]:
    """Step ids by depth: a step stands one layer below the deepest step it sees."""
    depth: dict[str, int] = {}
    for step in workflow.steps:
        depth[step.step_id] = 1 + max((depth[seen] for seen in step.access), default=-1)
    rows: list[list[str]] = [[] for _ in range(1 + max(depth.values()))]
    for step_id, row in depth.items():
        rows[row].append(step_id)
    return tuple(tuple(row) for row in rows)


def upstream(workflow: Workflow, step_id: str) -> frozenset[str]:
    """Every step that reaches this one over access edges, without itself."""
    found: set[str] = set()
    waiting = list(workflow.step(step_id).access)
    while waiting:
        seen = waiting.pop()
        if seen not in found:
            found.add(seen)
            waiting.extend(workflow.step(seen).access)
    return frozenset(found)


def unused(workflow: Workflow) -> frozenset[str]:
    """Steps the answer does not rest on: the last step neither is nor sees them, however far."""
    final = workflow.final_step.step_id
    used = upstream(workflow, final) | {final}
    return frozenset(step.step_id for step in workflow.steps) - used


def classify(workflow: Workflow) -> TopologyClass:
    """``single``: one step. ``chain``: each step but the first sees exactly the one before it, or all
    before it. ``tree``: independent branches, each output read by at most one step, meeting in the
    last. ``other``: everything else."""
    steps = workflow.steps
    if len(steps) == 1:
        return "single"
    before: list[str] = []
    is_chain = True
    for step in steps:
        if before and step.access not in ((before[-1],), tuple(before)):
            is_chain = False
        before.append(step.step_id)
    if is_chain:
        return "chain"
    readers: dict[str, int] = {}
    for seen, _ in edges(workflow):
        readers[seen] = readers.get(seen, 0) + 1
    if all(readers.get(step.step_id, 0) == 1 for step in steps[:-1]):
        return "tree"
    return "other"


def critical_path(workflow: Workflow, seconds: Mapping[str, float]) -> tuple[tuple[str, ...], float]:
    """The slowest chain of steps and its length in seconds. Steps without a duration count 0.

    A step starts when the last one it sees ends, so this is the shortest wall time these durations
    allow, whichever step comes last in the list.
    """
    ends: dict[str, float] = {}
    came_from: dict[str, str | None] = {}
    for step in workflow.steps:
        latest = max(step.access, key=lambda seen: ends[seen], default=None)
        came_from[step.step_id] = latest
        ends[step.step_id] = (0.0 if latest is None else ends[latest]) + seconds.get(step.step_id, 0.0)
    last = max(ends, key=lambda step_id: ends[step_id])
    path: list[str] = []
    walk: str | None = last
    while walk is not None:
        path.append(walk)
        walk = came_from[walk]
    return tuple(reversed(path)), ends[last]
