"""Whether a worker can be used right now, and if not what is missing and how to get it.

Looks at the environment, at installed packages and at files; calls nobody.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conductor.base_url import ForbiddenAddress, host_of
from conductor.local import weights
from conductor.local.catalog import model_spec
from conductor.pool.pool import Pool
from conductor.prices import price_of
from conductor.providers.base import Worker, WorkerError
from conductor.providers.keys import VENDORS, key_for, key_variable
from conductor_client.pool import PoolView, WorkerInfo

PACKAGES = {
    "openai": ("openai", "pip install 'openai>=3.57,<4'"),
    "anthropic": ("anthropic", "pip install 'anthropic>=2.14,<3'"),
    "local": ("xllamacpp", "pip install xllamacpp"),
    "tool": ("pydantic_monty", "pip install 'pydantic-monty==1.4.*'"),
}


@dataclass(frozen=True)
class Readiness:
    """``missing`` and ``how_to_get`` are ``None`` exactly when the worker is ready."""

    missing: str | None = None
    how_to_get: str | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the worker can be used."""
        return self.missing is None


def readiness_of(worker: Worker, models_dir: Path, environ: Mapping[str, str] = os.environ) -> Readiness:
    """What a worker still needs, the first thing first."""
    package = PACKAGES.get(worker.provider)
    if package is not None and not _is_installed(package[0]):
        return Readiness(f"The package {package[0]} is not installed.", f"Run: {package[1]}")
    match worker.provider:
        case "openai" | "anthropic":
            return _remote(worker, environ)
        case "local":
            return _local(worker, models_dir)
        case _:
            return Readiness()


def worker_info(worker: Worker, models_dir: Path, environ: Mapping[str, str] = os.environ) -> WorkerInfo:
    """What a page may know of a worker, and what is frozen with a run. Never a key."""
    state = readiness_of(worker, models_dir, environ)
    variable = key_variable(worker)
    return WorkerInfo(
        name=worker.name,
        provider=worker.provider,
        model=worker.model,
        host=_shown_host(worker),
        description=worker.description,
        system=worker.system,
        tags=worker.tags,
        settings=dict(worker.settings),
        max_output_tokens=worker.max_output_tokens,
        concurrency=worker.concurrency,
        price=price_of(worker),
        fallback=worker.fallback,
        ready=state.is_ready,
        missing=state.missing,
        how_to_get=state.how_to_get,
        api_key_env=variable,
        has_key=None if variable is None else bool(environ.get(variable, "").strip()),
    )


def pool_view(
    pool: Pool,
    models_dir: Path,
    *,
    pools: tuple[str, ...] = (),
    folder: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> PoolView:
    """The pool as shown. ``pools``: names of all that can be chosen; ``folder``: where the user's are."""
    workers = tuple(worker_info(each, models_dir, environ) for each in pool.workers)
    return PoolView(
        name=pool.name,
        workers=workers,
        default_worker=default_worker(pool, workers),
        problems=pool.problems,
        pools=pools,
        folder=None if folder is None else str(folder),
    )


def default_worker(pool: Pool, workers: tuple[WorkerInfo, ...]) -> str | None:
    """Who answers when no plan can be read: the pool's own choice if ready, else the first ready non-tool."""
    ready = [each.name for each in workers if each.ready]
    if pool.default_worker in ready:
        return pool.default_worker
    return next((each.name for each in workers if each.ready and not each.is_tool), None)


def _remote(worker: Worker, environ: Mapping[str, str]) -> Readiness:
    try:
        key_for(worker, environ)
    except ForbiddenAddress as problem:
        return Readiness(problem.message, problem.hint)
    except WorkerError as problem:
        return Readiness(f"The environment variable {key_variable(worker)} is not set.", problem.hint)
    return Readiness()


def _local(worker: Worker, models_dir: Path) -> Readiness:
    try:
        spec = model_spec(worker.model)
    except KeyError as error:
        return Readiness(str(error.args[0]), "Correct the model in the pool file.")
    if weights.is_ready(spec, models_dir):
        return Readiness()
    size_mb = round(spec.size_bytes / 1_000_000)
    return Readiness(
        f"The model file {spec.file} ({size_mb:,} MB) is not there.",
        f"Run: conductor-studio models fetch {spec.key}",
    )


def _shown_host(worker: Worker) -> str | None:
    if worker.base_url is None:
        vendor = VENDORS.get(worker.provider)
        return vendor[0] if vendor else None
    try:
        return host_of(worker.base_url)
    except ForbiddenAddress:
        return None


@cache
def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
