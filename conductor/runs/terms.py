"""On which terms a run's calls are made: worker, settings, cap and price, as frozen with the run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from conductor.providers.base import Worker
from conductor.runs.context import Context, build
from conductor.runs.limits import output_cap
from conductor.runs.reuse import is_fresh, result_key, sample_index
from conductor_client.events import RunCreated
from conductor_client.pool import WorkerInfo
from conductor_client.usage import Price
from conductor_client.workflow import Message, Step, Workflow


@dataclass(frozen=True)
class Terms:
    """``workers``: every worker a step may be given, fallbacks included."""

    created: RunCreated
    workers: Mapping[str, Worker]

    def price(self, worker: str) -> Price | None:
        """The price frozen with the run; ``None`` = unpriced."""
        return next((each.price for each in self.created.pool_snapshot if each.name == worker), None)

    def cost_of_unfinished(self, worker: str) -> Decimal | None:
        """What a call that was cut off cost: 0 when its worker costs nothing, else unknown."""
        price = self.price(worker)
        is_free = price is not None and price.input_usd_per_mtok == price.output_usd_per_mtok == 0
        return Decimal(0) if is_free else None

    def settings(self, worker: Worker, *, is_final: bool) -> dict[str, Any]:
        """Settings of a call: the worker's, overridden by the request's.

        What shapes the answer itself (``stop``) is for the last step only: it would cripple the others.
        """
        asked = dict(self.created.request_options)
        asked.pop("max_output_tokens", None)
        if not is_final:
            asked.pop("stop", None)
        return {**worker.settings, **asked}

    def output_cap(self, worker: Worker, *, is_final: bool) -> int | None:
        """Output cap of a call, in tokens; ``None`` = none is sent. The request's own is for the answer."""
        cap = output_cap(self.created.limits, worker.max_output_tokens)
        asked = self.created.request_options.get("max_output_tokens") if is_final else None
        caps = [each for each in (cap, asked) if each is not None]
        return min(caps, default=None)

    def context(self, workflow: Workflow, step: Step, outputs: Mapping[str, str]) -> Context:
        """What a step is sent, given the outputs of those it sees. ``KeyError`` when one is missing."""
        worker = self.workers.get(step.worker)
        system = worker.system if worker is not None else ""
        return build(self.created.prompt, self.created.messages, workflow, step, outputs, system=system)

    def may_reuse(self, step_id: str) -> bool:
        """Whether an earlier answer may stand for this step."""
        is_related = self.created.parent_run is not None or self.created.reuse
        return is_related and not is_fresh(self.created.fresh, step_id)

    def key(self, workflow: Workflow, step: Step, messages: tuple[Message, ...]) -> str | None:
        """What the answer to a step is found by; ``None`` when its worker is not there."""
        worker = self.workers.get(step.worker)
        if worker is None:
            return None
        is_final = step is workflow.final_step
        return result_key(
            worker,
            messages,
            settings=self.settings(worker, is_final=is_final),
            max_output_tokens=self.output_cap(worker, is_final=is_final),
            seed=self.created.seed,
            sample=sample_index(step, workflow.steps[: step.position]),
        )


def frozen_workers(snapshot: Sequence[WorkerInfo], pool: Sequence[Worker]) -> dict[str, Worker]:
    """The workers of a run: addresses and keys as they are now, everything else as it was when it began.

    A worker that has left the pool, or now belongs to another provider, is not there any more.
    """
    now = {worker.name: worker for worker in pool}
    found = {}
    for info in snapshot:
        worker = now.get(info.name)
        if worker is not None and worker.provider == info.provider:
            found[info.name] = replace(
                worker,
                model=info.model,
                system=info.system,
                settings=info.settings,
                max_output_tokens=info.max_output_tokens,
                fallback=info.fallback,
            )
    return found
