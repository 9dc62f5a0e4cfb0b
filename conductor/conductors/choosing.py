"""The conductors there are for a pool, and how an id becomes one.

Ids: ``local``, ``prompted:<worker>``, ``single:<worker>``, and the name of each ``[[conductor]]`` table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from conductor.conductors.base import Conductor, ConductorNotReady, UnknownConductor
from conductor.conductors.generators import SINGLE, SingleWorker
from conductor.conductors.local import PREFERRED_MODELS, LocalConductor
from conductor.conductors.prompted import PROMPTED, PromptedConductor
from conductor.pool import ConductorSpec, Pool, Readiness, readiness_of
from conductor.providers.base import Worker
from conductor_client.plan import PlanOptions
from conductor_client.pool import ConductorInfo

LOCAL = "local"
NOT_YET = Readiness("No trained router comes with this version.", "Choose another conductor.")


def resolve(conductor_id: str, pool: Pool, models_dir: Path) -> Conductor:
    """The conductor of that id, ready to write.

    Raises:
        UnknownConductor: there is none of that id.
        ConductorNotReady: it lacks a key, a model file or a package; the message says which.
    """
    for candidate in _all(pool, models_dir):
        if candidate.conductor_id == conductor_id:
            if not candidate.state.is_ready or candidate.conductor is None:
                raise ConductorNotReady(
                    conductor_id, candidate.state.missing or "", candidate.state.how_to_get or ""
                )
            return candidate.conductor
    raise UnknownConductor(conductor_id, [each.conductor_id for each in _all(pool, models_dir)])


def list_conductors(pool: Pool, models_dir: Path) -> tuple[ConductorInfo, ...]:
    """Every conductor that can be chosen for a pool, those of its file first, ready or not."""
    return tuple(each.info() for each in _all(pool, models_dir))


def default_conductor(pool: Pool, models_dir: Path) -> str:
    """The id used when none is named: the first one that is ready and no generator, else the first ready.

    Raises:
        ConductorNotReady: none is.
    """
    ready = [each for each in _all(pool, models_dir) if each.state.is_ready]
    planners = [each for each in ready if each.kind != "generator"]
    for each in (*planners, *ready):
        return each.conductor_id
    raise ConductorNotReady(
        "of this pool", "no worker is ready.", "Look at the Workers page for what is missing."
    )


@dataclass(frozen=True)
class _Candidate:
    """A conductor that could be chosen. ``conductor`` is ``None`` for one this version cannot make."""

    conductor_id: str
    title: str
    conductor: Conductor | None
    state: Readiness
    kind: Literal["local", "prompted", "router", "generator"]

    def info(self) -> ConductorInfo:
        worker = self.conductor.worker if self.conductor is not None else None
        return ConductorInfo(
            conductor_id=self.conductor_id,
            kind=self.kind,
            title=self.title,
            model=worker.model if worker is not None else None,
            options=self.conductor.options if self.conductor is not None else PlanOptions(),
            can_revise=self.conductor is not None and self.conductor.can_revise,
            ready=self.state.is_ready,
            missing=self.state.missing,
            how_to_get=self.state.how_to_get,
        )


def _all(pool: Pool, models_dir: Path) -> Iterator[_Candidate]:
    for spec in pool.conductors:
        yield _from_spec(spec, pool, models_dir)
    taken = {spec.name for spec in pool.conductors}
    if LOCAL not in taken:
        yield _local(LOCAL, None, PlanOptions(), models_dir)
    for worker in pool.workers:
        if worker.provider != "tool" and (name := f"{PROMPTED}{worker.name}") not in taken:
            prompted = PromptedConductor(name, worker, PlanOptions())
            yield _Candidate(
                name, f"{worker.name}, prompted", prompted, readiness_of(worker, models_dir), "prompted"
            )
    for worker in pool.workers:
        if (name := f"{SINGLE}{worker.name}") not in taken:
            single = SingleWorker(worker.name)
            yield _Candidate(
                name, f"{worker.name} alone", single, readiness_of(worker, models_dir), "generator"
            )


def _from_spec(spec: ConductorSpec, pool: Pool, models_dir: Path) -> _Candidate:
    worker = None if spec.worker is None else pool.worker(spec.worker)
    match spec.kind:
        case "prompted" if worker is not None:
            prompted = PromptedConductor(spec.name, worker, spec.options, describe=spec.describe)
            return _Candidate(spec.name, spec.name, prompted, readiness_of(worker, models_dir), "prompted")
        case "local":
            return _local(spec.name, worker, spec.options, models_dir)
        case _:
            return _Candidate(spec.name, spec.name, None, NOT_YET, spec.kind)


def _local(name: str, worker: Worker | None, options: PlanOptions, models_dir: Path) -> _Candidate:
    models = [worker] if worker is not None else [_base_model(key) for key in PREFERRED_MODELS]
    states = [readiness_of(each, models_dir) for each in models]
    ready = [model for model, state in zip(models, states, strict=True) if state.is_ready]
    chosen = ready[0] if ready else models[-1]
    state = Readiness() if ready else states[-1]
    title = f"Local conductor ({chosen.model})"
    return _Candidate(name, title, LocalConductor(name, chosen, options), state, "local")


def _base_model(key: str) -> Worker:
    return Worker(name=f"conductor on {key}", provider="local", model=key, concurrency=1)
