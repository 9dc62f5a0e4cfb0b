"""Runs the steps of a workflow: a step starts the moment everything it may see is there. No waves.

Knows neither workers nor events: ``execute`` does the work of one step, ``skip`` is told of one that cannot
run. A failed step takes along what depends on it and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Literal

from conductor_client.workflow import Step, Workflow

Outcome = Literal["succeeded", "reused", "failed", "skipped"]
GOOD: frozenset[str] = frozenset({"succeeded", "reused"})
"""Outcomes that let a dependent step start."""

CLEANUP_S = 0.8
"""How long a cancelled step may take to let go, in seconds; Stop does not wait longer for anybody."""

Execute = Callable[[Step], Awaitable[Outcome]]
Skip = Callable[[Step, str], Awaitable[None]]


async def run_steps(
    workflow: Workflow, execute: Execute, skip: Skip, *, known: Mapping[str, Outcome] | None = None
) -> dict[str, Outcome]:
    """Runs every step that is not in ``known`` (outcomes of an earlier process) and returns all outcomes.

    ``skip(step, cause)`` gets the id of the first step on the access list that has no output. Steps that
    become ready together start in order of position. Cancelling this call cancels every running step and
    waits for them; an exception out of ``execute`` does the same and is raised.
    """
    run = _Run(workflow, execute, skip, known or {})
    try:
        run.start_ready(workflow.steps)
        while run.tasks:
            done, _ = await asyncio.wait(run.tasks, return_when=asyncio.FIRST_COMPLETED)
            run.collect(done)
    finally:
        await _end(run.tasks)
    return run.outcomes


class _Run:
    def __init__(
        self, workflow: Workflow, execute: Execute, skip: Skip, known: Mapping[str, Outcome]
    ) -> None:
        self._execute, self._skip = execute, skip
        self.outcomes: dict[str, Outcome] = {
            step.step_id: known[step.step_id] for step in workflow.steps if step.step_id in known
        }
        self.tasks: dict[asyncio.Task[Outcome], Step] = {}
        self._started: set[str] = set(self.outcomes)
        self._readers: dict[str, list[Step]] = {step.step_id: [] for step in workflow.steps}
        for step in workflow.steps:
            for seen in step.access:
                self._readers[seen].append(step)

    def start_ready(self, candidates: Iterable[Step]) -> None:
        for step in candidates:
            if step.step_id in self._started or any(seen not in self.outcomes for seen in step.access):
                continue
            self._started.add(step.step_id)
            self.tasks[asyncio.create_task(self._one(step), name=f"step {step.step_id}")] = step

    async def _one(self, step: Step) -> Outcome:
        cause = next((seen for seen in step.access if self.outcomes[seen] not in GOOD), None)
        if cause is None:
            return await self._execute(step)
        await self._skip(step, cause)
        return "skipped"

    def collect(self, done: Iterable[asyncio.Task[Outcome]]) -> None:
        readers: dict[int, Step] = {}
        for task in sorted(done, key=lambda each: self.tasks[each].position):
            step = self.tasks[task]
            self.outcomes[step.step_id] = task.result()
            del self.tasks[task]
            readers.update((reader.position, reader) for reader in self._readers[step.step_id])
        self.start_ready(readers[place] for place in sorted(readers))


async def _end(tasks: Iterable[asyncio.Task[Outcome]]) -> None:
    running = list(tasks)
    for task in running:
        task.cancel()
    if running:
        ended, _ = await asyncio.wait(running, timeout=CLEANUP_S)
        for task in ended:
            if not task.cancelled():
                task.exception()  # seen: the first failure is the one that is raised
