"""Whether a prompt can run now, and if not, why and what helps. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conductor_client.catalogue import counted, text
from conductor_client.pool import ConductorInfo, ModelState, PoolView, WorkerInfo


@dataclass(frozen=True)
class Obstacle:
    """What stands in the way, and what to do about it."""

    message: str
    hint: str = ""


def usable(pool: PoolView, chosen: Sequence[str] = ()) -> tuple[WorkerInfo, ...]:
    """Workers that can be asked now: the ready ones among the chosen, or among all when none is chosen."""
    return tuple(worker for worker in pool.workers if worker.ready and (not chosen or worker.name in chosen))


def obstacle(
    pool: PoolView, conductor: ConductorInfo | None, *, chosen: Sequence[str] = (), is_planned: bool = False
) -> Obstacle | None:
    """Why nothing can run, or ``None``. With ``is_planned`` the workflow is there and needs no conductor."""
    if not usable(pool, chosen):
        hint = _what_helps(pool) or text("studio.empty_pool_hint")
        key = "studio.no_chosen_worker" if chosen and usable(pool) else "studio.no_worker"
        return Obstacle(text(key), hint)
    if is_planned:
        return None
    asks_one = conductor is not None and conductor.kind == "generator"
    if not asks_one and all(worker.provider == "tool" for worker in usable(pool, chosen)):
        return Obstacle(text("studio.only_tools"), _what_helps(pool) or text("studio.only_tools_hint"))
    if conductor is None:
        return Obstacle(text("studio.no_conductor"), text("studio.no_conductor_hint"))
    if not conductor.ready:
        said = text("studio.conductor_missing", conductor=conductor.title, missing=conductor.missing or "")
        return Obstacle(said, conductor.how_to_get or "")
    return None


def _what_helps(pool: PoolView) -> str:
    lacking = dict.fromkeys(gap.how_to_get or gap.missing for gap in gaps(pool))
    return " ".join(list(lacking)[:MOST_NAMED])


def workers_line(pool: PoolView) -> str:
    """How many workers are ready, in one line."""
    return counted("studio.workers_ready", len(pool.workers), ready=len(usable(pool)))


@dataclass(frozen=True)
class Gap:
    """One thing that workers of a pool lack, and whose names they are."""

    missing: str
    how_to_get: str
    workers: tuple[str, ...]


def gaps(pool: PoolView, *, only_keys: bool = False) -> tuple[Gap, ...]:
    """What is missing, each thing once. ``only_keys``: only variables that are not set."""
    found: dict[tuple[str, str], list[str]] = {}
    for worker in pool.workers:
        if not worker.ready and (worker.has_key is False or not only_keys):
            found.setdefault((worker.missing or "", worker.how_to_get or ""), []).append(worker.name)
    return tuple(Gap(*what, tuple(names)) for what, names in found.items())


MOST_NAMED = 6


def few(names: Sequence[str]) -> str:
    """The names, or the first of them and how many more."""
    shown = ", ".join(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return shown if more < 1 else text("workers.and_more", names=shown, n=more)


def found(workers: Sequence[WorkerInfo], words: str) -> tuple[WorkerInfo, ...]:
    """Workers with all these words in name, model, host, description or tags."""
    wanted = words.casefold().split()
    return tuple(worker for worker in workers if all(word in _described(worker) for word in wanted))


def _described(worker: WorkerInfo) -> str:
    parts = (worker.name, worker.model, worker.host or "", worker.description, *worker.tags)
    return " ".join(parts).casefold()


def unfinished(models: Sequence[ModelState]) -> tuple[ModelState, ...]:
    """Models whose file is not there yet."""
    return tuple(model for model in models if model.state != "ready")


def is_fetching(models: Sequence[ModelState]) -> bool:
    """Whether any file is being fetched now."""
    return any(model.state == "fetching" for model in models)


def progress(model: ModelState) -> float:
    """How much of the file is there, from 0 to 1."""
    return min(1.0, model.bytes_done / model.bytes_total) if model.bytes_total else 0.0


def chosen_conductor(conductors: Sequence[ConductorInfo], wanted: str | None) -> ConductorInfo | None:
    """The conductor of that id; else the first ready one that writes workflows itself; else the first.

    A single worker asked directly is never chosen for a person: it would look as if a conductor had planned.
    """
    for conductor in conductors:
        if conductor.conductor_id == wanted:
            return conductor
    writers = (each for each in conductors if each.ready and each.kind != "generator")
    return next(writers, conductors[0] if conductors else None)
