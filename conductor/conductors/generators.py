"""Conductors that ask no model: fixed workflows as functions of the prompt."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

from conductor.conductors.base import CallModel, ConductorRequest, Written
from conductor.providers.base import Delta, Notice, Worker, WorkerError
from conductor_client.plan import PlannedStep, PlanOptions, Reading
from conductor_client.usage import Usage

SINGLE = "single:"
NOTHING_USED = Usage(input_tokens=0, output_tokens=0)


class SingleWorker:
    """``single:<worker>``: that worker gets the prompt as it is, in one step."""

    kind: Literal["generator"] = "generator"
    worker: Worker | None = None
    can_revise = False

    def __init__(self, name: str) -> None:
        self.conductor_id = f"{SINGLE}{name}"
        self.options = PlanOptions(max_steps=1)
        self._name = name

    async def write(
        self, request: ConductorRequest, call_model: CallModel
    ) -> AsyncIterator[Delta | Notice | Written]:
        """Writes the one step at once. Raises ``WorkerError`` when the worker is not among those given."""
        names = [each.name for each in request.workers]
        if self._name not in names:
            raise WorkerError(
                "unavailable",
                f"The worker {self._name} is not among those that may be used.",
                hint=f"Choose one of {', '.join(names)}.",
            )
        step = PlannedStep(worker=names.index(self._name), instruction=request.prompt)
        yield Written("", Reading(decision="new", steps=(step,)), choices=(None,), usage=NOTHING_USED)
