"""What a page may know of the pool: names, models, readiness. Never a key, never a full address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from ._base import Value
from .plan import PlanOptions
from .usage import Price

ProviderName = Literal["openai", "anthropic", "local", "tool", "scripted"]


class WorkerInfo(Value):
    """One worker of the pool as shown, and as frozen with a run."""

    name: str
    provider: ProviderName
    model: str
    host: str | None = None
    """Host of its ``base_url``, without path, user or query."""
    description: str = ""
    system: str = ""
    """What it is told before every task."""
    tags: tuple[str, ...] = ()
    settings: Mapping[str, Any] = Field(default_factory=dict)
    max_output_tokens: int | None = None
    concurrency: int = 4
    price: Price | None = None
    fallback: str | None = None
    ready: bool = True
    missing: str | None = None
    """What is missing, in words, when it is not ready."""
    how_to_get: str | None = None
    """What to do about it."""
    api_key_env: str | None = None
    """Name of the environment variable that holds its key; never the key."""
    has_key: bool | None = None
    learnt: tuple[str, ...] = ()
    """What its server taught us since the start: fields that are sent under another name or left out."""

    @property
    def is_tool(self) -> bool:
        """Whether a tool, not a model, does the work."""
        return self.provider == "tool"


class ConductorInfo(Value):
    """One conductor that can be chosen."""

    conductor_id: str
    kind: Literal["local", "prompted", "router", "generator"]
    title: str
    model: str | None = None
    options: PlanOptions = PlanOptions()
    can_revise: bool = False
    """Whether it can be shown its answer and plan another round."""
    ready: bool = True
    missing: str | None = None
    how_to_get: str | None = None


class PoolProblem(Value):
    """A mistake in a pool file: where, which key, what was expected."""

    file: str
    line: int | None = None
    key: str | None = None
    said: str

    @property
    def told(self) -> str:
        """All of it in one line: file, line, key, and what was expected."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {f'{self.key}: ' if self.key else ''}{self.said}"


class PoolView(Value):
    """The pool: its workers in the order a conductor is given them, and what is wrong with its file."""

    name: str
    workers: tuple[WorkerInfo, ...]
    default_worker: str | None = None
    problems: tuple[PoolProblem, ...] = ()
    pools: tuple[str, ...] = ()
    """Names of the pool files that can be chosen."""
    folder: str | None = None
    """Where the backend looks for pool files of its user."""

    def worker(self, name: str) -> WorkerInfo:
        """The worker of that name. Raises ``KeyError`` when there is none."""
        for worker in self.workers:
            if worker.name == name:
                return worker
        raise KeyError(name)


class ModelState(Value):
    """One local model file: where it stands."""

    name: str
    state: Literal["ready", "fetching", "missing", "broken"]
    bytes_done: int = 0
    bytes_total: int = 0
    note: str | None = None
    how_to_get: str | None = None
