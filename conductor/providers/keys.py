"""A worker's key, read from the environment at the moment of the call and kept nowhere."""

from __future__ import annotations

import os
from collections.abc import Mapping

from conductor.base_url import check_key, check_literal
from conductor.providers.base import Worker, WorkerError

VENDORS = {
    "openai": ("api.openai.com", "OPENAI_API_KEY"),
    "anthropic": ("api.anthropic.com", "ANTHROPIC_API_KEY"),
}
"""Host and key variable of a provider that is used without ``base_url``."""


def key_variable(worker: Worker) -> str | None:
    """Name of the variable that holds the worker's key; ``None`` when it needs none.

    Without ``base_url`` it is the vendor's usual one; with it only what the pool file names.
    """
    if worker.api_key_env is not None or worker.base_url is not None:
        return worker.api_key_env
    vendor = VENDORS.get(worker.provider)
    return vendor[1] if vendor and worker.from_operator else None


def key_for(worker: Worker, environ: Mapping[str, str] = os.environ) -> str | None:
    """The worker's key; ``None`` when it needs none.

    Raises:
        WorkerError: kind ``auth``, naming the variable, when it is not set; ``ForbiddenAddress`` when the
            worker's address may not be asked or not with this key.
    """
    host = check_literal(worker)
    if host is None and worker.provider in VENDORS:
        check_key(worker, VENDORS[worker.provider][0])
    name = key_variable(worker)
    if name is None:
        return None
    key = environ.get(name, "").strip()
    if not key:
        raise WorkerError(
            "auth",
            f"Worker {worker.name} needs a key, and the environment variable {name} is not set.",
            hint=f"Set {name} where the backend is started, then start it again.",
        )
    return key
